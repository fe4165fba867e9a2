/* tendon.h - length and moment arms of a tendon. */
#ifndef TBI_TENDON_H
#define TBI_TENDON_H

#include "dynamics/dynamics.h"
#include "model/tendons.h"

/* The length at the state of d; arm: its derivatives by the velocities of tbi_tendon_dofs. */
double tbi_tendon_measure(const tabi_dynamics *d, int32_t tendon, double *arm);
/* Its rate is the sum of arm * v; this is the rate of that at zero joint acceleration, from d->acc
 * as tbi_rnea_forces without qdd leaves it. */
double tbi_tendon_drift(const tabi_dynamics *d, int32_t tendon);

#endif
