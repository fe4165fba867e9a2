/* footsteps.h - a list of steps laid out on the ground and in time.
 *
 *   stand | both  single | both  single | ... | both | stand
 *           step 0         step 1               end
 *
 * In double support of every step the desired ZMP moves to the stance foot; in single support the
 * swing foot moves.  After the last step the ZMP moves to the middle between the feet. */
#ifndef TBI_FOOTSTEPS_H
#define TBI_FOOTSTEPS_H

#include "control/swing.h"
#include "tabi/tabi_control.h"

/* A step at its place. */
typedef struct tbi_stride {
  tabi_side swing;         /* foot */
  tbi_foot_place from, to; /* of the swing foot */
  tbi_foot_place stance;   /* of the stance foot */
  double start;            /* s, of double support */
  double lift_off, land;   /* s */
  double lift;             /* m */
} tbi_stride;

typedef struct tbi_plan {
  int32_t nstride;
  tbi_stride *stride;
  tbi_foot_place initial[2]; /* of both feet */
  double shift;              /* s, of double support after the last step */
  double stopped, end;       /* s: when the desired ZMP has come to rest; when the plan ends */
} tbi_plan;

/* The plan at a time. */
typedef struct tbi_plan_state {
  tbi_foot_place foot[2];
  bool lifted[2];
  double zmp[2]; /* m, desired ZMP */
} tbi_plan_state;

typedef struct tbi_plan_def {
  tbi_foot_place middle; /* of the feet at the start */
  double spacing;        /* m, between the middles of the soles */
  double clearance;      /* m, minimum lateral distance of the middles of the soles */
  const tabi_walk_def *walk;
} tbi_plan_def;

/* Lays the steps out; tbi_plan_free gives the memory back, also after a failure. */
tabi_status tbi_plan_make(tbi_plan *plan, const tbi_plan_def *def, tabi_error *err);
void tbi_plan_free(tbi_plan *plan);

tbi_plan_state tbi_plan_at(const tbi_plan *plan, double time);
/* Share of the weight on the left foot for a ZMP: 1 or 0 in single support, in double support by
 * its position between the feet. */
double tbi_plan_left_share(const tbi_plan_state *plan, const double zmp[2]);

#endif
