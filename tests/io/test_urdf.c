/* test_urdf.c - each feature of URDF in a small robot of its own. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INERTIAL   "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>"
#define ENDS       "<parent link='a'/><child link='b'/>"

typedef struct heard {
  int count;
  tabi_error warning[16];
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  assert_true(h->count < 16);
  h->warning[h->count++] = *warning;
}

static tabi_model *load(const char *text, const tabi_load_def *def) {
  tabi_error error = {0};
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status =
      tabi_builder_load_text(builder, text, strlen(text), "dir/r.urdf", def, &error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, &error) : NULL;
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  tabi_builder_destroy(builder);
  return model;
}

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_joint(model, index);
}

static void test_inertial(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>\n<link name='a'><inertial>"
           "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
           "<inertia ixx='0.3' iyy='0.4' izz='0.5' ixy='0.01' ixz='0.02' iyz='0.03'/>"
           "</inertial></link></robot>",
           NULL);
  tabi_link_def link = tabi_model_link(model, 0);
  assert_string_equal(link.name, "a");
  assert_string_equal(link.place.file, "dir/r.urdf");
  assert_int_equal(link.place.line, 2);
  assert_near(link.mass, 2, 0);
  assert_near_n(link.com, ((const double[3]){1, 2, 3}), 3, 0);
  // a quarter turn about z: x goes to y, y to -x
  assert_near_n(link.inertia, ((const double[6]){0.4, 0.3, 0.5, -0.01, -0.03, 0.02}), 6, 1e-15);
  tabi_model_destroy(model);
}

/* rpy turns about fixed axes: x first, z last. */
static void test_rpy(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a")
               LINK("b") "<joint name='j' type='fixed'>"
                         "<origin xyz='1 2 3' rpy='1.5707963267948966 0 1.5707963267948966'/>" ENDS
                         "</joint></robot>",
           NULL);
  tabi_joint_def j = joint(model, "j");
  assert_near_n(j.pos, ((const double[3]){1, 2, 3}), 3, 0);
  assert_near_n(j.quat, ((const double[4]){0.5, 0.5, 0.5, 0.5}), 4, 1e-15);
  tabi_model_destroy(model);
}

static void test_link_without_inertial(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") "<link name='b'/>"
                                        "<joint name='j' type='fixed'>" ENDS "</joint></robot>",
           NULL);
  assert_int_equal(tabi_model_nbody(model), 1);
  assert_int_equal(tabi_model_nlink(model), 2);
  assert_near(tabi_model_mass(model), 1, 0);
  tabi_model_destroy(model);
}

static void test_joint_types(void **state) {
  (void)state;
  static const struct {
    const char *name;
    tabi_joint_type type;
    int32_t nv;
  } types[] = {
      {"fixed",      TABI_JOINT_FIXED,      0},
      {"revolute",   TABI_JOINT_REVOLUTE,   1},
      {"continuous", TABI_JOINT_CONTINUOUS, 1},
      {"prismatic",  TABI_JOINT_PRISMATIC,  1},
      {"planar",     TABI_JOINT_PLANAR,     3},
      {"floating",   TABI_JOINT_FREE,       6},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "<robot name='r'>" LINK("a") LINK(
                       "b") "<joint name='j' type='%s'>" ENDS
                            "<limit lower='-1' upper='2' effort='3' velocity='4'/></joint></robot>",
                   types[i].name);
    tabi_model *model = load(text, NULL);
    tabi_joint_def j = joint(model, "j");
    assert_int_equal(j.type, types[i].type);
    assert_int_equal(tabi_model_nv(model), 6 + types[i].nv);
    bool range = j.type == TABI_JOINT_REVOLUTE || j.type == TABI_JOINT_PRISMATIC;
    assert_near(j.lower, range ? -1 : -INFINITY, 0);
    assert_near(j.upper, range ? 2 : INFINITY, 0);
    tabi_model_destroy(model);
  }
}

