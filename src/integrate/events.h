/* events.h - motion with events: a stiff system is integrated until a guard passes through zero,
 * the event changes state and mode, and so on.
 *
 *   system    the mode in force, and what happens at its events; the caller's
 *   progress  what a run keeps for the next one; plain data, part of a snapshot
 *   events    work memory; nothing in it outlives a run
 *
 * The state at an event is the end of a step, of order 5; the time is located to rounding where the
 * guard crosses with a slope. */
#ifndef TBI_EVENTS_H
#define TBI_EVENTS_H

#include "integrate/watch.h"

#define TBI_RECENT_EVENTS 20

typedef enum tbi_verdict {
  TBI_GO_ON, /* in what may be another mode: its guards begin where they are now, so that one within
              * `leave` of zero waits */
  TBI_STOP,
  TBI_KEEP, /* go on in the same mode: all guards but the one that fired keep their sides, and one
             * at zero or beyond it fires next */
} tbi_verdict;

/* Zero it to begin; zero `armed` when y or the mode was changed between runs. */
typedef struct tbi_progress {
  double length;                /* s, of the next step; 0: not known */
  int32_t armed;                /* the sides are known; else made from the state at the next run */
  int32_t side[TBI_MAX_GUARDS]; /* 1 above zero, -1 below, 0 waiting */
  int32_t nrecent;              /* events in the ring; those before the last lap are not counted */
  double recent[TBI_RECENT_EVENTS]; /* s, times of the last events */
} tbi_progress;

typedef struct tbi_hybrid tbi_hybrid;
struct tbi_hybrid {
  tbi_ode ode;
  tbi_tolerance tolerance;
  int32_t nguard;
  const tbi_guard *guard;
  tbi_guards_fn *values; /* NULL: no guards */
  /* A guard fired: may change y, and the mode (any field of `system`, n included; y has room for
   * n_max). */
  tbi_verdict (*event)(tbi_hybrid *system, int32_t guard, double t, double *y);
  /* After every step, before an event at its end and before guards are looked at again: takes out
   * drift; NULL: none. */
  void (*settle)(tbi_hybrid *system, double t, double *y);
  /* TBI_RECENT_EVENTS events came within `crowd` s, so that they may have no end: gives up
   * bouncing, say.  NULL: the run ends there.  So it does when this was called over and over within
   * `crowd` and did not help. */
  tbi_verdict (*rest)(tbi_hybrid *system, double t, double *y);
  double crowd; /* s */
  void *user;   /* of the guards */
};

typedef enum tbi_end {
  TBI_REACHED, /* the end of the run */
  TBI_STOPPED, /* by an event */
  TBI_CROWDED, /* events follow each other without end */
  TBI_FAILED   /* no step is short enough, or something is no number; y is the last good state */
} tbi_end;

typedef struct tbi_events {
  tbi_radau radau;
  tbi_watch watch;
} tbi_events;

/* Takes memory for systems of up to n_max equations. */
void tbi_events_place(tbi_events *e, tbi_layout *layout, int32_t n_max);
/* From *t, y to `end`, in steps of at most max_step, with jumps at events between.  *t and y become
 * where it ended. */
tbi_end tbi_events_run(tbi_events *e, tbi_hybrid *system, tbi_progress *progress, double end,
                       double max_step, double *t, double *y);

#endif
