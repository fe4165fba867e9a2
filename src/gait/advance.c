/* advance.c - one time step of a walk: smooth motion, and the events in it.
 *
 * Located events: the free coordinates, their rates and the ledgers are integrated together, and
 * every guard of the mode is found in time.  Otherwise as published: one step with implicit
 * damping, guards looked at when it is over. */
#include "gait/gait.h"

#include <string.h>

/* s: twenty events within this are a crowd, and nothing is released for as long after it */
#define CROWD      1e-3
#define LEAST_PULL 1e-6 /* N; less is a force located at zero */
#define MAX_SPEED  1e5  /* m/s or rad/s */
#define RISEN      1e-3 /* m; a foot left behind flat may dip before its heel is off the ground */

static void pack(const tbi_walk *w, double *y) {
  int32_t n = w->nactive;
  for (int32_t i = 0; i < n; ++i) {
    y[i] = w->q[w->active[i]];
    y[n + i] = w->v[w->active[i]];
  }
  memcpy(y + 2 * (ptrdiff_t)n, w->memory->ledger, sizeof w->memory->ledger);
}

static void unpack(tbi_walk *w, const double *y) {
  int32_t n = w->nactive;
  for (int32_t i = 0; i < n; ++i) {
    w->q[w->active[i]] = y[i];
    w->v[w->active[i]] = y[n + i];
  }
  memcpy(w->memory->ledger, y + 2 * (ptrdiff_t)n, sizeof w->memory->ledger);
}

static bool look_and_accelerate(tbi_walk *w, double t) {
  tbi_walk_look(w, tbi_walk_sticks(w));
  return tbi_walk_accelerate(w, t);
}

/* rates of the ledgers */
static void keep_books(const tbi_walk *w, double *rate) {
  bool touches = tbi_walk_mode(w)->other != TBI_AWAY;
  double slip = touches ? tbi_walk_slip(w) : 0;
  rate[TBI_WORK] = 0;
  rate[TBI_DRAG] = w->forces.friction * slip + w->forces.along * w->v[TBI_ALONG_X];
  for (int32_t i = 0; i < w->nactive; ++i) {
    int32_t k = w->active[i];
    rate[TBI_WORK] += w->drive[k] * w->v[k];
    rate[TBI_DRAG] += w->passive[k] * w->v[k];
  }
  rate[TBI_PUSH] = w->forces.normal;
  rate[TBI_SLIDE] = slip;
}

static void walk_rate(void *user, double t, const double *y, double *rate) {
  tbi_walk *w = user;
  int32_t n = w->nactive;
  unpack(w, y);
  bool good = look_and_accelerate(w, t);
  for (int32_t i = 0; i < n; ++i) {
    rate[i] = y[n + i];
    rate[n + i] = good ? w->acceleration[w->active[i]] : (double)NAN;
  }
  keep_books(w, rate + 2 * (ptrdiff_t)n);
}

static void walk_guards(void *user, double t, const double *y, double *value) {
  tbi_walk *w = user;
  unpack(w, y);
  bool good = look_and_accelerate(w, t);
  for (int32_t i = 0; i < w->nguard; ++i)
    value[i] = good ? tbi_walk_signal(w, tbi_gait_changes[w->watched[i]].signal) : (double)NAN;
}

/* The guards of the phase; a signal that means nothing in it is infinite, and not watched. */
static void list_guards(tbi_walk *w, double t) {
  w->nguard = 0;
  for (int32_t i = 0; i < tbi_gait_change_count; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[i];
    if (!tbi_walk_applies(w, change, t) || isinf(tbi_walk_signal(w, change->signal))) continue;
    w->guard[w->nguard] = (tbi_guard){TBI_FALLING, tbi_signals[change->signal].leave};
    w->watched[w->nguard++] = i;
  }
}

