/* test_trig.c - our sine and cosine against libm's long double ones. */
#include "math/trig.h"

#include "support/near.h"
#include "support/rng.h"

#include <float.h>

#define BATCH 64

/* Distance from the exact value in units of the last place of the result. */
static double ulps(double value, long double exact) {
  double size = fabs((double)exact);
  double ulp = size < DBL_MIN ? 0x1p-1074 : nextafter(size, INFINITY) - size;
  return (double)(fabsl((long double)value - exact) / (long double)ulp);
}

static double worst_ulps(const double *angle, int n) {
  double sine[BATCH], cosine[BATCH], worst = 0.0;
  tbi_sincos(n, angle, sine, cosine);
  for (int i = 0; i < n; ++i) {
    worst = fmax(worst, ulps(sine[i], sinl((long double)angle[i])));
    worst = fmax(worst, ulps(cosine[i], cosl((long double)angle[i])));
  }
  return worst;
}

static double worst_in(double size, int batches) {
  rng r = rng_make((uint64_t)size);
  double angle[BATCH], worst = 0.0;
  for (int k = 0; k < batches; ++k) {
    rng_fill(&r, size, angle, BATCH);
    worst = fmax(worst, worst_ulps(angle, BATCH));
  }
  return worst;
}

static void test_accuracy(void **state) {
  (void)state;
  static const double sizes[] = {1e-8, 1e-3, 0.79, 4.0, 100.0, 1e4, 1e5};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    assert_true(worst_in(sizes[i], 2000) <= 2.0);
}

/* the hardest angles lie beside the multiples of pi/2, where one of the two nearly vanishes */
static void test_near_multiples_of_a_right_angle(void **state) {
  (void)state;
  double worst = 0.0;
  for (int k = -60000; k <= 60000; k += 7) {
    double centre = (double)((long double)k * 1.57079632679489661923132169163975144L);
    double angle[3] = {nextafter(centre, -INFINITY), centre, nextafter(centre, INFINITY)};
    worst = fmax(worst, worst_ulps(angle, 3));
  }
  assert_true(worst <= 2.0);
}

static void test_beyond_the_reduced_range_as_libm(void **state) {
  (void)state;
  static const double angle[] = {1.1e5, -1e8, 1e15, 1e22, -1e300};
  enum { N = sizeof angle / sizeof *angle };
  double sine[N], cosine[N];
  tbi_sincos(N, angle, sine, cosine);
  for (int i = 0; i < N; ++i) {
    assert_true(sine[i] == sin(angle[i]));
    assert_true(cosine[i] == cos(angle[i]));
  }
}

static void test_special_values(void **state) {
  (void)state;
  static const double angle[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, DBL_MIN};
  enum { N = sizeof angle / sizeof *angle };
  double sine[N], cosine[N];
  tbi_sincos(N, angle, sine, cosine);
  assert_true(sine[0] == 0.0 && cosine[0] == 1.0);
  assert_true(sine[1] == 0.0 && cosine[1] == 1.0);
  for (int i = 2; i < 5; ++i)
    assert_true(isnan(sine[i]) && isnan(cosine[i]));
  assert_true(sine[5] == 0x1p-1074 && cosine[5] == 1.0);
  assert_true(sine[6] == DBL_MIN && cosine[6] == 1.0);
}

/* an angle's result must not depend on its neighbours in the batch */
static void test_same_bits_alone_and_in_a_batch(void **state) {
  (void)state;
  rng r = rng_make(7);
  double angle[BATCH], sine[BATCH], cosine[BATCH];
  rng_fill(&r, 1e3, angle, BATCH);
  tbi_sincos(BATCH, angle, sine, cosine);
  for (int i = 0; i < BATCH; ++i) {
    double s, c;
    tbi_sincos(1, &angle[i], &s, &c);
    assert_true(s == sine[i] && c == cosine[i]);
  }
  tbi_sincos(0, angle, sine, cosine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_near_multiples_of_a_right_angle),
      cmocka_unit_test(test_beyond_the_reduced_range_as_libm),
      cmocka_unit_test(test_special_values),
      cmocka_unit_test(test_same_bits_alone_and_in_a_batch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
