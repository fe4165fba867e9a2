/* test_statistics.c - intervals, sensitivity indices and tests against known answers. */
#include "support/near.h"

#include "base/random.h"
#include "study/sampling.h"
#include "study/statistics.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static void test_quantiles(void **state) {
  (void)state;
  assert_near(tbi_normal_quantile(0.975), 1.959963984540054, 1e-13);
  assert_near(tbi_normal_quantile(0.5), 0, 1e-15);
  assert_near(tbi_normal_quantile(1e-10), -6.361340902404056, 1e-10);
  for (int i = 0; i < 77; ++i) {
    double p = 0.001 + 0.013 * i;
    assert_near(0.5 * erfc(-tbi_normal_quantile(p) / sqrt(2)), p, 1e-14);
  }
  /* tables of Student's t */
  assert_near(tbi_student_quantile(0.975, 1), 12.706204736174694, 1e-9);
  assert_near(tbi_student_quantile(0.975, 10), 2.2281388519862735, 1e-11);
  assert_near(tbi_student_quantile(0.95, 3), 2.3533634348018233, 1e-11);
  assert_near(tbi_student_quantile(0.025, 1000), -1.9623390808264078, 1e-10);
  assert_near(tbi_student_share(1, 1), 0.75, 1e-14);
}

/* E. B. Wilson's interval for 5 of 20, computed by hand; ends stay in [0, 1] */
static void test_wilson(void **state) {
  (void)state;
  tabi_interval i = tabi_wilson_interval(5, 20);
  assert_near(i.value, 0.25, 0);
  assert_near(i.low, 0.111861, 1e-6);
  assert_near(i.high, 0.468701, 1e-6);
  assert_near(tabi_wilson_interval(0, 10).low, 0, 0);
  assert_near(tabi_wilson_interval(10, 10).high, 1, 0);
  assert_true(tabi_wilson_interval(0, 10).high > 0.2 && tabi_wilson_interval(10, 10).low < 0.8);
  assert_true(isnan(tabi_wilson_interval(0, 0).value));
}

/* how often 95 % intervals of 500 synthetic studies contain the truth */
static void test_intervals_cover(void **state) {
  (void)state;
  enum { STUDIES = 500, RUNS = 200 };
  static const double truth[] = {0.05, 0.2, 0.5};
  uint64_t random = 7;
  for (int k = 0; k < 3; ++k) {
    int inside = 0;
    int inside_mean = 0;
    for (int study = 0; study < STUDIES; ++study) {
      int64_t hits = 0;
      double value[RUNS];
      for (int i = 0; i < RUNS; ++i) {
        hits += tbi_random_unit(&random) < truth[k];
        value[i] = truth[k] * tbi_normal_quantile(0.5 * 0x1p-53 + tbi_random_unit(&random)) + k;
      }
      tabi_interval p = tabi_wilson_interval(hits, RUNS);
      tabi_interval mean = tabi_mean_interval(value, RUNS);
      inside += p.low <= truth[k] && truth[k] <= p.high;
      inside_mean += mean.low <= k && k <= mean.high;
    }
    assert_in_range(inside, 465, 485);
    assert_in_range(inside_mean, 465, 485);
  }
}

/* -- effects */

/* T. Ishigami and T. Homma (1990): indices in closed form */
static double ishigami(const double u[3]) {
  double x[3];
  for (int k = 0; k < 3; ++k)
    x[k] = PI * (2 * u[k] - 1);
  return sin(x[0]) + 7 * sin(x[1]) * sin(x[1]) + 0.1 * pow(x[2], 4) * sin(x[0]);
}