static void test_joint_numbers(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b")
               LINK("c") "\n"
                         "<joint name='j' type='revolute'>" ENDS "<axis xyz='0 3 4'/>"
                         "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
                         "<dynamics damping='0.5' friction='0.25'/></joint>\n"
                         "<joint name='k' type='prismatic'><parent link='b'/><child link='c'/>"
                         "<limit/></joint></robot>",
           NULL);
  tabi_joint_def j = joint(model, "j");
  assert_near_n(j.axis, ((const double[3]){0, 0.6, 0.8}), 3, 1e-15);
  assert_near(j.effort, 3, 0);
  assert_near(j.velocity, 4, 0);
  assert_near(j.damping, 0.5, 0);
  assert_near(j.friction, 0.25, 0);
  assert_int_equal(j.place.line, 2);
  // what is not said: the axis is x, limits are zero, effort and speed have none
  j = joint(model, "k");
  assert_near_n(j.axis, ((const double[3]){1, 0, 0}), 3, 0);
  assert_near(j.lower, 0, 0);
  assert_near(j.upper, 0, 0);
  assert_true(isinf(j.effort) && isinf(j.velocity));
  tabi_model_destroy(model);
}

static void test_joints_before_links(void **state) {
  (void)state;
  tabi_model *model = load("<robot name='r'><joint name='j' type='continuous'><parent link='a'/>"
                           "<child link='b'/></joint>" LINK("b") LINK("a") "</robot>",
                           NULL);
  assert_int_equal(joint(model, "j").parent, tabi_model_find_link(model, "a"));
  assert_int_equal(joint(model, "base").child, tabi_model_find_link(model, "a"));
  tabi_model_destroy(model);
}

static void test_mimic(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b")
               LINK("c") "<joint name='j' type='continuous'>" ENDS
                         "<mimic joint='k' multiplier='-2' offset='0.5'/></joint>"
                         "<joint name='k' type='continuous'><parent link='b'/><child link='c'/>"
                         "</joint></robot>",
           NULL);
  assert_int_equal(tabi_model_ncoupling(model), 1);
  tabi_coupling_def coupling = tabi_model_coupling(model, 0);
  assert_int_equal(coupling.joint, tabi_model_find_joint(model, "j"));
  assert_int_equal(coupling.leader, tabi_model_find_joint(model, "k"));
  assert_near_n(coupling.coef, ((const double[5]){0.5, -2, 0, 0, 0}), 5, 0);
  tabi_model_destroy(model);
}

static void test_shapes(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'><material name='red'><color rgba='1 0 0 0.5'/></material>\n"
           "<link name='a'>" INERTIAL "<visual name='v'><origin xyz='1 2 3'/><geometry>"
           "<box size='0.1 0.2 0.3'/></geometry><material name='red'/></visual>"
           "<visual><geometry><sphere radius='0.4'/></geometry><material name='blue'/></visual>"
           "<visual><geometry><capsule radius='0.1' length='0.7'/></geometry>"
           "<material name='blue'><color rgba='0 0 1 1'/></material></visual>"
           "<collision><geometry><cylinder radius='0.5' length='0.6'/></geometry></collision>"
           "<collision><geometry><sphere radius='0'/></geometry></collision></link></robot>",
           NULL);
  assert_int_equal(tabi_model_nshape(model), 5);
  tabi_shape_def s = tabi_model_shape(model, 0);
  assert_int_equal(s.type, TABI_SHAPE_BOX);
  assert_string_equal(s.name, "v");
  assert_true(s.visible && !s.collides);
  assert_near_n(s.size, ((const double[3]){0.1, 0.2, 0.3}), 3, 0);
  assert_near_n(s.pos, ((const double[3]){1, 2, 3}), 3, 0);
  assert_near_n(s.rgba, ((const double[4]){1, 0, 0, 0.5}), 4, 0);
  // a colour may be defined after its use
  s = tabi_model_shape(model, 1);
  assert_int_equal(s.type, TABI_SHAPE_SPHERE);
  assert_near_n(s.rgba, ((const double[4]){0, 0, 1, 1}), 4, 0);
  s = tabi_model_shape(model, 2);
  assert_int_equal(s.type, TABI_SHAPE_CAPSULE);
  assert_near_n(s.size, ((const double[2]){0.1, 0.7}), 2, 0);
  s = tabi_model_shape(model, 3);
  assert_int_equal(s.type, TABI_SHAPE_CYLINDER);
  assert_true(!s.visible && s.collides);
  assert_near_n(s.size, ((const double[2]){0.5, 0.6}), 2, 0);
  tabi_model_destroy(model);
}

