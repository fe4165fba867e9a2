/* geometry.h - what a stage tells about bodies beyond their shapes. */
#ifndef TBI_VIEWER_GEOMETRY_H
#define TBI_VIEWER_GEOMETRY_H

#include "tabi/tabi.h"

/* The solid box with a link's mass and inertia, around its centre of mass: its axes in the link's
 * frame and half its edges.  All zero for a link without mass. */
typedef struct tbi_inertia_box {
  double quat[4], half[3];
} tbi_inertia_box;
tbi_inertia_box tbi_inertia_box_of(const tabi_link_def *link);

/* z of the lowest point of a shape in the world; infinite for one without end. */
double tbi_lowest_point(const tabi_dynamics *dynamics, const tabi_model *model,
                        const tabi_shape_def *shape);

#endif
