/* walk.h - a planned walk, as the stabiliser sees it. */
#ifndef TBI_WALK_H
#define TBI_WALK_H

#include "control/footsteps.h"
#include "control/walker.h"

/* Columns of tabi_walk.reference. */
enum {
  TBI_REF_COM = 0,         /* 3: position of the CoM */
  TBI_REF_COM_RATE = 3,    /* 3 */
  TBI_REF_WAIST = 6,       /* 3, and its yaw */
  TBI_REF_MOTION_ZMP = 10, /* 2: ZMP of the whole-body motion */
  TBI_REF_COLUMNS = 12,
};

struct tabi_walk {
  const tabi_model *model;
  tbi_walker walker;
  tbi_plan plan;
  double *initial_q;          /* [nq] */
  double com_height;          /* m, of the CoM over the ground when standing */
  double gravity;             /* m/s^2 */
  tabi_trajectory *joints;    /* a column for each joint of the model */
  tabi_trajectory *torque;    /* likewise */
  tabi_trajectory *reference; /* TBI_REF_COLUMNS */
};

#endif
