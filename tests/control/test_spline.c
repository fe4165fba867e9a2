/* test_spline.c - trajectories along splines: through their knots, exact for what bends as splines
 * may, with rows and slopes like those of a trajectory that keeps all rows. */
#include "support/near.h"

#include "control/trajectory.h"

#include <math.h>

enum { KNOTS = 9, ROWS = 41, COLUMNS = 3 };
#define PERIOD 0.05
#define SAMPLE 0.01

/* A straight line, a constant, and a cubic without curvature at its ends. */
static void curve(double time, double *row) {
  double s = time / ((KNOTS - 1) * PERIOD);
  row[0] = 3 - 2 * time;
  row[1] = 7;
  row[2] = s * s * (3 - 2 * s) + s * (1 - s) * (1 - 2 * s);
}

static tabi_trajectory *make(double sample, tabi_error *err) {
  double knot[KNOTS * COLUMNS];
  for (int i = 0; i < KNOTS; ++i)
    curve(i * PERIOD, knot + (ptrdiff_t)COLUMNS * i);
  const tbi_spline_def def = {KNOTS, COLUMNS, PERIOD, sample, knot};
  return tbi_trajectory_along(&def, err);
}

/* At rows it is the curve, between them a straight line, as kept rows would be. */
static void test_rows(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_trajectory *along = make(SAMPLE, &err);
  double time[ROWS];
  double value[ROWS * COLUMNS];
  for (int i = 0; i < ROWS; ++i) {
    time[i] = i * SAMPLE;
    curve(time[i], value + (ptrdiff_t)COLUMNS * i);
  }
  tabi_trajectory *kept = tabi_trajectory_create(ROWS, COLUMNS, time, value, &err);
  assert_non_null(along);
  assert_non_null(kept);
  assert_near(tabi_trajectory_start(along), 0, 0);
  assert_near(tabi_trajectory_end(along), (ROWS - 1) * SAMPLE, 1e-12);
  assert_int_equal(tabi_trajectory_ncolumn(along), COLUMNS);
  for (int i = -20; i < 520; ++i) {
    double now[2][COLUMNS];
    double rate[2][COLUMNS];
    tabi_trajectory_sample(along, i * 1e-3 + 3e-4, now[0], rate[0]);
    tabi_trajectory_sample(kept, i * 1e-3 + 3e-4, now[1], rate[1]);
    assert_near_n(now[0], now[1], COLUMNS, 1e-12);
    assert_near_n(rate[0], rate[1], COLUMNS, 1e-10);
  }
  tabi_trajectory_destroy(along);
  tabi_trajectory_destroy(kept);
}

/* Many columns, of which every third stands, are what each of them would be alone. */
static void test_many(void **state) {
  (void)state;
  enum { MANY = 101 };
  static double knot[KNOTS * MANY];
  for (int i = 0; i < KNOTS; ++i) {
    for (int j = 0; j < MANY; ++j)
      knot[(ptrdiff_t)MANY * i + j] = j % 3 == 0 ? j : sin(0.1 * j + i);
  }
  tabi_error err = {0};
  const tbi_spline_def def = {KNOTS, MANY, PERIOD, SAMPLE, knot};
  tabi_trajectory *all = tbi_trajectory_along(&def, &err);
  assert_non_null(all);
  for (int j = 0; j < MANY; ++j) {
    double own[KNOTS];
    for (int i = 0; i < KNOTS; ++i)
      own[i] = knot[(ptrdiff_t)MANY * i + j];
    const tbi_spline_def one = {KNOTS, 1, PERIOD, SAMPLE, own};
    tabi_trajectory *alone = tbi_trajectory_along(&one, &err);
    assert_non_null(alone);
    for (int i = -1; i < 45; ++i) {
      double now[MANY];
      double rate[MANY];
      double wanted[2];
      tabi_trajectory_sample(all, 0.0097 * i, now, i % 2 ? rate : NULL);
      tabi_trajectory_sample(alone, 0.0097 * i, &wanted[0], &wanted[1]);
      assert_near(now[j], wanted[0], 1e-15);
      if (i % 2) assert_near(rate[j], wanted[1], 1e-12);
      if (j % 3 == 0) assert_true(now[j] == j);
    }
    tabi_trajectory_destroy(alone);
  }
  tabi_trajectory_destroy(all);
}

static void test_refused(void **state) {
  (void)state;
  tabi_error err = {0};
  assert_null(make(1e-9, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  double knot[KNOTS] = {0, 1, (double)NAN};
  const tbi_spline_def def = {KNOTS, 1, PERIOD, SAMPLE, knot};
  assert_null(tbi_trajectory_along(&def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_many),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
