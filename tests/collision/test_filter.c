/* test_filter.c - which pairs may collide.  All shapes are balls at one place, so that every pair
 * that may collide does. */
#include "collision/scene.h"
#include "support/near.h"

static int32_t ball(tabi_builder *builder, int32_t link) {
  return scene_shape(builder, link, TABI_SHAPE_SPHERE, 0.1, 0, 0);
}

static bool meet(const scene *s, int32_t a, int32_t b) {
  for (int32_t i = 0; i < s->ncandidate; ++i) {
    const tbi_candidate *t = &s->candidate[i];
    if ((t->shape_a == a && t->shape_b == b) || (t->shape_a == b && t->shape_b == a)) return true;
  }
  return false;
}

static void collide(scene *s, tabi_builder *builder) {
  scene_make(s, builder, 0);
  scene_collide(s);
}

static void test_tree(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  int32_t root = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t knee = scene_link(builder, root, TABI_JOINT_REVOLUTE);
  int32_t foot = scene_link(builder, knee, TABI_JOINT_BALL);
  int32_t sole = scene_link(builder, foot, TABI_JOINT_FIXED);
  int32_t shape[5] = {ball(builder, root), ball(builder, knee), ball(builder, foot),
                      ball(builder, sole), ball(builder, sole)};
  scene s;
  collide(&s, builder);
  assert_false(meet(&s, shape[0], shape[1]));
  assert_true(meet(&s, shape[0], shape[2]));
  assert_true(meet(&s, shape[0], shape[3]));
  assert_false(meet(&s, shape[1], shape[2]));
  /* the sole is part of the foot */
  assert_false(meet(&s, shape[1], shape[3]));
  assert_false(meet(&s, shape[2], shape[3]));
  assert_false(meet(&s, shape[3], shape[4]));
  scene_free(&s);
}

static void test_standing(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  int32_t base = scene_link(builder, TABI_WORLD, TABI_JOINT_FIXED);
  int32_t plate = scene_link(builder, base, TABI_JOINT_FIXED);
  int32_t wall = scene_link(builder, TABI_WORLD, TABI_JOINT_FIXED);
  int32_t arm = scene_link(builder, plate, TABI_JOINT_REVOLUTE);
  int32_t hand = scene_link(builder, arm, TABI_JOINT_REVOLUTE);
  int32_t door = scene_link(builder, TABI_WORLD, TABI_JOINT_REVOLUTE);
  int32_t thing = scene_link(builder, base, TABI_JOINT_FREE);
  int32_t on_base = ball(builder, base);
  int32_t on_plate = ball(builder, plate);
  int32_t on_wall = ball(builder, wall);
  int32_t on_arm = ball(builder, arm);
  int32_t on_hand = ball(builder, hand);
  int32_t on_door = ball(builder, door);
  int32_t on_thing = ball(builder, thing);
  int32_t floor = ball(builder, TABI_WORLD);
  scene s;
  collide(&s, builder);
  /* what stands does not touch what stands */
  assert_false(meet(&s, on_base, on_plate));
  assert_false(meet(&s, on_base, on_wall));
  assert_false(meet(&s, on_wall, floor));
  /* the arm hangs from the plate, which is one with the base */
  assert_false(meet(&s, on_arm, on_plate));
  assert_false(meet(&s, on_arm, on_base));
  assert_true(meet(&s, on_arm, on_wall));
  assert_true(meet(&s, on_arm, floor));
  assert_true(meet(&s, on_hand, on_base));
  assert_true(meet(&s, on_hand, on_plate));
  assert_false(meet(&s, on_hand, on_arm));
  /* a free body is joined to nothing, and what turns in the world may touch its floor */
  assert_true(meet(&s, on_thing, on_base));
  assert_true(meet(&s, on_door, floor));
  assert_true(meet(&s, on_door, on_wall));
  scene_free(&s);
}

