/* try_close.h - a posture in which connections close. */
#ifndef TBI_TRY_CLOSE_H
#define TBI_TRY_CLOSE_H

#include "common/cli.h"

/* Turns joints with one coordinate, as little as needed and within their limits, until the
 * connections of the model close; those that move as others do follow.  Leaves q as it is where
 * they are closed, or cannot be, or memory is short; true: it has
 * changed.  open, unless NULL: m or rad, the largest gap that is left. */
bool tbi_try_close(const tabi_model *model, double *q, double *open);

/* x turned by a unit quaternion */
void tbi_try_rotate(const double quat[4], const double x[3], double to[3]);

#endif
