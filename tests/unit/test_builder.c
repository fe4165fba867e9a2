/* test_builder.c - what the builder refuses, in which words, and where it puts the blame. */
#include "support/near.h"

#include "tabi/tabi.h"

#include <limits.h>
#include <string.h>

static const tabi_place HERE = {"robot.urdf", 42};

static int setup(void **state) {
  *state = tabi_builder_create();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  tabi_builder_destroy(*state);
  return 0;
}

static tabi_link_def good_link(const char *name) {
  tabi_link_def def = tabi_link_def_default();
  def.name = name;
  def.mass = 1;
  def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.1;
  def.place = HERE;
  return def;
}

static tabi_joint_def good_joint(const char *name, int32_t parent, int32_t child) {
  tabi_joint_def def = tabi_joint_def_default();
  def.name = name;
  def.type = TABI_JOINT_REVOLUTE;
  def.parent = parent;
  def.child = child;
  def.place = HERE;
  return def;
}

static void add_link(tabi_builder *b, const char *name) {
  tabi_link_def def = good_link(name);
  assert_true(tabi_builder_add_link(b, &def) >= 0);
}

/* the error is there, says the words and names the place */
static void expect(tabi_builder *b, tabi_status status, const char *words, bool placed) {
  const tabi_error *err = tabi_builder_error(b);
  assert_non_null(err);
  assert_int_equal(err->status, status);
  if (!strstr(err->message, words)) {
    print_error("'%s' not in '%s'\n", words, err->message);
    fail();
  }
  assert_string_equal(err->file, placed ? "robot.urdf" : "");
  assert_int_equal(err->line, placed ? 42 : 0);
}

/* a builder of its own for each refusal, because the first error stays */
static void refuse_link(tabi_link_def def, tabi_status status, const char *words) {
  tabi_builder *b = tabi_builder_create();
  assert_int_equal(tabi_builder_add_link(b, &def), TABI_NONE);
  expect(b, status, words, true);
  assert_int_equal(tabi_builder_nlink(b), 0);
  tabi_builder_destroy(b);
}

static void test_link_checks(void **state) {
  (void)state;
  tabi_link_def def = good_link("a");
  def.mass = -1;
  refuse_link(def, TABI_ERR_MODEL, "link 'a': mass -1 must be >= 0");
  def.mass = NAN;
  refuse_link(def, TABI_ERR_MODEL, "link 'a': mass 'nan' is not a finite number");
  def.mass = INFINITY;
  refuse_link(def, TABI_ERR_MODEL, "is not a finite number");
  def = good_link("a");
  def.com[1] = NAN;
  refuse_link(def, TABI_ERR_MODEL, "link 'a'");
  def = good_link("a");
  def.inertia[5] = INFINITY;
  refuse_link(def, TABI_ERR_MODEL, "link 'a'");
  def = good_link("a");
  def.inertia[0] = -0.01;
  refuse_link(def, TABI_ERR_MODEL, "link 'a': inertia not positive definite (eigenvalue -0.01)");
  def = good_link("a");
  def.inertia[3] = 0.2; /* xy larger than the moments */
  refuse_link(def, TABI_ERR_MODEL, "not positive definite (eigenvalue -0.1)");
  def = good_link("a");
  memcpy(def.inertia, (double[6]){0.015, 0.079, 0.097}, sizeof def.inertia);
  refuse_link(def, TABI_ERR_MODEL, "link 'a': inertia violates A+B>=C (0.015+0.079<0.097)");
  def.name = NULL;
  refuse_link(def, TABI_ERR_MODEL, "inertia violates A+B>=C");
}

/* a flat plate has A + B = C, up to what a file's digits leave */
static void test_thin_bodies_are_fine(void **state) {
  tabi_link_def def = good_link("plate");
  memcpy(def.inertia, (double[6]){0.1, 0.2, 0.3 * (1 + 5e-7)}, sizeof def.inertia);
  assert_int_equal(tabi_builder_add_link(*state, &def), 0);
  def = good_link("rod");
  memcpy(def.inertia, (double[6]){0, 0.2, 0.2}, sizeof def.inertia);
  assert_int_equal(tabi_builder_add_link(*state, &def), 1);
  def = tabi_link_def_default();
  assert_int_equal(tabi_builder_add_link(*state, &def), 2);
}

static void refuse_joint(tabi_joint_def def, tabi_status status, const char *words) {
  tabi_builder *b = tabi_builder_create();
  add_link(b, "a");
  add_link(b, "b");
  assert_int_equal(tabi_builder_add_joint(b, &def), TABI_NONE);
  expect(b, status, words, true);
  assert_int_equal(tabi_builder_njoint(b), 0);
  tabi_builder_destroy(b);
}

