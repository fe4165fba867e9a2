/* sole.h - the points of a foot that touch level ground, and their outline. */
#ifndef TBI_SOLE_H
#define TBI_SOLE_H

#include "model/model.h"
#include "tabi/tabi_control.h"

/* Points in the axes of one frame. */
typedef struct tbi_cloud {
  v3 *point;
  int32_t count, capacity;
} tbi_cloud;

/* Adds the points of a shape that could be its lowest against `up` (unit); `frame` is where the
 * shape is.  False: out of memory. */
bool tbi_cloud_add(tbi_cloud *cloud, const tabi_model *model, const tabi_shape_def *shape,
                   const tbi_frame *frame, v3 up);
/* Height of the lowest point along `up`; HUGE_VAL if there is none. */
double tbi_cloud_lowest(const tbi_cloud *cloud, v3 up);

/* The outline of the points that are at most `tolerance` m above the lowest, in the axes whose
 * columns are forward, left, up: fills sole->ncorner, corner, length and width, and returns the
 * middle of the sole, from which corners are counted.  The points are reordered. */
v3 tbi_sole_outline(tbi_cloud *cloud, const m3 *axes, double tolerance, tabi_leg *sole);

/* The convex hull of n points in the plane, counter-clockwise, of at most `max` corners; returns
 * their number. */
int32_t tbi_hull_2d(const double (*point)[2], int32_t n, double (*hull)[2], int32_t max);

#endif
