/* drive.h - torques of legs and postures of other joints, by servos or by a robot's own actuators.
 */
#ifndef TBI_DRIVE_H
#define TBI_DRIVE_H

#include "control/balance.h"
#include "world/world.h"

typedef struct tbi_drive_joint {
  int32_t joint, q, v; /* of the model; its position and velocity */
  int32_t actuator;    /* TABI_NONE: a servo of ours */
  bool leg;            /* gets torques, others keep their posture */
  double target;       /* rad or m, of others */
  double kp, kd;       /* of ours, for others */
  double damping;      /* N m s/rad, of ours, for legs: of ankles, about the rate that is wanted */
} tbi_drive_joint;

typedef struct tbi_drive {
  const tabi_model *model;
  tbi_drive_joint *joint;
  int32_t count;
} tbi_drive;

tabi_status tbi_drive_make(tbi_drive *drive, const tbi_balance *b, const tabi_biped *biped,
                           const double *posture, tabi_error *err);
void tbi_drive_free(tbi_drive *drive);
/* N m or N, that a joint and its actuators can give; may be infinite. */
double tbi_drive_effort(const tabi_model *model, int32_t joint);
/* Applies tau[nv] at the state q, v that they were computed for, with accelerations qdd. */
void tbi_drive_apply(const tbi_drive *drive, tabi_world *world, const double *q, const double *v,
                     const double *qdd, const double *tau);
/* Lets all joints go, damped. */
void tbi_drive_relax(const tbi_drive *drive, tabi_world *world, const double *q, const double *v);

#endif