static void test_joint_links(void **state) {
  (void)state;
  refuse_joint(good_joint("j", 0, 0), TABI_ERR_MODEL, "joint 'j': parent and child are both 'a'");
  refuse_joint(good_joint("j", 0, 2), TABI_ERR_MODEL, "joint 'j'");
  refuse_joint(good_joint("j", 7, 1), TABI_ERR_MODEL, "joint 'j'");
  refuse_joint(good_joint("j", 0, TABI_NONE), TABI_ERR_MODEL, "joint 'j'");
  refuse_joint(good_joint("j", -2, 1), TABI_ERR_MODEL, "joint 'j'");
  refuse_joint(good_joint(NULL, INT_MIN, INT_MAX), TABI_ERR_MODEL, "joint");
}

static void test_joint_frame(void **state) {
  (void)state;
  tabi_joint_def def = good_joint("j", 0, 1);
  memset(def.axis, 0, sizeof def.axis);
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j': axis has zero length");
  def.axis[2] = NAN;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j': axis");
  def = good_joint("j", 0, 1);
  memset(def.quat, 0, sizeof def.quat);
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
  def = good_joint("j", 0, 1);
  def.pos[0] = INFINITY;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
  def = good_joint("j", 0, 1);
  def.type = TABI_JOINT_COUNT;
  refuse_joint(def, TABI_ERR_ARGUMENT, "joint 'j': unknown type");
}

static void test_joint_numbers(void **state) {
  (void)state;
  tabi_joint_def def = good_joint("j", 0, 1);
  def.lower = 1;
  def.upper = -1;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j': lower 1 > upper -1");
  def.lower = def.upper = INFINITY; // a limit that no position is above
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j': limits inf and inf leave no position");
  def.lower = def.upper = -INFINITY;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j': limits -inf and -inf leave no position");
  def = good_joint("j", 0, 1);
  def.upper = NAN;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
  static const size_t positive[] = {
      offsetof(tabi_joint_def, effort),        offsetof(tabi_joint_def, velocity),
      offsetof(tabi_joint_def, rotor_inertia), offsetof(tabi_joint_def, stiffness),
      offsetof(tabi_joint_def, damping),       offsetof(tabi_joint_def, friction)};
  static const double bad[] = {-1, NAN, -INFINITY};
  for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
      def = good_joint("j", 0, 1);
      memcpy((char *)&def + positive[i], &bad[k], sizeof bad[k]);
      refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
    }
  }
  def = good_joint("j", 0, 1);
  def.gear = INFINITY;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
  def = good_joint("j", 0, 1);
  def.initial_q[0] = NAN;
  refuse_joint(def, TABI_ERR_MODEL, "joint 'j'");
}

static void test_names_are_unique(void **state) {
  tabi_builder *b = *state;
  add_link(b, "a");
  tabi_link_def again = good_link("a");
  assert_int_equal(tabi_builder_add_link(b, &again), TABI_NONE);
  expect(b, TABI_ERR_MODEL, "link 'a' defined twice (first at line 42)", true);
}

static void test_joint_names_are_unique(void **state) {
  tabi_builder *b = *state;
  add_link(b, "a");
  add_link(b, "b");
  tabi_joint_def def = good_joint("j", TABI_WORLD, 0);
  assert_int_equal(tabi_builder_add_joint(b, &def), 0);
  def.child = 1;
  assert_int_equal(tabi_builder_add_joint(b, &def), TABI_NONE);
  expect(b, TABI_ERR_MODEL, "joint 'j' defined twice", true);
}

static void test_one_joint_above_each_link(void **state) {
  tabi_builder *b = *state;
  add_link(b, "a");
  add_link(b, "b");
  add_link(b, "c");
  tabi_joint_def first = good_joint("j1", 0, 2), second = good_joint("j2", 1, 2);
  assert_int_equal(tabi_builder_add_joint(b, &first), 0);
  assert_int_equal(tabi_builder_add_joint(b, &second), TABI_NONE);
  expect(b, TABI_ERR_MODEL, "link 'c' has two parent joints: 'j1','j2'", true);
}

