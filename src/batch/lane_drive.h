/* lane_drive.h - springs, dampers, servos and actuators in lanes: the laws of world/forces.c and
 * world/drives.c.
 *
 * A drive is predicted to be at the limit of force where the step before has left it, and the
 * prediction is verified at the new velocity.  Lanes in which it fails are solved again. */
#ifndef TBI_LANE_DRIVE_H
#define TBI_LANE_DRIVE_H

#include "batch/lane_tree.h"

#define LANE_ROUNDING 5e-13 /* of a limit, by which rounding may exceed it */

/* joint impulses and diagonal of all that does not depend on limits of force */
static void lane_base_forces(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  double h = p->h;
  for (int32_t k = 0; k < p->nv; ++k) {
    double damping = p->dof_damping[k];
    double stiffness = p->dof_stiffness[k];
    ln v = lane_get(w->v, k);
    ln force = lane_get(w->tau, k) - damping * v;
    if (stiffness > 0) force -= stiffness * (lane_get(w->q, p->dof_q[k]) + h * v - p->dof_rest[k]);
    lane_put(w->base, k, force);
    lane_put(w->base_diagonal, k, ln_splat(p->dof_rotor[k] + h * damping + h * h * stiffness));
  }
}

/* An actuator over a step: its force before its gear and range, and its give, which is 0 if it is
 * explicit. */
typedef struct lane_actuator {
  int32_t dof; /* or TABI_NONE */
  double give;
  ln force;
} lane_actuator;

static lane_actuator actuator_of(const tbi_lane_work *w, int32_t a) {
  const tbi_plan *p = w->plan;
  const tabi_actuator_def *def = &p->actuator[a];
  lane_actuator to = {.dof = p->actuator_dof[a]};
  if (to.dof == TABI_NONE) return to;
  double h = p->h;
  double give = -def->gear * def->gear * (def->bias[2] + h * def->bias[1]);
  bool soft = def->bias[1] <= 0 && def->bias[2] <= 0 && give > 0;
  ln u = ln_clamp(lane_get(w->control, a), ln_splat(def->control_min), ln_splat(def->control_max));
  ln v = lane_get(w->v, to.dof);
  ln q = lane_get(w->q, p->dof_q[to.dof]) + (soft ? h : 0) * v;
  to.give = soft ? give : 0;
  to.force = def->gain * u + def->bias[0] + def->gear * (def->bias[1] * q + def->bias[2] * v);
  return to;
}

static void clear_drives(tbi_lane_work *w) {
  for (int32_t k = 0; k < w->plan->nv; ++k) {
    lane_put(w->drive, k, ln_zero());
    lane_put(w->give, k, ln_zero());
  }
}

LANE_INLINE void add_drive(tbi_lane_work *w, int32_t dof, ln force, ln give) {
  lane_put(w->drive, dof, lane_get(w->drive, dof) + force);
  lane_put(w->give, dof, lane_get(w->give, dof) + give);
}

static void add_actuators(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  clear_drives(w);
  for (int32_t a = 0; a < p->nactuator; ++a) {
    const tabi_actuator_def *def = &p->actuator[a];
    lane_actuator act = actuator_of(w, a);
    if (act.dof == TABI_NONE) continue;
    ln low = ln_splat(def->force_min);
    ln high = ln_splat(def->force_max);
    ln force = act.force;
    ln give = ln_zero();
    if (act.give == 0) {
      force = ln_clamp(force, low, high);
    } else {
      ln at = lane_get(w->actuator_saturated, a);
      lm upper = ln_lt(ln_zero(), at);
      lm lower = ln_lt(at, ln_zero());
      force = ln_select(upper, high, ln_select(lower, low, force));
      give = ln_select(upper | lower, ln_zero(), ln_splat(act.give));
    }
    add_drive(w, act.dof, def->gear * force, give);
  }
}

