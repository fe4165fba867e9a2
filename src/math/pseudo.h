/* pseudo.h - symmetric systems that may be singular, by a rank-revealing factor.
 *
 * A = L L' by Cholesky with pivoting, L having as many columns as A has rank.  The solution of
 * least norm is  x = L (L'L)^-2 L' b, which where b does not fit is that of least squares; or, with
 * the equations of the pivots alone (L_p of L, b_p of b),  x = L (L'L)^-1 L_p^-1 b_p. */
#ifndef TBI_PSEUDO_H
#define TBI_PSEUDO_H

#include <stddef.h>
#include <stdint.h>

typedef struct tbi_pseudo {
  int32_t n, rank;
  int32_t *pivot; /* [rank] */
  double *l;      /* [n x n], row by row, the first `rank` of each row used */
  double *column; /* [n x n], the same column by column: loops run along either */
  double *normal; /* factor of L'L: [n x n] */
  double *left;   /* scratch: what is left of the diagonal: [n] */
  double *y;      /* scratch: [n] */
} tbi_pseudo;

/* Room for systems of n unknowns, in doubles. */
static inline size_t tbi_pseudo_room(int64_t n) { return (size_t)(3 * n * n + 3 * n); }
tbi_pseudo tbi_pseudo_make(int32_t n, double *room);
/* a is n x n, row by row; a pivot below `share` of its own diagonal counts as zero.  The first
 * `first` unknowns become pivots before any other. */
void tbi_pseudo_factor(tbi_pseudo *p, const double *a, int32_t first, double share);
/* x = A^+ x. */
void tbi_pseudo_solve(tbi_pseudo *p, double *x);
/* The same with the equations of the pivots alone. */
void tbi_pseudo_solve_pivots(tbi_pseudo *p, double *x);

#endif