/* the first error stays, later calls do nothing, build repeats it */
static void test_first_error_stays(void **state) {
  tabi_builder *b = *state;
  assert_null(tabi_builder_error(b));
  tabi_link_def bad = good_link("bad");
  bad.mass = -3;
  assert_int_equal(tabi_builder_add_link(b, &bad), TABI_NONE);
  tabi_link_def good = good_link("good");
  assert_int_equal(tabi_builder_add_link(b, &good), TABI_NONE);
  assert_int_equal(tabi_builder_nlink(b), 0);
  tabi_builder_set_timestep(b, -1);
  assert_int_equal(tabi_builder_add_posture(b, "p"), TABI_NONE);
  assert_int_equal(tabi_builder_add_exclusion(b, 0, 1), TABI_NONE);
  expect(b, TABI_ERR_MODEL, "mass -3", true);
  tabi_error err;
  assert_null(tabi_builder_build(b, &err));
  assert_non_null(strstr(err.message, "mass -3"));
  assert_null(tabi_builder_build(b, NULL));
  char text[256];
  (void)tabi_error_text(&err, "error", text, sizeof text);
  assert_non_null(strstr(text, "robot.urdf:42: error: link 'bad': mass -3"));
}

/* a def that no default function has made */
static void test_raw_defs_are_refused(void **state) {
  (void)state;
  tabi_link_def link = {.mass = 1};
  tabi_joint_def joint = {.child = 0};
  tabi_shape_def shape = {.link = 0};
  tabi_mesh_def mesh = {.nface = 0};
  tabi_material_def material = {.friction = 1};
  tabi_actuator_def actuator = {.gear = 1};
  tabi_coupling_def coupling = {.joint = 0};
  tabi_connection_def connection = {.a = 0};
  for (int i = 0; i < 8; ++i) {
    tabi_builder *b = tabi_builder_create();
    int32_t index = i == 0   ? tabi_builder_add_link(b, &link)
                    : i == 1 ? tabi_builder_add_joint(b, &joint)
                    : i == 2 ? tabi_builder_add_shape(b, &shape)
                    : i == 3 ? tabi_builder_add_mesh(b, &mesh)
                    : i == 4 ? tabi_builder_add_material(b, &material)
                    : i == 5 ? tabi_builder_add_actuator(b, &actuator)
                    : i == 6 ? tabi_builder_add_coupling(b, &coupling)
                             : tabi_builder_add_connection(b, &connection);
    assert_int_equal(index, TABI_NONE);
    expect(b, TABI_ERR_ARGUMENT, "_def_default()", false);
    tabi_builder_destroy(b);
  }
}

static void test_mesh_without_arrays(void **state) {
  (void)state;
  const double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const int32_t faces[3] = {0, 1, 2};
  for (int i = 0; i < 3; ++i) {
    tabi_builder *b = tabi_builder_create();
    tabi_mesh_def def = tabi_mesh_def_default();
    def.name = "half";
    def.nvertex = 3;
    def.nface = 1;
    def.vertices = i == 0 ? NULL : vertices;
    def.faces = i == 1 ? NULL : faces;
    def.place = HERE;
    assert_int_equal(tabi_builder_add_mesh(b, &def), i < 2 ? TABI_NONE : 0);
    if (i < 2) expect(b, TABI_ERR_ARGUMENT, "mesh 'half': has 3 vertices and 1 faces", true);
    tabi_builder_destroy(b);
  }
}

static void refuse_build(tabi_builder *b, const char *words) {
  tabi_error err;
  assert_null(tabi_builder_error(b));
  assert_null(tabi_builder_build(b, &err));
  assert_int_equal(err.status, TABI_ERR_MODEL);
  if (!strstr(err.message, words)) {
    print_error("'%s' not in '%s'\n", words, err.message);
    fail();
  }
  assert_int_equal(err.line, 42);
}

static void test_loops_are_refused(void **state) {
  tabi_builder *b = *state;
  static const char *const names[] = {"base", "a", "b", "c"};
  for (int i = 0; i < 4; ++i)
    add_link(b, names[i]);
  tabi_joint_def joints[] = {good_joint("j1", 1, 2), good_joint("j2", 2, 3),
                             good_joint("j3", 3, 1)};
  for (int i = 0; i < 3; ++i)
    (void)tabi_builder_add_joint(b, &joints[i]);
  refuse_build(b, "kinematic loop: a -> b -> c -> a");
}

static void test_moving_without_mass(void **state) {
  tabi_builder *b = *state;
  add_link(b, "base");
  tabi_link_def empty = tabi_link_def_default();
  empty.name = "a";
  empty.place = HERE;
  (void)tabi_builder_add_link(b, &empty);
  tabi_joint_def joint = good_joint("j", 0, 1);
  (void)tabi_builder_add_joint(b, &joint);
  refuse_build(b, "link 'a': no mass, but joint 'j' moves it and nothing heavier hangs from it");
}

