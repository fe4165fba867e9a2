/* drives.c - servos and actuators at the joints (of tendons: tendons.c): what they ask for, and
 * what their limits leave.
 *
 * Over an implicit step a servo, or an actuator with a spring or damper, gives the force of its
 * end: f(v+) = f0 - g (v+ - v),    g = d + h k, f0 being the force at q + h v and v.  g moves to
 * the diagonal of M.  A limit makes that clamp(f(v+), min, max), so that a drive at its limit is a
 * constant force and no spring any more.  Each actuator has a range of its own; the effort limit of
 * a joint bounds the sum of its servo and its actuators. Which of them are at a limit at the end of
 * the step is in active_set.saturated, predicted and verified by active_set/drive_limits.c.
 * Everything else is known at the start of the step and clamped here: explicit servos, motors, and
 * all drives under rk4 and euler. */
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

static double clamp(double x, double low, double high) { return tbi_min(tbi_max(x, low), high); }

static bool is_on(const tabi_servo *servo) { return servo->kp != 0 || servo->kd != 0; }

static double servo_force(const tabi_servo *servo, double q, double v) {
  return servo->kp * (servo->target - q) + servo->kd * (servo->target_rate - v);
}

/* force before the gear, without the range that it has */
static double actuator_force(const tabi_actuator_def *a, double u, double q, double v,
                             double ahead) {
  double input = clamp(u, a->control_min, a->control_max);
  return a->gain * input + a->bias[0] + a->gear * (a->bias[1] * (q + ahead * v) + a->bias[2] * v);
}

tbi_linear_force tbi_world_actuator(const tabi_world *w, int32_t actuator) {
  const tabi_actuator_def *def = &w->model->actuator[actuator];
  const tbi_body *body = &w->model->body[w->model->joint_body[def->joint]];
  double h = w->def.timestep;
  double u = w->state.control[actuator];
  double q = w->state.q[body->q];
  double v = w->state.v[body->v];
  double give = -def->gear * def->gear * (def->bias[2] + h * def->bias[1]);
  bool soft = def->bias[1] <= 0 && def->bias[2] <= 0 && give > 0 && !tbi_world_is_explicit(w);
  if (!soft) return (tbi_linear_force){actuator_force(def, u, q, v, 0), 0};
  return (tbi_linear_force){actuator_force(def, u, q, v, h), give};
}

double tbi_world_actuator_at(const tabi_world *w, int32_t actuator) {
  const tabi_actuator_def *def = &w->model->actuator[actuator];
  int32_t k = w->constants.joint_dof[def->joint];
  tbi_linear_force f = tbi_world_actuator(w, actuator);
  double gained = w->solution.v_new[k] - w->state.v[k];
  return f.give == 0 ? f.force : f.force - f.give / def->gear * gained;
}

/* N m or N at the joint: the most that an actuator gives, by its range or by that of its input */
static double most_of(const tabi_actuator_def *a) {
  double most = tbi_max(fabs(a->force_min), fabs(a->force_max));
  if (a->bias[1] == 0 && a->bias[2] == 0) {
    double low = a->gain * a->control_min + a->bias[0];
    double high = a->gain * a->control_max + a->bias[0];
    most = tbi_min(most, tbi_max(fabs(low), fabs(high)));
  }
  return fabs(a->gear) * most;
}

/* the most that the actuators of a joint give together */
static void find_most_forces(tabi_world *w) {
  const tabi_model *model = w->model;
  double *most = w->constants.most_force;
  for (int32_t j = 0; j < model->njoint; ++j)
    most[j] = -1;
  for (int32_t a = 0; a < model->nactuator; ++a) {
    if (model->actuator[a].joint == TABI_NONE) continue; /* it pulls a tendon */
    double *sum = &most[model->actuator[a].joint];
    *sum = tbi_max(*sum, 0) + most_of(&model->actuator[a]);
  }
  for (int32_t j = 0; j < model->njoint; ++j)
    if (most[j] < 0) most[j] = HUGE_VAL;
}

void tbi_world_find_drives(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k)
    w->constants.effort[k] = HUGE_VAL;
  for (int32_t j = 0; j < model->njoint; ++j) {
    int32_t body = model->joint_body[j];
    bool single = body != TABI_NONE && tbi_joint_nq(model->joint[j].type) == 1;
    w->constants.joint_dof[j] = single ? model->body[body].v : TABI_NONE;
    if (single) w->constants.effort[model->body[body].v] = model->joint[j].effort;
  }
  find_most_forces(w);
}

/* -- implicit steps */

/* an actuator that is at its limit, or rigid, gives a known force */
static void add_actuator(tabi_world *w, int32_t a) {
  const tabi_actuator_def *def = &w->model->actuator[a];
  int32_t k = tbi_actuator_dof(w, a);
  if (k == TABI_NONE) return;
  tbi_linear_force f = tbi_world_actuator(w, a);
  int8_t *at = &w->active_set.saturated[w->model->njoint + a];
  double force = f.force;
  w->active_set.soft[k] |= f.give > 0;
  if (f.give == 0) {
    *at = 0;
    force = clamp(force, def->force_min, def->force_max);
  } else if (*at != 0) {
    force = *at > 0 ? def->force_max : def->force_min;
  } else {
    w->forces.give[k] += f.give;
  }
  w->forces.drive[k] += def->gear * force;
}

