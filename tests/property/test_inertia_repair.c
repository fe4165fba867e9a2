/* test_inertia_repair.c - the repaired inertia is that of a body, no other one is nearer, and what
 * a body can have is not touched. */
#include "io/principal.h"
#include "io/repair.h"
#include "math/quat.h"
#include "support/near.h"
#include "support/rng.h"

#include <math.h>
#include <string.h>

#define MATRICES   (TEST_SHORT ? 200 : 2000)
#define CANDIDATES 1000
/* repaired second moments keep this share of their sum, so that the nearest may be as much farther
 */
#define MARGIN 1e-6

typedef struct heard {
  int count;
  double size;
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  ++h->count;
  h->size = warning->repair.size;
}

static heard repair(double inertia[6]) {
  heard h = {0, 0};
  tabi_error err;
  tbi_first_error error = {.err = &err};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  assert_true(tbi_repair_inertia(&error, &def, (tabi_place){NULL, 0}, "link 'a'", 1, inertia));
  return h;
}

/* A failure names the matrix. */
static void expect(bool holds, const char *what, int seed) {
  if (!holds) fail_msg("matrix %d: %s", seed, what);
}

static double norm(const double a[6]) {
  double square = 0;
  for (int i = 0; i < 6; ++i)
    square += (i < 3 ? 1 : 2) * a[i] * a[i];
  return sqrt(square);
}

static double distance(const double a[6], const double b[6]) {
  double d[6];
  for (int i = 0; i < 6; ++i)
    d[i] = a[i] - b[i];
  return norm(d);
}

static void ascending(const double inertia[6], double e[3]) {
  tbi_s3_eigenvalues(s3_load(inertia), e);
}

static bool is_physical(const double inertia[6], double tolerance) {
  double e[3];
  ascending(inertia, e);
  return e[0] >= -tolerance * e[2] && e[0] + e[1] >= (1 - tolerance) * e[2];
}

/* The inertia of three bars along random orthogonal axes: any body's. */
static void random_body(rng *r, double size, double inertia[6]) {
  double quat[4];
  double s[3];
  rng_direction(r, quat, 4);
  for (int i = 0; i < 3; ++i)
    s[i] = size * pow(rng_unit(r), 3);
  m3 axes = q_matrix(q_load(quat));
  s3 moments = {s[1] + s[2], s[0] + s[2], s[0] + s[1], 0, 0, 0};
  s3_store(s3_rotate(&axes, moments), inertia);
}

/* A little to the side of one that is near already. */
static void random_neighbour(rng *r, const double near[6], double size, double inertia[6]) {
  double body[6];
  double scale = size * pow(10, rng_between(r, -6, 0));
  random_body(r, scale, body);
  for (int i = 0; i < 6; ++i)
    inertia[i] = near[i] * (1 - 0.5 * scale / size) + body[i];
}

/* MuJoCo's rule: a moment that is too large makes all three their mean. */
static void balance(const double inertia[6], double balanced[6]) {
  double mean = (inertia[0] + inertia[1] + inertia[2]) / 3;
  for (int i = 0; i < 6; ++i)
    balanced[i] = i < 3 ? fmax(0, mean) : 0;
}

static void check_nearest(rng *r, int seed, const double given[6], const double repaired[6]) {
  double found = distance(given, repaired);
  double slack = 4 * MARGIN * norm(given);
  double other[6];
  balance(given, other);
  expect(found <= distance(given, other) + slack, "balancing is nearer", seed);
  for (int i = 0; i < CANDIDATES; ++i) {
    if (i % 2 == 0) {
      random_body(r, 2 * norm(given), other);
    } else {
      random_neighbour(r, repaired, norm(given), other);
    }
    expect(is_physical(other, 1e-12), "the candidate is no body", seed);
    expect(found <= distance(given, other) + slack, "another body is nearer", seed);
  }
}

/* The builder is the judge of what is accepted. */
static void check_accepted(const double inertia[6]) {
  tabi_builder *builder = tabi_builder_create();
  tabi_link_def def = tabi_link_def_default();
  def.mass = 1;
  memcpy(def.inertia, inertia, sizeof def.inertia);
  assert_int_not_equal(tabi_builder_add_link(builder, &def), TABI_NONE);
  tabi_builder_destroy(builder);
}

static void test_random_matrices(void **state) {
  (void)state;
  for (int i = 0; i < MATRICES; ++i) {
    rng r = rng_make((uint64_t)i);
    double given[6];
    double repaired[6];
    double again[6];
    rng_fill(&r, pow(10, rng_between(&r, -6, 3)), given, 6);
    memcpy(repaired, given, sizeof given);
    heard h = repair(repaired);
    check_accepted(repaired);
    expect(is_physical(repaired, 0), "the result is no body", i);
    if (h.count > 0) assert_near(h.size, distance(given, repaired) / norm(given), 1e-9);
    check_nearest(&r, i, given, repaired);
    memcpy(again, repaired, sizeof again);
    expect(repair(again).count == 0, "repaired twice", i);
    expect(distance(again, repaired) == 0, "changed twice", i);
  }
}

static void test_bodies_are_not_touched(void **state) {
  (void)state;
  for (int i = 0; i < 10 * MATRICES; ++i) {
    rng r = rng_make((uint64_t)i);
    double given[6];
    double repaired[6];
    random_body(&r, pow(10, rng_between(&r, -9, 3)), given);
    memcpy(repaired, given, sizeof given);
    expect(repair(repaired).count == 0, "a body is repaired", i);
    expect(distance(repaired, given) == 0, "a body is changed", i);
  }
}

/* The three ways to be impossible, by hand: a plate, a rod and a point are nearest. */
static void test_known(void **state) {
  (void)state;
  double plate[6] = {1, 2, 6, 0, 0, 0};
  assert_near(repair(plate).size, sqrt(3.0 / 41), 1e-5);
  assert_near_n(plate, ((const double[6]){2, 3, 5, 0, 0, 0}), 6, 1e-4);
  double rod[6] = {1, -0.5, 2, 0, 0, 0};
  assert_int_equal(repair(rod).count, 1);
  assert_near_n(rod, ((const double[6]){1.5, 0, 1.5, 0, 0, 0}), 6, 1e-5);
  double point[6] = {-1, -2, -3, 0, 0, 0};
  assert_near(repair(point).size, 1, 0);
  assert_near_n(point, ((const double[6]){0, 0, 0, 0, 0, 0}), 6, 0);
}

/* What rounding does is mended without a word, and what is within the builder's tolerance stays. */
static void test_rounding(void **state) {
  (void)state;
  double tiny[6] = {-2.4e-35, 1e-36, 1e-36, 0, 0, 0};
  assert_int_equal(repair(tiny).count, 0);
  check_accepted(tiny);
  const double given[6] = {1, 1, 2 + 1e-7, 0, 0, 0};
  double kept[6];
  memcpy(kept, given, sizeof kept);
  assert_int_equal(repair(kept).count, 0);
  assert_memory_equal(kept, given, sizeof kept);
  double beyond[6] = {1, 1, 2 + 3e-6, 0, 0, 0};
  assert_int_equal(repair(beyond).count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_matrices),
      cmocka_unit_test(test_bodies_are_not_touched),
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