#define FACET(a, b, c) \
  "facet normal 0 0 0\nouter loop\nvertex " a "\nvertex " b "\nvertex " c "\nendloop\nendfacet\n"
#define O "0 0 0"
#define X "1 0 0"
#define Y "0 1 0"
#define Z "0 0 1"
/* a point inside, from which three faces go out: the mesh is seen as it is, but touched as the
 * tetrahedron around it */
#define DENT "0.2 0.2 0.2"
#define DENTED_TETRAHEDRON                                                                   \
  "solid\n" FACET(O, Y, X) FACET(O, X, Z) FACET(O, Z, Y) FACET(X, Y, DENT) FACET(Y, Z, DENT) \
      FACET(Z, X, DENT) "endsolid\n"

static void test_mesh(void **state) {
  (void)state;
  scratch_text("m/a.stl", DENTED_TETRAHEDRON);
  const char *path = scratch_text(
      "m/r.urdf", "<robot name='r'><link name='a'>" INERTIAL
                  "<visual><geometry><mesh filename='a.stl' scale='2 3 4'/></geometry></visual>"
                  "<visual><geometry><mesh filename='a.stl' scale='2 3 4'/></geometry></visual>"
                  "<collision><geometry><mesh filename='a.stl' scale='2 3 4'/></geometry>"
                  "</collision><collision><geometry><mesh filename='package://m/a.stl'/>"
                  "</geometry></collision></link></robot>");
  tabi_error error = {0};
  tabi_model *model = tabi_model_load(path, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  assert_int_equal(tabi_model_nshape(model), 4);
  assert_int_equal(tabi_model_nmesh(model), 3);
  assert_int_equal(tabi_model_shape(model, 0).mesh, tabi_model_shape(model, 1).mesh);
  tabi_mesh_def mesh = tabi_model_mesh(model, tabi_model_shape(model, 0).mesh);
  assert_int_equal(mesh.nvertex, 5);
  assert_int_equal(mesh.nface, 6);
  assert_near_n(mesh.vertices, ((const double[9]){0, 0, 0, 0, 3, 0, 2, 0, 0}), 9, 0);
  tabi_mesh_def hull = tabi_model_mesh(model, tabi_model_shape(model, 2).mesh);
  assert_int_equal(hull.nvertex, 4);
  assert_int_equal(hull.nface, 4);
  tabi_model_destroy(model);
}

static void test_flat_mesh(void **state) {
  (void)state;
  heard h = {0};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  scratch_text("m/flat.stl", "solid\n" FACET(O, X, Y) "endsolid\n");
  const char *path =
      scratch_text("m/f.urdf", "<robot name='r'><link name='a'>" INERTIAL
                               "<visual><geometry><mesh filename='flat.stl'/></geometry></visual>"
                               "<collision><geometry><mesh filename='flat.stl'/></geometry>"
                               "</collision></link></robot>");
  tabi_error error = {0};
  tabi_model *model = tabi_model_load(path, &def, &error);
  if (!model) fail_msg("%s", error.message);
  assert_int_equal(tabi_model_nshape(model), 1);
  assert_false(tabi_model_shape(model, 0).collides);
  assert_int_equal(h.count, 1);
  assert_string_equal(h.warning[0].message,
                      "mesh 'flat.stl' has no volume and touches nothing; use a box");
  tabi_model_destroy(model);
}

static void test_base(void **state) {
  (void)state;
  const char *text = "<robot name='r'>" LINK("a") "</robot>";
  tabi_load_def def = tabi_load_def_default();
  def.place_base = true;
  memcpy(def.base_pos, (const double[3]){1, 2, 3}, sizeof def.base_pos);
  memcpy(def.base_quat, (const double[4]){0, 0, 0, 2}, sizeof def.base_quat);
  tabi_model *model = load(text, &def);
  double q[7];
  assert_int_equal(tabi_model_nq(model), 7);
  tabi_model_initial_q(model, q);
  assert_near_n(q, ((const double[7]){1, 2, 3, 0, 0, 0, 1}), 7, 0);
  tabi_model_destroy(model);
  def.base = TABI_BASE_FIXED;
  model = load(text, &def);
  assert_int_equal(tabi_model_nq(model), 0);
  assert_near_n(joint(model, "base").pos, def.base_pos, 3, 0);
  assert_near_n(joint(model, "base").quat, ((const double[4]){0, 0, 0, 1}), 4, 0);
  tabi_model_destroy(model);
}

/* A massless root with a floating joint below is the world, not a second base. */
static void test_world_link(void **state) {
  (void)state;
  const char *text = "<robot name='r'><link name='world'/>" LINK("a")
      LINK("b") "<joint name='f' type='floating'><origin xyz='0 0 1'/><parent link='world'/>"
                "<child link='a'/></joint><joint name='j' type='continuous'>" ENDS
                "</joint></robot>";
  tabi_load_def def = tabi_load_def_default();
  tabi_model *model = load(text, &def);
  assert_int_equal(tabi_model_nv(model), 7);
  assert_int_equal(joint(model, "f").parent, TABI_WORLD);
  assert_near_n(joint(model, "f").initial_q, ((const double[7]){0, 0, 1, 1, 0, 0, 0}), 7, 0);
  assert_int_equal(tabi_model_link_joint(model, tabi_model_find_link(model, "world")), TABI_NONE);
  tabi_model_destroy(model);
  def.base = TABI_BASE_FIXED;
  def.place_base = true;
  def.base_pos[0] = 5;
  model = load(text, &def);
  assert_int_equal(tabi_model_nv(model), 1);
  assert_near_n(joint(model, "f").pos, ((const double[3]){5, 0, 0}), 3, 0);
  tabi_model_destroy(model);
}

/* A massless root above a planar joint is fixed: floating, it would have six coordinates that weigh
 * nothing. */
static void test_planar_base(void **state) {
  (void)state;
  const char *text = "<robot name='r'><link name='ground'/>" LINK(
      "a") "<joint name='base' type='planar'><parent link='ground'/><child link='a'/>"
           "<axis xyz='0 -1 0'/></joint></robot>";
  tabi_load_def def = tabi_load_def_default();
  tabi_model *model = load(text, &def);
  assert_int_equal(tabi_model_nv(model), 3);
  assert_int_equal(joint(model, "base_root").type, TABI_JOINT_FIXED);
  tabi_model_destroy(model);
  def.base = TABI_BASE_FREE;
  model = load(text, &def);
  assert_int_equal(tabi_model_nv(model), 9);
  tabi_model_destroy(model);
}

static void test_joint_called_base(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b") "<joint name='base' "
                                                  "type='continuous'>" ENDS "</joint></robot>",
           NULL);
  assert_int_equal(joint(model, "base").type, TABI_JOINT_CONTINUOUS);
  assert_int_equal(joint(model, "base_root").type, TABI_JOINT_FREE);
  tabi_model_destroy(model);
}

