/* swing.h - the path of a swing foot from one place on the ground to another. */
#ifndef TBI_SWING_H
#define TBI_SWING_H

#include "math/vec.h"

/* Position of the middle of a level sole, and its direction. */
typedef struct tbi_foot_place {
  v3 pos;
  double yaw; /* rad, not wrapped */
} tbi_foot_place;

/* The foot after a share of its way, 0 to 1, lifted by up to `lift` m.  It comes to its place from
 * above: it has stopped moving sideways when a tenth of the time is left. */
tbi_foot_place tbi_swing(const tbi_foot_place *from, const tbi_foot_place *to, double lift,
                         double share);

/* From 0 to 1 for a share from 0 to 1, held outside, with speed and acceleration zero at both. */
double tbi_ease(double share);

#endif