static void test_massless_links_between(void **state) {
  tabi_builder *b = *state;
  tabi_link_def empty = tabi_link_def_default();
  (void)tabi_builder_add_link(b, &empty);
  add_link(b, "tip");
  tabi_joint_def joint = good_joint("j1", TABI_WORLD, 0), next = good_joint("j2", 0, 1);
  next.axis[0] = 1;
  (void)tabi_builder_add_joint(b, &joint);
  (void)tabi_builder_add_joint(b, &next);
  tabi_model *model = tabi_builder_build(b, NULL);
  assert_non_null(model);
  assert_int_equal(tabi_model_nv(model), 2);
  tabi_model_destroy(model);
}

static void test_gravity_and_timestep(void **state) {
  (void)state;
  static const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tabi_builder *b = tabi_builder_create();
    tabi_builder_set_timestep(b, bad[i]);
    expect(b, TABI_ERR_ARGUMENT, "timestep", false);
    tabi_builder_destroy(b);
  }
  tabi_builder *b = tabi_builder_create();
  tabi_builder_set_gravity(b, (double[3]){0, NAN, 0});
  expect(b, TABI_ERR_ARGUMENT, "gravity", false);
  tabi_builder_destroy(b);
}

static void test_defaults(void **state) {
  (void)state;
  tabi_joint_def joint = tabi_joint_def_default();
  assert_int_equal(joint.parent, TABI_WORLD);
  assert_int_equal(joint.type, TABI_JOINT_FIXED);
  assert_true(joint.quat[0] == 1 && joint.axis[2] == 1 && joint.gear == 1);
  assert_true(isinf(joint.lower) && isinf(joint.upper) && joint.lower < joint.upper);
  assert_true(isinf(joint.effort) && isinf(joint.velocity));
  tabi_material_def material = tabi_material_def_default();
  assert_true(material.friction == 0.5 && material.restitution == 0);
  assert_true(material.stiffness == 2e6 && material.damping == 1e3);
  assert_true(material.slip_speed == 1e-3 && material.rest_speed == 0.01);
  assert_true(material.rolling_friction == 0 && material.torsional_friction == 0);
  tabi_shape_def shape = tabi_shape_def_default();
  assert_true(shape.collides && shape.visible && (shape.group & shape.mask));
  assert_int_equal(shape.material, TABI_NONE);
}

static void test_destroying_nothing(void **state) {
  (void)state;
  tabi_builder_destroy(NULL);
  tabi_model_destroy(NULL);
  tabi_dynamics_destroy(NULL);
}

/* one number beyond its limit, and what the message must say of it */
static void test_limits_of_links_and_joints(void **state) {
  (void)state;
  tabi_link_def link = good_link("a");
  link.mass = 1e19;
  refuse_link(link, TABI_ERR_MODEL, "link 'a': mass 1e+19 kg is beyond the limit of 1e+18 kg");
  link = good_link("a");
  link.com[2] = -1e10;
  refuse_link(link, TABI_ERR_MODEL, "centre of mass -1e+10 m is beyond the limit of 1e+09 m");
  link = good_link("a");
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 1e37;
  refuse_link(link, TABI_ERR_MODEL, "inertia 1e+37 kg m^2 is beyond the limit of 1e+36 kg m^2");
  tabi_joint_def joint = good_joint("j", 0, 1);
  joint.pos[0] = 1e18;
  refuse_joint(joint, TABI_ERR_MODEL, "joint 'j': position 1e+18 m is beyond the limit of 1e+09 m");
  joint = good_joint("j", 0, 1);
  joint.stiffness = 1e300;
  refuse_joint(joint, TABI_ERR_MODEL, "joint 'j': stiffness 1e+300 is beyond the limit of 1e+18");
  joint = good_joint("j", 0, 1);
  joint.gear = 1e10;
  refuse_joint(joint, TABI_ERR_MODEL, "joint 'j': gear 1e+10 is beyond the limit of 1e+09");
}

/* limits that nothing can reach, and forces without bound, mean none */
static void test_far_limits_are_none(void **state) {
  tabi_builder *b = *state;
  add_link(b, "a");
  tabi_joint_def joint = good_joint("j", TABI_WORLD, 0);
  joint.lower = -1e300;
  joint.upper = 1e300;
  joint.effort = 1e300;
  assert_int_equal(tabi_builder_add_joint(b, &joint), 0);
  tabi_model *model = tabi_builder_build(b, NULL);
  assert_non_null(model);
  assert_true(isinf(tabi_model_joint(model, 0).lower) && isinf(tabi_model_joint(model, 0).upper));
  tabi_model_destroy(model);
}

