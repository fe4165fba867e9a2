/* try_stiff.h - whether springs and servos are stiff enough to hold a robot up on its feet. */
#ifndef TBI_TRY_STIFF_H
#define TBI_TRY_STIFF_H

#include "common/cli.h"

/* Of a robot that has just been put on the ground: whether it tips over however exactly it stands,
 * because gravity moves it away faster than its servos and springs bring it back.  False also for
 * robots with connections, couplings or tendons, of which nothing is said. */
bool tbi_try_is_too_soft(tabi_world *world);

#endif
