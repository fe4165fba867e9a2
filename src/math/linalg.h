/* linalg.h - dot products, and small dense symmetric systems, row by row, a row being `stride`
 * long. Inline, so that a size known where they are called makes straight code. */
#ifndef TBI_LINALG_H
#define TBI_LINALG_H

#include <math.h>
#include <stddef.h>

/* Summed from the first to the last: the order is part of every result. */
static inline double tbi_dot(const double *a, const double *b, ptrdiff_t n) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

/* a = L L', lower triangle in place, the diagonal as its reciprocal.  The matrix must be positive
 * definite. */
static inline void tbi_cholesky(ptrdiff_t n, double *a, ptrdiff_t stride) {
  for (ptrdiff_t j = 0; j < n; ++j) {
    double *row = a + j * stride;
    double pivot = row[j];
    for (ptrdiff_t k = 0; k < j; ++k)
      pivot -= row[k] * row[k];
    row[j] = 1 / sqrt(pivot);
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      double *below = a + i * stride;
      double sum = below[j];
      for (ptrdiff_t k = 0; k < j; ++k)
        sum -= below[k] * row[k];
      below[j] = sum * row[j];
    }
  }
}

/* x = a^-1 x with the factor of tbi_cholesky. */
static inline void tbi_cholesky_solve(ptrdiff_t n, const double *factor, ptrdiff_t stride,
                                      double *x) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const double *row = factor + i * stride;
    double sum = x[i];
    for (ptrdiff_t k = 0; k < i; ++k)
      sum -= row[k] * x[k];
    x[i] = sum * row[i];
  }
  for (ptrdiff_t i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (ptrdiff_t k = i + 1; k < n; ++k)
      sum -= factor[k * stride + i] * x[k];
    x[i] = sum * factor[i * stride + i];
  }
}

#endif
