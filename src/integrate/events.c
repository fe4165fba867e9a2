/* events.c - see events.h.
 *
 * A step is tried at the length that the error estimate allows.  If guards cross zero in it, the
 * first crossing is found on their interpolants, and the step is tried again from the same start
 * with the length corrected by Newton's method, bracketed by lengths that are known to be too short
 * and too long.  The state at an event is thus the end of a step, which is far more accurate than
 * its dense output.
 *
 * A guard that is not armed, but would leave zero far enough to be armed and come back within the
 * step, has the step cut at its farthest point: sides are updated at ends of steps only. */
#include "integrate/events.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

/* tries of a step until its end is at the event */
#define LOCATING 60
/* s; changes that no longer shrink are rounding if they are below this */
#define ROUNDING 1e-13
/* of the longest step: shorter ones mean that there is no solution */
#define SHORTEST 1e-14

/* A run in progress: its arguments and counters. */
typedef struct run {
  tbi_events *solver;
  tbi_hybrid *system;
  tbi_progress *progress;
  double end, max_step;
  double t;
  double *y;
  double last_zeno; /* s, time of the last call of on_zeno */
  int nzeno;        /* such calls in sequence, each within zeno_window of the one before */
} run;

void tbi_events_place(tbi_events *solver, tbi_layout *layout, int32_t n_max) {
  tbi_radau_place(&solver->radau, layout, n_max);
  tbi_crossings_place(&solver->crossings, layout, n_max);
}

/* The mode may have changed since the last step. */
static void bind(run *r) {
  const tbi_hybrid *system = r->system;
  tbi_crossings *crossings = &r->solver->crossings;
  TBI_ASSERT(system->nguard >= 0 && system->nguard <= TBI_MAX_GUARDS);
  crossings->nguard = system->nguard;
  crossings->guard = system->guard;
  crossings->values = system->values;
  crossings->user = system->user;
}

/* Tries the step again until it ends where the guard is zero.  False: either the interpolant was
 * wrong by more than the guard goes beyond zero, and the step now ends before the crossing; or a
 * try failed, and the step's error is infinite. */
static bool locate(run *r, int32_t side, const tbi_crossing *crossing) {
  TBI_ASSERT(side != 0 && crossing->limit > 0 && crossing->limit <= 1);
  tbi_radau *step = &r->solver->radau;
  double low = 0;
  double high = crossing->limit * step->h;
  bool passed = false; /* high is too long by its own end, not only by the interpolant */
  double length = crossing->share * step->h;
  double last = HUGE_VAL;
  for (int i = 0; i < LOCATING; ++i) {
    if (!tbi_radau_try(step, length)) return false;
    double slope;
    double value = tbi_crossings_end(&r->solver->crossings, step, crossing->guard, &slope);
    double change = -value / slope;
    double fine = DBL_EPSILON * (4 * length + 0.25 * fabs(r->t));
    if (value == 0 || fabs(change) <= fine) return true;
    if (fabs(change) < ROUNDING && fabs(change) > 0.5 * fabs(last)) return true;
    if (value * side > 0) {
      if (length == high) return false;
      low = length;
    } else {
      high = length;
      passed = true;
    }
    /* for a discontinuous guard the step ends behind the discontinuity */
    if (passed && high - low <= fine) return length == high || tbi_radau_try(step, high);
    last = change;
    length += change;
    if (!(length > low && length < high)) length = passed ? 0.5 * (low + high) : high;
  }
  return passed && (step->h == high || tbi_radau_try(step, high));
}

/* Shortens the step just tried to its first crossing.  Each guard is located once, so that two that
 * cross together do not alternate.  False: a try failed.  A guard that fires before the time can
 * advance in floating point sets *length to 0. */
static bool shorten(run *r, int32_t *fired, double *length) {
  tbi_radau *step = &r->solver->radau;
  const int32_t *side = r->progress->side;
  uint32_t seen = 0;
  tbi_crossing crossing;
  *fired = -1;
  *length = step->h;
  while (tbi_crossings_first(&r->solver->crossings, side, seen, &crossing)) {
    seen |= (uint32_t)1 << crossing.guard;
    bool takes_time = r->t + crossing.share * step->h > r->t;
    if (!takes_time && crossing.fires) {
      *fired = crossing.guard;
      *length = 0;
      return true;
    }
    if (!takes_time) continue;
    bool located = false;
    if (crossing.fires) {
      located = locate(r, side[crossing.guard], &crossing);
    } else {
      tbi_radau_try(step, crossing.share * step->h);
    }
    if (!isfinite(step->error) || !tbi_crossings_sample(&r->solver->crossings, step)) return false;
    if (located || step->h < *length) *fired = located ? crossing.guard : -1;
    *length = step->h;
  }
  return true;
}

