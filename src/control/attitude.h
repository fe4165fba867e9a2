/* attitude.h - attitude estimation by a gyro and an accelerometer. */
#ifndef TBI_ATTITUDE_H
#define TBI_ATTITUDE_H

#include "math/vec.h"

/* Predicts `up`, a unit vector in axes that turn at `rate` (rad/s, in these axes), after a time,
 * and corrects it with time constant `settle` (s) towards the direction of `measured`, the specific
 * force of an accelerometer at rest, unless that is zero. */
v3 tbi_attitude_update(v3 up, v3 rate, v3 measured, double time, double settle);

/* The turn about x and the turn about y of level axes that then see up there. */
void tbi_attitude_tilt(v3 up, double tilt[2]);
/* Their sines and cosines. */
void tbi_attitude_slope(v3 up, double sine[2], double cosine[2]);

#endif
