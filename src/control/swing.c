/* swing.c - see swing.h.  All parts move along cycloids, which start and end at rest and without a
 * jump of the acceleration. */
#include "control/swing.h"

#include "base/assertion.h"

#define PI           3.14159265358979323846
#define MIN_TIME     0.03 /* s, that the jerk rule still resolves */
#define SETTLED_FROM 0.9  /* share of the time when the foot is over its place */

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

/* Of the polynomial of fifth degree that ends at x_f with v_f and without acceleration, the jerk at
 * its start: 60 (x_f - x) / t^3 - (36 v + 24 v_f) / t^2 - 9 a / t. */
static void step_axis(double *pos, double *vel, double *acc, const double target[2], double time,
                      double timestep) {
  double t = tbi_max(time, MIN_TIME);
  double jerk =
      60 * (target[0] - *pos) / (t * t * t) - (36 * *vel + 24 * target[1]) / (t * t) - 9 * *acc / t;
  *acc += timestep * jerk;
  /* what shall move on at the end has found its speed */
  if (time < MIN_TIME && target[1] != 0) {
    *acc = 0;
    *vel = target[1];
  }
  *vel += timestep * *acc;
  *pos += timestep * *vel;
}

void tbi_swing_step(tbi_swing_state *swing, v3 target, double sink, const double time[3],
                    double timestep) {
  TBI_ASSERT(timestep > 0);
  tbi_swing_state *s = swing;
  const double x[2] = {target.x, 0};
  const double y[2] = {target.y, 0};
  const double z[2] = {target.z, -sink};
  step_axis(&s->pos.x, &s->vel.x, &s->acc.x, x, time[0], timestep);
  step_axis(&s->pos.y, &s->vel.y, &s->acc.y, y, time[1], timestep);
  step_axis(&s->pos.z, &s->vel.z, &s->acc.z, z, time[2], timestep);
}

void tbi_swing_turn(tbi_swing_state *swing, double yaw, double time, double timestep) {
  const double target[2] = {yaw, 0};
  step_axis(&swing->yaw, &swing->yaw_rate, &swing->yaw_acc, target, time, timestep);
}