/* whether the joint has an implicit drive; of actuators the model knows */
LANE_INLINE lm is_soft(const tbi_lane_work *w, int32_t k) {
  return ln_lt(ln_zero(), ln_abs(lane_get(w->kp, k)) + ln_abs(lane_get(w->kd, k)));
}

LANE_INLINE ln servo_force(const tbi_lane_work *w, int32_t k, ln v) {
  ln q = lane_get(w->q, w->plan->dof_q[k]) + w->plan->h * v;
  return lane_get(w->kp, k) * (lane_get(w->target, k) - q) - lane_get(w->kd, k) * v;
}

/* joint impulses and diagonal, with the drives as they are predicted */
static void lane_set_drives(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  double h = p->h;
  if (p->nactuator > 0) add_actuators(w);
  for (int32_t k = 0; k < p->nv; ++k) {
    ln force = lane_get(w->base, k);
    ln diagonal = lane_get(w->base_diagonal, k);
    if (p->drives[k]) {
      ln limit = lane_get(w->effort, k);
      ln at = lane_get(w->saturated, k);
      ln drive = p->nactuator > 0 ? lane_get(w->drive, k) : ln_zero();
      ln give = p->nactuator > 0 ? lane_get(w->give, k) : ln_zero();
      lm free = ln_le(ln_abs(at), ln_zero());
      lm rigid = ~is_soft(w, k) & ln_le(give, ln_zero()) & free;
      drive = ln_select(rigid, ln_clamp(drive, -limit, limit), drive);
      ln soft = drive + servo_force(w, k, lane_get(w->v, k));
      ln more = h * lane_get(w->kd, k) + h * h * lane_get(w->kp, k) + h * give;
      force += ln_select(free, soft, ln_where(~free, at * ln_select(free, ln_zero(), limit)));
      diagonal += ln_where(free, more);
    }
    lane_put(w->joint, k, h * force);
    lane_put(w->diagonal, k, diagonal);
  }
}

/* the side on which a force is beyond its limits */
LANE_INLINE ln side_beyond(ln force, ln low, ln high) {
  ln below = ln_select(ln_lt(force, low), ln_splat(-1), ln_zero());
  return ln_select(ln_lt(high, force), ln_splat(1), below);
}

/* fills drive and give with what implicit actuators of each joint are about to do */
static void predict_actuators(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  clear_drives(w);
  for (int32_t a = 0; a < p->nactuator; ++a) {
    const tabi_actuator_def *def = &p->actuator[a];
    lane_actuator act = actuator_of(w, a);
    if (act.dof == TABI_NONE) continue;
    ln low = ln_splat(def->force_min);
    ln high = ln_splat(def->force_max);
    ln force = act.force;
    if (act.give != 0) { /* so that its gear is not 0 */
      force -= act.give / def->gear * lane_get(w->change, act.dof);
      lane_put(w->actuator_saturated, a, side_beyond(force, low, high));
    }
    add_drive(w, act.dof, def->gear * ln_clamp(force, low, high), ln_splat(act.give));
  }
}

/* Where the drives of joints will be at the end of the step, if velocities change as in the step
 * before: a better guess than where they were, when targets jump. */
static void lane_predict_drives(tbi_lane_work *w) {
  const tbi_plan *p = w->plan;
  if (p->nactuator > 0) predict_actuators(w);
  for (int32_t k = 0; k < p->nv; ++k) {
    if (!p->drives[k]) continue;
    ln give = lane_get(w->kd, k) + p->h * lane_get(w->kp, k);
    ln force = servo_force(w, k, lane_get(w->v, k)) - give * lane_get(w->change, k);
    if (p->actuated[k]) {
      force += lane_get(w->drive, k);
      give += lane_get(w->give, k);
    }
    ln limit = lane_get(w->effort, k);
    ln side = side_beyond(force, -limit, limit);
    lane_put(w->saturated, k, ln_where(ln_lt(ln_zero(), give), side));
  }
}