static void refuse_shape_size(double size, const char *words) {
  tabi_builder *b = tabi_builder_create();
  tabi_shape_def shape = tabi_shape_def_default();
  shape.name = "s";
  shape.type = TABI_SHAPE_BOX;
  shape.place = HERE;
  shape.size[0] = shape.size[1] = shape.size[2] = size;
  assert_int_equal(tabi_builder_add_shape(b, &shape), TABI_NONE);
  expect(b, TABI_ERR_MODEL, words, true);
  tabi_builder_destroy(b);
}

/* Obstacles of tendons are between two points, and have a size. */
static void refuse_obstacle(tabi_tendon_point wrong, int at, const char *words) {
  tabi_builder *b = tabi_builder_create();
  add_link(b, "a");
  tabi_tendon_point points[3] = {
      {.link = TABI_WORLD, .share = 1},
      {.link = TABI_WORLD, .share = 1},
      {.link = 0,          .share = 0}
  };
  points[at] = wrong;
  tabi_tendon_def def = tabi_tendon_def_default();
  def.points = points;
  def.npoint = 3;
  def.place = HERE;
  assert_int_equal(tabi_builder_add_tendon(b, &def), TABI_NONE);
  expect(b, TABI_ERR_MODEL, words, true);
  tabi_builder_destroy(b);
}

static void test_obstacles(void **state) {
  (void)state;
  tabi_tendon_point ball = {
      .link = TABI_WORLD, .share = 1, .wrap = TABI_WRAP_SPHERE, .radius = 0.1};
  refuse_obstacle(ball, 0, "an obstacle must be between two points of one branch");
  refuse_obstacle(ball, 2, "an obstacle must be between two points of one branch");
  ball.radius = 0;
  refuse_obstacle(ball, 1, "a radius must be > 0");
  ball.radius = 0.1;
  ball.wrap = TABI_WRAP_CYLINDER;
  refuse_obstacle(ball, 1, "an axis is zero");
  ball.axis[2] = 1;
  ball.sided = true;
  ball.side_link = 7;
  refuse_obstacle(ball, 1, "no such link");
  ball.side_link = 0;
  ball.side[1] = NAN;
  refuse_obstacle(ball, 1, "a point is not finite");
  ball.wrap = TABI_WRAP_COUNT;
  refuse_obstacle(ball, 1, "no such wrap");
}

static void test_limits_of_shapes(void **state) {
  (void)state;
  refuse_shape_size(1e155, "shape 's': size 1e+155 m is beyond the limit of 1e+09 m");
  refuse_shape_size(1e-160, "shape 's': size 1e-160 m is below the limit of 1e-12 m");
}

static void test_limit_of_gravity(void **state) {
  tabi_builder_set_gravity(*state, (double[3]){1e9, 0, 0});
  expect(*state, TABI_ERR_ARGUMENT, "gravity of 1e+09 m/s^2 is beyond the limit of 1e+06", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_link_checks),
      cmocka_unit_test(test_limits_of_links_and_joints),
      cmocka_unit_test_setup_teardown(test_far_limits_are_none, setup, teardown),
      cmocka_unit_test(test_limits_of_shapes),
      cmocka_unit_test(test_obstacles),
      cmocka_unit_test_setup_teardown(test_limit_of_gravity, setup, teardown),
      cmocka_unit_test_setup_teardown(test_thin_bodies_are_fine, setup, teardown),
      cmocka_unit_test(test_joint_links),
      cmocka_unit_test(test_joint_frame),
      cmocka_unit_test(test_joint_numbers),
      cmocka_unit_test_setup_teardown(test_names_are_unique, setup, teardown),
      cmocka_unit_test_setup_teardown(test_joint_names_are_unique, setup, teardown),
      cmocka_unit_test_setup_teardown(test_one_joint_above_each_link, setup, teardown),
      cmocka_unit_test_setup_teardown(test_first_error_stays, setup, teardown),
      cmocka_unit_test(test_raw_defs_are_refused),
      cmocka_unit_test(test_mesh_without_arrays),
      cmocka_unit_test_setup_teardown(test_loops_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_moving_without_mass, setup, teardown),
      cmocka_unit_test_setup_teardown(test_massless_links_between, setup, teardown),
      cmocka_unit_test(test_gravity_and_timestep),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_destroying_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