/* Takes out what the held rows have drifted, in position and in speed. */
static void remove_drift(tbi_walk *w) {
  int32_t nv = tbi_walk_view(w)->model->nv;
  double target[TBI_MAX_ROWS];
  tbi_walk_look(w, tbi_walk_sticks(w));
  if (w->held.count == 0) return;
  for (int32_t c = 0; c < w->held.count; ++c)
    target[c] = -w->held.error[c];
  memset(w->acceleration, 0, sizeof *w->acceleration * (size_t)nv);
  if (!tbi_walk_project(w, target, false, w->acceleration)) return;
  for (int32_t k = 0; k < nv; ++k)
    w->q[k] += w->acceleration[k];
  tbi_walk_look(w, tbi_walk_sticks(w));
  tbi_walk_project(w, NULL, false, w->v);
}

/* What is noticed after every accepted piece of motion; at its end all is computed anew. */
static void notice(tbi_walk *w, double t, double length) {
  double pos[3], vel[3];
  look_and_accelerate(w, t);
  tbi_walk_point(w, &tbi_walk_view(w)->heel[1], pos, vel);
  if (tbi_walk_mode(w)->other == TBI_AWAY && pos[2] > RISEN) w->memory->risen = true;
  if (fmin(w->forces.heel, w->forces.toe) < -LEAST_PULL) w->memory->pulled += length;
}

static void walk_settle(tbi_hybrid *system, double t, double *y) {
  tbi_walk *w = system->user;
  unpack(w, y);
  remove_drift(w);
  notice(w, t, w->events.radau.h);
  pack(w, y);
}

static void set_mode(tbi_walk *w, tbi_hybrid *system, double t) {
  tbi_walk_activate(w);
  look_and_accelerate(w, t);
  list_guards(w, t);
  system->ode.n = 2 * w->nactive + TBI_LEDGERS;
  system->nguard = w->nguard;
}

static tbi_verdict walk_event(tbi_hybrid *system, int32_t guard, double t, double *y) {
  tbi_walk *w = system->user;
  unpack(w, y);
  tbi_walk_change(w, &tbi_gait_changes[w->watched[guard]], t);
  set_mode(w, system, t);
  pack(w, y);
  return w->memory->outcome == TABI_GAIT_WALKS ? TBI_GO_ON : TBI_STOP;
}

/* A first crowd ends the run, so that the next one ends with the hold; one within a hold does not,
 * and is counted by the run. */
static tbi_verdict walk_rest(tbi_hybrid *system, double t, double *y) {
  tbi_walk *w = system->user;
  bool held = t < w->memory->hold_until;
  w->memory->hold_until = t + CROWD;
  ++w->memory->rested;
  set_mode(w, system, t);
  pack(w, y);
  return held ? TBI_GO_ON : TBI_STOP;
}

/* What was held may go again, and what pulls by now goes at once. */
static void end_hold(tbi_walk *w, tbi_hybrid *system, double t) {
  tbi_gait_memory *memory = w->memory;
  if (!(memory->hold_until > 0 && t >= memory->hold_until)) return;
  memory->hold_until = 0;
  memory->progress.armed = 0;
  tbi_walk_change(w, NULL, t);
  set_mode(w, system, t);
}

static void advance_located(tbi_walk *w, double from, double to) {
  tbi_gait_memory *memory = w->memory;
  tbi_hybrid system = {
      .ode = {.rate = walk_rate, .user = w   },
      .tolerance = {w->tolerance,      w->tolerance},
      .guard = w->guard,
      .values = walk_guards,
      .event = walk_event,
      .settle = walk_settle,
      .rest = walk_rest,
      .crowd = CROWD,
      .user = w,
  };
  double t = from;
  set_mode(w, &system, from);
  end_hold(w, &system, from);
  while (t < to && memory->outcome == TABI_GAIT_WALKS) {
    bool held = memory->hold_until > t && memory->hold_until < to;
    double end = held ? memory->hold_until : to;
    pack(w, w->y);
    tbi_end result =
        tbi_events_run(&w->events, &system, &memory->progress, end, to - from, &t, w->y);
    unpack(w, w->y);
    if (result == TBI_CROWDED || result == TBI_FAILED) memory->outcome = TABI_GAIT_JAMMED;
    if (t < to) end_hold(w, &system, t);
  }
  look_and_accelerate(w, t);
}

/* One step as published: v+ from the equation with implicit damping, q+ by the mean velocity, with
 * which the forces of the step, damping at v+, do their work. */
