/* block.c - see block.h. */
#include "support/block.h"

#include "support/near.h"

static tabi_model *make_model(void) {
  tabi_builder *builder = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  link.name = "block";
  link.mass = BLOCK_MASS;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.1;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.name = "free";
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  tabi_builder_add_joint(builder, &joint);
  const double weightless[3] = {0};
  tabi_builder_set_gravity(builder, weightless);
  tabi_error err;
  tabi_model *model = tabi_builder_build(builder, &err);
  assert_non_null(model);
  tabi_builder_destroy(builder);
  return model;
}

void block_open(block *b, double load, double angle, double friction) {
  b->model = make_model();
  /* the frame of an upward normal, found by a first problem at rest */
  double q[7] = {0, 0, 0, 1};
  double v[6] = {0};
  tbi_candidate candidate = {
      .shape_a = b->model->nbody, .shape_b = 0, .normal = {0, 0, 1}
  };
  made_open(&b->made, b->model, q, v, 1e-3);
  made_fill(&b->made, &candidate, 1, NULL, 0);
  m4 frame = b->made.p->point[0].frame;
  made_close(&b->made);

  double speed = load * BLOCK_FALL;
  v3_store(v4_to(m4_combine(&frame, -BLOCK_FALL, speed * cos(angle), speed * sin(angle))), v);
  made_open(&b->made, b->model, q, v, 1e-3);
  made_fill(&b->made, &candidate, 1, NULL, 0);
  b->point = &b->made.p->point[0];
  b->point->friction = friction;
}

void block_close(block *b) {
  made_close(&b->made);
  tabi_model_destroy(b->model);
}
