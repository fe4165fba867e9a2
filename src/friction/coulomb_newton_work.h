/* coulomb_newton_work.h - what the stages of coulomb_newton.c share: the vectors, the best
 * impulses so far, and the laws as functions of one contact or row.
 *
 * The stages think in scaled numbers, x = sqrt(w) r and y = u / sqrt(w) with the mobility w of a
 * law.  These keep the cones, and make every own block of W about one, so that the functions below
 * need no further parameter. */
#ifndef TBI_COULOMB_NEWTON_WORK_H
#define TBI_COULOMB_NEWTON_WORK_H

#include "friction/coulomb_newton.h"

#include "math/vec.h"

typedef struct tbi_newton_work {
  const tbi_delassus *w;
  double *root;     /* of the mobility, by law, times a weight */
  double tolerance; /* units of u */
  double enough; /* residual from which only steps of Newton that halve it are worth their time */
  double size;   /* |q| */
  int32_t left;  /* factorisations */
  int32_t used;
  double residual; /* of best */
  double *best;
  double *r, *u;             /* the present iterate */
  double *projected, *speed; /* its projection on the cones, with u */
  double *start;             /* of a stage */
  double *centre;            /* what the interior point found */
  double *origin;            /* of the proximal term */
  double *f, *g, *dr, *trial, *trial_u;
  double *low, *high; /* multipliers of bounds, interior point */
  tbi_law_block *d;
  struct tbi_newton_cone *cone; /* by law, interior point */
} tbi_newton_work;

/* Nesterov and Todd's scaling F of a cone: eta times a boost along w. */
typedef struct tbi_newton_cone {
  double w[3];
  double eta;
} tbi_newton_cone;

/* With memory for tbi_newton_memsize bytes; no impulses are known yet. */
tbi_newton_work tbi_newton_begin(const tbi_delassus *w, double tolerance, int32_t budget,
                                 void *scratch);

/* The projection of z on the cone, or between the bounds, of a law; all scaled. */
void tbi_newton_project(const tbi_law *law, double root, const double *z, double *p);

/* u = W r + q */
void tbi_newton_velocity(const tbi_newton_work *e, const double *r, double *u);

/* Projects r, whose velocity is u, and remembers the projection if it is the best so far; returns
 * its residual. */
double tbi_newton_measure(tbi_newton_work *e, const double *r, const double *u);

/* Whether the best is good enough: within the tolerance, or within `share` times what rounding
 * leaves of it, where further work would only stir errors.  Uses projected, speed, g. */
bool tbi_newton_met(tbi_newton_work *e, double share);

/* One factorisation, if the budget has one left: dr + D W dr = g with e->d and e->g. */
bool tbi_newton_factor(tbi_newton_work *e);

/* Which function of r and u is brought to zero. */
typedef enum tbi_newton_map { TBI_ALART_CURNIER, TBI_NATURAL_MAP } tbi_newton_map;

/* Proximal Newton from e->start, with at most `max` factorisations and the first proximal
 * parameter given; true when the tolerance is met. */
bool tbi_newton_proximal(tbi_newton_work *e, tbi_newton_map map, double proximal, int32_t max);

/* The solution that equal springs under all contacts lead to, from e->start, which does not decide
 * it; true when the tolerance is met, and e->best is it. */
bool tbi_newton_share(tbi_newton_work *e);

/* Puts a well centred solution of the convex problem without De Saxce's shift into e->start. */
void tbi_newton_interior(tbi_newton_work *e);

#endif
