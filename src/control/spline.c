/* spline.c - see spline.h.  The second derivatives m solve
 *
 *   m[i-1] + 4 m[i] + m[i+1] = 6 (y[i-1] - 2 y[i] + y[i+1]),   m[0] = m[count-1] = 0,
 *
 * by elimination from the first row to the last and back. */
#include "control/spline.h"

void tbi_spline_fit(size_t count, const double *value, double *second, double *scratch) {
  for (size_t i = 0; i < count; i++)
    second[i] = scratch[i] = 0;
  for (size_t i = 1; i + 1 < count; i++) {
    double bend = 6 * (value[i - 1] - 2 * value[i] + value[i + 1]);
    double pivot = 4 - scratch[i - 1];
    scratch[i] = 1 / pivot;
    second[i] = (bend - second[i - 1]) / pivot;
  }
  for (size_t i = count; i-- > 1;) {
    if (i + 1 < count) second[i] -= scratch[i] * second[i + 1];
  }
}

double tbi_spline_at(size_t count, const double *value, const double *second, double at) {
  if (!(at > 0)) return value[0];
  if (at >= (double)(count - 1)) return value[count - 1];
  size_t i = (size_t)at;
  double b = at - (double)i;
  double a = 1 - b;
  return a * value[i] + b * value[i + 1] +
         ((a * a * a - a) * second[i] + (b * b * b - b) * second[i + 1]) / 6;
}
