/* compound_joint.h - several joints that act as one. */
#ifndef TBI_COMPOUND_JOINT_H
#define TBI_COMPOUND_JOINT_H

#include "model/model.h"

/* Whether one of two bodies hangs from the other by two or three hinges whose axes meet in a point,
 * as in a hip: the two then turn about that point and are neighbours like links of a ball joint. */
bool tbi_compound_joint_joins(const tabi_model *model, int32_t body_a, int32_t body_b);

#endif
