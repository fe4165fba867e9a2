/* crossings.h - zero crossings of guards, the functions of time and state whose passing through
 * zero is an event.
 *
 * Each guard has a side: the sign it has had.  A guard that has not been farther than `leave` from
 * zero is not armed: its side is 0, and it cannot fire. */
#ifndef TBI_CROSSINGS_H
#define TBI_CROSSINGS_H

#include "integrate/radau.h"

#define TBI_MAX_GUARDS 24

typedef enum tbi_direction { TBI_FALLING, TBI_RISING, TBI_EITHER } tbi_direction;

typedef struct tbi_guard {
  tbi_direction direction;
  /* Distance from zero that arms the guard, on the side it comes from; in the guard's own unit,
   * above its rounding and what `settle` changes.  0: any distance. */
  double leave;
} tbi_guard;

/* All guards of a mode at once, since they often share a computation. */
typedef void tbi_guards_fn(void *user, double t, const double *y, double *value);

/* The guards of the mode, and their values along the last step tried. */
typedef struct tbi_crossings {
  int32_t nguard;
  const tbi_guard *guard;
  tbi_guards_fn *values;
  void *user;
  double length;                   /* s, of the step */
  double start[TBI_MAX_GUARDS];    /* values where the step begins */
  double slope[TBI_MAX_GUARDS];    /* per s, there */
  double stage[3][TBI_MAX_GUARDS]; /* values at the stages, the last being the end of the step */
  double beside[TBI_MAX_GUARDS];   /* values a little before or after */
  double *point;                   /* [n] */
} tbi_crossings;

/* The first crossing in a step, or the first excursion that would be overlooked. */
typedef struct tbi_crossing {
  int32_t guard;
  bool fires;   /* false: an excursion beyond `leave` and back inside the step */
  double share; /* of the step, at the crossing or at the farthest point of the excursion */
  double limit; /* of the step, before which the crossing must have come */
} tbi_crossing;

void tbi_crossings_place(tbi_crossings *crossings, tbi_layout *layout, int32_t n_max);

/* Sides (1 above zero, -1 below, 0 not armed) by the values at t, y. */
void tbi_crossings_arm(tbi_crossings *crossings, double t, const double *y, int32_t *side);
/* Sides after a step that ends at t, y: an armed guard at or beyond zero keeps its side, since it
 * is due. */
void tbi_crossings_follow(tbi_crossings *crossings, double t, const double *y, int32_t *side);
/* The first guard that is due at t, y, where a step begins; -1: none. */
int32_t tbi_crossings_due(tbi_crossings *crossings, double t, const double *y, const int32_t *side);
/* Slopes there; after tbi_crossings_due and tbi_radau_start.  `length` is that of a typical step:
 * the last step of a run may be too short for a difference quotient. */
void tbi_crossings_begin(tbi_crossings *crossings, const tbi_radau *step, double length);
/* Values at the stages of the last step tried; false: not all of them are finite. */
bool tbi_crossings_sample(tbi_crossings *crossings, const tbi_radau *step);
/* The first crossing in the step sampled, without the guards whose bits are set in `skip`; no armed
 * guard may be due at the start of the step.  False: none. */
bool tbi_crossings_first(const tbi_crossings *crossings, const int32_t *side, uint32_t skip,
                         tbi_crossing *first);
/* Value of a guard at the end of the last step tried, and its slope per s there. */
double tbi_crossings_end(tbi_crossings *crossings, const tbi_radau *step, int32_t guard,
                         double *slope);

#endif
