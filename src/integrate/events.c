/* events.c - steps, events between them, and the end of too many of them.
 *
 * A step is tried at the length that errors allow.  If guards cross in it, the first crossing is
 * found on the course of the guards, and the step is tried again from the same start with the
 * length corrected by Newton's method, kept between lengths that are known to be too short and too
 * long. Since a step's end is far better than its inside, this is where the state at an event comes
 * from.
 *
 * A guard that cannot fire yet, but would go far enough from zero for it and come back within the
 * step, has the step cut at its farthest point: sides are known from ends of steps only. */
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

/* A run under way: its arguments, and what it counts. */
typedef struct run {
  tbi_events *e;
  tbi_hybrid *system;
  tbi_progress *progress;
  double end, max_step;
  double t;
  double *y;
  double rested; /* s, time of the last rest */
  int nrest;     /* rests one after another, less than `crowd` apart */
} run;

void tbi_events_place(tbi_events *e, tbi_layout *layout, int32_t n_max) {
  tbi_radau_place(&e->radau, layout, n_max);
  tbi_watch_place(&e->watch, layout, n_max);
}

/* The mode may have changed since the last look. */
static void bind(run *r) {
  const tbi_hybrid *system = r->system;
  tbi_watch *w = &r->e->watch;
  TBI_ASSERT(system->nguard >= 0 && system->nguard <= TBI_MAX_GUARDS);
  w->nguard = system->nguard;
  w->guard = system->guard;
  w->values = system->values;
  w->user = system->user;
}

/* Tries the step again until it ends where the guard is zero.  False: either the course was wrong
 * by more than the guard goes beyond zero, and the step now ends on this side of it; or a try
 * failed, and the step's error is infinite. */
static bool locate(run *r, int32_t side, const tbi_find *find) {
  tbi_radau *step = &r->e->radau;
  double low = 0;
  double high = find->limit * step->h;
  bool passed = false; /* high is too long by its own end, not only by the course */
  double length = find->share * step->h;
  double last = HUGE_VAL;
  for (int i = 0; i < LOCATING; ++i) {
    if (!tbi_radau_try(step, length)) return false;
    double slope;
    double value = tbi_watch_end(&r->e->watch, step, find->guard, &slope);
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
    /* a guard that jumps is put behind its jump */
    if (passed && high - low <= fine) return length == high || tbi_radau_try(step, high);
    last = change;
    length += change;
    if (!(length > low && length < high)) length = passed ? 0.5 * (low + high) : high;
  }
  return passed && (step->h == high || tbi_radau_try(step, high));
}

/* Shortens the step just tried to what it runs into first.  Each guard is looked for once: two that
 * cross together must not send the search to and fro.  False: a try failed.  A guard that fires
 * before the clock moves sets *length to 0. */
static bool shorten(run *r, int32_t *fired, double *length) {
  tbi_radau *step = &r->e->radau;
  const int32_t *side = r->progress->side;
  uint32_t seen = 0;
  tbi_find find;
  *fired = -1;
  *length = step->h;
  while (tbi_watch_first(&r->e->watch, side, seen, &find)) {
    seen |= (uint32_t)1 << find.guard;
    bool takes_time = r->t + find.share * step->h > r->t;
    if (!takes_time && find.fires) {
      *fired = find.guard;
      *length = 0;
      return true;
    }
    if (!takes_time) continue;
    bool located = false;
    if (find.fires) {
      located = locate(r, side[find.guard], &find);
    } else {
      tbi_radau_try(step, find.share * step->h);
    }
    if (!isfinite(step->error) || !tbi_watch_sample(&r->e->watch, step)) return false;
    if (located || step->h < *length) *fired = located ? find.guard : -1;
    *length = step->h;
  }
  return true;
}

/* Tries steps until one is good, and shortens it to its first event.  False: none is good. */
static bool find_step(run *r, int32_t *fired, double *length) {
  tbi_radau *step = &r->e->radau;
  tbi_progress *progress = r->progress;
  double left = r->end - r->t;
  if (!(progress->length > 0)) progress->length = r->max_step;
  tbi_radau_start(step, &r->system->ode, r->system->tolerance, r->t, r->y);
  tbi_watch_begin(&r->e->watch, step, fmin(progress->length, r->max_step));
  for (;;) {
    double h = fmin(progress->length, r->max_step);
    /* no sliver before the end */
    if (h > left * (1 - 1e-9)) h = left;
    bool tried = tbi_radau_try(step, h);
    double next = tbi_radau_suggest(step);
    if (tried && step->error <= 1 && tbi_watch_sample(&r->e->watch, step)) {
      /* what the end or an event cuts short says nothing against the length before */
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
  tbi_watch *w = &r->e->watch;
  bind(r);
  if (!progress->armed) tbi_watch_arm(w, r->t, r->y, progress->side);
  progress->armed = 1;
  *fired = tbi_watch_due(w, r->t, r->y, progress->side);
  if (*fired >= 0) return true;
  double length;
  if (!find_step(r, fired, &length)) {
    progress->length = 0;
    return false;
  }
  if (length == 0) return true;
  r->t = length == r->end - r->t ? r->end : fmin(r->t + length, r->end);
  tbi_radau_at(&r->e->radau, 1, r->y);
  if (r->system->settle) r->system->settle(r->system, r->t, r->y);
  tbi_watch_follow(w, r->t, r->y, progress->side);
  return true;
}

/* The sides after a jump. */
static void rearm(run *r, int32_t fired, tbi_verdict verdict) {
  tbi_progress *progress = r->progress;
  progress->armed = verdict == TBI_KEEP;
  if (verdict != TBI_KEEP) return;
  bind(r);
  if (fired >= 0) progress->side[fired] = 0;
  tbi_watch_follow(&r->e->watch, r->t, r->y, progress->side);
}

/* Enters an event in the ring; true: the ring is full of events close together. */
static bool is_crowded(run *r) {
  tbi_progress *progress = r->progress;
  progress->recent[progress->nrecent % TBI_RECENT_EVENTS] = r->t;
  if (++progress->nrecent >= 2 * TBI_RECENT_EVENTS) progress->nrecent = TBI_RECENT_EVENTS;
  if (progress->nrecent < TBI_RECENT_EVENTS) return false;
  double oldest = progress->recent[progress->nrecent % TBI_RECENT_EVENTS];
  return r->t - oldest <= r->system->crowd;
}

/* False: nothing helps.  As many things may come to rest together as there can be guards. */
static bool come_to_rest(run *r, tbi_verdict *verdict) {
  r->progress->nrecent = 0;
  r->nrest = r->t - r->rested <= r->system->crowd ? r->nrest + 1 : 0;
  r->rested = r->t;
  if (!r->system->rest || r->nrest > TBI_MAX_GUARDS) return false;
  *verdict = r->system->rest(r->system, r->t, r->y);
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
    bool crowded = is_crowded(r);
    if (verdict == TBI_STOP) return TBI_STOPPED;
    if (crowded && !come_to_rest(r, &verdict)) return TBI_CROWDED;
    if (verdict == TBI_STOP) return TBI_STOPPED;
  }
  return TBI_REACHED;
}

tbi_end tbi_events_run(tbi_events *e, tbi_hybrid *system, tbi_progress *progress, double end,
                       double max_step, double *t, double *y) {
  TBI_ASSERT(max_step > 0);
  run r = {.e = e, .system = system, .progress = progress, .end = end, .max_step = max_step};
  r.t = *t;
  r.y = y;
  r.rested = -HUGE_VAL;
  tbi_end result = run_to_end(&r);
  *t = r.t;
  return result;
}
