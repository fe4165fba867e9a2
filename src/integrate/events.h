/* events.h - event-driven integration of a hybrid system: a stiff ODE is integrated until a guard
 * crosses zero, the event changes state and mode, and so on.
 *
 *   system    the present mode and its events; the caller's
 *   progress  what a run keeps for the next one; plain data, part of a snapshot
 *   events    work memory; nothing in it outlives a run
 *
 * The state at an event is the end of a step, of order 5.  The time of the event is located to
 * rounding where the guard crosses zero with a slope. */
#ifndef TBI_EVENTS_H
#define TBI_EVENTS_H

#include "integrate/crossings.h"

#define TBI_RECENT_EVENTS 20

typedef enum tbi_verdict {
  TBI_GO_ON, /* in what may be another mode: sides are made anew, so that a guard within `leave` of
              * zero is not armed */
  TBI_STOP,
  TBI_KEEP, /* go on in the same mode: all guards but the one that fired keep their sides, and one
             * at zero or beyond it fires next */
} tbi_verdict;

/* Zero it to begin; zero `armed` when y or the mode was changed between runs. */
typedef struct tbi_progress {
  double length;                /* s, of the next step; 0: unknown */
  int32_t armed;                /* the sides are known; else made from the state at the next run */
  int32_t side[TBI_MAX_GUARDS]; /* 1 above zero, -1 below, 0 not armed */
  int32_t nrecent;              /* events entered in the ring, modulo laps */
  double recent[TBI_RECENT_EVENTS]; /* s, times of the last events */
} tbi_progress;

typedef struct tbi_hybrid tbi_hybrid;
struct tbi_hybrid {
  tbi_ode ode;
  tbi_tolerance tolerance;
  int32_t nguard;
  const tbi_guard *guard;
  tbi_guards_fn *values; /* NULL: no guards */
  /* A guard fired.  May change y and the mode: any field of `system`, n up to n_max included. */
  tbi_verdict (*event)(tbi_hybrid *system, int32_t guard, double t, double *y);
  /* After every step, before guards are evaluated at its end: removes drift of constraints.  NULL:
   * nothing. */
  void (*settle)(tbi_hybrid *system, double t, double *y);
  /* Zeno behaviour: TBI_RECENT_EVENTS events came within `zeno_window` s, so that there may be
   * infinitely many of them.  Changes the mode: a ball stops bouncing, say.  NULL: the run ends
   * with TBI_ZENO, as it does when repeated calls within `zeno_window` do not help. */
  tbi_verdict (*on_zeno)(tbi_hybrid *system, double t, double *y);
  double zeno_window; /* s */
  void *user;         /* of the guards */
};

typedef enum tbi_end {
  TBI_REACHED, /* the end of the run */
  TBI_STOPPED, /* by an event */
  TBI_ZENO,    /* infinitely many events in a finite time */
  TBI_FAILED   /* no step is short enough, or not finite; y is the last good state */
} tbi_end;

typedef struct tbi_events {
  tbi_radau radau;
  tbi_crossings crossings;
} tbi_events;

/* Takes memory for systems of up to n_max equations. */
void tbi_events_place(tbi_events *solver, tbi_layout *layout, int32_t n_max);
/* Integrates from *t, y to `end` in steps of at most max_step, with jumps at events between; *t and
 * y become where it ended. */
tbi_end tbi_events_run(tbi_events *solver, tbi_hybrid *system, tbi_progress *progress, double end,
                       double max_step, double *t, double *y);

#endif
