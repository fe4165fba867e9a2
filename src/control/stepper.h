/* stepper.h - the inside of a tabi_stepper. */
#ifndef TBI_STEPPER_H
#define TBI_STEPPER_H

#include "control/balance.h"
#include "control/dcm.h"
#include "control/drive.h"
#include "control/estimate.h"
#include "control/foothold.h"
#include "control/swing.h"

/* All that decides the next update. */
typedef struct tbi_stepper_memory {
  tabi_stepper_phase phase;
  tabi_stepper_command command;
  int stance; /* side */
  int32_t steps;
  double velocity[3];           /* as ramped */
  double left;                  /* s, of a shift or double support */
  double elapsed;               /* s, of the swing; negative before it */
  tbi_swing_state swing;        /* reference of the swing foot */
  double waist_yaw, waist_rate; /* rad and rad/s, that are wanted about the vertical */
  double ground;                /* m */
  double base;                  /* m, of the ground below the CoM */
  bool looks;                   /* it has looked since the foot was lifted */
  double looked[2];             /* m, where it last did ... */
  double shift[2], stand[2];    /* m, how far from there it can stand, and where */
  double lifted;                /* m, height from which the swing foot rose */
  double landing;               /* m, height of the ground where the swing foot lands */
  v3 normal;                    /* of that ground */
  double drop;                  /* m, by which the CoM is lower for the sake of long steps */
  double place[2], remaining, dcm[2], cop[2];
  double felt[2];    /* N, loads of the feet, smoothed */
  double foot_up[2]; /* m/s^2, upwards, of the swing foot, that was asked for */
  tbi_estimate estimate;
} tbi_stepper_memory;

struct tabi_stepper {
  const tabi_model *model;
  tabi_biped biped;
  tbi_balance balance;
  tbi_drive drive;
  tbi_estimator estimator;
  tbi_step_limits limits;
  tabi_stepper_limits said;
  /* m, outlines of the soles where the centre of pressure may be: of a foot that carries all the
   * weight, or half of it */
  double corner[2][2][TABI_SOLE_MAX][2];
  double foot_rate, waist_rate; /* rad/s, of the feedback of tasks */
  double stretch;               /* of the legs in the posture */
  /* [nq], [nv] the state that is known, the same as the sensors saw it, and the accelerations that
   * were asked for: part of the memory */
  double *q, *v, *seen_q, *seen_v, *asked;
  double *posture; /* [nq] */
  double force[2]; /* N, that feet carry */
  bool sees_ground;
  tabi_world *world; /* in an update */
  tbi_stepper_memory now;
};

/* Limits and tunings, at the state of the posture. */
void tbi_stepper_set_limits(tabi_stepper *s);

#endif
