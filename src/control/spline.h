/* spline.h - natural cubic splines through equidistant points, many columns at once. */
#ifndef TBI_SPLINE_H
#define TBI_SPLINE_H

#include <stddef.h>

/* The second derivatives of the natural cubic splines through value[count x columns], in units of
 * the distance; scratch[count]. */
void tbi_spline_fit(size_t count, size_t columns, const double *value, double *second,
                    double *scratch);

/* A point of the splines: what it takes of two rows of values and of second derivatives. */
typedef struct tbi_blend {
  size_t row;
  double here, next, bend_here, bend_next;
} tbi_blend;

/* That `at` distances after the first of count >= 2 rows, held outside. */
tbi_blend tbi_spline_blend(size_t count, double at);

/* One column there, from its first numbers. */
static inline double tbi_spline_value(const tbi_blend *blend, size_t columns, const double *value,
                                      const double *second) {
  size_t i = blend->row * columns;
  return blend->here * value[i] + blend->next * value[i + columns] +
         (blend->bend_here * second[i] + blend->bend_next * second[i + columns]);
}

#endif
