/* drive_limits.c - servos and actuators at their limits of force, predicted and verified.
 *
 * An implicit drive gives  clamp(f(v+), min, max)  with  f(v+) = f0 - g (v+ - v)  (drives.c).  It
 * is predicted to be at the limit where the step before has left it, or within its limits, and the
 * step is solved with a constant force or with a spring.  It is verified if the new velocity puts
 * f(v+) on the same side.  Those that fail change sides, and the step is solved again.
 *
 * These are complementarity conditions with the matrix  M^-1 + (h g)^-1,  which is positive
 * definite: there is one solution.  All that fail change sides at once, which ends after two or
 * three attempts (Newton's method).  If it has not, only the last of them does, which ends for
 * certain (Murty 1974) where contacts stick or slip as before; and if contacts alternate with
 * drives, drives only go to their limits, so that the loop ends and no limit is exceeded. */
#include "base/assertion.h"
#include "world/active_set/active_set.h"

#include <math.h>
#include <string.h>

enum {
  BLOCK_ATTEMPTS = 8, /* in which all drives that fail change sides */
};
#define ROUNDING 5e-13 /* of a limit, by which rounding may exceed it */

static int32_t count_drives(const tabi_model *model) { return model->njoint + model->nactuator; }

void tbi_predict_drive_limits(tabi_world *w) {
  memcpy(w->active_set.saturated, w->state.saturated, (size_t)count_drives(w->model));
}

void tbi_keep_drive_limits(tabi_world *w) {
  memcpy(w->state.saturated, w->active_set.saturated, (size_t)count_drives(w->model));
}

/* The side on which a force belongs.  One at its limit stays there while it is below by no more
 * than `slack`, what the tolerance of the method makes of it, lest it alternate; and it does not go
 * to the other limit at once, for between two constant forces Newton's method alternates. */
static int8_t side_of(double force, double low, double high, int8_t at, double slack) {
  double above = at > 0 ? -slack : ROUNDING * fabs(high);
  double below = at < 0 ? -slack : ROUNDING * fabs(low);
  if (force > high + above && at >= 0) return 1;
  return force < low - below && at <= 0 ? -1 : 0;
}

/* what is changed by an attempt */
typedef struct correction {
  tabi_world *w;
  int attempt;
  int32_t last; /* drive of the last change, if only that is made, or TABI_NONE */
  int8_t side;
  bool any;
} correction;

static void correct(correction *c, int32_t drive, int8_t side) {
  int8_t *at = &c->w->active_set.saturated[drive];
  if (side == *at || (c->attempt >= TBI_DRIVE_ATTEMPTS && *at != 0)) return;
  c->any = true;
  c->last = drive;
  c->side = side;
  if (c->attempt < BLOCK_ATTEMPTS || c->attempt >= TBI_DRIVE_ATTEMPTS) *at = side;
}

static void correct_actuators(correction *c) {
  const tabi_world *w = c->w;
  const tabi_model *model = w->model;
  for (int32_t a = 0; a < model->nactuator; ++a) {
    const tabi_actuator_def *def = &model->actuator[a];
    if (tbi_actuator_dof(w, a) == TABI_NONE) continue;
    tbi_linear_force f = tbi_world_actuator(w, a);
    if (f.give == 0) continue;
    int32_t drive = model->njoint + a;
    double slack = f.give / fabs(def->gear) * w->def.tolerance;
    correct(c, drive,
            side_of(tbi_world_actuator_at(w, a), def->force_min, def->force_max,
                    w->active_set.saturated[drive], slack));
  }
}

/* by which the drives of a joint fall as it gains speed */
static double give_of(const tabi_world *w, int32_t joint) {
  const tabi_model *model = w->model;
  const tabi_servo *servo = &w->state.servo[joint];
  double give = servo->implicit ? servo->kd + w->def.timestep * servo->kp : 0;
  for (int32_t a = 0; a < model->nactuator; ++a)
    if (model->actuator[a].joint == joint) give += tbi_world_actuator(w, a).give;
  return give;
}

/* what acts is within the limit: law[k] exceeds it only where the drive must change sides */
static void correct_joint(correction *c, int32_t joint, int32_t dof, double *law) {
  tabi_world *w = c->w;
  double limit = w->constants.effort[dof];
  int8_t at = w->active_set.saturated[joint];
  double slack = at == 0 ? 0 : give_of(w, joint) * w->def.tolerance;
  if (w->active_set.soft[dof] && !tbi_world_is_explicit(w))
    correct(c, joint, side_of(*law, -limit, limit, at, slack));
  *law = at != 0 ? at * limit : tbi_min(tbi_max(*law, -limit), limit);
}

static void correct_joints(correction *c, double *law) {
  tabi_world *w = c->w;
  for (int32_t j = 0; j < w->model->njoint; ++j) {
    int32_t k = w->constants.joint_dof[j];
    if (k == TABI_NONE) continue;
    if (fabs(law[k]) > w->constants.effort[k] || w->active_set.saturated[j] != 0)
      correct_joint(c, j, k, &law[k]);
  }
}

bool tbi_verify_drive_limits(tabi_world *w, const double *tau, int attempt) {
  correction c = {.w = w, .attempt = attempt, .last = TABI_NONE};
  tbi_world_laws(w, w->solution.commanded, w->solution.applied);
  correct_joints(&c, w->solution.applied);
  if (!tbi_world_is_explicit(w)) correct_actuators(&c);
  for (int32_t k = 0; tau && k < w->model->nv; ++k) {
    w->solution.commanded[k] += tau[k];
    w->solution.applied[k] += tau[k];
  }
  if (!c.any) return true;
  if (attempt >= BLOCK_ATTEMPTS && attempt < TBI_DRIVE_ATTEMPTS)
    w->active_set.saturated[c.last] = c.side;
  tbi_world_set_forces(w, tau);
  tbi_world_joint_impulse(w);
  return false;
}