/* Tries steps until one is good, and shortens it to its first event.  False: none is good. */
static bool find_step(run *r, int32_t *fired, double *length) {
  tbi_radau *step = &r->solver->radau;
  tbi_progress *progress = r->progress;
  double left = r->end - r->t;
  if (!(progress->length > 0)) progress->length = r->max_step;
  tbi_radau_start(step, &r->system->ode, r->system->tolerance, r->t, r->y);
  tbi_crossings_begin(&r->solver->crossings, step, fmin(progress->length, r->max_step));
  for (;;) {
    double h = fmin(progress->length, r->max_step);
    /* no very short step before the end */
    if (h > left * (1 - 1e-9)) h = left;
    bool tried = tbi_radau_try(step, h);
    double next = tbi_radau_suggest(step);
    if (tried && step->error <= 1 && tbi_crossings_sample(&r->solver->crossings, step)) {
      /* a step cut short by the end or by an event does not shorten the next one */
      progress->length = h < progress->length ? fmax(next, progress->length) : next;
      if (shorten(r, fired, length)) return true;
    }
    progress->length = fmin(next, 0.5 * h);
    if (progress->length < SHORTEST * r->max_step || r->t + progress->length <= r->t) return false;
  }
}

/* One step, up to an event if there is one: then *fired is its guard, else -1.  False: failed. */
static bool advance(run *r, int32_t *fired) {
  tbi_progress *progress = r->progress;
  tbi_crossings *crossings = &r->solver->crossings;
  bind(r);
  if (!progress->armed) tbi_crossings_arm(crossings, r->t, r->y, progress->side);
  progress->armed = 1;
  *fired = tbi_crossings_due(crossings, r->t, r->y, progress->side);
  if (*fired >= 0) return true;
  double length;
  if (!find_step(r, fired, &length)) {
    progress->length = 0;
    return false;
  }
  if (length == 0) return true;
  r->t = length == r->end - r->t ? r->end : fmin(r->t + length, r->end);
  tbi_radau_at(&r->solver->radau, 1, r->y);
  if (r->system->settle) r->system->settle(r->system, r->t, r->y);
  tbi_crossings_follow(crossings, r->t, r->y, progress->side);
  return true;
}

/* Sides after a jump. */
static void rearm(run *r, int32_t fired, tbi_verdict verdict) {
  tbi_progress *progress = r->progress;
  progress->armed = verdict == TBI_KEEP;
  if (verdict != TBI_KEEP) return;
  bind(r);
  if (fired >= 0) progress->side[fired] = 0;
  tbi_crossings_follow(&r->solver->crossings, r->t, r->y, progress->side);
}

/* Enters an event in the ring; true: all events in the ring lie within zeno_window. */
static bool is_zeno(run *r) {
  TBI_ASSERT(r->progress->nrecent >= 0);
  tbi_progress *progress = r->progress;
  progress->recent[progress->nrecent % TBI_RECENT_EVENTS] = r->t;
  if (++progress->nrecent >= 2 * TBI_RECENT_EVENTS) progress->nrecent = TBI_RECENT_EVENTS;
  if (progress->nrecent < TBI_RECENT_EVENTS) return false;
  double oldest = progress->recent[progress->nrecent % TBI_RECENT_EVENTS];
  return r->t - oldest <= r->system->zeno_window;
}

/* False: nothing helps.  As many calls may follow each other as there can be guards. */
static bool resolve_zeno(run *r, tbi_verdict *verdict) {
  r->progress->nrecent = 0;
  r->nzeno = r->t - r->last_zeno <= r->system->zeno_window ? r->nzeno + 1 : 0;
  r->last_zeno = r->t;
  if (!r->system->on_zeno || r->nzeno > TBI_MAX_GUARDS) return false;
  *verdict = r->system->on_zeno(r->system, r->t, r->y);
  rearm(r, -1, *verdict);
  return true;
}

static tbi_end run_to_end(run *r) {
  while (r->t < r->end) {
    int32_t fired;
    if (!advance(r, &fired)) return TBI_FAILED;
    if (fired < 0) continue;
    tbi_verdict verdict = r->system->event(r->system, fired, r->t, r->y);
    rearm(r, fired, verdict);
    bool zeno = is_zeno(r);
    if (verdict == TBI_STOP) return TBI_STOPPED;
    if (zeno && !resolve_zeno(r, &verdict)) return TBI_ZENO;
    if (verdict == TBI_STOP) return TBI_STOPPED;
  }
  return TBI_REACHED;
}

tbi_end tbi_events_run(tbi_events *solver, tbi_hybrid *system, tbi_progress *progress, double end,
                       double max_step, double *t, double *y) {
  TBI_ASSERT(max_step > 0);
  run r = {
      .solver = solver, .system = system, .progress = progress, .end = end, .max_step = max_step};
  r.t = *t;
  r.y = y;
  r.last_zeno = -HUGE_VAL;
  tbi_end result = run_to_end(&r);
  *t = r.t;
  return result;
}
