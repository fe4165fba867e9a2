/* forces.c - forces at the joints.
 *
 * Springs and dampers are implicit: with q+ = q + h v+ their force at the end of the step,
 *     -k (q + h v+ - rest) - d v+,
 * moves h d + h^2 k to the diagonal of M and leaves -k (q + h v - rest) - d v on the right.  An
 * implicit servo is a spring to its target, and so is an actuator with a bias.  Its force is
 * clamped, and then no spring any more: the force at the end of the step, where it has fallen by
 * (d + h k) (v+ - v), is estimated with the inertia that the joint carries.  Under rk4 and euler
 * everything is explicit. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/world.h"

#include <string.h>

#define MAX_FORCE 1e15 /* N or N m; more is a mistake */

static double clamp(double x, double low, double high) { return tbi_min(tbi_max(x, low), high); }

static double servo_force(const tabi_servo *servo, double q, double v) {
  return servo->kp * (servo->target - q) + servo->kd * (servo->target_rate - v);
}

/* force of an actuator at its joint, in the coordinates of the joint */
static double actuator_force(const tabi_actuator_def *a, double u, double q, double v) {
  double input = clamp(u, a->control_min, a->control_max);
  double sum = a->gain * input + a->bias[0] + a->gear * (a->bias[1] * q + a->bias[2] * v);
  return a->gear * clamp(sum, a->force_min, a->force_max);
}

/* Adds an actuator's force for an implicit step, and what it takes from M: false if it is at its
 * limit or has no spring or damper. */
static bool add_implicit_actuator(const tabi_world *w, int32_t a, const tbi_body *body,
                                  double *force) {
  const tabi_actuator_def *def = &w->model->actuator[a];
  double h = w->def.timestep;
  double give = -def->gear * def->gear * (def->bias[2] + h * def->bias[1]);
  if (def->bias[1] > 0 || def->bias[2] > 0 || !(give > 0)) return false;
  double q = w->state.q[body->q];
  double v = w->state.v[body->v];
  double input = clamp(w->state.control[a], def->control_min, def->control_max);
  double sum = def->gain * input + def->bias[0] +
               def->gear * (def->bias[1] * (q + h * v) + def->bias[2] * v);
  double inertia = w->constants.dof_inertia[body->v];
  double end = sum * inertia / (inertia + h * give);
  if (end < def->force_min || end > def->force_max) return false;
  force[body->v] += def->gear * sum;
  w->forces.give[body->v] += give;
  return true;
}

double tbi_world_drive(const tabi_world *w, int32_t dof) {
  double gained = w->solution.v_new[dof] - w->state.v[dof];
  return w->forces.drive[dof] - w->forces.give[dof] * gained;
}

/* forces that do work from outside: given ones, explicit servos, actuators */
static void add_drives(const tabi_world *w, const double *q, const double *v, const double *tau,
                       bool all_explicit, double *force) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k)
    force[k] = tau ? tau[k] : 0;
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->state.servo[j];
    if (servo->kp == 0 && servo->kd == 0) continue;
    if (servo->implicit && !all_explicit) continue;
    const tbi_body *body = &model->body[model->joint_body[j]];
    double limit = model->joint[j].effort;
    force[body->v] += clamp(servo_force(servo, q[body->q], v[body->v]), -limit, limit);
  }
  for (int32_t a = 0; a < model->nactuator; ++a) {
    const tabi_actuator_def *actuator = &model->actuator[a];
    if (model->joint_body[actuator->joint] == TABI_NONE) continue;
    const tbi_body *body = &model->body[model->joint_body[actuator->joint]];
    if (!all_explicit && add_implicit_actuator(w, a, body, force)) continue;
    force[body->v] += actuator_force(actuator, w->state.control[a], q[body->q], v[body->v]);
  }
}

/* explicit springs and dampers of the joints */
static void add_springs(const tabi_world *w, const double *q, const double *v, double *force) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k) {
    force[k] -= model->dof_damping[k] * v[k];
    if (model->dof_stiffness[k] > 0) {
      force[k] -= model->dof_stiffness[k] * (q[model->dof_q[k]] - model->dof_rest[k]);
    }
  }
}

void tbi_world_forces_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force) {
  add_drives(w, q, v, tau, true, force);
  add_springs(w, q, v, force);
}

void tbi_world_forces_apart(const tabi_world *w, const double *q, const double *v,
                            const double *tau, double *drive, double *passive) {
  add_drives(w, q, v, tau, true, drive);
  memset(passive, 0, sizeof *passive * (size_t)w->model->nv);
  add_springs(w, q, v, passive);
}

