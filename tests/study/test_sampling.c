/* test_sampling.c - points of the unit cube: known sequences, layers, groups. */
#include "support/near.h"

#include "study/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* first points of the sequence without a shift, as published with the direction numbers */
static void test_sobol_begins_as_published(void **state) {
  (void)state;
  static const double point[8][3] = {
      {0,     0,     0    },
      {0.5,   0.5,   0.5  },
      {0.75,  0.25,  0.25 },
      {0.25,  0.75,  0.75 },
      {0.375, 0.375, 0.625},
      {0.875, 0.875, 0.125},
      {0.625, 0.125, 0.875},
      {0.125, 0.625, 0.375},
  };
  for (uint32_t i = 0; i < 8; ++i) {
    for (int32_t k = 0; k < 3; ++k)
      assert_near(tbi_sobol(i, k) * 0x1p-32, point[i][k], 0);
  }
}

/* each of 2^n first points of a coordinate is alone in its interval of length 2^-n */
static void test_sobol_coordinates_are_even(void **state) {
  (void)state;
  for (int32_t k = 0; k < TBI_SOBOL_DIMENSIONS; ++k) {
    bool seen[1024] = {false};
    for (uint32_t i = 0; i < 1024; ++i) {
      uint32_t cell = tbi_sobol(i, k) >> 22;
      assert_false(seen[cell]);
      seen[cell] = true;
    }
  }
}

/* the integral of a smooth product over 8 coordinates: 4096 points miss it by less than 0.1 %,
 * random ones by a hundredth */
static void test_sobol_integrates(void **state) {
  (void)state;
  const tbi_design design = {
      .sampling = TBI_SAMPLING_SOBOL, .dimension = 8, .runs = 4096, .seed = 3};
  double sum = 0;
  for (int64_t i = 0; i < design.runs; ++i) {
    double product = 1;
    for (int32_t k = 0; k < 8; ++k)
      product *= 1 + (tbi_design_point(&design, i, k) - 0.5) / (k + 1);
    sum += product;
  }
  assert_near(sum / (double)design.runs, 1, 1e-3);
}

static void test_latin_has_one_run_in_each_layer(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 7, 100, 1023};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    const tbi_design design = {
        .sampling = TBI_SAMPLING_LATIN, .dimension = 3, .runs = counts[c], .seed = c};
    for (int32_t k = 0; k < 3; ++k) {
      bool *seen = calloc((size_t)counts[c], sizeof *seen);
      for (int64_t i = 0; i < counts[c]; ++i) {
        double u = tbi_design_point(&design, i, k);
        assert_true(u > 0 && u < 1);
        int64_t layer = (int64_t)(u * (double)counts[c]);
        assert_false(seen[layer]);
        seen[layer] = true;
      }
      free(seen);
    }
  }
}

/* mean, variance and correlation of coordinates, within five standard errors */
static void test_random_is_uniform_and_independent(void **state) {
  (void)state;
  const tbi_design design = {
      .sampling = TBI_SAMPLING_RANDOM, .dimension = 2, .runs = 100000, .seed = 9};
  double n = (double)design.runs;
  double sum[2] = {0};
  double square[2] = {0};
  double product = 0;
  for (int64_t i = 0; i < design.runs; ++i) {
    double u[2] = {tbi_design_point(&design, i, 0), tbi_design_point(&design, i, 1)};
    for (int k = 0; k < 2; ++k) {
      sum[k] += u[k];
      square[k] += (u[k] - 0.5) * (u[k] - 0.5);
    }
    product += (u[0] - 0.5) * (u[1] - 0.5);
  }
  for (int k = 0; k < 2; ++k) {
    assert_near(sum[k] / n, 0.5, 5 * sqrt(1 / 12.0 / n));
    assert_near(square[k] / n, 1 / 12.0, 5 * sqrt(1 / 180.0 / n));
  }
  assert_near(product / n, 0, 5 / 12.0 / sqrt(n));
}

static void test_grid_has_all_combinations(void **state) {
  (void)state;
  const int32_t levels[3] = {3, 2, 4};
  const tbi_design design = {
      .sampling = TBI_SAMPLING_GRID, .dimension = 3, .runs = 24, .levels = levels};
  bool seen[24] = {false};
  for (int64_t i = 0; i < 24; ++i) {
    int32_t place = 0;
    for (int32_t k = 0; k < 3; ++k)
      place = place * levels[k] + (int32_t)(tbi_design_point(&design, i, k) * levels[k]);
    assert_int_equal(place, i);
    seen[place] = true;
  }
  assert_true(seen[23]);
}

/* in a group, run 2 + k has coordinate k of B and the others of A */
static void test_saltelli_mixes_two_points(void **state) {
  (void)state;
  const tbi_design design = {
      .sampling = TBI_SAMPLING_SALTELLI, .dimension = 4, .runs = 300, .seed = 2};
  for (int64_t group = 0; group < 50; ++group) {
    for (int32_t k = 0; k < 4; ++k) {
      double a = tbi_design_point(&design, 6 * group, k);
      double b = tbi_design_point(&design, 6 * group + 1, k);
      assert_true(a != b);
      for (int32_t mixed = 0; mixed < 4; ++mixed) {
        double u = tbi_design_point(&design, 6 * group + 2 + mixed, k);
        assert_near(u, mixed == k ? b : a, 0);
      }
    }
  }
}

static void test_seeds_differ(void **state) {
  (void)state;
  for (int32_t s = 0; s < TBI_SAMPLING_COUNT; ++s) {
    if (s == TBI_SAMPLING_GRID) continue;
    const tbi_design one = {.sampling = (tbi_sampling)s, .dimension = 2, .runs = 40, .seed = 1};
    tbi_design two = one;
    two.seed = 2;
    int same = 0;
    for (int64_t i = 0; i < 40; ++i)
      same += tbi_design_point(&one, i, 1) == tbi_design_point(&two, i, 1);
    assert_int_equal(same, 0);
    assert_non_null(tbi_sampling_name(s));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sobol_begins_as_published),
      cmocka_unit_test(test_sobol_coordinates_are_even),
      cmocka_unit_test(test_sobol_integrates),
      cmocka_unit_test(test_latin_has_one_run_in_each_layer),
      cmocka_unit_test(test_random_is_uniform_and_independent),
      cmocka_unit_test(test_grid_has_all_combinations),
      cmocka_unit_test(test_saltelli_mixes_two_points),
      cmocka_unit_test(test_seeds_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
