/* ada.h - what assembly leaves for disassembly, per body. */
#ifndef TBI_ADA_H
#define TBI_ADA_H

#include "dynamics/dynamics.h"

#define TBI_ADA_DOFS 12 /* velocities of one joint, massless links in between counted in */

/* A chain is a body with all that has been assembled to it.  Under a force on its
 * handle its acceleration is  a = bias + lambda f, both taken at the body's own point. */
typedef struct tbi_ada_body {
  int32_t parent; /* the next body with mass towards the root, or TABI_WORLD */
  int32_t ndof, dof[TBI_ADA_DOFS];
  v4 at;  /* the point: the body's origin, from the tree's origin */
  v4 arm; /* to it from the parent's point */
  /* by tbi_ada_assemble */
  double own[6][6], lambda[6][6]; /* of the body alone, and of its chain */
  /* the parent's chain before this one was joined: acceleration at this body's point by each unit
   * force at the parent's point */
  double above_lambda[6][6];
  double w[6][6];                       /* joint force per relative acceleration: the paper's W */
  double t[TBI_ADA_DOFS][6];            /* joint force per joint torque */
  double z[TBI_ADA_DOFS][TBI_ADA_DOFS]; /* factor of Z */
  /* given to tbi_ada_solve */
  double force[6]; /* on the body, beside those of its joints */
  double drift[6]; /* acceleration that the joint adds at zero qdd */
  /* by tbi_ada_solve */
  double bias[6], above_bias[6]; /* acceleration without a force on the handle */
  double qdd0[TBI_ADA_DOFS];     /* acceleration by the joint torque alone */
  double force0[6];              /* joint force by the joint torque alone */
  double outer[6];               /* disassembly: force on the body from joints joined later */
} tbi_ada_body;

static inline void tbi_sv_store(sv x, double to[6]) {
  v3_store(v4_to(x.lin), to);
  v3_store(v4_to(x.ang), to + 3);
}
static inline sv tbi_sv_load(const double x[6]) {
  return (sv){v4_from(v3_load(x)), v4_from(v3_load(x + 3))};
}
/* a motion taken at a point that is off by arm */
static inline sv tbi_seen_from(sv motion, v4 arm) { return (sv){sv_at(motion, arm), motion.ang}; }

/* Inverse of a symmetric positive definite matrix, which its factor replaces. */
void tbi_invert6(double a[6][6], double inverse[6][6]);

/* Joins all bodies: lambda, w, t and z, with diagonal[nv] at the joints and loads beside the bodies
 * (NULL: none). */
void tbi_ada_assemble(tabi_dynamics *d, const double *diagonal, const tbi_body_load *beside);
/* Acceleration under torques tau (NULL: none) and the `force` and `drift` of all bodies. */
void tbi_ada_solve(tabi_dynamics *d, const double *tau, double *qdd);

#endif
