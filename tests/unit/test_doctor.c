/* test_doctor.c - the model doctor: what it finds, and how it tells. */
#include "support/near.h"
#include "support/random_model.h"

#include "tabi/tabi.h"

#include <stdio.h>
#include <string.h>

typedef struct notes {
  int32_t count;
  const char *words; /* looked for */
  int32_t found;
  int32_t line;
} notes;

static void take_note(void *user, const tabi_error *finding) {
  notes *n = user;
  assert_true(strlen(finding->message) > 0);
  ++n->count;
  if (!n->words || !strstr(finding->message, n->words)) return;
  ++n->found;
  n->line = finding->line;
}

/* whatever the model: each finding is told once, and may be only counted */
static void test_findings_are_counted(void **state) {
  (void)state;
  static random_plan plan;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    random_plan_make(&plan, seed, RANDOM_ANY);
    tabi_model *model = random_plan_build(&plan, NULL);
    notes n = {0};
    int32_t count = tabi_model_check(model, take_note, &n);
    assert_int_equal(count, n.count);
    assert_int_equal(tabi_model_check(model, NULL, NULL), count);
    tabi_model_destroy(model);
  }
}

/* an arm whose numbers a test then spoils */
typedef struct arm {
  tabi_link_def link;
  tabi_joint_def joint;
} arm;

static arm good_arm(void) {
  arm a = {tabi_link_def_default(), tabi_joint_def_default()};
  a.link.name = "arm";
  a.link.mass = 2;
  memcpy(a.link.inertia, (double[6]){0.02, 0.021, 0.005}, sizeof a.link.inertia);
  a.link.place = (tabi_place){"arm.urdf", 7};
  a.joint.name = "shoulder";
  a.joint.type = TABI_JOINT_REVOLUTE;
  a.joint.lower = -1;
  a.joint.upper = 1;
  a.joint.effort = 100;
  a.joint.velocity = 10;
  a.joint.place = (tabi_place){"arm.urdf", 9};
  return a;
}

/* what is found in the model that the builder builds */
static notes examine_built(tabi_builder *b, const char *words) {
  tabi_model *model = tabi_builder_build(b, NULL);
  tabi_builder_destroy(b);
  assert_non_null(model);
  notes n = {.words = words};
  (void)tabi_model_check(model, take_note, &n);
  tabi_model_destroy(model);
  return n;
}

static notes examine(const arm *a, const char *words) {
  tabi_builder *b = tabi_builder_create();
  tabi_joint_def joint = a->joint;
  joint.child = tabi_builder_add_link(b, &a->link);
  (void)tabi_builder_add_joint(b, &joint);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.link = joint.child;
  shape.size[0] = 0.1;
  (void)tabi_builder_add_shape(b, &shape);
  return examine_built(b, words);
}

static void test_nothing_wrong(void **state) {
  (void)state;
  arm a = good_arm();
  notes n = examine(&a, NULL);
  assert_int_equal(n.count, 0);
}

static void test_start_outside_the_limits(void **state) {
  (void)state;
  arm a = good_arm();
  a.joint.lower = 0.26;
  a.joint.upper = 1.4;
  notes n = examine(&a, "joint 'shoulder'");
  assert_true(n.found >= 1);
  assert_int_equal(n.line, 9);
}

/* Many joints without effort limit are one finding; a chain of joints is called by its link. */
static void test_chain_without_limits(void **state) {
  (void)state;
  tabi_builder *b = tabi_builder_create();
  arm a = good_arm();
  a.joint.effort = INFINITY;
  for (int i = 0; i < 3; ++i) {
    static const char *const names[] = {"first", "second", "third"};
    a.link.name = i == 1 ? NULL : names[i];
    a.joint.name = names[i];
    a.joint.child = tabi_builder_add_link(b, &a.link);
    a.joint.parent = i == 0 ? TABI_WORLD : a.joint.child - 1;
    (void)tabi_builder_add_joint(b, &a.joint);
  }
  notes n = examine_built(b, "joint 'first' and 2 others have no effort limit");
  assert_int_equal(n.found, 1);
  assert_int_equal(n.line, 9);
}

/* A link in between has no name: the body is called by one that is fixed to it. */
static void test_unnamed_link(void **state) {
  (void)state;
  tabi_builder *b = tabi_builder_create();
  arm a = good_arm();
  a.link.name = "trunk";
  tabi_shape_def shape = tabi_shape_def_default();
  a.joint.child = shape.link = tabi_builder_add_link(b, &a.link);
  shape.size[0] = 0.1;
  (void)tabi_builder_add_shape(b, &shape);
  (void)tabi_builder_add_joint(b, &a.joint);
  a.link.name = "hand";
  int32_t hand = tabi_builder_add_link(b, &a.link);
  a.link = tabi_link_def_default();
  a.joint.parent = a.joint.child;
  a.joint.child = tabi_builder_add_link(b, &a.link);
  a.joint.name = "wrist";
  (void)tabi_builder_add_joint(b, &a.joint);
  tabi_joint_def fixed = tabi_joint_def_default();
  fixed.type = TABI_JOINT_FIXED;
  fixed.parent = a.joint.child;
  fixed.child = hand;
  (void)tabi_builder_add_joint(b, &fixed);
  assert_int_equal(examine_built(b, "link 'hand': ends a limb but has no").found, 1);
}

static void test_mass_without_inertia(void **state) {
  (void)state;
  arm a = good_arm();
  memset(a.link.inertia, 0, sizeof a.link.inertia);
  notes n = examine(&a, "link 'arm'");
  assert_true(n.found >= 1);
  assert_int_equal(n.line, 7);
}

