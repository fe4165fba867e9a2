/* step.c - one time step, read from top to bottom at the end of the file.
 *
 *   forces -> kinematics -> candidates -> velocity -> position -> check -> commit
 *
 * Everything new is made beside the state, which is replaced only when all of it is finite. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/active_set/active_set.h"

#include <string.h>

static size_t bytes(int32_t n) { return sizeof(double) * (size_t)n; }

/* Whether all numbers are finite and at most max: four at a time, without branches. */
static bool is_bounded(const double *x, int32_t n, double max) {
  bool bounded = true;
  int32_t i = 0;
  for (; i + 4 <= n; i += 4)
    bounded &= v4_all_le(v4_abs(v4_load(x + i)), v4_splat(max));
  for (; i < n; ++i)
    bounded &= fabs(x[i]) <= max;
  return bounded;
}

static tabi_status check_result(tabi_world *w) {
  const tabi_model *model = w->model;
  if (is_bounded(w->solution.v_new, model->nv, TBI_MAX_SPEED) &&
      is_bounded(w->solution.v_move, model->nv, TBI_MAX_SPEED) &&
      is_bounded(w->solution.q_new, model->nq, TBI_MAX_POSITION))
    return TABI_OK;
  return tbi_world_blame(w);
}

/* J, work of drives and external wrenches along the motion of the step */
static double work_done(const tabi_world *w) {
  const tabi_model *model = w->model;
  double power = 0;
  for (int32_t k = 0; k < model->nv; ++k)
    power += w->solution.applied[k] * w->solution.v_move[k];
  for (int32_t i = 0; w->state.head->external && i < model->nbody; ++i) {
    power += sv_dot(w->state.external[i], w->d->body[i].vel);
  }
  return power * w->def.timestep;
}

/* 7. commit: what the next step starts from, contacts, sensors, then the new state */
static void commit(tabi_world *w) {
  const tabi_model *model = w->model;
  if (tbi_world_has_gait(w)) {
    tbi_world_keep_gait(w);
  } else {
    w->state.head->work += work_done(w) + w->prescribed.work;
    tbi_world_end_prescription(w);
    tbi_sleep_make_slots(w);
    tbi_world_note_slip(w);
    tbi_world_keep_warm(w);
    tbi_world_keep_couples(w);
    tbi_keep_rows(w);
    tbi_keep_drive_limits(w);
    tbi_world_list_contacts(w);
  }
  if (tbi_world_is_implicit(w)) tbi_world_keep_momentum(w);
  tbi_timers_end(&w->timers, TABI_STAGE_REST);
  tbi_sensors_measure(w);
  tbi_timers_end(&w->timers, TABI_STAGE_SENSORS);
  memcpy(w->state.q, w->solution.q_new, bytes(model->nq));
  memcpy(w->state.v, w->solution.v_new, bytes(model->nv));
  ++w->state.head->steps;
  w->current = w->floating.any || w->floating.balanced; /* d is at the new state already */
  if (model->nsensor > 0) {
    w->current = false; /* sensors felt the step where it began */
    /* the next step uses the same kinematics */
    (void)tbi_world_dynamics(w);
    tbi_timers_end(&w->timers, TABI_STAGE_KINEMATICS);
    tbi_sensors_read(w);
    tbi_timers_end(&w->timers, TABI_STAGE_SENSORS);
  }
  tbi_sleep_end(w);
  if (w->timers.clock) ++w->timers.steps;
}

static tabi_status advance(tabi_world *w, const double *tau) {
  tbi_timers *timers = &w->timers;
  /* 1. forces: of drives, springs and dampers; implicit ones also add to the diagonal of M */
  tabi_status status = tbi_world_forces(w, tau);
  if (status != TABI_OK) return status;
  tbi_sleep_begin(w);
  tbi_timers_end(timers, TABI_STAGE_FORCES);
  /* 2. kinematics: poses, velocities and inertias of all bodies */
  if (tbi_world_is_middle(w)) {
    tbi_middle_begin(w);
  } else if (!w->current) {
    tbi_sleep_pose(w);
  }
  tbi_timers_end(timers, TABI_STAGE_KINEMATICS);
  /* 3. candidates: points of contact that may close within the step */
  status = tbi_world_candidates(w);
  if (status != TABI_OK) return status;
  tbi_timers_end(timers, TABI_STAGE_COLLISION);
  tbi_world_swing(w);
  tbi_timers_end(timers, TABI_STAGE_KINEMATICS);
  /* 4. velocity: predict the active set; free motion, problem, solution; verify, or repeat */
  status = tbi_world_find_velocity(w, tau);
  if (status != TABI_OK) return status;
  tbi_world_prescribed_work(w);
  /* 5. position: the integrator moves along the new velocity */
  status = tbi_world_integrate(w, tau);
  if (status != TABI_OK) return status;
  tbi_world_keep_in_place(w);
  /* 6. check: everything new is finite and within bounds, or the state stays */
  status = check_result(w);
  tbi_timers_end(timers, TABI_STAGE_MOVE);
  return status;
}

/* the same by a method that takes over everything after the forces */
static tabi_status advance_by_method(tabi_world *w, const double *tau) {
  tabi_status status = tbi_world_forces(w, tau);
  if (status != TABI_OK) return status;
  tbi_timers_end(&w->timers, TABI_STAGE_FORCES);
  status = w->method->advance(w, tau);
  tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
  if (status != TABI_OK) return status;
  status = check_result(w);
  if (status != TABI_OK) tbi_world_undo_gait(w);
  return status;
}

/* External wrenches act for one step, also for one that failed, for a bad one shall not stay; but
 * not for one that can be repeated with more memory. */
static void forget_wrenches(tabi_world *w) {
  if (!w->state.head->external) return;
  memset(w->state.external, 0, sizeof *w->state.external * (size_t)w->model->nbody);
  if (w->sensors.feels_forces) {
    size_t links = (size_t)w->model->nlink;
    memset(w->sensors.external, 0, sizeof *w->sensors.external * links);
  }
  w->state.head->external = false;
  w->state.head->lifted = false;
}

tabi_status tabi_world_step(tabi_world *world, const double *tau) {
  TBI_ASSERT(world);
  world->error.status = TABI_OK;
  tbi_world_claim_workspace(world);
  tbi_timers_begin(&world->timers);
  if (world->constants.lifts && !world->state.head->lifted) tbi_world_lift(world);
  tabi_status status = tbi_world_prescribe(world);
  bool begun = status == TABI_OK;
  if (begun) status = world->method->advance ? advance_by_method(world, tau) : advance(world, tau);
  world->current = false;
  if (status == TABI_OK) {
    commit(world);
  } else {
    if (begun) tbi_world_end_prescription(world);
    world->solution.ncontact = 0; /* the method has overwritten the list */
  }
  if (status != TABI_ERR_CAPACITY) forget_wrenches(world);
  return status;
}
