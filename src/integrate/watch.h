/* watch.h - guards: functions of time and state whose passing through zero is an event.
 *
 * Of each guard the side of zero is known on which it has been.  A guard that has not been farther
 * than `leave` from zero waits: it has no side, and cannot fire. */
#ifndef TBI_WATCH_H
#define TBI_WATCH_H

#include "integrate/radau.h"

#define TBI_MAX_GUARDS 24

typedef enum tbi_direction { TBI_FALLING, TBI_RISING, TBI_EITHER } tbi_direction;

typedef struct tbi_guard {
  tbi_direction direction;
  /* Before it can fire it must have been farther than this from zero, on the side it comes from; in
   * the guard's own unit, above its rounding and what settling moves.  0: any distance. */
  double leave;
} tbi_guard;

/* All guards of a mode at once, since they often share a computation. */
typedef void tbi_guards_fn(void *user, double t, const double *y, double *value);

/* The guards in force, and their values along the last step tried. */
typedef struct tbi_watch {
  int32_t nguard;
  const tbi_guard *guard;
  tbi_guards_fn *values;
  void *user;
  double length;                   /* s, of the step */
  double start[TBI_MAX_GUARDS];    /* where the step begins */
  double slope[TBI_MAX_GUARDS];    /* per s, there */
  double stage[3][TBI_MAX_GUARDS]; /* at the stages, the last being the end of the step */
  double beside[TBI_MAX_GUARDS];   /* a little before or after */
  double *point;                   /* [n] */
} tbi_watch;

/* What a step runs into. */
typedef struct tbi_find {
  int32_t guard;
  bool fires;   /* false: the guard goes beyond `leave` and comes back inside the step */
  double share; /* of the step: of the crossing, or of the farthest point of such an excursion */
  double limit; /* of the step: up to here the crossing must have come */
} tbi_find;

void tbi_watch_place(tbi_watch *w, tbi_layout *layout, int32_t n_max);

/* Sides (1 above zero, -1 below, 0 waiting) from where the guards are at t, y. */
void tbi_watch_arm(tbi_watch *w, double t, const double *y, int32_t *side);
/* Sides after a piece of motion that ends at t, y: an armed guard at or beyond zero keeps its side,
 * being due. */
void tbi_watch_follow(tbi_watch *w, double t, const double *y, int32_t *side);
/* Where a step begins: the first guard that is due there; -1: none. */
int32_t tbi_watch_due(tbi_watch *w, double t, const double *y, const int32_t *side);
/* Slopes there; after tbi_watch_due and tbi_radau_start.  Steps are about `length` long: a
 * sliver before the end of a run would be too short to tell a slope. */
void tbi_watch_begin(tbi_watch *w, const tbi_radau *step, double length);
/* Values at the stages of the last step tried; false: not all of them are numbers. */
bool tbi_watch_sample(tbi_watch *w, const tbi_radau *step);
/* The first thing in the step sampled, leaving out the guards whose bits are set in `skip`; no
 * guard with a side may be due at its start.  False: nothing. */
bool tbi_watch_first(const tbi_watch *w, const int32_t *side, uint32_t skip, tbi_find *first);
/* Value of a guard at the end of the last step tried, and its slope per s there. */
double tbi_watch_end(tbi_watch *w, const tbi_radau *step, int32_t guard, double *slope);

#endif