/* A row of balls, each on a slider of its own in the world or hanging from the one before. */
static notes examine_row(int32_t count, double step, bool chain, bool exclude) {
  tabi_builder *b = tabi_builder_create();
  arm a = good_arm();
  for (int32_t i = 0; i < count; ++i) {
    char name[16];
    (void)snprintf(name, sizeof name, "ball%d", (int)i);
    a.link.name = name;
    a.link.place.line = 100 + i;
    a.joint.name = name;
    a.joint.type = TABI_JOINT_PRISMATIC;
    a.joint.parent = chain && i > 0 ? i - 1 : TABI_WORLD;
    a.joint.pos[0] = chain && i > 0 ? step : step * i;
    a.joint.child = tabi_builder_add_link(b, &a.link);
    (void)tabi_builder_add_joint(b, &a.joint);
    tabi_shape_def shape = tabi_shape_def_default();
    shape.link = a.joint.child;
    shape.size[0] = 0.1;
    (void)tabi_builder_add_shape(b, &shape);
    if (exclude && i > 0) (void)tabi_builder_add_exclusion(b, i - 1, i);
  }
  tabi_model *model = tabi_builder_build(b, NULL);
  tabi_builder_destroy(b);
  assert_non_null(model);
  notes n = {.words = "in the initial state"};
  (void)tabi_model_check(model, take_note, &n);
  tabi_model_destroy(model);
  return n;
}

static void test_links_inside_each_other(void **state) {
  (void)state;
  assert_int_equal(examine_row(3, 0.25, false, false).found, 0);
  // 1 mm is let pass, 2 mm are not
  assert_int_equal(examine_row(2, 0.1995, false, false).found, 0);
  notes n = examine_row(2, 0.198, false, false);
  assert_int_equal(n.found, 1);
  assert_int_equal(n.line, 100);
  assert_int_equal(examine_row(3, 0.15, false, false).found, 2);
  // neighbours in a chain may overlap, and those that are excluded
  assert_int_equal(examine_row(3, 0.15, true, false).found, 0);
  assert_int_equal(examine_row(3, 0.15, false, true).found, 0);
  assert_int_equal(examine_row(3, 0.05, true, false).found, 1);
  // ten are told, the rest counted
  assert_int_equal(examine_row(40, 0.15, false, false).found, 11);
}

/* Two arms stand side by side, 1 m apart; a connection of them is spoilt by a little. */
static notes examine_connection(const tabi_connection_def *def, const char *words) {
  tabi_builder *b = tabi_builder_create();
  arm a = good_arm();
  for (int i = 0; i < 2; ++i) {
    a.link.name = a.joint.name = i == 0 ? "left" : "right";
    a.joint.pos[0] = i;
    a.joint.child = tabi_builder_add_link(b, &a.link);
    (void)tabi_builder_add_joint(b, &a.joint);
  }
  tabi_connection_def connection = *def;
  connection.name = "loop";
  connection.a = 0;
  connection.b = 1;
  connection.place = (tabi_place){"arm.urdf", 33};
  (void)tabi_builder_add_connection(b, &connection);
  return examine_built(b, words);
}

static void test_open_connections(void **state) {
  (void)state;
  tabi_connection_def def = tabi_connection_def_default();
  // closed half way, then 2 mm off along y
  def.pos_a[0] = 0.5;
  def.pos_b[0] = -0.5;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  def.pos_b[1] = 2e-3;
  notes n = examine_connection(&def, "connection 'loop': is 0.002 m open in the initial state");
  assert_int_equal(n.found, 1);
  assert_int_equal(n.line, 33);
  // x and z alone do not mind, nor does a spring
  def.type = TABI_CONNECTION_AXES;
  def.axes = TABI_MOVE_X | TABI_MOVE_Z;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  def.type = TABI_CONNECTION_SPRING;
  def.stiffness = 1;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  def.type = TABI_CONNECTION_ROD;
  def.length = 3e-3;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  def.length = 4e-3;
  assert_int_equal(examine_connection(&def, "is 0.002 m open").found, 1);
}

static void test_twisted_connections(void **state) {
  (void)state;
  tabi_connection_def def = tabi_connection_def_default();
  def.pos_a[0] = 1;
  // half a turn about z: fine for a hinge and for what holds no turn about z
  def.quat_b[0] = 0;
  def.quat_b[3] = 1;
  def.type = TABI_CONNECTION_HINGE;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  def.type = TABI_CONNECTION_FIXED;
  assert_int_equal(examine_connection(&def, "is twisted by 3.14 rad").found, 1);
  def.type = TABI_CONNECTION_AXES;
  def.axes = TABI_TURN_X | TABI_TURN_Y;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
  // 0.02 rad about x as well
  memcpy(def.quat_b, ((const double[4]){0.99995, 0.0099998333, 0, 0}), sizeof def.quat_b);
  assert_int_equal(examine_connection(&def, "is twisted by 0.02 rad").found, 1);
  def.axes = TABI_TURN_Y | TABI_TURN_Z;
  assert_int_equal(examine_connection(&def, "loop").found, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_findings_are_counted),
      cmocka_unit_test(test_nothing_wrong),
      cmocka_unit_test(test_start_outside_the_limits),
      cmocka_unit_test(test_chain_without_limits),
      cmocka_unit_test(test_unnamed_link),
      cmocka_unit_test(test_mass_without_inertia),
      cmocka_unit_test(test_links_inside_each_other),
      cmocka_unit_test(test_open_connections),
      cmocka_unit_test(test_twisted_connections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
