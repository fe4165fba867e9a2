/* crouch.h - the posture in which a biped stands and walks: knees bent, soles level. */
#ifndef TBI_CROUCH_H
#define TBI_CROUCH_H

#include "dynamics/dynamics.h"
#include "tabi/tabi_control.h"

/* Hip, knee and ankle: of the joints whose axes point left the first, the one that makes the leg
 * longest, and the last; false if there are fewer than three. */
bool tbi_crouch_pitch_joints(const tabi_dynamics *d, const tabi_biped *biped, int side,
                             int32_t pitch[3]);
/* m, from hip to sole of a straight leg, at the posture of d. */
double tbi_crouch_reach(const tabi_dynamics *d, const tabi_biped *biped, int side);
/* The sole of a leg in the world. */
tbi_frame tbi_crouch_sole(const tabi_dynamics *d, const tabi_leg *leg);

#endif
