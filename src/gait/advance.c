/* advance.c - one time step of a gait: smooth motion, and the events in it.
 *
 * With located events the free coordinates, their rates and the ledgers are integrated together by
 * Radau IIA, and every guard of the mode is located in time.  Otherwise as in P3: one step with
 * implicit damping, after which the guards are evaluated. */
#include "base/assertion.h"
#include "gait/gait.h"

#include <string.h>

/* s: TBI_RECENT_EVENTS events within this are Zeno behaviour; no release for as long after it */
#define ZENO_WINDOW 1e-3
#define MIN_PULL    1e-6 /* N; less is a force located at zero */
#define MAX_SPEED   1e5  /* m/s or rad/s */
#define RISEN       1e-3 /* m; the old support foot, left behind flat, may dip before its heel rises */

static void pack(const tbi_gait_run *run, double *y) {
  int32_t n = run->nactive;
  for (int32_t i = 0; i < n; ++i) {
    y[i] = run->q[run->active[i]];
    y[n + i] = run->v[run->active[i]];
  }
  memcpy(y + 2 * (ptrdiff_t)n, run->memory->ledger, sizeof run->memory->ledger);
}

static void unpack(tbi_gait_run *run, const double *y) {
  int32_t n = run->nactive;
  for (int32_t i = 0; i < n; ++i) {
    run->q[run->active[i]] = y[i];
    run->v[run->active[i]] = y[n + i];
  }
  memcpy(run->memory->ledger, y + 2 * (ptrdiff_t)n, sizeof run->memory->ledger);
}

static void ledger_rates(const tbi_gait_run *run, double *rate) {
  bool touches = tbi_gait_mode_now(run)->swing != TBI_AWAY;
  double slip = touches ? tbi_gait_slip(run) : 0;
  rate[TBI_DRIVE_WORK] = 0;
  rate[TBI_PASSIVE_WORK] = run->forces.friction * slip + run->forces.along * run->v[TBI_ALONG_X];
  for (int32_t i = 0; i < run->nactive; ++i) {
    int32_t k = run->active[i];
    rate[TBI_DRIVE_WORK] += run->drive[k] * run->v[k];
    rate[TBI_PASSIVE_WORK] += run->passive[k] * run->v[k];
  }
  rate[TBI_NORMAL_IMPULSE] = run->forces.normal;
  rate[TBI_SLIP_DISTANCE] = slip;
}

static void gait_rate(void *user, double t, const double *y, double *rate) {
  tbi_gait_run *run = user;
  int32_t n = run->nactive;
  unpack(run, y);
  bool good = tbi_gait_evaluate(run, t);
  for (int32_t i = 0; i < n; ++i) {
    rate[i] = y[n + i];
    rate[n + i] = good ? run->acceleration[run->active[i]] : (double)NAN;
  }
  ledger_rates(run, rate + 2 * (ptrdiff_t)n);
}

static void gait_guards(void *user, double t, const double *y, double *value) {
  tbi_gait_run *run = user;
  unpack(run, y);
  bool good = tbi_gait_evaluate(run, t);
  for (int32_t i = 0; i < run->nguard; ++i)
    value[i] = good ? tbi_gait_guard_value(run, tbi_gait_changes[run->change_of_guard[i]].guard)
                    : (double)NAN;
}

/* The guards of the phase, without those that have no meaning in it and are infinite. */
static void list_guards(tbi_gait_run *run, double t) {
  run->nguard = 0;
  for (int32_t i = 0; i < tbi_gait_change_count; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[i];
    if (!tbi_gait_change_applies(run, change, t) || isinf(tbi_gait_guard_value(run, change->guard)))
      continue;
    TBI_ASSERT(run->nguard < TBI_MAX_GUARDS);
    run->guard[run->nguard] = (tbi_guard){TBI_FALLING, tbi_gait_guard_infos[change->guard].leave};
    run->change_of_guard[run->nguard++] = i;
  }
}

/* Projects out the drift of the constraint rows, in position and in velocity. */
static void remove_drift(tbi_gait_run *run) {
  int32_t nv = tbi_gait_tree(run)->model->nv;
  double target[TBI_GAIT_MAX_ROWS];
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
  if (run->rows.count == 0) return;
  for (int32_t c = 0; c < run->rows.count; ++c)
    target[c] = -run->rows.error[c];
  memset(run->correction, 0, sizeof *run->correction * (size_t)nv);
  if (!tbi_gait_project(run, target, false, run->correction)) return;
  for (int32_t k = 0; k < nv; ++k)
    run->q[k] += run->correction[k];
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
  tbi_gait_project(run, NULL, false, run->v);
}

