/* swing.c - see swing.h.  All parts move along cycloids, which start and end at rest and without a
 * jump of the acceleration. */
#include "control/swing.h"

#include "base/assertion.h"

#define PI           3.14159265358979323846
#define SETTLED_FROM 0.9 /* share of the time when the foot is over its place */

double tbi_ease(double share) {
  double s = tbi_min(tbi_max(share, 0), 1);
  return s - sin(2 * PI * s) / (2 * PI);
}

tbi_foot_place tbi_swing(const tbi_foot_place *from, const tbi_foot_place *to, double lift,
                         double share) {
  TBI_ASSERT(share >= 0 && share <= 1 && lift >= 0);
  double along = tbi_ease(share / SETTLED_FROM);
  double up = share < 0.5 ? tbi_ease(2 * share) : tbi_ease(2 - 2 * share);
  tbi_foot_place now = {v3_axpy(from->pos, along, v3_sub(to->pos, from->pos)),
                        from->yaw + along * (to->yaw - from->yaw)};
  now.pos.z += lift * up;
  return now;
}
