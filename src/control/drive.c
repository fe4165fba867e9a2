/* drive.c - see drive.h.
 *
 * A joint of ours gets its torque from a servo of unit stiffness, whose target is the position
 * expected at the end of the step plus the torque: it keeps to the joint's effort limit.  Ankles
 * would spin a light foot that loses the ground far beyond their velocity limit before late sensors
 * tell.  Where the effort limit reaches the velocity limit that fast, the servo damps deviations
 * from the rate that is expected, by the one limit over the other.
 *
 * An actuator of the file gives gear * clamp(gain u + bias0 + bias1 l + bias2 l'), l = gear q, from
 * which u follows; its springs and dampers are implicit, so l and l' are those expected at the end
 * of the step.
 *
 * Joints outside the legs are held at 8 Hz, critically damped for the inertia that they carry. */
#include "control/drive.h"

#include "base/assertion.h"
#include "base/error.h"

#include <stdlib.h>

#define HOLD_RATE   50.3 /* rad/s */
#define FULL_EFFORT 0.01 /* rad or m, at which a held joint gives all it has */
#define SPIN_TIME   5e-3 /* s, to the velocity limit, within which no sensor helps */
#define RELAXED     0.1  /* share of the damping that stays in a robot that has fallen */

static int32_t actuator_of(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < model->nactuator; ++i) {
    if (model->actuator[i].joint == joint && model->actuator[i].gain != 0) return i;
  }
  return TABI_NONE;
}

static bool is_led(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < model->ncoupling; ++i) {
    if (model->coupling[i].joint == joint) return true;
  }
  return false;
}

static bool is_in_leg(const tabi_biped *biped, int32_t joint) {
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &biped->leg[side];
    for (int32_t i = 0; i < leg->njoint; ++i) {
      if (leg->joint[i] == joint) return true;
    }
  }
  return false;
}

/* Gains of a joint that is held, at the state of d. */
static void set_gains(const tbi_balance *b, tbi_drive_joint *j) {
  const tabi_dynamics *d = b->d;
  sv force = inertia_mulv(&d->composite[b->model->dof_body[j->v]], d->axis[j->v]);
  double inertia = sv_dot(d->axis[j->v], force) + b->model->dof_rotor[j->v];
  double effort = b->model->joint[j->joint].effort;
  j->kp = HOLD_RATE * HOLD_RATE * inertia;
  if (isfinite(effort) && effort > 0) j->kp = tbi_min(j->kp, effort / FULL_EFFORT);
  j->kd = 2 * sqrt(j->kp * inertia);
  double fastest = b->model->joint[j->joint].velocity;
  bool spins = isfinite(effort) && fastest > 0 && inertia * fastest < SPIN_TIME * effort;
  j->damping = spins ? effort / fastest : 0;
}

tabi_status tbi_drive_make(tbi_drive *drive, const tbi_balance *b, const tabi_biped *biped,
                           const double *posture, tabi_error *err) {
  const tabi_model *model = b->model;
  *drive = (tbi_drive){.model = model};
  drive->joint = calloc((size_t)model->nbody + 1, sizeof *drive->joint);
  if (!drive->joint) return tbi_error_memory(err);
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    if (body->tree != b->tree || body->nv != 1 || is_led(model, body->joint)) continue;
    bool leg = is_in_leg(biped, body->joint);
    /* a spring holds itself */
    if (!leg && model->joint[body->joint].stiffness > 0) continue;
    tbi_drive_joint *j = &drive->joint[drive->count++];
    *j = (tbi_drive_joint){.joint = body->joint,
                           .q = body->q,
                           .v = body->v,
                           .actuator = actuator_of(model, body->joint),
                           .leg = leg,
                           .target = posture[body->q]};
    set_gains(b, j);
  }
  return TABI_OK;
}

double tbi_drive_effort(const tabi_model *model, int32_t joint) {
  double limit = model->joint[joint].effort > 0 ? model->joint[joint].effort : HUGE_VAL;
  int32_t i = actuator_of(model, joint);
  if (i == TABI_NONE) return limit;
  const tabi_actuator_def *a = &model->actuator[i];
  double most = tbi_min(fabs(a->force_min), fabs(a->force_max));
  if (a->bias[1] == 0) most = tbi_min(most, fabs(a->gain * a->control_max));
  return tbi_min(limit, fabs(a->gear) * most);
}

void tbi_drive_free(tbi_drive *drive) { free(drive->joint); }

/* The input with which an actuator gives a force, at a position and velocity. */
static void set_actuator(tabi_world *world, const tabi_model *model, int32_t actuator, double force,
                         const double at[2]) {
  const tabi_actuator_def *a = &model->actuator[actuator];
  double spring = a->bias[0] + a->bias[1] * a->gear * at[0] + a->bias[2] * a->gear * at[1];
  double wanted = tbi_min(tbi_max(force / a->gear, a->force_min), a->force_max);
  tabi_world_set_control(world, actuator, (wanted - spring) / a->gain);
}

static void apply_leg(const tbi_drive_joint *j, const tabi_model *model, tabi_world *world,
                      const double at[2], const double end[2], double force) {
  force += model->dof_damping[j->v] * at[1];
  if (j->actuator != TABI_NONE) {
    set_actuator(world, model, j->actuator, force, end);
    return;
  }
  world->state.servo[j->joint] = (tabi_servo){
      .kp = 1, .kd = j->damping, .target = end[0] + force, .target_rate = end[1], .implicit = true};
}

static void hold(const tbi_drive_joint *j, const tabi_model *model, tabi_world *world,
                 const double at[2], double force) {
  if (j->actuator == TABI_NONE) {
    world->state.servo[j->joint] = (tabi_servo){
        .kp = j->kp, .kd = j->kd, .target = j->target + force / j->kp, .implicit = true};
    return;
  }
  const tabi_actuator_def *a = &model->actuator[j->actuator];
  if (a->bias[1] < 0) {
    /* its own spring, with the force as an offset of the target */
    const double target[2] = {j->target, 0};
    set_actuator(world, model, j->actuator, force, target);
    return;
  }
  double pd = j->kp * (j->target - at[0]) - j->kd * at[1] + force;
  set_actuator(world, model, j->actuator, pd, at);
}

void tbi_drive_apply(const tbi_drive *drive, tabi_world *world, const double *q, const double *v,
                     const double *qdd, const double *tau) {
  double h = world->def.timestep;
  for (int32_t i = 0; i < drive->count; ++i) {
    const tbi_drive_joint *j = &drive->joint[i];
    const double at[2] = {q[j->q], v[j->v]};
    double rate = at[1] + h * qdd[j->v];
    const double end[2] = {at[0] + h * rate, rate};
    if (j->leg) {
      apply_leg(j, drive->model, world, at, end, tau[j->v]);
    } else {
      hold(j, drive->model, world, at, tau[j->v]);
    }
  }
}

void tbi_drive_relax(const tbi_drive *drive, tabi_world *world, const double *q, const double *v) {
  for (int32_t i = 0; i < drive->count; ++i) {
    const tbi_drive_joint *j = &drive->joint[i];
    const double at[2] = {q[j->q], v[j->v]};
    if (j->actuator != TABI_NONE) {
      set_actuator(world, drive->model, j->actuator, -RELAXED * j->kd * at[1], at);
    } else {
      world->state.servo[j->joint] = (tabi_servo){.kd = RELAXED * j->kd, .implicit = true};
    }
  }
}