/* the effort limit of a joint, which bounds all of its drives together */
static void limit_joint(tabi_world *w, int32_t joint, int32_t dof) {
  double limit = w->constants.effort[dof];
  double *force = &w->forces.drive[dof];
  int8_t *at = &w->active_set.saturated[joint];
  if (!w->active_set.soft[dof]) {
    *at = 0;
    *force = clamp(*force, -limit, limit);
  } else if (*at != 0) {
    *force = *at * limit;
    w->forces.give[dof] = 0;
  }
}

static void add_servo(tabi_world *w, int32_t joint, int32_t dof) {
  const tabi_servo *servo = &w->state.servo[joint];
  double q = w->state.q[w->model->dof_q[dof]];
  double v = w->state.v[dof];
  double h = w->def.timestep;
  if (!servo->implicit) {
    w->forces.drive[dof] += servo_force(servo, q, v);
    return;
  }
  w->active_set.soft[dof] = true;
  if (w->active_set.saturated[joint] != 0) return;
  w->forces.passive[dof] += servo_force(servo, q + h * v, v);
  w->forces.diagonal[dof] += h * servo->kd + h * h * servo->kp;
}

void tbi_world_drives(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  size_t count = (size_t)model->nv;
  memset(w->forces.drive, 0, count * sizeof *w->forces.drive);
  memset(w->forces.give, 0, count * sizeof *w->forces.give);
  memset(w->active_set.soft, 0, count * sizeof *w->active_set.soft);
  for (int32_t a = 0; a < model->nactuator; ++a)
    add_actuator(w, a);
  for (int32_t j = 0; j < model->njoint; ++j) {
    int32_t k = w->constants.joint_dof[j];
    if (k == TABI_NONE) continue;
    if (is_on(&w->state.servo[j])) add_servo(w, j, k);
    if (w->forces.drive[k] != 0 || w->active_set.saturated[j] != 0) limit_joint(w, j, k);
  }
  for (int32_t k = 0; tau && k < model->nv; ++k)
    w->forces.drive[k] += tau[k];
  for (int32_t k = 0; model->nactuator > 0 && k < model->nv; ++k)
    w->forces.diagonal[k] += w->def.timestep * w->forces.give[k];
}

/* -- explicit ones, at any state */

void tbi_world_drives_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force) {
  const tabi_model *model = w->model;
  memset(force, 0, sizeof *force * (size_t)model->nv);
  for (int32_t a = 0; a < model->nactuator; ++a) {
    const tabi_actuator_def *def = &model->actuator[a];
    int32_t k = tbi_actuator_dof(w, a);
    if (k == TABI_NONE) continue;
    double sum = actuator_force(def, w->state.control[a], q[model->dof_q[k]], v[k], 0);
    force[k] += def->gear * clamp(sum, def->force_min, def->force_max);
  }
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->state.servo[j];
    int32_t k = w->constants.joint_dof[j];
    if (k == TABI_NONE) continue;
    if (is_on(servo)) force[k] += servo_force(servo, q[model->dof_q[k]], v[k]);
    force[k] = clamp(force[k], -w->constants.effort[k], w->constants.effort[k]);
  }
  for (int32_t k = 0; tau && k < model->nv; ++k)
    force[k] += tau[k];
}

/* -- what acted */

/* the laws of actuators at the end of the step, without limits of force and with their ranges */
static void add_actuator_laws(const tabi_world *w, double *asked, double *law) {
  const tabi_model *model = w->model;
  for (int32_t a = 0; a < model->nactuator; ++a) {
    const tabi_actuator_def *def = &model->actuator[a];
    int32_t k = tbi_actuator_dof(w, a);
    if (k == TABI_NONE) continue;
    double force = tbi_world_actuator_at(w, a);
    int8_t at = w->active_set.saturated[model->njoint + a];
    double limited = clamp(force, def->force_min, def->force_max);
    if (at != 0) limited = at > 0 ? def->force_max : def->force_min;
    asked[k] += def->gear * force;
    law[k] += def->gear * limited;
  }
}

void tbi_world_laws(const tabi_world *w, double *asked, double *law) {
  const tabi_model *model = w->model;
  bool all_explicit = tbi_world_is_explicit(w);
  double h = w->def.timestep;
  memset(asked, 0, sizeof *asked * (size_t)model->nv);
  memset(law, 0, sizeof *law * (size_t)model->nv);
  add_actuator_laws(w, asked, law);
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->state.servo[j];
    int32_t k = w->constants.joint_dof[j];
    if (k == TABI_NONE || !is_on(servo)) continue;
    bool at_end = servo->implicit && !all_explicit;
    double v = at_end ? w->solution.v_new[k] : w->state.v[k];
    double q = w->state.q[model->dof_q[k]] + (at_end ? h * v : 0);
    double force = servo_force(servo, q, v);
    asked[k] += force;
    law[k] += force;
  }
}

static double limit_of(const tabi_world *w, int32_t joint) {
  double effort = w->model->joint[joint].effort;
  bool alone = !is_on(&w->state.servo[joint]);
  return alone ? tbi_min(effort, w->constants.most_force[joint]) : effort;
}

tabi_effort tabi_world_effort(const tabi_world *world, int32_t joint) {
  TBI_ASSERT(world && joint >= 0 && joint < world->model->njoint);
  TBI_ASSERT(tbi_joint_nq(world->model->joint[joint].type) == 1);
  tabi_effort effort = {.limit = limit_of(world, joint)};
  int32_t k = world->constants.joint_dof[joint];
  if (k == TABI_NONE) return effort;
  effort.commanded = world->solution.commanded[k];
  effort.applied = world->solution.applied[k];
  return effort;
}
