/* footsteps.h - a list of steps laid out on the ground and in time.
 *
 *   stand | both  single | both  single | ... | both | stand
 *           step 0         step 1               end
 *
 * In every step the zero-moment point moves to the foot that stays while both stand; then the other
 * one moves.  After the last step it moves to the middle between the feet. */
#ifndef TBI_FOOTSTEPS_H
#define TBI_FOOTSTEPS_H

#include "control/swing.h"
#include "tabi/tabi_control.h"

/* A step at its place. */
typedef struct tbi_stride {
  tabi_side moves;
  tbi_foot_place from, to; /* of the foot that moves */
  tbi_foot_place stands;   /* the other one */
  double start;            /* s, of double support */
  double lift_off, land;   /* s */
  double lift;             /* m */
} tbi_stride;

typedef struct tbi_plan {
  int32_t nstride;
  tbi_stride *stride;
  tbi_foot_place start[2]; /* of both feet */
  double shift;            /* s, of double support after the last step */
  double stopped, end;     /* s: when the zero-moment point has come to rest, and of all */
} tbi_plan;

/* Where everything should be at a time. */
typedef struct tbi_plan_state {
  tbi_foot_place foot[2];
  bool lifted[2];
  double zmp[2]; /* m */
} tbi_plan_state;

typedef struct tbi_plan_def {
  tbi_foot_place middle; /* of the feet at the start */
  double spacing;        /* m, between the middles of the soles */
  double clearance;      /* m, the least distance of the soles' middles sideways */
  const tabi_walk_def *walk;
} tbi_plan_def;

/* Lays the steps out; tbi_plan_free gives the memory back, also after a failure. */
tabi_status tbi_plan_make(tbi_plan *plan, const tbi_plan_def *def, tabi_error *err);
void tbi_plan_free(tbi_plan *plan);

tbi_plan_state tbi_plan_at(const tbi_plan *plan, double time);
/* How much of the weight the left foot carries when the zero-moment point is at a place: all or
 * nothing while the other one is lifted, else by where it is between them. */
double tbi_plan_left_share(const tbi_plan_state *plan, const double zmp[2]);

#endif
