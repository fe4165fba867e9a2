/* p5_models.c - see p5_models.h. */
#include "p5_models.h"

#include "floor.h"
#include "series.h"

static int32_t add_floor(tabi_builder *to, const tbi_p5_surface *surface) {
  return tbi_floor_add(to, surface->friction, surface->kinetic, surface->restitution);
}

static void add_body(tabi_builder *to, tabi_shape_type type, const double size[3], double mass,
                     int32_t material) {
  tabi_link_def link = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  tabi_shape_def shape = tabi_shape_def_default();
  link.mass = mass;
  for (int k = 0; k < 3; ++k) {
    double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
    link.inertia[k] =
        mass * (type == TABI_SHAPE_BOX ? (a * a + b * b) / 12 : 0.4 * size[0] * size[0]);
    shape.size[k] = size[k];
  }
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = shape.link = tabi_builder_add_link(to, &link);
  (void)tabi_builder_add_joint(to, &joint);
  shape.type = type;
  tbi_floor_add_shape(to, shape, material);
}

tabi_model *tbi_p5_body(tabi_shape_type type, const double size[3], double mass,
                        const tbi_p5_surface *surface, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  tabi_model *model = NULL;
  if (builder) {
    add_body(builder, type, size, mass, add_floor(builder, surface));
    model = tabi_builder_build(builder, err);
  } else {
    (void)tbi_no_memory(err);
  }
  tabi_builder_destroy(builder);
  return model;
}

static void copy_robot(const tabi_model *from, const tbi_p5_surface *surface, tabi_builder *to) {
  int32_t material = add_floor(to, surface);
  for (int32_t i = 0; i < tabi_model_nlink(from); ++i) {
    tabi_link_def link = tabi_model_link(from, i);
    (void)tabi_builder_add_link(to, &link);
  }
  for (int32_t i = 0; i < tabi_model_njoint(from); ++i) {
    tabi_joint_def joint = tabi_model_joint(from, i);
    joint.damping = joint.friction = 0;
    if (joint.type == TABI_JOINT_REVOLUTE) joint.type = TABI_JOINT_CONTINUOUS;
    (void)tabi_builder_add_joint(to, &joint);
  }
  tbi_floor_copy_shapes(from, to, material);
}

tabi_model *tbi_p5_robot(const tbi_p5_surface *surface, tabi_error *err) {
  char path[TBI_PATH_SIZE];
  tbi_shipped_path("models/humanoid20.urdf", path);
  tabi_model *file = tabi_model_load(path, NULL, err), *model = NULL;
  if (!file) return NULL;
  tabi_builder *builder = tabi_builder_create();
  if (builder) {
    copy_robot(file, surface, builder);
    model = tabi_builder_build(builder, err);
  } else {
    (void)tbi_no_memory(err);
  }
  tabi_builder_destroy(builder);
  tabi_model_destroy(file);
  return model;
}

tabi_status tbi_p5_open(tbi_simulation *sim, tabi_model *model, tbi_variant variant, double gravity,
                        tabi_error *err) {
  return tbi_p5_open_fine(sim, model, variant, gravity, 1e-3, err);
}

tabi_status tbi_p5_open_fine(tbi_simulation *sim, tabi_model *model, tbi_variant variant,
                             double gravity, double timestep, tabi_error *err) {
  *sim = (tbi_simulation){0};
  if (!model) return err->status;
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = tbi_p5_contact(variant);
  def.timestep = timestep;
  def.gravity[0] = def.gravity[1] = 0;
  def.gravity[2] = -gravity;
  return tbi_simulation_open_model(sim, model, &def, err);
}
