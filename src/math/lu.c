/* lu.c - Gaussian elimination with exchange of rows. */
#include "math/lu.h"

#include "base/assertion.h"

#include <math.h>

static void swap_rows(ptrdiff_t n, double *a, double *b) {
  for (ptrdiff_t k = 0; k < n; ++k) {
    double keep = a[k];
    a[k] = b[k];
    b[k] = keep;
  }
}

bool tbi_lu_factor(ptrdiff_t n, double *a, int32_t *pivot) {
  TBI_ASSERT(n >= 0 && n <= INT32_MAX);
  for (ptrdiff_t j = 0; j < n; ++j) {
    ptrdiff_t best = j;
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      if (fabs(a[i * n + j]) > fabs(a[best * n + j])) best = i;
    }
    pivot[j] = (int32_t)best;
    if (!(fabs(a[best * n + j]) > 0) || !isfinite(a[best * n + j])) return false;
    if (best != j) swap_rows(n, a + j * n, a + best * n);
    const double *top = a + j * n;
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      double *row = a + i * n;
      row[j] /= top[j];
      if (row[j] == 0) continue;
      for (ptrdiff_t k = j + 1; k < n; ++k)
        row[k] -= row[j] * top[k];
    }
  }
  return true;
}

void tbi_lu_solve(ptrdiff_t n, const double *lu, const int32_t *pivot, double *x) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    TBI_CHECK_SLOW(pivot[i] >= i && pivot[i] < n); /* rows are exchanged with later ones */
    swap_rows(1, x + i, x + pivot[i]);
  }
  for (ptrdiff_t i = 1; i < n; ++i) {
    for (ptrdiff_t k = 0; k < i; ++k)
      x[i] -= lu[i * n + k] * x[k];
  }
  for (ptrdiff_t i = n - 1; i >= 0; --i) {
    for (ptrdiff_t k = i + 1; k < n; ++k)
      x[i] -= lu[i * n + k] * x[k];
    x[i] /= lu[i * n + i];
  }
}

bool tbi_lu_solve_once(ptrdiff_t n, double *a, double *x) {
  TBI_ASSERT(n >= 0 && n <= INT32_MAX);
  ptrdiff_t width = tbi_lu_width(n);
  for (ptrdiff_t j = 0; j < n; ++j) {
    ptrdiff_t best = j;
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      if (fabs(a[i * width + j]) > fabs(a[best * width + j])) best = i;
    }
    double *top = a + j * width;
    if (best != j) swap_rows(width, top, a + best * width);
    if (!(fabs(top[j]) > 0) || !isfinite(top[j])) return false;
    double inverse = 1 / top[j];
    for (ptrdiff_t i = j + 1; i < n; ++i) {
      double *row = a + i * width;
      /* from the eight numbers on in which the next column is; what is before it is used up */
      ptrdiff_t first = (j + 1) / TBI_PADDING * TBI_PADDING;
      if (row[j] != 0) tbi_padded_axpy(-inverse * row[j], top + first, row + first, width - first);
    }
  }
  for (ptrdiff_t i = n - 1; i >= 0; --i) {
    x[i] = a[i * width + n] / a[i * width + i];
    for (ptrdiff_t k = 0; k < i; ++k)
      a[k * width + n] -= a[k * width + i] * x[i];
  }
  return true;
}
