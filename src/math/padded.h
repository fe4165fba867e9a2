/* padded.h - vectors that zeros fill up to a multiple of eight numbers.
 *
 * Loops take eight numbers at a time: a single sum would wait for each of its additions. */
#ifndef TBI_PADDED_H
#define TBI_PADDED_H

#include <stdint.h>

enum { TBI_PADDING = 8 };

static inline int64_t tbi_padded_size(int64_t count) {
  return (count + TBI_PADDING - 1) / TBI_PADDING * TBI_PADDING;
}

static inline double tbi_padded_dot(const double *restrict x, const double *restrict y,
                                    int64_t size) {
  double sum[TBI_PADDING] = {0};
  for (int64_t i = 0; i < size; i += TBI_PADDING)
    for (int64_t k = 0; k < TBI_PADDING; ++k)
      sum[k] += x[i + k] * y[i + k];
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* y += a x */
static inline void tbi_padded_axpy(double a, const double *restrict x, double *restrict y,
                                   int64_t size) {
  for (int64_t i = 0; i < size; i += TBI_PADDING)
    for (int64_t k = i; k < i + TBI_PADDING; ++k)
      y[k] += a * x[k];
}

#endif
