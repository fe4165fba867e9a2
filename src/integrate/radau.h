/* radau.h - stiff equations y' = f(t, y): the collocation method of Radau with three stages, of
 * order 5, L-stable, with its polynomial as dense output.
 *
 *   start    where a step begins: rate and Jacobian there
 *   try      a step of some length from there; may be tried again with another
 *   at       the solution inside the last step tried
 *
 * A step depends on its start alone, so that equal starts give equal bits.  Memory is placed
 * once, for the largest system; nothing is allocated. */
#ifndef TBI_RADAU_H
#define TBI_RADAU_H

#include "base/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* rate = f(t, y) */
typedef void tbi_rate_fn(void *user, double t, const double *y, double *rate);
/* df/dy, row by row */
typedef void tbi_rate_jacobian_fn(void *user, double t, const double *y, double *jacobian);

typedef struct tbi_ode {
  int32_t n;
  tbi_rate_fn *rate;
  tbi_rate_jacobian_fn *jacobian; /* NULL: by differences */
  void *user;
} tbi_ode;

/* What counts as small in y[i]: absolute + relative |y[i]|. */
typedef struct tbi_tolerance {
  double absolute, relative;
} tbi_tolerance;

typedef struct tbi_radau {
  tbi_ode ode;
  tbi_tolerance tolerance;
  double t, h;     /* the last step tried: from t to t + h */
  double error;    /* its estimated local error, 1 being the tolerance */
  double *y;       /* [n] at t */
  double *rate;    /* [n] at t */
  double *stage;   /* [3 x n] y - y(t) at the stages, the last being the end of the step */
  double *divided; /* [3 x n] divided differences of the polynomial through them */
  double *jacobian, *real_lu, *pair_lu; /* [n x n], [n x n], [2n x 2n] */
  int32_t *real_pivot, *pair_pivot;     /* [n], [2n] */
  double *newton, *change;              /* [3 x n] right hand side, change of the stages */
  double *probe, *probe_rate;           /* [n] */
} tbi_radau;

/* The stages' places in the step. */
extern const double tbi_radau_node[3];

/* Takes memory for systems of up to n_max equations. */
void tbi_radau_place(tbi_radau *r, tbi_layout *layout, int32_t n_max);
void tbi_radau_start(tbi_radau *r, const tbi_ode *ode, tbi_tolerance tolerance, double t,
                     const double *y);
/* False: no solution found; a shorter step may have one. */
bool tbi_radau_try(tbi_radau *r, double h);
/* y at t + share h, 0 <= share <= 1; of order 3 inside, of order 5 at the end. */
void tbi_radau_at(const tbi_radau *r, double share, double *y);
/* The length that the error of the last step tried suggests. */
double tbi_radau_suggest(const tbi_radau *r);

#endif
