/* handles.h - forces on the links of assembled trees and torques at their joints, one after
 * another, each of which sees what those before have done. */
#ifndef TBI_HANDLES_H
#define TBI_HANDLES_H

#include "base/layout.h"
#include "dynamics/ada.h"

/* A body with mass.  Motions and forces are taken at its own point. */
typedef struct tbi_handle {
  double lambda[6][6];                  /* motion of the body in its tree per force on it */
  double axis[TBI_ADA_DOFS][6];         /* R, free directions of the joint above */
  double held[TBI_ADA_DOFS][6];         /* its force per torque, the parent being held */
  double z[TBI_ADA_DOFS][TBI_ADA_DOFS]; /* factor of its torque per velocity, likewise */
  double motion[6];                     /* right where the tree's `current` is */
  double untold[6];                     /* force on it, or passed to it, not yet to its parent */
  double above[6];                      /* the parent's motion that `motion` and x are due to */
  double x[TBI_ADA_DOFS];               /* velocities of the joint; right if nothing is untold */
  int32_t next;                         /* towards the end of the path that is walked */
} tbi_handle;

typedef struct tbi_handles {
  const tabi_dynamics *d;
  tbi_handle *handle;     /* [nbody] */
  int32_t *current;       /* by tree: [ntree] */
  int32_t *owner, *place; /* of a velocity: the body below its joint, and which it is there: [nv] */
} tbi_handles;

void tbi_handles_place(tbi_layout *at, const tabi_model *model, tbi_handles *handles);
/* From what tbi_ada_assemble left, with the same diagonal. */
void tbi_handles_make(tbi_handles *handles, const tabi_dynamics *d, const double *diagonal);
/* The motions that belong to velocities v of the joints. */
void tbi_handles_start(tbi_handles *handles, const double *v);

/* Brings the motion of a body up to date, along the path from its tree's current body. */
const double *tbi_handles_reach(tbi_handles *handles, int32_t body);
/* A force on a body that was reached last in its tree. */
void tbi_handles_push(tbi_handles *handles, int32_t body, const double force[6]);
/* The motion of a body by a force on another, or the same, of its tree. */
void tbi_handles_response(const tbi_handles *handles, int32_t on, const double force[6], int32_t of,
                          double motion[6]);

/* Likewise for the velocity of a joint: it is up to date, changes so much per torque, and is
 * given a torque. */
double tbi_handles_reach_joint(tbi_handles *handles, int32_t dof);
double tbi_handles_joint_response(const tbi_handles *handles, int32_t dof);
void tbi_handles_turn(tbi_handles *handles, int32_t dof, double torque);

#endif