static void test_indices_of_ishigami(void **state) {
  (void)state;
  enum { BASE = 4096 };
  const double first[3] = {0.3139, 0.4424, 0};
  const double total[3] = {0.5576, 0.4424, 0.2437};
  static const uint64_t seeds[] = {1, 2, 3};
  double *y = calloc((size_t)BASE * 5, sizeof *y);
  for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s) {
    const tbi_design design = {.sampling = TBI_SAMPLING_SALTELLI,
                               .dimension = 3,
                               .runs = (int64_t)BASE * 5,
                               .seed = seeds[s]};
    for (int64_t i = 0; i < design.runs; ++i) {
      double u[3];
      for (int32_t k = 0; k < 3; ++k)
        u[k] = tbi_design_point(&design, i, k);
      y[i] = ishigami(u) + 1000; /* a large mean does not matter */
    }
    for (int32_t k = 0; k < 3; ++k) {
      tbi_sobol_indices indices = tbi_sobol_estimate(y, BASE, 3, k);
      assert_near(indices.first.value, first[k], 0.02);
      assert_near(indices.total.value, total[k], 0.02);
      assert_true(indices.first.low <= first[k] + 0.02 && indices.first.high >= first[k] - 0.02);
      assert_true(indices.first.high - indices.first.low < 0.15);
    }
  }
  free(y);
}

/* y = 3 x0 + x1: shares 0.9 and 0.1; an unrelated parameter explains nothing */
static void test_main_effects(void **state) {
  (void)state;
  enum { RUNS = 4000 };
  static double x[3][RUNS];
  static double y[RUNS];
  int64_t order[RUNS];
  uint64_t random = 5;
  for (int i = 0; i < RUNS; ++i) {
    for (int k = 0; k < 3; ++k)
      x[k][i] = tbi_random_unit(&random);
    y[i] = 3 * x[0][i] + x[1][i];
  }
  assert_near(tbi_main_effect(x[0], y, RUNS, order), 0.9, 0.02);
  assert_near(tbi_main_effect(x[1], y, RUNS, order), 0.1, 0.02);
  assert_near(tbi_main_effect(x[2], y, RUNS, order), 0, 0.01);
  /* two values only */
  for (int i = 0; i < RUNS; ++i) {
    x[0][i] = i % 2;
    y[i] = x[0][i] + 0.5 * x[2][i];
  }
  assert_near(tbi_main_effect(x[0], y, RUNS, order), 0.25 / (0.25 + 0.25 / 12), 0.01);
  for (int i = 0; i < RUNS; ++i)
    y[i] = 1;
  assert_true(isnan(tbi_main_effect(x[0], y, RUNS, order)));
}

/* -- changes */

/* under one distribution p-values are uniform; a shift of half a deviation is found */
static void test_same_distribution(void **state) {
  (void)state;
  enum { STUDIES = 1000, RUNS = 100 };
  uint64_t random = 11;
  int below[2] = {0};
  for (int study = 0; study < STUDIES; ++study) {
    double a[RUNS];
    double b[RUNS];
    double shifted[RUNS];
    for (int i = 0; i < RUNS; ++i) {
      a[i] = tbi_normal_quantile(0.5 * 0x1p-53 + tbi_random_unit(&random));
      b[i] = tbi_normal_quantile(0.5 * 0x1p-53 + tbi_random_unit(&random));
      shifted[i] = b[i] + 0.7;
    }
    double copy[RUNS];
    for (int i = 0; i < RUNS; ++i)
      copy[i] = a[i];
    below[0] += tbi_same_distribution(a, RUNS, b, RUNS) < 0.05;
    below[1] += tbi_same_distribution(copy, RUNS, shifted, RUNS) < 0.05;
  }
  assert_in_range(below[0], 25, 70);
  assert_true(below[1] > 950);
}

/* R. A. Fisher's tea: three of four cups right by chance, 0.486 two-sided */
static void test_same_probability(void **state) {
  (void)state;
  assert_near(tbi_same_probability(3, 4, 1, 4), 34.0 / 70, 1e-12);
  assert_near(tbi_same_probability(5, 10, 5, 10), 1, 1e-12);
  assert_near(tbi_same_probability(0, 100, 0, 50), 1, 1e-12);
  assert_true(tbi_same_probability(10, 1000, 60, 1000) < 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles),        cmocka_unit_test(test_wilson),
      cmocka_unit_test(test_intervals_cover),  cmocka_unit_test(test_indices_of_ishigami),
      cmocka_unit_test(test_main_effects),     cmocka_unit_test(test_same_distribution),
      cmocka_unit_test(test_same_probability),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
