/* pgs.h - projected Gauss-Seidel over single unknowns, for the methods that the papers write row
 * by row.
 *
 * An unknown is the size of an impulse along one direction: on side b as it is, on side a
 * reversed.  With the unit impulse as a wrench at each port, its velocity is
 * wrench_b . V_b - wrench_a . V_a.  Unknowns stand in the order of a sweep, the papers': all
 * normals, then two tangents a point; joint rows are swept in between.  A method says which
 * tangents and which bounds.  The sweeps are the same for all, on ports (pgs.c, linear cost) or on
 * the dense matrix (dense.c, the papers' square cost). */
#ifndef TBI_PGS_H
#define TBI_PGS_H

#include "contact/formulation.h"

/* Side b is always a port; what stands in the world is side a, with wrench and response zero. */
typedef struct tbi_unknown {
  sv wrench_a, wrench_b;     /* of the unit impulse at the ports */
  sv response_a, response_b; /* change of the ports' velocities per unit impulse */
  double w, inverse;   /* change of its own velocity per unit impulse; 1/w, or 0: cannot move */
  double target;       /* the velocity to reach */
  double lower, upper; /* bounds of the impulse, in units of `normal` where there is one */
  double along[2];     /* of a tangent: the direction in the frame of the point */
  int32_t normal;      /* the unknown whose impulse scales the bounds, or TABI_NONE */
  bool disk;           /* `upper` bounds the length of this and the next unknown together */
} tbi_unknown;

typedef struct tbi_pgs {
  int32_t count, nrun;
  int32_t normal_runs; /* the first runs, those of the normals; joint rows are swept after these */
  tbi_unknown *unknown;
  double *impulse; /* of every unknown */
  tbi_group *run;  /* unknowns that follow one another and have the same two ports */
  void *dense;     /* memory of the dense matrix */
  bool persists;   /* goes on beyond def->iterations where velocities still change much */
} tbi_pgs;

/* Memory for any problem of a world, and the list with the normals of one, their impulses as they
 * stand. */
size_t tbi_pgs_memsize(const tabi_model *model, const tabi_world_def *def, tabi_storage storage);
tbi_pgs tbi_pgs_make(const tbi_problem *problem, void *scratch);

/* Two unknowns for friction at the next point (of index i): along (y, z), a unit vector in the
 * frame's second and third axis, and along (-z, y).  Returns both, their bounds at zero. */
tbi_unknown *tbi_pgs_add_tangents(tbi_pgs *pgs, const tbi_problem *problem, int32_t i, double y,
                                  double z);

/* Sweeps until the velocity of no unknown changes by more than def->tolerance (tbi_is_settled), at
 * most def->iterations times, or more if it persists; impulses go back to the points, and ports
 * follow.  Dense storage
 * is for contacts alone: with joint rows or loop constraints the sweeps run on ports. */
tbi_solution tbi_pgs_solve(tbi_pgs *pgs, tbi_problem *problem, const tabi_world_def *def,
                           tabi_storage storage);

/* The ports take up the change of all impulses from what they were: old[count]. */
void tbi_pgs_apply(const tbi_pgs *pgs, tbi_problem *problem, const double *old);

/* The impulse that brings an unknown to its target at this velocity, bounds or not. */
static inline double tbi_pgs_wanted(const tbi_unknown *x, double impulse, double velocity) {
  return impulse - (velocity - x->target) * x->inverse;
}

/* An impulse cut to the bounds of its unknown. */
static inline double tbi_pgs_clamp(const tbi_unknown *x, const double *impulse, double wanted) {
  double unit = x->normal == TABI_NONE ? 1 : impulse[x->normal];
  double lower = x->lower * unit;
  double upper = x->upper * unit;
  return wanted < lower ? lower : wanted > upper ? upper : wanted;
}

/* How much of a pair may stay so that it is inside its disk. */
static inline double tbi_pgs_shrink(const tbi_unknown *x, const double *impulse, const double *f) {
  double max = x->upper * impulse[x->normal];
  double size = sqrt(f[0] * f[0] + f[1] * f[1]);
  return size > max ? max / size : 1;
}

/* The larger of a change so far and that of one unknown. */
static inline double tbi_pgs_max_change(double change, const tbi_unknown *x, double d) {
  double own = fabs(x->w * d);
  return own > change ? own : change;
}

#endif
