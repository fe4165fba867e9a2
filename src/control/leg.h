/* leg.h - a chain of six turning joints between a waist and a foot, and where it must stand to put
 * the foot at a place. */
#ifndef TBI_LEG_H
#define TBI_LEG_H

#include "model/model.h"

enum { TBI_LEG_JOINTS = 6 };

typedef struct tbi_leg {
  int32_t joint[TBI_LEG_JOINTS]; /* of the model, from the waist down */
  int32_t q[TBI_LEG_JOINTS];     /* their positions */
  /* where a joint stands, its axis being z, in the frame that the one before it turns, and the foot
   * in that of the last: */
  tbi_frame place[TBI_LEG_JOINTS], foot;
  bool meets;                                          /* the first three axes meet in a point */
  double lower[TBI_LEG_JOINTS], upper[TBI_LEG_JOINTS]; /* rad */
} tbi_leg;

/* The joints between two links.  The six that turn nearest to the waist are the leg; others, such
 * as rubber in the foot, are taken to stand as in q[nq]. */
tabi_status tbi_leg_find(const tabi_model *model, int32_t waist, int32_t foot, const double *q,
                         tbi_leg *leg, tabi_error *err);

/* The foot in the frame of the waist. */
tbi_frame tbi_leg_forward(const tbi_leg *leg, const double *angle);

/* Angles within the limits that put the foot at a place in the waist's frame, by damped
 * Gauss-Newton from those given, which should be near; false and the best found when the place is
 * missed by more than 1e-10 (m or rad). */
bool tbi_leg_solve(const tbi_leg *leg, const tbi_frame *place, double *angle);
/* The same from many starts: those given, then others within the limits. */
bool tbi_leg_search(const tbi_leg *leg, const tbi_frame *place, double *angle);

#endif
