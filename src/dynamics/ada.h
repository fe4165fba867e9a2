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
  double lambda[6][6], bias[6];
  /* the parent's chain before this one was joined: acceleration at this body's point by each unit
   * force at the parent's point, and by none */
  double above_lambda[6][6], above_bias[6];
  double drift[6];
  double w[6][6];            /* joint force per relative acceleration: the paper's W */
  double t[TBI_ADA_DOFS][6]; /* joint force per joint torque */
  double qdd0[TBI_ADA_DOFS]; /* acceleration by the joint torque alone */
  double force0[6];          /* joint force by the joint torque alone */
  double outer[6];           /* disassembly: force on the body from joints joined later */
} tbi_ada_body;

#endif
