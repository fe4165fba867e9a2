/* trajectory.h - trajectories whose samples are points of splines, computed on demand. */
#ifndef TBI_TRAJECTORY_H
#define TBI_TRAJECTORY_H

#include "tabi/tabi_control.h"

#define TBI_TRAJECTORY_MAX_SAMPLES 10000000

/* Samples every `sample_period` s along natural cubic splines through knot[nknot x ncolumn], which
 * are `period` s apart and start at 0. */
typedef struct tbi_spline_def {
  int32_t nknot, ncolumn;
  double period, sample_period;
  const double *knot;
} tbi_spline_def;

/* NULL and a message if numbers are not finite or there are more than TBI_TRAJECTORY_MAX_SAMPLES.
 */
tabi_trajectory *tbi_trajectory_along(const tbi_spline_def *def, tabi_error *err);

#endif
