/* test_request.c - the gate lets in one token and no other, and two names of this machine; orders
 * are read as they are meant, and what is left of them after random damage is an order that makes
 * sense or is refused. */
#include "live_request.h"
#include "server_access.h"
#include "support/near.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_token(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_access a;
  tbi_access b;
  assert_int_equal(tbi_access_create(&a, &err), TABI_OK);
  assert_int_equal(tbi_access_create(&b, &err), TABI_OK);
  assert_int_equal(strspn(a.token, "0123456789abcdef"), TBI_TOKEN_SIZE);
  assert_string_not_equal(a.token, b.token);

  char path[64];
  (void)snprintf(path, sizeof path, "/%s/scene/0", a.token);
  assert_string_equal(tbi_access_path(&a, path), "scene/0");
  assert_null(tbi_access_path(&b, path));
  for (size_t i = 0; i < TBI_TOKEN_SIZE + 2; ++i) {
    char wrong[64];
    memcpy(wrong, path, sizeof wrong);
    wrong[i] ^= 1;
    assert_null(tbi_access_path(&a, wrong));
    wrong[i] = '\0';
    assert_null(tbi_access_path(&a, wrong));
  }
}

static void test_hosts(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_access access;
  assert_int_equal(tbi_access_create(&access, &err), TABI_OK);
  // before the port is known nobody is
  assert_false(tbi_access_allows_host(&access, "127.0.0.1:0"));
  tbi_access_set_port(&access, 65535);
  assert_true(tbi_access_allows_host(&access, "127.0.0.1:65535"));
  assert_true(tbi_access_allows_host(&access, "localhost:65535"));
  assert_true(tbi_access_allows_origin(&access, "http://localhost:65535"));
  assert_false(tbi_access_allows_host(&access, "localhost:6553"));
  assert_false(tbi_access_allows_host(&access, NULL));
  assert_false(tbi_access_allows_origin(&access, NULL));
  assert_false(tbi_access_allows_origin(&access, "localhost:65535"));
}

static const char *const orders[] = {
    "{\"do\": \"pause\"}",
    "{\"do\": \"speed\", \"value\": 0.5}",
    "{\"do\":\"push\",\"link\":3,\"point\":[0,0.5,-1],\"target\":[1,2,3e0],\"gain\":4}",
    "{\"do\": \"set\", \"path\": \"contact.model\", \"value\": \"exact\"}",
    "{\"do\": \"set\", \"path\": \"contact.friction\", \"value\": 0.25}",
    "{\"do\": \"set\", \"path\": \"timestep\", \"value\": 5e-4}",
    "{\"do\": \"walk\", \"velocity\": [1, -0.5, 0]}",
};
#define NORDER (sizeof orders / sizeof *orders)

static tbi_request read_good(size_t order) {
  tbi_request request;
  char problem[TBI_REQUEST_ERROR_SIZE] = "";
  if (!tbi_request_read(orders[order], strlen(orders[order]), &request, problem))
    fail_msg("%s: %s", orders[order], problem);
  return request;
}

static void test_orders(void **state) {
  (void)state;
  assert_int_equal(read_good(0).kind, TBI_REQUEST_PAUSE);
  assert_near(read_good(1).speed, 0.5, 0);
  tbi_request push = read_good(2);
  assert_int_equal(push.link, 3);
  assert_near_n(push.point, ((const double[3]){0, 0.5, -1}), 3, 0);
  assert_near_n(push.target, ((const double[3]){1, 2, 3}), 3, 0);
  assert_near(push.gain, 4, 0);
  assert_string_equal(read_good(3).assignment, "contact.model=exact");
  assert_string_equal(read_good(4).assignment, "contact.friction=0.25");
  assert_int_equal(read_good(5).setting, TBI_SETTING_TIMESTEP);
  assert_near_n(read_good(6).walk, ((const double[3]){1, -0.5, 0}), 3, 0);
}

/* What the world relies on. */
static void check_sense(const tbi_request *request) {
  assert_in_range(request->kind, TBI_REQUEST_PAUSE, TBI_REQUEST_SET);
  if (request->kind == TBI_REQUEST_SPEED)
    assert_true(request->speed >= 0.03125 && request->speed <= 8);
  if (request->kind == TBI_REQUEST_WALK) {
    for (int i = 0; i < 3; ++i)
      assert_true(fabs(request->walk[i]) <= 1);
  }
  if (request->kind == TBI_REQUEST_PUSH) {
    assert_true(request->link >= 0);
    assert_true(request->gain == 1 || request->gain == 4 || request->gain == 16);
    for (int i = 0; i < 3; ++i)
      assert_true(fabs(request->point[i]) <= 1e4 && fabs(request->target[i]) <= 1e4);
  }
  if (request->kind == TBI_REQUEST_SET) {
    const char *equals = strchr(request->assignment, '=');
    assert_non_null(equals);
    assert_int_equal(strspn(equals + 1, "0123456789.e+-abcdefghijklmnopqrstuvwxyz"),
                     strlen(equals + 1));
  }
}

static void test_damaged_orders(void **state) {
  (void)state;
  rng r = rng_make(20260);
  int good = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    char text[160];
    const char *order = orders[rng_next(&r) % NORDER];
    size_t size = strlen(order);
    memcpy(text, order, size + 1);
    for (uint64_t n = rng_next(&r) % 3 + 1; n > 0; --n) {
      static const char some[] = "{}[]\",:0123456789.eE+-\\ntfu \xff";
      text[rng_next(&r) % size] = some[rng_next(&r) % (sizeof some - 1)];
    }
    tbi_request request;
    char problem[TBI_REQUEST_ERROR_SIZE] = "";
    if (tbi_request_read(text, size, &request, problem)) {
      check_sense(&request);
      ++good;
    } else {
      assert_string_not_equal(problem, "");
    }
  }
  assert_in_range(good, 100, 15000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_token),
      cmocka_unit_test(test_hosts),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_damaged_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
