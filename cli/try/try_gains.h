/* try_gains.h - gains that hold a robot whose file has none. */
#ifndef TBI_TRY_GAINS_H
#define TBI_TRY_GAINS_H

#include "common/cli.h"

/* Of one joint; kp 0: it is left alone. */
typedef struct tbi_try_gain {
  double kp, kd;
} tbi_try_gain;

/* N m or N: the most that the motors of a joint give, which servos made for it stand for; infinite:
 * it has none, or these have no limits. */
double tbi_try_motor_limit(const tabi_model *model, int32_t joint);
/* Whether an actuator of the file holds a position of the joint. */
bool tbi_try_holds(const tabi_model *model, int32_t joint);
/* gain[njoint] of a robot at q[nq]; false: out of memory. */
bool tbi_try_gains(const tabi_model *model, const double *q, tbi_try_gain *gain);

#endif
