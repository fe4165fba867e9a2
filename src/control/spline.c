/* spline.c - see spline.h.  The second derivatives m solve
 *
 *   m[i-1] + 4 m[i] + m[i+1] = 6 (y[i-1] - 2 y[i] + y[i+1]),   m[0] = m[count-1] = 0,
 *
 * by elimination from the first row to the last and back. */
#include "control/spline.h"

#include "base/assertion.h"

#include <string.h>

void tbi_spline_fit(size_t count, size_t columns, const double *value, double *second,
                    double *scratch) {
  TBI_ASSERT(count >= 1 && value && second && scratch);
  size_t n = columns;
  memset(second, 0, count * n * sizeof *second);
  scratch[0] = 0;
  for (size_t i = 1; i + 1 < count; ++i) {
    const double *y = value + i * n;
    double *m = second + i * n;
    double pivot = 4 - scratch[i - 1];
    scratch[i] = 1 / pivot;
    for (size_t j = 0; j < n; ++j) {
      double bend = 6 * (*(y + j - n) - 2 * y[j] + y[j + n]);
      m[j] = (bend - *(m + j - n)) * scratch[i];
    }
  }
  for (size_t i = count; i-- > 1;) {
    if (i + 1 >= count) continue;
    double *m = second + i * n;
    for (size_t j = 0; j < n; ++j)
      m[j] -= scratch[i] * m[j + n];
  }
}

tbi_blend tbi_spline_blend(size_t count, double at) {
  TBI_ASSERT(count >= 2);
  if (!(at > 0)) return (tbi_blend){0, 1, 0, 0, 0};
  if (at >= (double)(count - 1)) return (tbi_blend){count - 2, 0, 1, 0, 0};
  size_t row = (size_t)at;
  double b = at - (double)row;
  double a = 1 - b;
  return (tbi_blend){row, a, b, (a * a * a - a) / 6, (b * b * b - b) / 6};
}
