/* scene.c - small models for the tests of the whole pass over all shapes. */
#include "collision/scene.h"

#include "base/array.h"
#include "support/near.h"

#include <stdlib.h>

int32_t scene_link(tabi_builder *builder, int32_t parent, tabi_joint_type type) {
  tabi_link_def link = tabi_link_def_default();
  link.mass = 1;
  for (int i = 0; i < 3; ++i)
    link.inertia[i] = 0.01;
  int32_t index = tabi_builder_add_link(builder, &link);
  if (parent == TABI_WORLD && type == TABI_JOINT_FIXED) return index;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.parent = parent;
  joint.child = index;
  joint.axis[0] = 0;
  joint.axis[1] = 0;
  joint.axis[2] = 1;
  tabi_builder_add_joint(builder, &joint);
  return index;
}

int32_t scene_shape(tabi_builder *builder, int32_t link, tabi_shape_type type, double x, double y,
                    double z) {
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = type;
  shape.link = link;
  shape.size[0] = x;
  shape.size[1] = y;
  shape.size[2] = z;
  return tabi_builder_add_shape(builder, &shape);
}

void scene_make(scene *s, tabi_builder *builder, double margin) {
  tabi_error err;
  *s = (scene){.model = tabi_builder_build(builder, &err)};
  tabi_builder_destroy(builder);
  if (!s->model) fail_msg("%s", err.message);
  s->dynamics = tabi_dynamics_create(s->model, &err);
  assert_non_null(s->dynamics);
  size_t size = tbi_collision_memsize(s->model);
  s->memory = tbi_block_alloc(size + tbi_collision_scratch(s->model));
  s->collision = tbi_collision_make(s->model, s->memory, (char *)s->memory + size);
  s->margin = calloc((size_t)s->model->nshape + 1, sizeof *s->margin);
  for (int32_t i = 0; i < s->model->nshape; ++i)
    s->margin[i] = margin;
  s->q = calloc((size_t)s->model->nq + 1, sizeof *s->q);
  s->v = calloc((size_t)s->model->nv + 1, sizeof *s->v);
  s->candidate = calloc(SCENE_CANDIDATES, sizeof *s->candidate);
  tabi_model_initial_q(s->model, s->q);
}

void scene_free(scene *s) {
  tabi_dynamics_destroy(s->dynamics);
  tabi_model_destroy(s->model);
  free(s->memory);
  free(s->margin);
  free(s->q);
  free(s->v);
  free(s->candidate);
}

void scene_put(scene *s, int32_t link, v3 pos, q4 quat) {
  int32_t joint = tabi_model_link_joint(s->model, link);
  tabi_range range = tabi_model_joint_q(s->model, joint);
  assert_int_equal(range.count, 7);
  v3_store(pos, s->q + range.first);
  q_store(quat, s->q + range.first + 3);
}

void scene_collide(scene *s) {
  tabi_dynamics_set_state(s->dynamics, s->q, s->v);
  s->ncandidate = tbi_collide(s->collision, s->dynamics, s->margin, s->candidate, SCENE_CANDIDATES);
}

tbi_solid scene_solid(const scene *s, int32_t shape) {
  const tabi_shape_def *def = &s->model->shape[shape];
  tbi_frame in_link = tbi_frame_load(def->pos, def->quat);
  tbi_frame frame = in_link;
  if (def->link != TABI_WORLD) {
    tbi_frame link = tbi_link_frame(s->dynamics, def->link);
    frame = tbi_frame_mul(&link, &in_link);
  }
  tbi_solid solid = {.type = def->type, .pos = frame.pos};
  for (int i = 0; i < 3; ++i) {
    solid.axis[i] = m3_column(&frame.rot, i);
    solid.half[i] = 0.5 * def->size[i];
  }
  if (def->type != TABI_SHAPE_BOX) {
    solid.half[2] = def->type == TABI_SHAPE_SPHERE ? def->size[0] : 0.5 * def->size[1];
    solid.half[0] = solid.half[1] = def->size[0];
  }
  return solid;
}
