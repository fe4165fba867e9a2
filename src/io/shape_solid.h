/* shape_solid.h - shapes as solid bodies, for links whose mass a file leaves to them. */
#ifndef TBI_SHAPE_SOLID_H
#define TBI_SHAPE_SOLID_H

#include "io/mesh/mesh.h"

/* A shape as a solid of density 1 in the axes of the shape.  What has no volume (planes, ground,
 * meshes that are flat) is all zero.  A mesh counts by its convex hull. */
tabi_status tbi_shape_solid(const tabi_builder *builder, const tabi_shape_def *shape,
                            tbi_solid *solid, tabi_error *err);

/* Adds a solid that stands at pos and quat, times density, to a sum about the same frame's origin:
 * inertia about the origin, com as sum of mass and place. */
void tbi_solid_add(const tbi_solid *solid, double density, const double pos[3],
                   const double quat[4], tabi_link_def *sum);
/* Ends such a sum: com and inertia are then those of tabi_link_def. */
void tbi_solid_finish(tabi_link_def *sum);

#endif