/* -- verification */

/* the side on which a force belongs, as world/active_set/drive_limits.c */
LANE_INLINE ln side_of(ln force, ln low, ln high, ln at, ln slack) {
  ln above = ln_select(ln_lt(ln_zero(), at), -slack, LANE_ROUNDING * ln_abs(high));
  ln below = ln_select(ln_lt(at, ln_zero()), -slack, LANE_ROUNDING * ln_abs(low));
  lm upper = ln_lt(high + above, force) & ln_le(ln_zero(), at);
  lm lower = ln_lt(force, low - below) & ln_le(at, ln_zero());
  return ln_select(upper, ln_splat(1), ln_select(lower, ln_splat(-1), ln_zero()));
}

/* changes what is predicted in the lanes of a mask; returns the lanes in which it changed */
LANE_INLINE lm correct(double *saturated, ln side, lm todo) {
  ln at = ln_load(saturated);
  lm differs = todo & ~ln_le(ln_abs(side - at), ln_zero());
  ln_save(ln_select(differs, side, at), saturated);
  return differs;
}

static lm verify_actuators(tbi_lane_work *w, lm todo, double *law, double *gives) {
  const tbi_plan *p = w->plan;
  lm failed = lm_none();
  for (int32_t a = 0; a < p->nactuator; ++a) {
    const tabi_actuator_def *def = &p->actuator[a];
    lane_actuator act = actuator_of(w, a);
    if (act.dof == TABI_NONE) continue;
    ln low = ln_splat(def->force_min);
    ln high = ln_splat(def->force_max);
    ln gained = lane_get(w->v_new, act.dof) - lane_get(w->v, act.dof);
    ln force = act.give == 0 ? act.force : act.force - act.give / def->gear * gained;
    double *at = lane_at(w->actuator_saturated, a);
    if (act.give != 0) {
      ln slack = ln_splat(act.give / fabs(def->gear) * w->plan->def.tolerance);
      failed |= correct(at, side_of(force, low, high, ln_load(at), slack), todo);
      lane_put(gives, act.dof, lane_get(gives, act.dof) + act.give);
    }
    force = ln_clamp(force, low, high);
    lane_put(law, act.dof, lane_get(law, act.dof) + def->gear * force);
  }
  return failed;
}

/* the lanes in which some drive is not where it was predicted to be; fills applied */
static lm lane_verify_drives(tbi_lane_work *w, lm todo) {
  const tbi_plan *p = w->plan;
  double *law = w->drive; /* made anew by the next attempt, if there is one */
  double *gives = w->give;
  for (int32_t k = 0; k < p->nv; ++k) {
    lane_put(law, k, ln_zero());
    lane_put(gives, k, ln_zero());
  }
  lm failed = verify_actuators(w, todo, law, gives);
  for (int32_t k = 0; k < p->nv; ++k) {
    ln tau = lane_get(w->tau, k);
    if (!p->drives[k]) {
      lane_put(w->applied, k, tau);
      continue;
    }
    ln limit = lane_get(w->effort, k);
    ln force = lane_get(law, k) + servo_force(w, k, lane_get(w->v_new, k));
    double *at = lane_at(w->saturated, k);
    ln give = lane_get(w->kd, k) + p->h * lane_get(w->kp, k) + lane_get(gives, k);
    lm soft = ln_lt(ln_zero(), give);
    ln before = ln_load(at);
    ln slack = give * p->def.tolerance;
    failed |= correct(at, side_of(force, -limit, limit, before, slack), todo & soft);
    ln full = ln_where(ln_lt(ln_zero(), ln_abs(before)), before * limit);
    lm free = ln_le(ln_abs(before), ln_zero());
    ln given = ln_select(free, ln_clamp(force, -limit, limit), full) + tau;
    lane_put(w->applied, k, ln_select(todo, given, lane_get(w->applied, k)));
  }
  return failed;
}

#endif
