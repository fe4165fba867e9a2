/* floor.h - models that experiments build: a floor, and what touches the floor but not itself. */
#ifndef TBI_FLOOR_H
#define TBI_FLOOR_H

#include "tabi/tabi.h"

/* Adds the plane z = 0; its material, for all that stands on it. */
int32_t tbi_floor_add(tabi_builder *to, double friction, double kinetic, double restitution);
/* A shape that touches the floor only. */
void tbi_floor_add_shape(tabi_builder *to, tabi_shape_def shape, int32_t material);
/* All shapes of a robot, likewise. */
void tbi_floor_copy_shapes(const tabi_model *from, tabi_builder *to, int32_t material);

#endif
