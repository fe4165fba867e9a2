/* dcm.h - steps by the divergent component of motion (DCM, also capture point): pure functions.
 *
 *   xi = c + c' / omega,   xi' = omega (xi - p),   omega = sqrt(g / z)
 *
 * for the centre of mass c at height z over the centre of pressure p.  All places are in the axes
 * of the stance sole: from its middle, x forward and y to the left. */
#ifndef TBI_DCM_H
#define TBI_DCM_H

#include <stdbool.h>

/* What steps a robot can make. */
typedef struct tbi_step_limits {
  double omega;                                /* 1/s */
  double swing_time, double_support;           /* s, nominal */
  double min_time, max_time;                   /* s, of a swing */
  double spacing;                              /* m, of soles side by side */
  double min_spacing, max_spacing, max_stride; /* m, between soles */
  double speed, acceleration;                  /* m/s and m/s^2, of a swing foot */
  double half[2];                              /* m, of the sole, less a margin */
  double reach;                                /* m, of a leg */
  double reaction; /* acceleration of the CoM over that of a swing foot, with the centre of pressure
                      held */
} tbi_step_limits;

/* A step under way. */
typedef struct tbi_step_state {
  int side;           /* of the swing foot: 1 left, -1 right */
  double xi[2];       /* m */
  double swing[3];    /* m, where the swing foot is; its height above the ground */
  double rate[2];     /* m/s, of the swing foot */
  double velocity[2]; /* m/s, that is wanted */
  double elapsed;     /* s, of the swing so far; negative in double support before it */
  double latest;      /* s, remaining at most: a foot that comes down is not lifted again */
} tbi_step_state;

typedef struct tbi_step_plan {
  double place[2];  /* m, where the swing foot lands */
  double offset[2]; /* m, wanted from there to the DCM at landing */
  double remaining; /* s, until it lands */
  double shift[2];  /* m, of the DCM at landing by the reaction of the swing leg */
  double missed;    /* m, by which the DCM misses that offset */
} tbi_step_plan;

/* The offset of the DCM from the next stance foot at landing that repeats from step to step. */
void tbi_dcm_offset(const tbi_step_limits *limits, int side, const double velocity[2],
                    double offset[2]);
/* Place and time of the step: the cheapest of 25 times. */
tbi_step_plan tbi_dcm_adjust(const tbi_step_limits *limits, const tbi_step_state *state);
/* The centre of pressure that takes the DCM to a place in the remaining time. */
void tbi_dcm_cop(double omega, const double xi[2], const double place[2], double remaining,
                 double cop[2]);

#endif
