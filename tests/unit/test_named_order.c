/* test_named_order.c - the order in which solvers visit trees, bodies and shapes: by name, and
 * without names by what a body is, however a model is put together. */
#include "model/model.h"
#include "support/near.h"

#include <string.h>

enum { BODIES = 4 };

typedef struct part {
  const char *name;
  double mass, x;
} part;

/* free bodies with a ball each, added in the given order */
static tabi_model *make(const part *parts, const int *order) {
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  for (int i = 0; i < BODIES; ++i) {
    const part *p = &parts[order[i]];
    tabi_link_def link = tabi_link_def_default();
    link.name = p->name;
    link.mass = p->mass;
    for (int k = 0; k < 3; ++k)
      link.inertia[k] = 0.1;
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_FREE;
    joint.parent = TABI_WORLD;
    joint.child = tabi_builder_add_link(builder, &link);
    joint.initial_q[0] = p->x;
    (void)tabi_builder_add_joint(builder, &joint);
    tabi_shape_def shape = tabi_shape_def_default();
    shape.type = TABI_SHAPE_SPHERE;
    shape.link = joint.child;
    shape.size[0] = 0.1;
    (void)tabi_builder_add_shape(builder, &shape);
  }
  tabi_error err;
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return model;
}

/* Whatever the order of parts, trees, bodies and shapes are visited in the order of `parts`. */
static void expect_order(const part *parts) {
  static const int orders[][BODIES] = {
      {0, 1, 2, 3},
      {3, 2, 1, 0},
      {2, 0, 3, 1}
  };
  for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
    tabi_model *model = make(parts, orders[k]);
    for (int i = 0; i < BODIES; ++i) {
      int32_t body = model->body_named[i];
      assert_int_equal(model->tree_named[i], model->body[body].tree);
      assert_int_equal(model->shape[model->shape_named[i]].link,
                       model->joint[model->body[body].joint].child);
      assert_int_equal(model->shape_rank[model->shape_named[i]], i);
      assert_true(model->body[body].mass == parts[i].mass);
      assert_true(model->start[model->body[body].q] == parts[i].x);
    }
    tabi_model_destroy(model);
  }
}

static void by_name(void **state) {
  (void)state;
  static const part parts[BODIES] = {
      {"a",     2, 0},
      {"box2",  1, 3},
      {"box10", 3, 2},
      {"c",     1, 1}
  };
  expect_order(parts);
}

/* the heaviest first; equal ones by where they start */
static void without_names(void **state) {
  (void)state;
  static const part parts[BODIES] = {
      {NULL, 3, 0},
      {NULL, 2, 5},
      {NULL, 2, 1},
      {NULL, 1, 9}
  };
  expect_order(parts);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_name), cmocka_unit_test(without_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