static void test_two_robots(void **state) {
  (void)state;
  const char *text = "<robot name='r'>" LINK(
      "a") "<link name='b'>" INERTIAL
           "<collision name='foot'><geometry><sphere radius='1'/></geometry></collision>"
           "</link><joint name='j' type='continuous'>" ENDS "</joint></robot>";
  tabi_error error = {0};
  tabi_builder *builder = tabi_builder_create();
  tabi_load_def def = tabi_load_def_default();
  def.prefix = "one/";
  assert_int_equal(tabi_builder_load_text(builder, text, strlen(text), "r.urdf", &def, &error),
                   TABI_OK);
  def.prefix = "two/";
  def.base = TABI_BASE_FIXED;
  assert_int_equal(tabi_builder_load_text(builder, text, strlen(text), "r.urdf", &def, &error),
                   TABI_OK);
  tabi_model *model = tabi_builder_build(builder, &error);
  assert_non_null(model);
  assert_int_equal(tabi_model_nv(model), 8);
  assert_int_equal(joint(model, "one/j").child, tabi_model_find_link(model, "one/b"));
  assert_int_equal(joint(model, "two/j").child, tabi_model_find_link(model, "two/b"));
  assert_int_equal(joint(model, "one/base").type, TABI_JOINT_FREE);
  assert_int_equal(joint(model, "two/base").type, TABI_JOINT_FIXED);
  assert_string_equal(tabi_model_shape(model, 1).name, "two/foot");
  tabi_model_destroy(model);
  // the same names once more are an error, and it stays
  assert_int_equal(tabi_builder_load_text(builder, text, strlen(text), "r.urdf", &def, &error),
                   TABI_ERR_MODEL);
  assert_string_equal(error.message,
                      "link 'two/a' defined twice (first at line 1); give each link its own name");
  assert_non_null(tabi_builder_error(builder));
  tabi_builder_destroy(builder);
}

