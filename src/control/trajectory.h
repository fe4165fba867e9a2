/* trajectory.h - trajectories whose rows are points of splines, made when they are asked for. */
#ifndef TBI_TRAJECTORY_H
#define TBI_TRAJECTORY_H

#include "tabi/tabi_control.h"

#define TBI_MAX_ROWS 10000000

/* Rows every `sample` s, along natural cubic splines through knot[nknot x ncolumn], which are
 * `period` s apart and start at 0. */
typedef struct tbi_spline_def {
  int32_t nknot, ncolumn;
  double period, sample;
  const double *knot;
} tbi_spline_def;

/* NULL and a message when numbers are not finite or there are more than TBI_MAX_ROWS rows. */
tabi_trajectory *tbi_trajectory_along(const tbi_spline_def *def, tabi_error *err);

#endif
