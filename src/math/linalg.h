/* linalg.h - small dense symmetric systems, row by row, a row being `stride` long. */
#ifndef TBI_LINALG_H
#define TBI_LINALG_H

/* a = L L', lower triangle in place.  The matrix must be positive definite. */
void tbi_cholesky(int n, double *a, int stride);
/* x = a^-1 x with the factor of tbi_cholesky. */
void tbi_cholesky_solve(int n, const double *factor, int stride, double *x);

#endif
