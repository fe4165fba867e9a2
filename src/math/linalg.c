#include "math/linalg.h"

#include <math.h>

void tbi_cholesky(int n, double *a, int stride) {
  for (int j = 0; j < n; ++j) {
    double *row = a + j * stride;
    for (int k = 0; k < j; ++k)
      row[j] -= row[k] * row[k];
    row[j] = sqrt(row[j]);
    for (int i = j + 1; i < n; ++i) {
      double *below = a + i * stride;
      for (int k = 0; k < j; ++k)
        below[j] -= below[k] * row[k];
      below[j] /= row[j];
    }
  }
}

void tbi_cholesky_solve(int n, const double *factor, int stride, double *x) {
  for (int i = 0; i < n; ++i) {
    const double *row = factor + i * stride;
    for (int k = 0; k < i; ++k)
      x[i] -= row[k] * x[k];
    x[i] /= row[i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      x[i] -= factor[k * stride + i] * x[k];
    x[i] /= factor[i * stride + i];
  }
}
