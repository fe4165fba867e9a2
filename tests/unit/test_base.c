/* test_base.c - errors, names, text and growing arrays. */
#include "base/array.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "support/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_error_text(void **state) {
  (void)state;
  tabi_error err;
  char text[64];
  tabi_place place = {"walker.urdf", 42};
  assert_int_equal(tbi_error_set(&err, TABI_ERR_MODEL, place, "joint '%s': %d", "knee", 7),
                   TABI_ERR_MODEL);
  size_t length = tabi_error_text(&err, "error", text, sizeof text);
  assert_string_equal(text, "walker.urdf:42: error: joint 'knee': 7");
  assert_int_equal(length, strlen(text));
  /* cut, but the whole length is told */
  assert_int_equal(tabi_error_text(&err, "error", text, 10), length);
  assert_string_equal(text, "walker.ur");
  /* a file without a line blames the first */
  place.line = 0;
  tbi_error_set(&err, TABI_ERR_FILE, place, "is a folder");
  (void)tabi_error_text(&err, "warning", text, sizeof text);
  assert_string_equal(text, "walker.urdf:1: warning: is a folder");
  tbi_error_memory(&err);
  assert_int_equal(err.status, TABI_ERR_MEMORY);
  (void)tabi_error_text(&err, "error", text, sizeof text);
  assert_string_equal(text, "tabi: error: out of memory");
  assert_int_equal(tbi_error_set(NULL, TABI_ERR_PARSE, place, "nobody asked"), TABI_ERR_PARSE);
}

static void test_status_text(void **state) {
  (void)state;
  for (int i = TABI_OK; i <= TABI_ERR_ENDED; ++i) {
    const char *text = tabi_status_text((tabi_status)i);
    assert_true(strlen(text) > 0);
    assert_string_not_equal(text, "unknown status");
    for (int j = 0; j < i; ++j)
      assert_string_not_equal(text, tabi_status_text((tabi_status)j));
  }
  assert_string_equal(tabi_status_text((tabi_status)(TABI_ERR_ENDED + 1)), "unknown status");
}

static void test_long_messages_are_cut(void **state) {
  (void)state;
  tabi_error err;
  char name[2000];
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = '\0';
  tbi_error_set(&err, TABI_ERR_PARSE, (tabi_place){name, 1}, "%s", name);
  assert_int_equal(strlen(err.file), sizeof err.file - 1);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void test_names(void **state) {
  (void)state;
  enum { N = 5000 };
  static char text[N][16];
  tbi_names names = {0};
  assert_int_equal(tbi_names_find(&names, "any"), -1);
  for (int32_t i = 0; i < N; ++i) {
    (void)snprintf(text[i], sizeof text[i], "name%d", (int)i);
    assert_int_equal(tbi_names_find(&names, text[i]), -1);
    assert_true(tbi_names_add(&names, text[i], i));
  }
  for (int32_t i = 0; i < N; ++i)
    assert_int_equal(tbi_names_find(&names, text[i]), i);
  assert_int_equal(tbi_names_find(&names, "name5000"), -1);
  assert_int_equal(tbi_names_find(&names, ""), -1);
  tbi_names_free(&names);
  assert_int_equal(tbi_names_find(&names, "name1"), -1);
}

/* strings stay where they are, and are found again in a copy */
static void test_text(void **state) {
  (void)state;
  enum { N = 3000 };
  static const char *kept[N];
  tbi_text_pool pool = {0};
  char text[32];
  for (int i = 0; i < N; ++i) {
    (void)snprintf(text, sizeof text, "%*d", i % 20, i);
    kept[i] = tbi_text_add(&pool, text);
    assert_non_null(kept[i]);
  }
  char *copy = malloc(tbi_text_size(&pool));
  assert_non_null(copy);
  tbi_text_copy(&pool, copy);
  for (int i = 0; i < N; ++i) {
    (void)snprintf(text, sizeof text, "%*d", i % 20, i);
    assert_string_equal(kept[i], text);
    assert_string_equal(tbi_text_moved(&pool, kept[i], copy), text);
  }
  assert_null(tbi_text_moved(&pool, NULL, copy));
  free(copy);
  tbi_text_free(&pool);
  assert_int_equal(tbi_text_size(&pool), 0);
}

static void test_text_longer_than_a_chunk(void **state) {
  (void)state;
  tbi_text_pool pool = {0};
  char *text = malloc(100001);
  assert_non_null(text);
  memset(text, 'y', 100000);
  text[100000] = '\0';
  assert_string_equal(tbi_text_add(&pool, text), text);
  assert_string_equal(tbi_text_add(&pool, ""), "");
  assert_int_equal(tbi_text_size(&pool), 100002);
  tbi_text_free(&pool);
  free(text);
}

static void test_arrays(void **state) {
  (void)state;
  void *items = NULL;
  int32_t capacity = 0;
  for (int32_t i = 0; i < 1000; ++i) {
    assert_true(tbi_array_reserve(&items, &capacity, i, 1, sizeof i));
    assert_true(capacity > i);
    ((int32_t *)items)[i] = i;
  }
  for (int32_t i = 0; i < 1000; ++i)
    assert_int_equal(((int32_t *)items)[i], i);
  void *before = items;
  assert_false(tbi_array_reserve(&items, &capacity, INT32_MAX, 1, sizeof(int32_t)));
  assert_ptr_equal(items, before);
  free(items);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_error_text),
      cmocka_unit_test(test_status_text),
      cmocka_unit_test(test_long_messages_are_cut),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_text_longer_than_a_chunk),
      cmocka_unit_test(test_arrays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
