/* forces.c - what pulls at the joints.
 *
 * Springs and dampers are implicit: with q+ = q + h v+ their force at the end of the step,
 *     -k (q + h v+ - rest) - d v+,
 * moves h d + h^2 k to the diagonal of M and leaves -k (q + h v - rest) - d v on the right.  An
 * implicit servo is a spring to its target.  Under rk4 everything is explicit. */
#include "base/error.h"
#include "world/world.h"

#include <string.h>

#define MAX_FORCE 1e15 /* N or N m; more is a mistake */

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

static double servo_force(const tabi_servo *servo, double q, double v) {
  return servo->kp * (servo->target - q) + servo->kd * (servo->target_rate - v);
}

/* force of an actuator at its joint, in the coordinates of the joint */
static double actuator_force(const tabi_actuator_def *a, double u, double q, double v) {
  double input = clamp(u, a->control_min, a->control_max);
  double sum = a->gain * input + a->bias[0] + a->gear * (a->bias[1] * q + a->bias[2] * v);
  return a->gear * clamp(sum, a->force_min, a->force_max);
}

/* forces that do work from outside: given ones, explicit servos, actuators */
static void add_drives(const tabi_world *w, const double *q, const double *v, const double *tau,
                       bool all_explicit, double *force) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k)
    force[k] = tau ? tau[k] : 0;
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->servo[j];
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
    force[body->v] += actuator_force(actuator, w->control[a], q[body->q], v[body->v]);
  }
}

static bool is_single(const tbi_body *body) { return body->nv == 1; }

/* explicit springs and dampers of the joints */
static void add_springs(const tabi_world *w, const double *q, const double *v, double *force) {
  const tabi_model *model = w->model;
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    const tabi_joint_def *joint = &model->joint[body->joint];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      force[k] -= joint->damping * v[k];
    if (is_single(body)) force[body->v] -= joint->stiffness * (q[body->q] - joint->rest);
  }
}

void tbi_world_forces_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force) {
  add_drives(w, q, v, tau, true, force);
  add_springs(w, q, v, force);
}

/* an implicit servo's part in force, and its h d + h^2 k */
static void add_implicit(const tabi_world *w, const tbi_body *body, double *force) {
  double h = w->def.timestep;
  const tabi_joint_def *joint = &w->model->joint[body->joint];
  const tabi_servo *servo = &w->servo[body->joint];
  double q = w->q[body->q];
  double v = w->v[body->v];
  double k = joint->stiffness;
  double d = joint->damping;
  force[body->v] -= k * (q + h * v - joint->rest) + d * v;
  if (servo->implicit) {
    force[body->v] += servo_force(servo, q + h * v, v);
    k += servo->kp;
    d += servo->kd;
  }
  w->diagonal[body->v] += h * d + h * h * k;
}

static tabi_status check_inputs(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  const tabi_place nowhere = {NULL, 0};
  for (int32_t k = 0; tau && k < model->nv; ++k) {
    if (fabs(tau[k]) <= MAX_FORCE) continue;
    const char *name = model->joint[model->body[model->dof_body[k]].joint].name;
    return tbi_error_set(&w->error, TABI_ERR_ARGUMENT, nowhere,
                         "step %lld: joint '%s': force %g is no force; the state is unchanged",
                         (long long)w->head->steps, name ? name : "(unnamed)", tau[k]);
  }
  for (int32_t a = 0; a < model->nactuator; ++a) {
    if (fabs(w->control[a]) <= MAX_FORCE) continue;
    const char *name = model->actuator[a].name;
    return tbi_error_set(&w->error, TABI_ERR_ARGUMENT, nowhere,
                         "step %lld: actuator '%s': input %g is no input; the state is unchanged",
                         (long long)w->head->steps, name ? name : "(unnamed)", w->control[a]);
  }
  return TABI_OK;
}

/* w->force: what does work; w->bias: less what springs do, to be completed by the step */
tabi_status tbi_world_forces(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  tabi_status status = check_inputs(w, tau);
  if (status != TABI_OK) return status;
  bool all_explicit = w->def.integrator == TABI_RK4;
  add_drives(w, w->q, w->v, tau, all_explicit, w->force);
  memcpy(w->diagonal, model->dof_rotor, sizeof *w->diagonal * (size_t)model->nv);
  memset(w->z, 0, sizeof *w->z * (size_t)model->nv);
  if (all_explicit) {
    add_springs(w, w->q, w->v, w->z);
    return TABI_OK;
  }
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    if (is_single(body)) {
      add_implicit(w, body, w->z);
      continue;
    }
    double damping = model->joint[body->joint].damping;
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      w->z[k] -= damping * w->v[k];
      w->diagonal[k] += w->def.timestep * damping;
    }
  }
  return TABI_OK;
}

double tbi_world_spring_energy(const tabi_world *w) {
  double energy = 0;
  for (int32_t i = 0; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    if (!is_single(body)) continue;
    const tabi_joint_def *joint = &w->model->joint[body->joint];
    double stretch = w->q[body->q] - joint->rest;
    energy += 0.5 * joint->stiffness * stretch * stretch;
  }
  return energy;
}
