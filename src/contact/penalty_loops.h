/* penalty_loops.h - joints that close loops in the assembly of penalty-paper. */
#ifndef TBI_PENALTY_LOOPS_H
#define TBI_PENALTY_LOOPS_H

#include "base/layout.h"
#include "dynamics/ada.h"
#include "math/pseudo.h"
#include "problem/loops.h"
#include "problem/problem.h"

/* With more, the products of all with all would cost more than the links. */
enum { TBI_PENALTY_MAX_LOOPS = 48 };

typedef struct tbi_penalty_loops {
  const tbi_loops *loops; /* given; their rank and the results of each are filled */
  tabi_dynamics *d;
  tbi_pseudo pseudo; /* of Gamma */
  double *room;      /* for it */
  double *gamma;     /* change of each one's rate per impulse of each: [loops x loops] */
  double *column;    /* velocities per impulse: [loops x nv] */
  sv *twist;         /* of bodies, likewise, at their trees' origins: [loops x nbody] */
  double *impulse;   /* [loops] */
  double *x, *rate;  /* scratch: [loops], [3 x loops] */
} tbi_penalty_loops;

void tbi_penalty_loops_place(tbi_layout *at, const tabi_model *model, tbi_penalty_loops *l);
/* Columns and Gamma, from what tbi_ada_assemble left; uses up the forces of its bodies. */
void tbi_penalty_loops_make(tbi_penalty_loops *l);
/* Adds to a change of velocity what closes the loops; their impulses. */
void tbi_penalty_loops_close(tbi_penalty_loops *l, double *change);

/* Loops answer to what comes after them, a contact or the row of a joint, too: what they take of
 * its response, what they have added to its velocity since they were closed, and that an impulse
 * has been given. */
void tbi_penalty_loops_brace_point(tbi_penalty_loops *l, const tbi_problem *p, tbi_point *c);
v3 tbi_penalty_loops_point_velocity(const tbi_penalty_loops *l, const tbi_problem *p,
                                    const tbi_point *c);
void tbi_penalty_loops_push_point(tbi_penalty_loops *l, const tbi_problem *p, const tbi_point *c);
double tbi_penalty_loops_brace_row(tbi_penalty_loops *l, int32_t dof, double response);
double tbi_penalty_loops_row_velocity(const tbi_penalty_loops *l, int32_t dof);
void tbi_penalty_loops_push_row(tbi_penalty_loops *l, int32_t dof, double impulse);

#endif
