/* lu.h - square systems without structure, n x n, row by row. */
#ifndef TBI_LU_H
#define TBI_LU_H

#include "math/padded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LU in place, with exchange of rows as pivot[n] tells; false: singular. */
bool tbi_lu_factor(ptrdiff_t n, double *a, int32_t *pivot);
/* x = a^-1 x with the factor. */
void tbi_lu_solve(ptrdiff_t n, const double *lu, const int32_t *pivot, double *x);
/* x = a^-1 b once: rows of a with b behind them, filled up with zeros to tbi_lu_width(n) numbers,
 * which are lost; false: singular. */
static inline ptrdiff_t tbi_lu_width(ptrdiff_t n) { return (ptrdiff_t)tbi_padded_size(n + 1); }
bool tbi_lu_solve_once(ptrdiff_t n, double *a, double *x);

#endif