static void test_massless_between(void **state) {
  (void)state;
  /* two hinges in one place, as a universal joint is written */
  tabi_builder *builder = tabi_builder_create();
  int32_t pelvis = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  tabi_link_def cross = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_REVOLUTE;
  joint.parent = pelvis;
  joint.child = tabi_builder_add_link(builder, &cross);
  joint.axis[0] = 1;
  joint.axis[1] = joint.axis[2] = 0;
  tabi_builder_add_joint(builder, &joint);
  int32_t thigh = scene_link(builder, joint.child, TABI_JOINT_REVOLUTE);
  int32_t on_pelvis = ball(builder, pelvis);
  int32_t on_thigh = ball(builder, thigh);
  scene s;
  collide(&s, builder);
  assert_false(meet(&s, on_pelvis, on_thigh));
  scene_free(&s);
}

static void test_exclusions(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  int32_t shape[6];
  int32_t link[6];
  for (int i = 0; i < 5; ++i)
    link[i] = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  link[5] = scene_link(builder, TABI_WORLD, TABI_JOINT_FIXED);
  int32_t sole = scene_link(builder, link[4], TABI_JOINT_FIXED);
  for (int i = 0; i < 6; ++i)
    shape[i] = ball(builder, link[i]);
  tabi_builder_add_exclusion(builder, link[3], link[1]);
  tabi_builder_add_exclusion(builder, link[0], link[5]);
  tabi_builder_add_exclusion(builder, link[2], link[0]);
  /* means all of the body that the sole is part of */
  tabi_builder_add_exclusion(builder, sole, link[0]);
  scene s;
  collide(&s, builder);
  for (int i = 0; i < 6; ++i) {
    for (int j = i + 1; j < 6; ++j) {
      bool out = (i == 1 && j == 3) || (i == 0 && (j == 5 || j == 2 || j == 4));
      assert_int_equal(meet(&s, shape[i], shape[j]), !out);
    }
  }
  scene_free(&s);
}

static void connect(tabi_builder *builder, tabi_connection_type type, int32_t a, int32_t b,
                    bool collide) {
  tabi_connection_def def = tabi_connection_def_default();
  def.type = type;
  def.a = a;
  def.b = b;
  def.axes = TABI_MOVE_X;
  def.length = 1;
  def.stiffness = 1;
  def.collide = collide;
  tabi_builder_add_connection(builder, &def);
}

/* What a connection joins in a place does not meet, unless it says so. */
static void test_connections(void **state) {
  (void)state;
  static const bool joins[TABI_CONNECTION_COUNT] = {[TABI_CONNECTION_BALL] = true,
                                                    [TABI_CONNECTION_HINGE] = true,
                                                    [TABI_CONNECTION_FIXED] = true,
                                                    [TABI_CONNECTION_AXES] = true};
  for (int type = 0; type < TABI_CONNECTION_COUNT; ++type) {
    for (int kind = 0; kind < 3; ++kind) {
      tabi_builder *builder = tabi_builder_create();
      int32_t a = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
      int32_t b = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
      int32_t other = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
      int32_t shape[3] = {ball(builder, a), ball(builder, b), ball(builder, other)};
      int32_t floor = ball(builder, TABI_WORLD);
      connect(builder, (tabi_connection_type)type, b, a, kind > 0);
      /* of two connections one is enough */
      if (kind == 2) connect(builder, (tabi_connection_type)type, a, b, false);
      connect(builder, (tabi_connection_type)type, TABI_WORLD, a, false);
      scene s;
      collide(&s, builder);
      assert_int_equal(meet(&s, shape[0], shape[1]), !joins[type] || kind == 1);
      assert_true(meet(&s, shape[0], shape[2]));
      assert_true(meet(&s, shape[1], shape[2]));
      assert_true(meet(&s, shape[0], floor));
      scene_free(&s);
    }
  }
}

/* Two bodies that keep parallel are joined nowhere. */
static void test_rotations_join_nothing(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  tabi_connection_def def = tabi_connection_def_default();
  def.type = TABI_CONNECTION_AXES;
  def.axes = TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z;
  def.a = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  def.b = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t shape[2] = {ball(builder, def.a), ball(builder, def.b)};
  tabi_builder_add_connection(builder, &def);
  scene s;
  collide(&s, builder);
  assert_true(meet(&s, shape[0], shape[1]));
  scene_free(&s);
}

/* a = sole of b, welded to c, whose child is d; e hangs from a; f stands and carries g by a weld.
 */
