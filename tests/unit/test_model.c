/* test_model.c - what a model says about the robot it was built from. */
#include "support/near.h"

#include "tabi/tabi.h"

#include <stdio.h>
#include <string.h>

/* base (free) -- sensor (fixed) -- lens (fixed)
 *             \- arm (revolute)   \- eye (ball)
 * and a table that stands in the world */
enum { BASE, SENSOR, LENS, ARM, EYE, TABLE, LINKS };
enum { ROOT, MOUNT, GLUE, SHOULDER, SOCKET, JOINTS };

static int32_t add_link(tabi_builder *b, const char *name, double mass) {
  tabi_link_def def = tabi_link_def_default();
  def.name = name;
  def.mass = mass;
  def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.1 * mass;
  def.place = (tabi_place){"robot.urdf", 10};
  return tabi_builder_add_link(b, &def);
}

static int32_t add_joint(tabi_builder *b, const char *name, tabi_joint_type type, int32_t parent,
                         int32_t child) {
  tabi_joint_def def = tabi_joint_def_default();
  def.name = name;
  def.type = type;
  def.parent = parent;
  def.child = child;
  def.pos[0] = 1;
  def.axis[1] = 2; /* any length */
  def.axis[2] = 0;
  if (type == TABI_JOINT_REVOLUTE) def.initial_q[0] = 0.5;
  return tabi_builder_add_joint(b, &def);
}

static tabi_builder *robot(void) {
  static const char *const names[LINKS] = {"base", "sensor", "lens", "arm", "eye", "table"};
  tabi_builder *b = tabi_builder_create();
  for (int32_t i = 0; i < LINKS; ++i)
    assert_int_equal(add_link(b, names[i], 1 + i), i);
  (void)add_joint(b, "root", TABI_JOINT_FREE, TABI_WORLD, BASE);
  (void)add_joint(b, "mount", TABI_JOINT_FIXED, BASE, SENSOR);
  (void)add_joint(b, "glue", TABI_JOINT_FIXED, SENSOR, LENS);
  (void)add_joint(b, "shoulder", TABI_JOINT_REVOLUTE, BASE, ARM);
  (void)add_joint(b, "socket", TABI_JOINT_BALL, SENSOR, EYE);
  return b;
}

static tabi_model *finish(tabi_builder *b) {
  tabi_error err;
  tabi_model *model = tabi_builder_build(b, &err);
  if (!model) print_error("%s\n", err.message);
  assert_non_null(model);
  tabi_builder_destroy(b);
  return model;
}

static void test_counts_and_ranges(void **state) {
  (void)state;
  tabi_model *model = finish(robot());
  assert_int_equal(tabi_model_nlink(model), LINKS);
  assert_int_equal(tabi_model_njoint(model), JOINTS);
  assert_int_equal(tabi_model_nbody(model), 3);
  assert_int_equal(tabi_model_nq(model), 7 + 1 + 4);
  assert_int_equal(tabi_model_nv(model), 6 + 1 + 3);
  assert_near(tabi_model_mass(model), 21, 1e-14);
  static const int32_t nq[JOINTS] = {7, 0, 0, 1, 4}, nv[JOINTS] = {6, 0, 0, 1, 3};
  bool used[12] = {false};
  for (int32_t j = 0; j < JOINTS; ++j) {
    tabi_range q = tabi_model_joint_q(model, j), v = tabi_model_joint_v(model, j);
    assert_int_equal(q.count, nq[j]);
    assert_int_equal(v.count, nv[j]);
    if (q.count == 0) assert_int_equal(q.first, TABI_NONE);
    for (int32_t k = q.first; k < q.first + q.count; ++k) {
      assert_false(used[k]);
      used[k] = true;
    }
  }
  assert_int_equal(tabi_model_joint_q(model, ROOT).first, 0);
  tabi_model_destroy(model);
}

static void test_links_and_bodies(void **state) {
  (void)state;
  tabi_model *model = finish(robot());
  static const int32_t joint[LINKS] = {ROOT, MOUNT, GLUE, SHOULDER, SOCKET, TABI_NONE};
  for (int32_t i = 0; i < LINKS; ++i)
    assert_int_equal(tabi_model_link_joint(model, i), joint[i]);
  int32_t base = tabi_model_link_body(model, BASE);
  assert_int_equal(base, 0);
  assert_int_equal(tabi_model_link_body(model, SENSOR), base);
  assert_int_equal(tabi_model_link_body(model, LENS), base);
  assert_int_equal(tabi_model_link_body(model, TABLE), TABI_WORLD);
  assert_true(tabi_model_link_body(model, ARM) != tabi_model_link_body(model, EYE));
  tabi_model_destroy(model);
}