static void test_german(void **state) {
  (void)state;
  scratch_need_german();
  tabi_model *model = load("<robot name='r'><link name='a'><inertial><mass value='1.5'/>"
                           "<inertia ixx='2.5e-1' iyy='.25' izz='0.25'/></inertial></link></robot>",
                           NULL);
  (void)setlocale(LC_NUMERIC, "C");
  assert_near(tabi_model_link(model, 0).mass, 1.5, 0);
  assert_near(tabi_model_link(model, 0).inertia[0], 0.25, 0);
  tabi_model_destroy(model);
}

static void test_ignored(void **state) {
  (void)state;
  heard h = {0};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  tabi_model *model = load(
      "<robot name='r' version='1.0' xmlns:x='y'>\n<gazebo><plugin/></gazebo>\n<gazebo/>\n"
      "<transmission name='t'/>\n<link name='a' type='q'>" INERTIAL
      "<visual><geometry><ellipsoid/></geometry><material name='m'><texture filename='t.png'/>"
      "</material></visual></link>\n" LINK(
          "b") "<joint name='j' type='fixed'><axis xyz='0 0 0'/>"
               "<limit effort='1'/>" ENDS "<safety_controller k_velocity='1'/></joint>\n</robot>",
      &def);
  static const char *const expected[] = {
      "<plugin> is ignored",
      "attribute 'type' of <link> is ignored",
      "<ellipsoid> is ignored: no such element in <geometry> of URDF",
      "<texture> is ignored",
      "<safety_controller> is ignored: bounds of a controller on the robot",
  };
  assert_int_equal(h.count, 5);
  for (int i = 0; i < 5; ++i) {
    assert_string_equal(h.warning[i].message, expected[i]);
    // a shape that is not there changes what the robot looks like or touches
    assert_int_equal(h.warning[i].severity, i == 2 ? TABI_SEVERITY_WARNING : TABI_SEVERITY_NOTE);
  }
  assert_int_equal(h.warning[0].line, 2);
  assert_int_equal(tabi_model_nshape(model), 0);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inertial),
      cmocka_unit_test(test_rpy),
      cmocka_unit_test(test_link_without_inertial),
      cmocka_unit_test(test_joint_types),
      cmocka_unit_test(test_joint_numbers),
      cmocka_unit_test(test_joints_before_links),
      cmocka_unit_test(test_mimic),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_mesh),
      cmocka_unit_test(test_flat_mesh),
      cmocka_unit_test(test_base),
      cmocka_unit_test(test_world_link),
      cmocka_unit_test(test_planar_base),
      cmocka_unit_test(test_joint_called_base),
      cmocka_unit_test(test_two_robots),
      cmocka_unit_test(test_german),
      cmocka_unit_test(test_ignored),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
