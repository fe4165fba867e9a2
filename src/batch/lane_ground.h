/* lane_ground.h - where the bodies of a lane step meet shapes that stand in the world, world by
 * world, with the routines of collision/. */
#ifndef TBI_LANE_GROUND_H
#define TBI_LANE_GROUND_H

#include "batch/lane_work.h"

/* Looks for the points of a patch and the standing shapes near[count], in all lanes that step, up
 * to w->ground_margin.  Writes normals (from the ground), places in the world, gaps and the mask of
 * lanes to the records of the patch's slots, and which point it is to w->mark.  A point that pushed
 * in the step before keeps its slot; where a slot gets another point, its impulse is zero.  Returns
 * the slots that some lane uses, one bit each. */
uint32_t tbi_lane_ground(const tbi_lane_work *w, int32_t patch, const int32_t *near, int32_t count);

#endif
