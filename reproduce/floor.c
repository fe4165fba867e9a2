/* floor.c - see floor.h. */
#include "floor.h"

enum { ROBOT = 1, FLOOR = 2 }; /* groups of shapes */

int32_t tbi_floor_add(tabi_builder *to, double friction, double kinetic, double restitution) {
  tabi_material_def material = tabi_material_def_default();
  material.friction = friction;
  material.kinetic = kinetic;
  material.restitution = restitution;
  tabi_shape_def floor = tabi_shape_def_default();
  floor.type = TABI_SHAPE_PLANE;
  floor.link = TABI_WORLD;
  floor.material = tabi_builder_add_material(to, &material);
  floor.group = FLOOR;
  floor.mask = ROBOT;
  (void)tabi_builder_add_shape(to, &floor);
  return floor.material;
}

void tbi_floor_add_shape(tabi_builder *to, tabi_shape_def shape, int32_t material) {
  shape.material = material;
  shape.group = ROBOT;
  shape.mask = FLOOR;
  (void)tabi_builder_add_shape(to, &shape);
}

void tbi_floor_copy_shapes(const tabi_model *from, tabi_builder *to, int32_t material) {
  for (int32_t i = 0; i < tabi_model_nshape(from); ++i)
    tbi_floor_add_shape(to, tabi_model_shape(from, i), material);
}