/* springs and dampers, implicit: force on the right, h d + h^2 k on the diagonal */
static void add_implicit_springs(const tabi_world *w, double *force) {
  const tabi_model *model = w->model;
  double h = w->def.timestep;
  for (int32_t k = 0; k < model->nv; ++k) {
    double stiffness = model->dof_stiffness[k];
    double damping = model->dof_damping[k];
    double v = w->state.v[k];
    w->forces.diagonal[k] = model->dof_rotor[k] + h * damping + h * h * stiffness;
    force[k] = -damping * v;
    if (stiffness > 0) {
      force[k] -= stiffness * (w->state.q[model->dof_q[k]] + h * v - model->dof_rest[k]);
    }
  }
}

static void add_implicit_servos(const tabi_world *w, double *force) {
  const tabi_model *model = w->model;
  double h = w->def.timestep;
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->state.servo[j];
    if (!servo->implicit || model->joint_body[j] == TABI_NONE) continue;
    const tbi_body *body = &model->body[model->joint_body[j]];
    double v = w->state.v[body->v];
    force[body->v] += servo_force(servo, w->state.q[body->q] + h * v, v);
    w->forces.diagonal[body->v] += h * servo->kd + h * h * servo->kp;
  }
}

/* an input that is no number or absurdly large, with the name of what it was for */
static tabi_status refuse(tabi_world *w, const char *what, const char *name, double value) {
  return tbi_error_set(&w->error, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                       "step %lld: %s '%s': %g is no force or input; the state is unchanged",
                       (long long)w->state.head->steps, what, name ? name : "(unnamed)", value);
}

/* what a controller sets and a step cannot use is the controller's fault */
static tabi_status check_servos(tabi_world *w) {
  for (int32_t j = 0; j < w->model->njoint; ++j) {
    const tabi_servo *servo = &w->state.servo[j];
    const double number[4] = {servo->kp, servo->kd, servo->target, servo->target_rate};
    for (int i = 0; i < 4; ++i) {
      if (fabs(number[i]) <= MAX_FORCE) continue;
      static const char *const what[4] = {"kp", "kd", "target", "target_rate"};
      return tbi_error_set(&w->error, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                           "step %lld: servo of joint '%s': %s %g is no input; its controller set "
                           "it; the state is unchanged",
                           (long long)w->state.head->steps,
                           w->model->joint[j].name ? w->model->joint[j].name : "(unnamed)", what[i],
                           number[i]);
    }
  }
  return TABI_OK;
}

static tabi_status check_inputs(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; tau && k < model->nv; ++k) {
    const tabi_joint_def *joint = &model->joint[model->body[model->dof_body[k]].joint];
    if (!(fabs(tau[k]) <= MAX_FORCE)) return refuse(w, "joint", joint->name, tau[k]);
  }
  for (int32_t a = 0; a < model->nactuator; ++a) {
    if (fabs(w->state.control[a]) <= MAX_FORCE) continue;
    return refuse(w, "actuator", model->actuator[a].name, w->state.control[a]);
  }
  for (int32_t i = 0; w->state.head->external && i < model->nbody; ++i) {
    double size = sqrt(sv_dot(w->state.external[i], w->state.external[i]));
    const tabi_joint_def *joint = &model->joint[model->body[i].joint];
    if (!(size <= MAX_FORCE))
      return refuse(w, "push on link", model->link[joint->child].name, size);
  }
  return check_servos(w);
}

tabi_status tbi_world_forces(tabi_world *w, const double *tau) {
  TBI_ASSERT(w->def.timestep > 0);
  const tabi_model *model = w->model;
  tabi_status status = check_inputs(w, tau);
  if (status != TABI_OK) return status;
  bool all_explicit = tbi_world_is_explicit(w);
  memset(w->forces.give, 0, sizeof *w->forces.give * (size_t)model->nv);
  add_drives(w, w->state.q, w->state.v, tau, all_explicit, w->forces.drive);
  if (all_explicit) {
    memcpy(w->forces.diagonal, model->dof_rotor, sizeof *w->forces.diagonal * (size_t)model->nv);
    memset(w->forces.passive, 0, sizeof *w->forces.passive * (size_t)model->nv);
    add_springs(w, w->state.q, w->state.v, w->forces.passive);
  } else {
    add_implicit_springs(w, w->forces.passive);
    add_implicit_servos(w, w->forces.passive);
    for (int32_t k = 0; k < model->nv; ++k)
      w->forces.diagonal[k] += w->def.timestep * w->forces.give[k];
  }
  return TABI_OK;
}

double tbi_world_spring_energy(const tabi_world *w) {
  const tabi_model *model = w->model;
  double energy = tbi_world_connection_energy(w);
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_stiffness[k] <= 0) continue;
    double deflection = w->state.q[model->dof_q[k]] - model->dof_rest[k];
    energy += 0.5 * model->dof_stiffness[k] * deflection * deflection;
  }
  return energy;
}