static void test_welded(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  int32_t b = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t a = scene_link(builder, b, TABI_JOINT_FIXED);
  int32_t c = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t d = scene_link(builder, c, TABI_JOINT_REVOLUTE);
  int32_t e = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t f = scene_link(builder, TABI_WORLD, TABI_JOINT_FIXED);
  int32_t g = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t h = scene_link(builder, TABI_WORLD, TABI_JOINT_FIXED);
  const int32_t link[8] = {a, b, c, d, e, f, g, h};
  int32_t on[8];
  for (int i = 0; i < 8; ++i)
    on[i] = ball(builder, link[i]);
  connect(builder, TABI_CONNECTION_FIXED, a, c, false);
  connect(builder, TABI_CONNECTION_BALL, e, a, false);
  connect(builder, TABI_CONNECTION_FIXED, g, f, false);
  scene s;
  collide(&s, builder);
  /* a, b and c are one thing, from which d and e hang; d and e may meet */
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 5; ++k) {
      if (k != i) assert_false(meet(&s, on[i], on[k]));
    }
    for (int k = 5; k < 8; ++k)
      assert_true(meet(&s, on[i], on[k]));
  }
  assert_true(meet(&s, on[3], on[4]));
  assert_false(meet(&s, on[5], on[6]));
  /* what stands by a connection is not taken for what stands by its joints */
  assert_true(meet(&s, on[6], on[7]));
  assert_true(meet(&s, on[3], on[6]));
  scene_free(&s);
}

/* A universal joint of two hinges, the second of which is a connection on a link without mass. */
static void test_connected_massless(void **state) {
  (void)state;
  tabi_builder *builder = tabi_builder_create();
  int32_t pelvis = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  tabi_link_def cross = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_REVOLUTE;
  joint.parent = pelvis;
  joint.child = tabi_builder_add_link(builder, &cross);
  joint.axis[0] = 1;
  joint.axis[1] = joint.axis[2] = 0;
  tabi_builder_add_joint(builder, &joint);
  /* so that the joint moves something */
  int32_t pin = scene_link(builder, joint.child, TABI_JOINT_REVOLUTE);
  int32_t thigh = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  int32_t on_pelvis = ball(builder, pelvis);
  int32_t on_thigh = ball(builder, thigh);
  int32_t on_pin = ball(builder, pin);
  connect(builder, TABI_CONNECTION_HINGE, joint.child, thigh, false);
  scene s;
  collide(&s, builder);
  assert_false(meet(&s, on_pelvis, on_thigh));
  assert_true(meet(&s, on_pin, on_thigh));
  scene_free(&s);
}

static void test_groups(void **state) {
  (void)state;
  static const struct {
    uint32_t group, mask;
    bool collides;
  } kinds[] = {
      {1, 1, true },
      {2, 1, true },
      {2, 0, true },
      {1, 2, false},
      {0, 2, true },
  };
  tabi_builder *builder = tabi_builder_create();
  for (int i = 0; i < 5; ++i) {
    tabi_shape_def shape = tabi_shape_def_default();
    shape.type = TABI_SHAPE_SPHERE;
    shape.size[0] = 0.1;
    shape.link = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
    shape.group = kinds[i].group;
    shape.mask = kinds[i].mask;
    shape.collides = kinds[i].collides;
    tabi_builder_add_shape(builder, &shape);
  }
  scene s;
  collide(&s, builder);
  assert_true(meet(&s, 0, 1));
  assert_false(meet(&s, 0, 2));
  assert_false(meet(&s, 0, 4));
  assert_false(meet(&s, 1, 2));
  assert_true(meet(&s, 1, 4));
  assert_true(meet(&s, 2, 4));
  for (int i = 0; i < 5; ++i)
    assert_false(meet(&s, 3, i));
  scene_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),
      cmocka_unit_test(test_standing),
      cmocka_unit_test(test_massless_between),
      cmocka_unit_test(test_exclusions),
      cmocka_unit_test(test_connections),
      cmocka_unit_test(test_rotations_join_nothing),
      cmocka_unit_test(test_welded),
      cmocka_unit_test(test_connected_massless),
      cmocka_unit_test(test_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
