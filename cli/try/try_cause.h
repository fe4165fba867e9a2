/* try_cause.h - what a robot lacks that does not stand or hold still. */
#ifndef TBI_TRY_CAUSE_H
#define TBI_TRY_CAUSE_H

#include "common/cli.h"

#define TBI_CAUSE_SIZE 120

/* Whether a joint of a robot has a motor of its file, or may get a servo because the file has no
 * motors at all; what a coupling or tendon moves counts as driven. */
bool tbi_try_is_driven(const tabi_model *model, int32_t joint);

/* Whether a joint carries a thing that stands beside the robot: nothing in its tree is driven. */
bool tbi_try_is_beside(const tabi_model *model, int32_t joint);

/* "nothing drives it", "its motor gives all it has, 2 N m", or "". */
void tbi_try_joint_cause(const tabi_world *world, int32_t joint, char cause[TBI_CAUSE_SIZE]);

/* After the first step from q = start: "it starts with 'hand' 3 mm inside 'table'", "it starts with
 * joint 'finger' 0.2 beside its coupling", or "". */
void tbi_try_start_cause(tabi_world *world, const double *start, char cause[TBI_CAUSE_SIZE]);

/* Of a robot that has just been put on the ground: "it stood on a line", "its centre of mass was
 * 0.02 m outside what it stood on", or "" if it could have stayed. */
void tbi_try_support_cause(tabi_world *world, char cause[TBI_CAUSE_SIZE]);

#endif
