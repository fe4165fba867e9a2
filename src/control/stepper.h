/* stepper.h - the inside of a tabi_stepper. */
#ifndef TBI_STEPPER_H
#define TBI_STEPPER_H

#include "control/balance.h"
#include "control/dcm.h"
#include "control/drive.h"
#include "control/swing.h"

/* All that decides the next update. */
typedef struct tbi_stepper_memory {
  tabi_stepper_phase phase;
  tabi_stepper_command command;
  int stance; /* side */
  int32_t steps;
  double velocity[3];    /* as ramped */
  double left;           /* s, of a shift or double support */
  double elapsed;        /* s, of the swing; negative before it */
  tbi_swing_state swing; /* reference of the swing foot */
  double swing_yaw;
  double waist_yaw;
  double ground; /* m */
  double place[2], remaining, dcm[2], cop[2];
} tbi_stepper_memory;

struct tabi_stepper {
  const tabi_model *model;
  tabi_biped biped;
  tbi_balance balance;
  tbi_drive drive;
  tbi_step_limits limits;
  tabi_stepper_limits said;
  double margin[2][2];          /* m, by which soles are smaller along x and y, by side */
  double foot_rate, waist_rate; /* rad/s, of the feedback of tasks */
  double *q, *v;                /* [nq], [nv] the state that is known */
  double force[2];              /* N, that feet carry */
  tbi_stepper_memory now;
};

#endif
