/* forces.c - forces at the joints.
 *
 * Springs and dampers are implicit: with q+ = q + h v+ their force at the end of the step,
 *     -k (q + h v+ - rest) - d v+,
 * moves h d + h^2 k to the diagonal of M and leaves -k (q + h v - rest) - d v on the right.  An
 * implicit servo is a spring to its target, and so is an actuator with a bias (drives.c).  Under
 * rk4 and euler everything is explicit. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/active_set/active_set.h"

#include <string.h>

#define MAX_FORCE 1e15 /* N or N m; more is a mistake */

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
  tbi_world_drives_at(w, q, v, tau, force);
  add_springs(w, q, v, force);
}

void tbi_world_forces_apart(const tabi_world *w, const double *q, const double *v,
                            const double *tau, double *drive, double *passive) {
  tbi_world_drives_at(w, q, v, tau, drive);
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

void tbi_world_set_forces(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  if (!tbi_world_is_explicit(w)) {
    add_implicit_springs(w, w->forces.passive);
    tbi_world_drives(w, tau);
    return;
  }
  memcpy(w->forces.diagonal, model->dof_rotor, sizeof *w->forces.diagonal * (size_t)model->nv);
  tbi_world_forces_apart(w, w->state.q, w->state.v, tau, w->forces.drive, w->forces.passive);
}

tabi_status tbi_world_forces(tabi_world *w, const double *tau) {
  TBI_ASSERT(w->def.timestep > 0);
  tabi_status status = check_inputs(w, tau);
  if (status != TABI_OK) return status;
  tbi_predict_drive_limits(w);
  tbi_world_set_forces(w, tau);
  return TABI_OK;
}

double tbi_world_spring_energy(const tabi_world *w) {
  const tabi_model *model = w->model;
  double energy = tbi_world_connection_energy(w) + tbi_world_tendon_energy(w);
  for (int32_t k = 0; k < model->nv; ++k) {
    if (model->dof_stiffness[k] <= 0) continue;
    double deflection = w->state.q[model->dof_q[k]] - model->dof_rest[k];
    energy += 0.5 * model->dof_stiffness[k] * deflection * deflection;
  }
  return energy;
}
