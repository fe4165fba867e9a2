/* tabi_control.h - joint control: springs and dampers that hold a posture or follow a trajectory.
 */
#ifndef TABI_CONTROL_H
#define TABI_CONTROL_H

#include "tabi.h"

TABI_BEGIN

/* -------------------------------------------------------------------------- trajectories */

/* Columns of numbers over time, straight between rows and held before the first and after the
 * last. */
typedef struct tabi_trajectory tabi_trajectory;

/* time[nrow] in s, rising; value[nrow x ncolumn], row by row.  Both are copied. */
TABI_API tabi_trajectory *tabi_trajectory_create(int32_t nrow, int32_t ncolumn, const double *time,
                                                 const double *value, tabi_error *err);
TABI_API void tabi_trajectory_destroy(tabi_trajectory *trajectory); /* NULL is fine */

TABI_API int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory);
TABI_API double tabi_trajectory_start(const tabi_trajectory *trajectory); /* s, of the first row */
TABI_API double tabi_trajectory_end(const tabi_trajectory *trajectory);   /* s, of the last row */
/* value[ncolumn] and rate[ncolumn], the slope between the two rows around the time and zero
 * outside; either may be NULL. */
TABI_API void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                                     double *rate);

/* ------------------------------------------------------------------------- joint control */

/* How one joint is driven. */
typedef struct tabi_pd_joint {
  int32_t joint;    /* with one coordinate */
  int32_t actuator; /* of the model, which takes the target as its input; TABI_NONE: the gains */
  int32_t column;   /* of the trajectory, the target; TABI_NONE: `target` */
  double target;    /* rad or m */
  double kp, kd;    /* N m/rad and N m s/rad, or N/m and N s/m */
  bool implicit;    /* stable at any gain, as in tabi_servo */
} tabi_pd_joint;

typedef struct tabi_pd_def {
  uint32_t def_size; /* set by the default function */
  int32_t njoint;
  const tabi_pd_joint *joint;
  const tabi_trajectory *trajectory; /* must outlive the controller; NULL: targets stand */
} tabi_pd_def;

typedef struct tabi_pd tabi_pd;

TABI_API tabi_pd_def tabi_pd_def_default(void);
TABI_API tabi_pd *tabi_pd_create(const tabi_model *model, const tabi_pd_def *def, tabi_error *err);
TABI_API void tabi_pd_destroy(tabi_pd *pd); /* NULL is fine */

/* Sets the servos and actuators of a world for its next step, which takes `timestep` s: explicit
 * ones aim at where the trajectory is at its start, implicit ones at where it will be at its end.
 * Allocates nothing. */
TABI_API void tabi_pd_apply(tabi_pd *pd, tabi_world *world, double timestep);

TABI_END

#endif