static void step(tbi_walk *w, double t, double h) {
  double rate[TBI_LEDGERS];
  w->damping = h;
  bool good = look_and_accelerate(w, t);
  w->damping = 0;
  if (!good) {
    w->memory->outcome = TABI_GAIT_JAMMED;
    return;
  }
  for (int32_t i = 0; i < w->nactive; ++i) {
    int32_t k = w->active[i];
    w->passive[k] -= h * tbi_walk_damping(w, k) * w->acceleration[k];
    w->v[k] += 0.5 * h * w->acceleration[k];
  }
  tbi_walk_look(w, tbi_walk_sticks(w));
  keep_books(w, rate);
  for (int i = 0; i < TBI_LEDGERS; ++i)
    w->memory->ledger[i] += h * rate[i];
  for (int32_t i = 0; i < w->nactive; ++i) {
    int32_t k = w->active[i];
    w->q[k] += h * w->v[k];
    w->v[k] += 0.5 * h * w->acceleration[k];
  }
  remove_drift(w);
}

static void advance_step(tbi_walk *w, double from, double to) {
  tbi_progress *progress = &w->memory->progress;
  tbi_walk_activate(w);
  look_and_accelerate(w, from);
  list_guards(w, from);
  for (int32_t i = 0; i < w->nguard; ++i) {
    double value = tbi_walk_signal(w, tbi_gait_changes[w->watched[i]].signal);
    progress->side[i] = value > w->guard[i].leave;
  }
  step(w, from, to - from);
  if (w->memory->outcome != TABI_GAIT_WALKS) return;
  notice(w, to, to - from);
  for (int32_t i = 0; i < w->nguard; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[w->watched[i]];
    if (!progress->side[i] || tbi_walk_signal(w, change->signal) > 0) continue;
    tbi_walk_change(w, change, to);
    return;
  }
}

/* speeds beyond all reason: friction has jammed, and its force grown without end */
static bool is_lost(const tbi_walk *w) {
  for (int32_t k = 0; k < tbi_walk_view(w)->model->nv; ++k) {
    if (!(fabs(w->v[k]) < MAX_SPEED)) return true;
  }
  return false;
}

void tbi_walk_advance(tbi_walk *w, double from, double to) {
  w->nevent = 0;
  if (w->gait->def.events == TABI_GAIT_LOCATED) {
    advance_located(w, from, to);
  } else {
    advance_step(w, from, to);
  }
  if (is_lost(w)) w->memory->outcome = TABI_GAIT_JAMMED;
}

void tbi_walk_start(tbi_walk *w, double t, double *q, double *v) {
  const tabi_gait *gait = w->gait;
  const tabi_model *robot = gait->model;
  memset(w->memory, 0, sizeof *w->memory);
  w->nevent = 0;
  w->memory->phase = (tbi_phase){.support = gait->def.support, .mode = gait->start};
  w->memory->since = w->memory->landed = t;
  const tbi_view *view = tbi_walk_view(w);
  memset(w->q, 0, sizeof *w->q * (size_t)view->model->nv);
  memset(w->v, 0, sizeof *w->v * (size_t)view->model->nv);
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (view->dof[k] == TABI_NONE) continue;
    w->q[view->dof[k]] = q[robot->dof_q[k]];
    w->v[view->dof[k]] = v[k];
  }
  tbi_kinematics(w->view[w->memory->phase.support], w->q, w->v);
  const tbi_body *base = &robot->body[gait->base];
  v3 along = m3_column(&base->place.rot, 0);
  v3 across = m3_column(&base->place.rot, 1);
  double x = robot->tree_place[base->tree].x + q[base->q] * along.x + q[base->q + 1] * across.x;
  w->q[TBI_ALONG_X] = x - tbi_walk_base(w).pos.x;
  tbi_walk_activate(w);
  remove_drift(w);
  notice(w, t, 0);
  tbi_walk_change(w, NULL, t);
  tbi_walk_robot(w, q, v);
}

void tbi_walk_refresh(tbi_walk *w, double t) {
  tbi_walk_activate(w);
  look_and_accelerate(w, t);
}
