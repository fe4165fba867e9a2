/* test_linalg.c - small dense Cholesky factors and solves. */
#include "math/linalg.h"

#include "support/near.h"
#include "support/rng.h"

#define MOST   12
#define STRIDE 13

/* A = B B' + 0.1, positive definite, in rows of a given stride; NaN where nobody may read */
static void make_matrix(rng *r, int n, double A[MOST][STRIDE]) {
  double B[MOST][MOST];
  for (int i = 0; i < n; ++i)
    rng_fill(r, 1.0, B[i], n);
  for (int i = 0; i < MOST; ++i)
    for (int j = 0; j < STRIDE; ++j)
      A[i][j] = NAN;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      A[i][j] = i == j ? 0.1 : 0.0;
      for (int k = 0; k < n; ++k)
        A[i][j] += B[i][k] * B[j][k];
    }
  }
}

static void test_cholesky_solves(void **state) {
  (void)state;
  rng r = rng_make(1);
  for (int n = 1; n <= MOST; ++n) {
    for (int k = 0; k < 50; ++k) {
      double A[MOST][STRIDE], factor[MOST][STRIDE], x[MOST], b[MOST], back[MOST];
      make_matrix(&r, n, A);
      /* only the lower triangle is read */
      for (int i = 0; i < MOST; ++i)
        for (int j = 0; j < STRIDE; ++j)
          factor[i][j] = j <= i ? A[i][j] : (double)NAN;
      rng_fill(&r, 1.0, b, n);
      for (int i = 0; i < n; ++i)
        x[i] = b[i];
      tbi_cholesky(n, factor[0], STRIDE);
      tbi_cholesky_solve(n, factor[0], STRIDE, x);
      for (int i = 0; i < n; ++i) {
        back[i] = 0.0;
        for (int j = 0; j < n; ++j)
          back[i] += A[i][j] * x[j];
      }
      assert_near_n(back, b, (size_t)n, 1e-12);
    }
  }
}

static void test_cholesky_factor(void **state) {
  (void)state;
  double a[4] = {4, 0, 2, 10}, x[2] = {8, 14};
  tbi_cholesky(2, a, 2);
  tbi_cholesky_solve(2, a, 2, x);
  assert_near(x[0], 52.0 / 36, 1e-15);
  assert_near(x[1], 40.0 / 36, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cholesky_solves),
      cmocka_unit_test(test_cholesky_factor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
