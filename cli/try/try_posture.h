/* try_posture.h - the posture in which `tabi try` starts a robot. */
#ifndef TBI_TRY_POSTURE_H
#define TBI_TRY_POSTURE_H

#include "common/cli.h"

/* q[nq] of a keyframe, or, TABI_NONE, of the initial posture, moved into the limits of joints;
 * true: and such that connections close which were open.  open: see try_close.h. */
bool tbi_try_posture(const tabi_model *model, int32_t keyframe, double *q, double *open);

/* The coupling that q leaves open the widest, and by how much (m or rad); TABI_NONE: none. */
int32_t tbi_try_open_coupling(const tabi_model *model, const double *q, double *gap);

#endif