/* After every accepted step: whether the swing heel has risen, and how long a sole has pulled.
 * Leaves all derived quantities as of t. */
static void record_step(tbi_gait_run *run, double t, double length) {
  double pos[3], vel[3];
  tbi_gait_evaluate(run, t);
  tbi_gait_point_motion(run, &tbi_gait_tree(run)->heel[1], pos, vel);
  if (tbi_gait_mode_now(run)->swing == TBI_AWAY && pos[2] > RISEN) run->memory->risen = true;
  if (fmin(run->forces.heel, run->forces.toe) < -MIN_PULL) run->memory->pulled += length;
}

static void gait_settle(tbi_hybrid *system, double t, double *y) {
  tbi_gait_run *run = system->user;
  unpack(run, y);
  remove_drift(run);
  record_step(run, t, run->events.radau.h);
  pack(run, y);
}

static void set_mode(tbi_gait_run *run, tbi_hybrid *system, double t) {
  tbi_gait_select_dofs(run);
  tbi_gait_evaluate(run, t);
  list_guards(run, t);
  system->ode.n = 2 * run->nactive + TBI_GAIT_LEDGERS;
  system->nguard = run->nguard;
}

static tbi_verdict gait_event(tbi_hybrid *system, int32_t guard, double t, double *y) {
  tbi_gait_run *run = system->user;
  TBI_ASSERT(guard >= 0 && guard < run->nguard);
  unpack(run, y);
  tbi_gait_apply_change(run, &tbi_gait_changes[run->change_of_guard[guard]], t);
  set_mode(run, system, t);
  pack(run, y);
  return run->memory->outcome == TABI_GAIT_ONGOING ? TBI_GO_ON : TBI_STOP;
}

/* Suspends releases.  The first time this ends the integration, so that the next one ends together
 * with the hold; within a hold it does not, and the integration counts the calls. */
static tbi_verdict hold_releases(tbi_hybrid *system, double t, double *y) {
  tbi_gait_run *run = system->user;
  bool holds = t < run->memory->hold_until;
  run->memory->hold_until = t + ZENO_WINDOW;
  ++run->memory->zeno_holds;
  set_mode(run, system, t);
  pack(run, y);
  return holds ? TBI_GO_ON : TBI_STOP;
}

/* Releases are possible again, and those that are due happen at once. */
static void end_hold(tbi_gait_run *run, tbi_hybrid *system, double t) {
  tbi_gait_memory *memory = run->memory;
  if (!(memory->hold_until > 0 && t >= memory->hold_until)) return;
  memory->hold_until = 0;
  memory->progress.armed = 0;
  tbi_gait_apply_change(run, NULL, t);
  set_mode(run, system, t);
}

static void advance_located(tbi_gait_run *run, double from, double to) {
  tbi_gait_memory *memory = run->memory;
  tbi_hybrid system = {
      .ode = {.rate = gait_rate, .user = run   },
      .tolerance = {run->tolerance,    run->tolerance},
      .guard = run->guard,
      .values = gait_guards,
      .event = gait_event,
      .settle = gait_settle,
      .on_zeno = hold_releases,
      .zeno_window = ZENO_WINDOW,
      .user = run,
  };
  double t = from;
  set_mode(run, &system, from);
  end_hold(run, &system, from);
  while (t < to && memory->outcome == TABI_GAIT_ONGOING) {
    bool holds = memory->hold_until > t && memory->hold_until < to;
    double end = holds ? memory->hold_until : to;
    pack(run, run->y);
    tbi_end result =
        tbi_events_run(&run->events, &system, &memory->progress, end, to - from, &t, run->y);
    unpack(run, run->y);
    if (result == TBI_ZENO || result == TBI_FAILED) memory->outcome = TABI_GAIT_JAMMED;
    if (t < to) end_hold(run, &system, t);
  }
  tbi_gait_evaluate(run, t);
}

/* One step as published (P3, section on the step): v+ from eq. (9) with implicit damping, q+ by the
 * mean velocity, with which the forces of the step, damping at v+, do their work. */
