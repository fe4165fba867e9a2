/* test_manifold.c - which points of a manifold are kept. */
#include "collision/solids.h"
#include "support/near.h"

static tbi_pair_point point_at(double x, double y, double gap, uint32_t feature) {
  return (tbi_pair_point){v3_make(x, y, 0), v3_make(0, 0, 1), gap, feature};
}

static void shuffle(rng *r, tbi_pair_point *p, int32_t count) {
  for (int32_t i = count - 1; i > 0; --i) {
    int32_t j = rng_below(r, i + 1);
    tbi_pair_point held = p[i];
    p[i] = p[j];
    p[j] = held;
  }
}

/* how far the points reach along a direction */
static double reach_along(const tbi_pair_point *p, int32_t count, v3 way) {
  double max = -INFINITY;
  for (int32_t i = 0; i < count; ++i)
    max = fmax(max, v3_dot(p[i].point, way));
  return max;
}

/* The deepest is kept, most of the area too, and the order they came in does not matter. */
static void test_reduction(void **state) {
  (void)state;
  rng r = rng_make(51);
  for (int trial = 0; trial < 2000; ++trial) {
    tbi_pair_point all[TBI_PAIR_ROOM];
    tbi_pair_point kept[TBI_PAIR_ROOM];
    int32_t count = 9 + rng_below(&r, TBI_PAIR_ROOM - 9);
    for (int32_t i = 0; i < count; ++i) {
      all[i] = point_at(rng_between(&r, -1, 1), rng_between(&r, -1, 1), rng_between(&r, -1, 0),
                        (uint32_t)i);
      kept[i] = all[i];
    }
    assert_int_equal(tbi_manifold_reduce(kept, count, TBI_PAIR_POINTS), TBI_PAIR_POINTS);
    assert_true(min_gap(kept, TBI_PAIR_POINTS) == min_gap(all, count));
    double lost = 0;
    for (int k = 0; k < 16; ++k) {
      v3 way = {cos(k * M_PI / 8), sin(k * M_PI / 8), 0};
      lost += reach_along(all, count, way) - reach_along(kept, TBI_PAIR_POINTS, way);
    }
    assert_true(lost / 16 < 0.3);

    tbi_pair_point again[TBI_PAIR_ROOM];
    for (int32_t i = 0; i < count; ++i)
      again[i] = all[i];
    shuffle(&r, again, count);
    tbi_manifold_reduce(again, count, TBI_PAIR_POINTS);
    for (int32_t i = 0; i < TBI_PAIR_POINTS; ++i)
      assert_int_equal(again[i].feature, kept[i].feature);
  }
}

static void test_same_place(void **state) {
  (void)state;
  tbi_pair_point p[TBI_PAIR_ROOM];
  for (uint32_t i = 0; i < 12; ++i)
    p[i] = point_at(i % 3, 0, -0.1 - 0.01 * (i % 2), i);
  assert_int_equal(tbi_manifold_reduce(p, 12, TBI_PAIR_POINTS), 3);
  for (uint32_t i = 0; i < 12; ++i)
    p[i] = point_at(0.5, 0.5, -0.1, 11 - i);
  assert_int_equal(tbi_manifold_reduce(p, 12, TBI_PAIR_POINTS), 1);
  assert_int_equal(p[0].feature, 0);
  assert_int_equal(tbi_manifold_reduce(p, 1, TBI_PAIR_POINTS), 1);
  assert_int_equal(tbi_manifold_reduce(p, 0, TBI_PAIR_POINTS), 0);
}

/* On springs all of a sole overlaps by a little or will: which points are kept may not change with
 * what is above the ground by less than the deepest is below. */
static void test_sole_on_springs(void **state) {
  (void)state;
  uint32_t kept[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    tbi_pair_point p[TBI_PAIR_ROOM];
    for (uint32_t k = 0; k < 24; ++k) {
      double rise = 1e-4 * cos(0.2618 * k); // it leans to one side, then less
      p[k] = point_at(cos(0.2618 * k), sin(0.2618 * k), rise * (1 - 0.3 * i) - 5e-5, k);
    }
    assert_int_equal(tbi_manifold_reduce(p, 24, TBI_PAIR_POINTS), TBI_PAIR_POINTS);
    for (int k = 0; k < TBI_PAIR_POINTS; ++k)
      kept[i] |= UINT32_C(1) << p[k].feature;
  }
  assert_int_equal(kept[0], kept[1]);
}

/* What overlaps bears: none of it is left out for points that are farther out but only near. */
static void test_bearing_points(void **state) {
  (void)state;
  tbi_pair_point p[TBI_PAIR_ROOM];
  for (uint32_t i = 0; i < 5; ++i) // an edge that bears, one end a little deeper
    p[i] = point_at(0.01 * i, 0, -5e-6 - 1e-9 * i, i);
  for (uint32_t i = 5; i < 30; ++i) // around it the rest of a sole that is not quite flat
    p[i] = point_at(cos(i), sin(i), 1e-6 * i, i);
  assert_int_equal(tbi_manifold_reduce(p, 30, TBI_PAIR_POINTS), TBI_PAIR_POINTS);
  int bearing = 0;
  for (int i = 0; i < TBI_PAIR_POINTS; ++i)
    bearing += p[i].gap < 0;
  assert_int_equal(bearing, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduction),
      cmocka_unit_test(test_sole_on_springs),
      cmocka_unit_test(test_bearing_points),
      cmocka_unit_test(test_same_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
