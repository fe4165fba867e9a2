/* leg.h - inverse kinematics of a leg: a chain of six hinges between waist and foot. */
#ifndef TBI_LEG_H
#define TBI_LEG_H

#include "model/model.h"

enum { TBI_LEG_JOINTS = 6 };

typedef struct tbi_leg {
  int32_t joint[TBI_LEG_JOINTS]; /* of the model, from the waist down */
  int32_t q[TBI_LEG_JOINTS];     /* their positions */
  /* frames of the joints, with z the axis, each in the frame behind the joint before it; and of the
   * foot behind the last joint: */
  tbi_frame place[TBI_LEG_JOINTS], foot;
  bool meets;                                          /* the first three axes meet in a point */
  double lower[TBI_LEG_JOINTS], upper[TBI_LEG_JOINTS]; /* rad */
} tbi_leg;

/* The joints between two links.  The six hinges nearest to the waist are the leg; others, such as
 * rubber in the foot, are fixed as in q[nq]. */
tabi_status tbi_leg_find(const tabi_model *model, int32_t waist, int32_t foot, const double *q,
                         tbi_leg *leg, tabi_error *err);

/* The foot in the frame of the waist. */
tbi_frame tbi_leg_forward(const tbi_leg *leg, const double *angle);

/* Angles within the limits that put the foot at a place in the waist's frame, by damped
 * Gauss-Newton from those given, which should be near; false and the best found if the error
 * is above 1e-10 (m or rad). */
bool tbi_leg_solve(const tbi_leg *leg, const tbi_frame *place, double *angle);
/* The same from many starts: those given, then others within the limits. */
bool tbi_leg_search(const tbi_leg *leg, const tbi_frame *place, double *angle);

#endif
