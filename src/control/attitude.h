/* attitude.h - which way is up, by a gyro and an accelerometer. */
#ifndef TBI_ATTITUDE_H
#define TBI_ATTITUDE_H

#include "math/vec.h"

/* Turns `up`, a unit vector in axes that turn at `rate` (rad/s, in these axes), on by a time, and
 * pulls it within `settle` s towards `felt`, what an accelerometer without noise would say at rest:
 * its direction, if it has one. */
v3 tbi_attitude_update(v3 up, v3 rate, v3 felt, double time, double settle);

/* The turn about x and the turn about y of level axes that then see up there. */
void tbi_attitude_tilt(v3 up, double tilt[2]);
/* Their sines and cosines. */
void tbi_attitude_slope(v3 up, double sine[2], double cosine[2]);

#endif