static void step_fixed(tbi_gait_run *run, double t, double h) {
  TBI_ASSERT(h > 0);
  double rate[TBI_GAIT_LEDGERS];
  run->damping = h;
  bool good = tbi_gait_evaluate(run, t);
  run->damping = 0;
  if (!good) {
    run->memory->outcome = TABI_GAIT_JAMMED;
    return;
  }
  for (int32_t i = 0; i < run->nactive; ++i) {
    int32_t k = run->active[i];
    run->passive[k] -= h * tbi_gait_damping(run, k) * run->acceleration[k];
    run->v[k] += 0.5 * h * run->acceleration[k];
  }
  tbi_gait_update_kinematics(run, tbi_gait_swing_sticks(run));
  ledger_rates(run, rate);
  for (int i = 0; i < TBI_GAIT_LEDGERS; ++i)
    run->memory->ledger[i] += h * rate[i];
  for (int32_t i = 0; i < run->nactive; ++i) {
    int32_t k = run->active[i];
    run->q[k] += h * run->v[k];
    run->v[k] += 0.5 * h * run->acceleration[k];
  }
  remove_drift(run);
}

static void advance_step(tbi_gait_run *run, double from, double to) {
  tbi_progress *progress = &run->memory->progress;
  tbi_gait_select_dofs(run);
  tbi_gait_evaluate(run, from);
  list_guards(run, from);
  for (int32_t i = 0; i < run->nguard; ++i) {
    double value = tbi_gait_guard_value(run, tbi_gait_changes[run->change_of_guard[i]].guard);
    progress->side[i] = value > run->guard[i].leave;
  }
  step_fixed(run, from, to - from);
  if (run->memory->outcome != TABI_GAIT_ONGOING) return;
  record_step(run, to, to - from);
  for (int32_t i = 0; i < run->nguard; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[run->change_of_guard[i]];
    if (!progress->side[i] || tbi_gait_guard_value(run, change->guard) > 0) continue;
    tbi_gait_apply_change(run, change, to);
    return;
  }
}

/* Speeds beyond all reason: friction has jammed, and its force has no bound. */
static bool has_diverged(const tbi_gait_run *run) {
  for (int32_t k = 0; k < tbi_gait_tree(run)->model->nv; ++k) {
    if (!(fabs(run->v[k]) < MAX_SPEED)) return true;
  }
  return false;
}

void tbi_gait_advance(tbi_gait_run *run, double from, double to) {
  TBI_ASSERT(to > from);
  run->nevent = 0;
  if (run->gait->def.events == TABI_GAIT_LOCATED) {
    advance_located(run, from, to);
  } else {
    advance_step(run, from, to);
  }
  if (has_diverged(run)) run->memory->outcome = TABI_GAIT_JAMMED;
}

void tbi_gait_begin(tbi_gait_run *run, double t, double *q, double *v) {
  TBI_ASSERT(q && v);
  const tabi_gait *gait = run->gait;
  const tabi_model *robot = gait->model;
  memset(run->memory, 0, sizeof *run->memory);
  run->nevent = 0;
  run->memory->phase =
      (tbi_gait_phase){.support = gait->def.initial_support, .mode = gait->initial_mode};
  run->memory->support_since = run->memory->landed_at = t;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  memset(run->q, 0, sizeof *run->q * (size_t)tree->model->nv);
  memset(run->v, 0, sizeof *run->v * (size_t)tree->model->nv);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (tree->dof[k] == TABI_NONE) continue;
    run->q[tree->dof[k]] = q[robot->dof_q[k]];
    run->v[tree->dof[k]] = v[k];
  }
  tbi_kinematics(tbi_gait_dynamics(run), run->q, run->v);
  const tbi_body *base = &robot->body[gait->base];
  v3 along = m3_column(&base->place.rot, 0);
  v3 across = m3_column(&base->place.rot, 1);
  double x = robot->tree_place[base->tree].x + q[base->q] * along.x + q[base->q + 1] * across.x;
  run->q[TBI_ALONG_X] = x - tbi_gait_base_frame(run).pos.x;
  tbi_gait_select_dofs(run);
  remove_drift(run);
  record_step(run, t, 0);
  tbi_gait_apply_change(run, NULL, t);
  tbi_gait_robot_state(run, q, v);
}

void tbi_gait_refresh(tbi_gait_run *run, double t) {
  tbi_gait_select_dofs(run);
  tbi_gait_evaluate(run, t);
}
