/* swing.h - the path of a swing foot from one place on the ground to another. */
#ifndef TBI_SWING_H
#define TBI_SWING_H

#include "math/mat.h"

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

/* Reference of a swing foot that is replanned in every update. */
typedef struct tbi_swing_state {
  v3 pos, vel, acc;
  double yaw, yaw_rate, yaw_acc;
} tbi_swing_state;

/* Moves it on by `timestep` s towards a target that x, y and z reach in the times given, at rest
 * but for a speed downwards, by the jerk of the motion with least jerk from here to there. */
void tbi_swing_step(tbi_swing_state *swing, v3 target, double sink, const double time[3],
                    double timestep);
/* Likewise its yaw, to rest. */
void tbi_swing_turn(tbi_swing_state *swing, double yaw, double time, double timestep);

/* The rotation vector from one attitude to another, by its sine: for feedback. */
static inline v3 tbi_turn_between(const m3 *from, const m3 *to) {
  v3 sum = v3_zero();
  for (int i = 0; i < 3; ++i)
    sum = v3_add(sum, v3_cross(m3_column(from, i), m3_column(to, i)));
  return v3_scale(0.5, sum);
}

#endif