/* names and places are the model's own: the builder is gone, and the caller's string too */
static void test_names(void **state) {
  (void)state;
  tabi_builder *b = robot();
  char name[16] = "passing";
  int32_t extra = add_link(b, name, 1);
  (void)snprintf(name, sizeof name, "gone");
  assert_int_equal(tabi_builder_find_link(b, "passing"), extra);
  assert_int_equal(tabi_builder_find_link(b, "gone"), TABI_NONE);
  assert_int_equal(tabi_builder_find_joint(b, "socket"), SOCKET);
  assert_int_equal(tabi_builder_nlink(b), LINKS + 1);
  assert_int_equal(tabi_builder_njoint(b), JOINTS);
  tabi_model *model = finish(b);
  assert_int_equal(tabi_model_find_link(model, "lens"), LENS);
  assert_int_equal(tabi_model_find_link(model, "passing"), extra);
  assert_int_equal(tabi_model_find_link(model, "nobody"), TABI_NONE);
  assert_int_equal(tabi_model_find_joint(model, "shoulder"), SHOULDER);
  assert_int_equal(tabi_model_find_joint(model, "lens"), TABI_NONE);
  assert_string_equal(tabi_model_link(model, EYE).name, "eye");
  assert_string_equal(tabi_model_link(model, EYE).place.file, "robot.urdf");
  assert_int_equal(tabi_model_link(model, EYE).place.line, 10);
  tabi_model_destroy(model);
}

static void test_defs_come_back(void **state) {
  (void)state;
  tabi_model *model = finish(robot());
  tabi_joint_def joint = tabi_model_joint(model, SHOULDER);
  assert_int_equal(joint.type, TABI_JOINT_REVOLUTE);
  assert_int_equal(joint.parent, BASE);
  assert_int_equal(joint.child, ARM);
  assert_near(joint.axis[1], 1, 0); /* made unit */
  assert_near(joint.pos[0], 1, 0);
  tabi_link_def link = tabi_model_link(model, ARM);
  assert_near(link.mass, 4, 0);
  assert_near(link.inertia[2], 0.4, 1e-16);
  assert_int_equal(link.def_size, sizeof link);
  tabi_model_destroy(model);
}

static void test_start_and_world(void **state) {
  (void)state;
  tabi_builder *b = robot();
  tabi_builder_set_gravity(b, (double[3]){1, 2, 3});
  tabi_builder_set_timestep(b, 2e-3);
  tabi_model *model = finish(b);
  double q[12], gravity[3];
  tabi_model_initial_q(model, q);
  const double root[7] = {0, 0, 0, 1, 0, 0, 0}, none[4] = {1, 0, 0, 0};
  assert_memory_equal(q, root, sizeof root);
  assert_near(q[tabi_model_joint_q(model, SHOULDER).first], 0.5, 0);
  assert_memory_equal(q + tabi_model_joint_q(model, SOCKET).first, none, sizeof none);
  tabi_model_gravity(model, gravity);
  assert_near_n(gravity, ((double[3]){1, 2, 3}), 3, 0);
  assert_near(tabi_model_timestep(model), 2e-3, 0);
  tabi_model_destroy(model);
}

static void test_postures(void **state) {
  (void)state;
  tabi_builder *b = robot();
  int32_t wave = tabi_builder_add_posture(b, "wave"), rest = tabi_builder_add_posture(b, "rest");
  const double up = 1.5, speed = -2, turned[4] = {0, 3, 0, 0};
  tabi_builder_set_posture(b, wave, SHOULDER, &up, &speed);
  tabi_builder_set_posture(b, wave, SOCKET, turned, NULL);
  tabi_model *model = finish(b);
  double q[12], v[10];
  assert_int_equal(tabi_model_nposture(model), 2);
  assert_string_equal(tabi_model_posture(model, wave, q, v), "wave");
  int32_t shoulder = tabi_model_joint_q(model, SHOULDER).first;
  assert_near(q[shoulder], 1.5, 0);
  assert_near(v[tabi_model_joint_v(model, SHOULDER).first], -2, 0);
  assert_near(q[tabi_model_joint_q(model, SOCKET).first + 1], 1, 0); /* made unit */
  assert_string_equal(tabi_model_posture(model, rest, q, NULL), "rest");
  assert_near(q[shoulder], 0.5, 0);
  assert_string_equal(tabi_model_posture(model, rest, NULL, v), "rest");
  assert_near(v[0], 0, 0);
  tabi_model_destroy(model);
}

static void add_things(tabi_builder *b) {
  tabi_material_def wood = tabi_material_def_default();
  wood.name = "wood";
  wood.friction = 0.7;
  assert_int_equal(tabi_builder_add_material(b, &wood), 0);
  wood.friction = 0.4;
  assert_int_equal(tabi_builder_add_pair(b, 0, 0, &wood), 0);
  const double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.nvertex = mesh.nface = 4;
  mesh.vertices = vertices;
  mesh.faces = faces;
  assert_int_equal(tabi_builder_add_mesh(b, &mesh), 0);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.name = "palm";
  shape.type = TABI_SHAPE_MESH;
  shape.link = ARM;
  shape.mesh = 0;
  shape.material = 0;
  assert_int_equal(tabi_builder_add_shape(b, &shape), 0);
  tabi_actuator_def actuator = tabi_actuator_def_default();
  actuator.joint = SHOULDER;
  assert_int_equal(tabi_builder_add_actuator(b, &actuator), 0);
  actuator.name = "motor";
  assert_int_equal(tabi_builder_add_actuator(b, &actuator), 1);
  assert_int_equal(tabi_builder_add_actuator(b, &actuator), 2);
  tabi_coupling_def coupling = tabi_coupling_def_default();
  coupling.joint = SHOULDER;
  assert_int_equal(tabi_builder_add_coupling(b, &coupling), 0);
  tabi_connection_def connection = tabi_connection_def_default();
  connection.a = ARM;
  connection.b = TABI_WORLD;
  assert_int_equal(tabi_builder_add_connection(b, &connection), 0);
  assert_int_equal(tabi_builder_add_exclusion(b, ARM, EYE), 0);
}

