/* spline.h - a curve through points at equal distances, twice differentiable. */
#ifndef TBI_SPLINE_H
#define TBI_SPLINE_H

#include <stddef.h>

/* The second derivatives of the natural cubic spline through value[count], in units of the
 * distance; scratch[count]. */
void tbi_spline_fit(size_t count, const double *value, double *second, double *scratch);

/* Its value `at` distances after the first point, held outside. */
double tbi_spline_at(size_t count, const double *value, const double *second, double at);

#endif