static void test_surfaces(void **state) {
  (void)state;
  tabi_builder *b = robot();
  tabi_material_def stuff = tabi_material_def_default(), pair = stuff;
  for (int i = 0; i < 2; ++i) {
    stuff.friction = i == 0 ? 0.8 : 0.2;
    assert_int_equal(tabi_builder_add_material(b, &stuff), i);
  }
  for (int i = 0; i < 2; ++i) {
    pair.friction = i == 0 ? 0.1 : 0.05; // the second counts
    assert_true(tabi_builder_add_pair(b, i, 1 - i, &pair) >= 0);
  }
  tabi_model *model = finish(b);
  double plain = tabi_material_def_default().friction;
  assert_near(tabi_model_surface(model, 0, 1).friction, 0.05, 0);
  assert_near(tabi_model_surface(model, 1, 0).friction, 0.05, 0);
  assert_near(tabi_model_surface(model, 0, 0).friction, 0.8, 1e-15);
  assert_near(tabi_model_surface(model, 1, TABI_NONE).friction, sqrt(0.2 * plain), 1e-15);
  assert_near(tabi_model_surface(model, TABI_NONE, TABI_NONE).friction, plain, 1e-15);
  tabi_model_destroy(model);
}

static void test_shapes_and_the_rest(void **state) {
  (void)state;
  tabi_builder *b = robot();
  add_things(b);
  tabi_model *model = finish(b);
  assert_int_equal(tabi_model_nmaterial(model), 1);
  assert_int_equal(tabi_model_nmesh(model), 1);
  assert_int_equal(tabi_model_nshape(model), 1);
  assert_int_equal(tabi_model_nactuator(model), 3);
  assert_int_equal(tabi_model_find_actuator(model, "motor"), 1); /* the first of two */
  assert_int_equal(tabi_model_find_actuator(model, "palm"), TABI_NONE);
  assert_int_equal(tabi_model_find_shape(model, "palm"), 0);
  assert_int_equal(tabi_model_find_shape(model, "motor"), TABI_NONE);
  assert_int_equal(tabi_model_ncoupling(model), 1);
  assert_int_equal(tabi_model_nconnection(model), 1);
  assert_int_equal(tabi_model_nexclusion(model), 1);
  assert_near(tabi_model_material(model, 0).kinetic, 0.7, 0); /* as static */
  int32_t materials[2] = {7, 7};
  assert_int_equal(tabi_model_npair(model), 1);
  assert_near(tabi_model_pair(model, 0, materials).friction, 0.4, 0);
  assert_int_equal(materials[0], 0);
  assert_int_equal(materials[1], 0);
  tabi_mesh_def mesh = tabi_model_mesh(model, 0);
  assert_near(mesh.vertices[3], 1, 0);
  assert_int_equal(mesh.faces[11], 3);
  assert_int_equal(tabi_model_shape(model, 0).link, ARM);
  assert_int_equal(tabi_model_actuator(model, 0).joint, SHOULDER);
  assert_int_equal(tabi_model_coupling(model, 0).leader, TABI_NONE);
  assert_int_equal(tabi_model_connection(model, 0).b, TABI_WORLD);
  int32_t pair[2];
  tabi_model_exclusion(model, 0, pair);
  assert_int_equal(pair[0], ARM);
  assert_int_equal(pair[1], EYE);
  tabi_model_destroy(model);
}

/* the builder stays as it was and can go on */
static void test_building_twice(void **state) {
  (void)state;
  tabi_builder *b = robot();
  tabi_model *first = tabi_builder_build(b, NULL);
  assert_non_null(first);
  (void)add_link(b, "late", 3);
  tabi_model *second = finish(b);
  assert_int_equal(tabi_model_nlink(first), LINKS);
  assert_int_equal(tabi_model_nlink(second), LINKS + 1);
  assert_int_equal(tabi_model_find_link(first, "late"), TABI_NONE);
  assert_int_equal(tabi_model_find_link(second, "late"), LINKS);
  tabi_model_destroy(first);
  tabi_model_destroy(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts_and_ranges),
      cmocka_unit_test(test_links_and_bodies),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_defs_come_back),
      cmocka_unit_test(test_start_and_world),
      cmocka_unit_test(test_postures),
      cmocka_unit_test(test_surfaces),
      cmocka_unit_test(test_shapes_and_the_rest),
      cmocka_unit_test(test_building_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
