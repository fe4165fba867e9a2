/* test_mjcf.c - each feature of MJCF in a small model of its own.  What the numbers mean is
 * compared with MuJoCo itself elsewhere; here is what MuJoCo has no notion of. */
#include "math/quat.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEOM          "<geom size='0.1'/>"
#define WORLD(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"

typedef struct heard {
  int count;
  tabi_error warning[32];
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  assert_true(h->count < 32);
  h->warning[h->count++] = *warning;
}

static bool has_heard(const heard *h, const char *words) {
  for (int i = 0; i < h->count; ++i) {
    if (strstr(h->warning[i].message, words)) return true;
  }
  return false;
}

static tabi_model *load_def(const char *text, const tabi_load_def *def) {
  tabi_error error = {0};
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status =
      tabi_builder_load_text(builder, text, strlen(text), scratch_path("model.xml"), def, &error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, &error) : NULL;
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text) { return load_def(text, NULL); }

static tabi_model *load_heard(const char *text, heard *h) {
  tabi_load_def def = tabi_load_def_default();
  *h = (heard){0};
  def.warn = listen;
  def.warn_user = h;
  return load_def(text, &def);
}

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  if (index == TABI_NONE) fail_msg("no joint '%s'", name);
  return tabi_model_joint(model, index);
}

static tabi_link_def link(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_link(model, name);
  if (index == TABI_NONE) fail_msg("no link '%s'", name);
  return tabi_model_link(model, index);
}

static void test_free_start(void **state) {
  (void)state;
  tabi_model *model =
      load(WORLD("<body name='b' pos='1 2 3' quat='0 0 2 0'><freejoint name='f'/>" GEOM "</body>"));
  double q[7];
  assert_int_equal(tabi_model_nq(model), 7);
  tabi_model_initial_q(model, q);
  assert_near_n(q, ((const double[7]){1, 2, 3, 0, 0, 1, 0}), 7, 1e-15);
  assert_int_equal(joint(model, "f").type, TABI_JOINT_FREE);
  tabi_model_destroy(model);
}

/* A chain of links without mass; the builder merges the last, fixed step. */
static void test_chain(void **state) {
  (void)state;
  tabi_model *model =
      load(WORLD("<body name='b' pos='0 0 1'><joint name='j1' type='slide' axis='2 0 0' ref='0.5'/>"
                 "<joint name='j2' pos='0 1 0'/>" GEOM "</body>"));
  assert_int_equal(tabi_model_nv(model), 2);
  assert_int_equal(tabi_model_nbody(model), 2);
  assert_int_equal(tabi_model_nlink(model), 3);
  tabi_joint_def slide = joint(model, "j1");
  assert_near_n(slide.pos, ((const double[3]){-0.5, 0, 1}), 3, 1e-15);
  assert_near_n(slide.axis, ((const double[3]){1, 0, 0}), 3, 0);
  assert_near(slide.initial_q[0], 0.5, 0);
  assert_near_n(joint(model, "j2").pos, ((const double[3]){0, 1, 0}), 3, 1e-15);
  int32_t body = tabi_model_find_link(model, "b");
  assert_near_n(tabi_model_joint(model, tabi_model_link_joint(model, body)).pos,
                ((const double[3]){0, -1, 0}), 3, 1e-15);
  tabi_model_destroy(model);
}

/* Degrees unless the file says otherwise; a range limits unless the file says otherwise. */
static void test_units_and_limits(void **state) {
  (void)state;
  tabi_model *model = load(WORLD("<body><joint name='a' range='-90 45' ref='30'/>" GEOM
                                 "<body><joint name='b' range='-1 1' limited='false'/>" GEOM
                                 "<body><joint name='c' type='slide' range='-1 1'/>" GEOM
                                 "<body><joint name='d' type='ball' range='0 90'/>" GEOM
                                 "</body></body></body></body>"));
  const double pi = acos(-1);
  assert_near(joint(model, "a").lower, -pi / 2, 1e-15);
  assert_near(joint(model, "a").upper, pi / 4, 1e-15);
  assert_near(joint(model, "a").initial_q[0], pi / 6, 1e-15);
  assert_int_equal(joint(model, "a").type, TABI_JOINT_REVOLUTE);
  assert_int_equal(joint(model, "b").type, TABI_JOINT_CONTINUOUS);
  assert_true(isinf(joint(model, "b").upper));
  assert_near(joint(model, "c").upper, 1, 0);
  assert_near(joint(model, "d").upper, pi / 2, 1e-15);
  tabi_model_destroy(model);
  model = load("<mujoco><compiler angle='radian'/><worldbody><body>"
               "<joint name='a' range='-1 0.5'/>" GEOM "</body></worldbody></mujoco>");
  assert_near(joint(model, "a").upper, 0.5, 0);
  tabi_model_destroy(model);
}

/* A freejoint takes no defaults, a joint of type free does. */
static void test_free_defaults(void **state) {
  (void)state;
  tabi_model *model = load("<mujoco><default><joint armature='2' damping='3'/></default>"
                           "<worldbody><body><freejoint name='a'/>" GEOM "</body>"
                           "<body><joint type='free' name='b'/>" GEOM "</body>"
                           "</worldbody></mujoco>");
  assert_near(joint(model, "a").rotor_inertia, 0, 0);
  assert_near(joint(model, "b").rotor_inertia, 2, 0);
  assert_near(joint(model, "b").damping, 3, 0);
  tabi_model_destroy(model);
}

static void test_unnamed(void **state) {
  (void)state;
  tabi_model *model = load(WORLD("<body><freejoint/>" GEOM "<body name='x'>" GEOM
                                 "<joint/><body>" GEOM "<joint/></body></body></body>"));
  assert_int_not_equal(tabi_model_find_link(model, "body1"), TABI_NONE);
  assert_int_not_equal(tabi_model_find_link(model, "body3"), TABI_NONE);
  assert_int_not_equal(tabi_model_find_joint(model, "joint0"), TABI_NONE);
  assert_int_not_equal(tabi_model_find_joint(model, "joint2"), TABI_NONE);
  tabi_model_destroy(model);
}

static void test_base(void **state) {
  (void)state;
  tabi_load_def def = tabi_load_def_default();
  const char *standing = WORLD("<body name='b' pos='1 0 0'>" GEOM "</body>");
  const char *floating = WORLD("<body name='b' pos='1 0 0'><freejoint name='f'/>" GEOM "</body>");
  tabi_model *model = load_def(standing, &def);
  assert_int_equal(tabi_model_nv(model), 0);
  tabi_model_destroy(model);
  // set free
  def.base = TABI_BASE_FREE;
  def.place_base = true;
  def.base_pos[2] = 5;
  def.base_quat[0] = 0;
  def.base_quat[3] = 3;
  model = load_def(standing, &def);
  double q[7];
  assert_int_equal(tabi_model_nv(model), 6);
  tabi_model_initial_q(model, q);
  assert_near_n(q, ((const double[7]){0, 0, 5, 0, 0, 0, 1}), 7, 0);
  tabi_model_destroy(model);
  // fixed
  def.base = TABI_BASE_FIXED;
  model = load_def(floating, &def);
  assert_int_equal(tabi_model_nv(model), 0);
  int32_t above = tabi_model_link_joint(model, tabi_model_find_link(model, "b"));
  assert_near_n(tabi_model_joint(model, above).pos, ((const double[3]){0, 0, 5}), 3, 0);
  tabi_model_destroy(model);
}

/* The base is the first body that moves, not a floor that happens to come first. */
static void test_base_behind_a_floor(void **state) {
  (void)state;
  tabi_load_def def = tabi_load_def_default();
  def.base = TABI_BASE_FIXED;
  def.place_base = true;
  def.base_pos[2] = 5;
  tabi_model *model = load_def(WORLD("<body name='floor'>" GEOM "<body name='step'>" GEOM
                                     "</body></body><body name='b'><freejoint/>" GEOM "</body>"),
                               &def);
  assert_int_equal(tabi_model_nv(model), 0);
  const char *const names[] = {"floor", "step", "b"};
  for (int i = 0; i < 3; ++i) {
    int32_t above = tabi_model_link_joint(model, tabi_model_find_link(model, names[i]));
    assert_near(tabi_model_joint(model, above).pos[2], i == 2 ? 5 : 0, 0);
  }
  tabi_model_destroy(model);
}

/* A fixed base has numbers in the key, but no joint to take them. */
static void test_held_base_with_key(void **state) {
  (void)state;
  tabi_load_def def = tabi_load_def_default();
  def.base = TABI_BASE_FIXED;
  tabi_model *model =
      load_def("<mujoco><worldbody><body><freejoint/>" GEOM "<body><joint/>" GEOM "</body></body>"
               "</worldbody><keyframe><key name='k' qpos='1 2 3 1 0 0 0 0.5' qvel='1 2 3 4 5 6 7'/>"
               "</keyframe></mujoco>",
               &def);
  double q = 0;
  double v = 0;
  assert_int_equal(tabi_model_nposture(model), 1);
  assert_string_equal(tabi_model_posture(model, 0, &q, &v), "k");
  assert_near(q, 0.5, 0);
  assert_near(v, 7, 0);
  tabi_model_destroy(model);
}

/* Inputs of actuators, by their places in the file; one that tabi leaves out has a place too. */
static void test_keyframe_controls(void **state) {
  (void)state;
  tabi_model *model =
      load("<mujoco><worldbody><body><joint name='a'/>" GEOM "<body><joint name='b'/>" GEOM
           "</body></body></worldbody>"
           "<actuator><motor joint='a'/><muscle joint='a'/><position joint='b'/></actuator>"
           "<keyframe><key name='k' ctrl='1 2 3'/><key name='none'/></keyframe></mujoco>");
  double u[2];
  assert_int_equal(tabi_model_nactuator(model), 2);
  tabi_model_posture_control(model, 0, u);
  assert_near_n(u, ((const double[2]){1, 3}), 2, 0);
  tabi_model_posture_control(model, 1, u);
  assert_true(isnan(u[0]) && isnan(u[1]));
  tabi_model_destroy(model);
}

static void test_prefix(void **state) {
  (void)state;
  tabi_load_def def = tabi_load_def_default();
  def.prefix = "left/";
  tabi_model *model = load_def("<mujoco><worldbody><body name='b'><joint name='j'/>" GEOM
                               "</body><body>" GEOM "<joint/></body></worldbody>"
                               "<actuator><motor joint='j'/></actuator></mujoco>",
                               &def);
  assert_int_not_equal(tabi_model_find_link(model, "left/b"), TABI_NONE);
  assert_int_not_equal(tabi_model_find_link(model, "left/body2"), TABI_NONE);
  assert_int_not_equal(tabi_model_find_joint(model, "left/joint1"), TABI_NONE);
  assert_string_equal(tabi_model_actuator(model, 0).name, "left/actuator0");
  tabi_model_destroy(model);
}

static void test_option(void **state) {
  (void)state;
  double g[3];
  tabi_model *model = load("<mujoco><option timestep='0.004' gravity='1 2 3'/><worldbody><body>"
                           "<joint/>" GEOM "</body></worldbody></mujoco>");
  tabi_model_gravity(model, g);
  assert_near_n(g, ((const double[3]){1, 2, 3}), 3, 0);
  assert_near(tabi_model_timestep(model), 0.004, 0);
  tabi_model_destroy(model);
  model = load("<mujoco><option><flag gravity='disable'/></option></mujoco>");
  tabi_model_gravity(model, g);
  assert_near_n(g, ((const double[3]){0, 0, 0}), 3, 0);
  tabi_model_destroy(model);
}

/* The same file with flags; each takes away what it names. */
static tabi_model *load_with_flags(const char *flags) {
  char text[2048];
  (void)snprintf(text, sizeof text,
                 "<mujoco><option><flag %s/></option><worldbody><geom name='f' type='plane' "
                 "size='1 1 1'/><body><joint name='j' stiffness='5' damping='2' frictionloss='0.1' "
                 "range='-20 30' limited='true'/>" GEOM "<body><joint name='k'/>" GEOM
                 "</body></body></worldbody><tendon><fixed name='t' stiffness='3' damping='1' "
                 "range='-1 2' limited='true'><joint joint='k' coef='1'/></fixed></tendon>"
                 "<equality><joint joint1='j' joint2='k'/></equality></mujoco>",
                 flags);
  return load(text);
}

static void test_flags(void **state) {
  (void)state;
  tabi_model *model = load_with_flags("contact='enable' passive='enable'");
  assert_true(tabi_model_shape(model, 1).collides);
  assert_near(joint(model, "j").stiffness, 5, 0);
  assert_int_equal(tabi_model_ncoupling(model), 1);
  tabi_model_destroy(model);

  model = load_with_flags("passive='disable'");
  assert_near(joint(model, "j").stiffness, 0, 0);
  assert_near(joint(model, "j").damping, 0, 0);
  assert_near(joint(model, "j").friction, 0.1, 0);
  assert_near(tabi_model_tendon(model, 0).stiffness, 0, 0);
  assert_near(tabi_model_tendon(model, 0).damping, 0, 0);
  tabi_model_destroy(model);

  model = load_with_flags("constraint='disable'");
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i)
    assert_false(tabi_model_shape(model, i).collides);
  assert_true(isinf(joint(model, "j").upper));
  assert_near(joint(model, "j").friction, 0, 0);
  assert_near(joint(model, "j").stiffness, 5, 0);
  assert_true(isinf(tabi_model_tendon(model, 0).upper));
  assert_int_equal(tabi_model_ncoupling(model), 0);
  tabi_model_destroy(model);
}

static void test_ignored(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load_heard(
      "<mujoco><option solver='CG'/><custom/><worldbody><light/><body><site/><site/><camera/>"
      "<joint name='j' margin='1'/><joint name='b' type='ball'/>" GEOM "</body>"
      "</worldbody><sensor><clock/></sensor><tendon/><deformable/>"
      "<equality><joint joint1='j' active='false'/></equality>"
      "<actuator><muscle name='m' joint='j'/><motor name='t' site='x'/>"
      "<motor name='b' joint='b'/><general name='i' joint='j' dyntype='integrator'/></actuator>"
      "<visual/><statistic/></mujoco>",
      &h);
  static const char *const expected[] = {"attribute 'solver' of <option>",
                                         "<custom>",
                                         "<light>",
                                         "<camera>",
                                         "'margin'",
                                         "<clock>",
                                         "<deformable>",
                                         "not active",
                                         "muscle 'm' is ignored",
                                         "motor 't' is ignored",
                                         "motor 'b' is",
                                         "general 'i'",
                                         "<visual>",
                                         "<statistic>"};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
    if (!has_heard(&h, expected[i])) fail_msg("nothing was said of %s", expected[i]);
  }
  assert_int_equal(h.count, sizeof expected / sizeof *expected);
  assert_int_equal(tabi_model_nactuator(model), 0);
  tabi_model_destroy(model);
}

/* What MuJoCo 2.2.2 did not have yet. */
static void test_damped_servo(void **state) {
  (void)state;
  tabi_model *model =
      load("<mujoco><default><position kv='3'/></default><worldbody><body><joint name='j'/>" GEOM
           "</body></worldbody><actuator><position joint='j' kp='7'/>"
           "<position joint='j' kv='2'/><motor joint='j'/></actuator></mujoco>");
  assert_near_n(tabi_model_actuator(model, 0).bias, ((const double[3]){0, -7, -3}), 3, 0);
  assert_near_n(tabi_model_actuator(model, 1).bias, ((const double[3]){0, -1, -2}), 3, 0);
  assert_near_n(tabi_model_actuator(model, 2).bias, ((const double[3]){0, 0, 0}), 3, 0);
  tabi_model_destroy(model);
}

/* Settings of a class that is not used are read without a warning. */
static void test_unused_class(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load_heard("<mujoco><default><default class='c'><joint damping='1' range='0 1'/>"
                 "<geom density='2' friction='1'/><position kp='3'/></default></default></mujoco>",
                 &h);
  assert_int_equal(h.count, 0);
  tabi_model_destroy(model);
}

/* sliding, torsional and rolling friction of a shape */
static void expect_friction(const tabi_model *model, int32_t shape, const double expected[3]) {
  tabi_material_def m = tabi_model_material(model, tabi_model_shape(model, shape).material);
  const double found[3] = {m.friction, m.torsional_friction, m.rolling_friction};
  assert_near_n(found, expected, 3, 0);
}

static int32_t material_of(const tabi_model *model, int32_t shape) {
  return shape == TABI_NONE ? TABI_NONE : tabi_model_shape(model, shape).material;
}

static void expect_sliding(const tabi_model *model, int32_t a, int32_t b, double friction) {
  tabi_material_def m = tabi_model_surface(model, material_of(model, a), material_of(model, b));
  assert_near(m.friction, friction, 1e-15);
}

/* condim says how much of the friction counts; numbers that are not given are the class's */
static void test_condim(void **state) {
  (void)state;
  static const double expected[5][3] = {
      {0.8, 0,    0    },
      {0.8, 0.01, 0    },
      {0.8, 0.01, 0.002},
      {0.5, 0.01, 0.002},
      {0.8, 0,    0    }
  };
  static const double standard[3] = {1, 0.005, 0.0001};
  tabi_model *model =
      load("<mujoco><default><geom type='box' size='1 1 1' friction='0.8 0.01 0.002'/></default>"
           "<worldbody><geom name='a'/><geom name='b' condim='4'/><geom name='c' condim='6'/>"
           "<geom name='d' condim='6' friction='0.5'/><geom name='e' condim='1'/></worldbody>"
           "</mujoco>");
  for (int32_t i = 0; i < 5; ++i)
    expect_friction(model, i, expected[i]);
  assert_string_equal(tabi_model_material(model, tabi_model_shape(model, 1).material).name,
                      "mjcf friction 0.8 0.01 0");
  expect_sliding(model, 4, 4, 0);                       /* condim 1 on its like, */
  expect_sliding(model, 4, 0, 0.8);                     /* on condim 3 of its file, */
  expect_sliding(model, 4, TABI_NONE, sqrt(0.8 * 0.5)); /* and on what is not of it */
  tabi_model_destroy(model);
  model = load("<mujoco><worldbody><geom size='1' condim='6'/></worldbody></mujoco>");
  expect_friction(model, 0, standard);
  tabi_model_destroy(model);
}

static void test_surface(void **state) {
  (void)state;
  tabi_model *model =
      load("<mujoco><asset><material name='m' rgba='1 0 0 0.5'/></asset><worldbody>"
           "<geom name='a' type='box' size='1 2 3' friction='0.8' material='m'/>"
           "<geom name='b' type='capsule' size='1 2' friction='0.8' rgba='0 1 0 1' material='m'/>"
           "<geom name='c' type='plane' condim='1' contype='4' conaffinity='8' group='3'/>"
           "<geom name='d' size='1' contype='0' conaffinity='0'/></worldbody></mujoco>");
  tabi_shape_def a = tabi_model_shape(model, 0);
  tabi_shape_def b = tabi_model_shape(model, 1);
  tabi_shape_def c = tabi_model_shape(model, 2);
  assert_int_equal(a.link, TABI_WORLD);
  assert_near_n(a.size, ((const double[3]){2, 4, 6}), 3, 0);
  assert_near_n(b.size, ((const double[3]){1, 4, 0}), 3, 0);
  assert_near_n(a.rgba, ((const double[4]){1, 0, 0, 0.5}), 4, 0);
  assert_near_n(b.rgba, ((const double[4]){0, 1, 0, 1}), 4, 0);
  assert_int_equal(a.material, b.material);
  assert_string_equal(tabi_model_material(model, a.material).name, "mjcf friction 0.8");
  assert_near(tabi_model_material(model, c.material).friction, 1, 0);
  assert_int_equal(c.group, 4);
  assert_int_equal(c.mask, 8);
  assert_false(c.visible);
  assert_true(a.visible && a.collides);
  assert_false(tabi_model_shape(model, 3).collides);
  assert_int_equal(tabi_model_nmaterial(model), 3);
  tabi_model_destroy(model);
}

static tabi_model *load_file(const char *name, const tabi_load_def *def) {
  tabi_error error = {0};
  char path[512];
  (void)snprintf(path, sizeof path, TABI_SOURCE_DIR "/tests/io/mjcf/%s", name);
  tabi_model *model = tabi_model_load(path, def, &error);
  if (!model) fail_msg("%s:%d: %s", error.file, (int)error.line, error.message);
  return model;
}

/* STL as text gives what binary STL gives. */
static void test_mesh_text(void **state) {
  (void)state;
  tabi_model *model = load_file("wedge.xml", NULL);
  tabi_link_def a = link(model, "binary");
  tabi_link_def b = link(model, "text");
  assert_near(a.mass, b.mass, 1e-9);
  assert_near_n(a.inertia, b.inertia, 6, 1e-12);
  // each as it is seen and as it is touched
  assert_int_equal(tabi_model_nmesh(model), 4);
  // a wedge, half of a box
  assert_near(link(model, "exact").mass, 1000 * 0.5 * 0.5625 * 0.75 * 1.125, 1e-9);
  tabi_model_destroy(model);
}

static void test_missing_mesh(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load_heard("<mujoco><asset><mesh name='m' file='none.stl'/></asset><worldbody><body>"
                 "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
                 "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
                 &h);
  assert_true(has_heard(&h, "none.stl' not found"));
  assert_int_equal(tabi_model_nshape(model), 0);
  tabi_model_destroy(model);
}

static void test_include(void **state) {
  (void)state;
  (void)scratch_text("parts/arm.xml", "<mujocoinclude><body name='arm'><joint name='j'/>" GEOM
                                      "<include file='hand.xml'/></body></mujocoinclude>");
  (void)scratch_text("hand.xml",
                     "<x>\n<geom name='hand' size='1'/>\n<body name='tip'>" GEOM "</body></x>");
  (void)scratch_text("empty.xml", "<x/>");
  tabi_model *model =
      load("<mujoco><include file='empty.xml'/><worldbody><body name='first'>" GEOM
           "</body><include file='parts/arm.xml'/><include file='./no/../more.xml'/>"
           "</worldbody></mujoco>");
  assert_int_equal(tabi_model_nlink(model), 4);
  tabi_shape_def hand = tabi_model_shape(model, 2);
  assert_string_equal(hand.name, "hand");
  assert_int_equal(hand.place.line, 2);
  assert_string_equal(strrchr(hand.place.file, '/'), "/hand.xml");
  tabi_model_destroy(model);
}

static int begin(void **state) {
  (void)scratch_begin(state);
  (void)scratch_text("no/x.xml", "<x/>");
  (void)scratch_text("more.xml", "<x><body name='last'>" GEOM "</body></x>");
  return 0;
}

/* A declaration behind comments; attributes that say nothing. */
static void test_sloppy_text(void **state) {
  (void)state;
  tabi_model *model =
      load("\n<!-- a robot -->\n<!-- by hand -->\n<?xml version='1.0'?>\n"
           "<mujoco model=''><default class=''/><worldbody>"
           "<body name='b' pos=''><joint name='j' range=''/>"
           "<geom name='' rgba='' size='0.1' class=''/></body></worldbody></mujoco>");
  assert_true(isinf(joint(model, "j").upper));
  assert_near(tabi_model_shape(model, 0).rgba[0], 0.5, 0);
  tabi_model_destroy(model);
  tabi_error error = {0};
  const char *text = "<!-- -->\n<?xml version='1.0'?>\n\n<mujoco>";
  tabi_builder *builder = tabi_builder_create();
  assert_int_not_equal(
      tabi_builder_load_text(builder, text, strlen(text), scratch_path("m.xml"), NULL, &error), 0);
  assert_non_null(strstr(error.message, "opened at line 4"));
  tabi_builder_destroy(builder);
}

/* Numbers of a range that are not one. */
static void test_reversed_ranges(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load_heard(WORLD("<body><joint name='a' range='90 -45' limited='true'/>" GEOM
                       "<body><joint name='b' range='1 -1'/>" GEOM "</body></body>"),
                 &h);
  assert_near(joint(model, "a").lower, -acos(-1) / 4, 1e-15);
  assert_near(joint(model, "a").upper, acos(-1) / 2, 1e-15);
  assert_near(joint(model, "b").upper, acos(-1) / 180, 1e-15);
  assert_int_equal(h.count, 2);
  assert_string_equal(h.warning[0].repair.item, "joint 'a'");
  tabi_model_destroy(model);
  model = load_heard("<mujoco><compiler autolimits='false'/><worldbody><body>"
                     "<joint name='a' range='-1 1'/>" GEOM "</body></worldbody></mujoco>",
                     &h);
  assert_true(isinf(joint(model, "a").lower));
  assert_true(has_heard(&h, "autolimits is false"));
  tabi_model_destroy(model);
}

/* One robot in the coordinates of its bodies and in those of the world, as MuJoCo read them up to
 * 2.3.3; the body without a place of its own is where its parent is. */
static const char in_bodies[] =
    "<mujoco><worldbody><body name='a' pos='1 2 3' euler='0 0 90'><joint name='i' axis='1 0 0' "
    "pos='0.1 0 0'/><inertial pos='0 0 0.1' mass='2' diaginertia='1 2 2.5'/>"
    "<geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.1'/><body name='b'>"
    "<joint name='j' axis='0 0 1' pos='0.5 0 0'/><geom type='box' size='.1 .2 .3' pos='.5 .2 0' "
    "euler='0 0 -90'/><site name='s' pos='0 0.5 0'/></body></body><body name='c' pos='0 2 3'>"
    "<joint name='k'/><geom size='0.1' pos='0.1 0 0'/></body></worldbody>"
    "<equality><connect body1='b' body2='c' anchor='0.5 0.2 0'/></equality></mujoco>";
static const char in_the_world[] =
    "<mujoco><compiler coordinate='global'/><worldbody><body name='a' pos='1 2 3' euler='0 0 90'>"
    "<joint name='i' axis='0 1 0' pos='1 2.1 3'/><inertial pos='1 2 3.1' mass='2' "
    "diaginertia='1 2 2.5' euler='0 0 90'/><geom type='capsule' fromto='1 2 3 1 2.5 3' size='0.1'/>"
    "<body name='b'><joint name='j' axis='0 0 1' pos='1 2.5 3'/><geom type='box' size='.1 .2 .3' "
    "pos='0.8 2.5 3'/><site name='s' pos='0.5 2 3'/></body></body><body name='c' pos='0 2 3'>"
    "<joint name='k' pos='0 2 3'/><geom size='0.1' pos='0.1 2 3'/></body></worldbody>"
    "<equality><connect body1='b' body2='c' anchor='0.8 2.5 3'/></equality></mujoco>";

static void dynamics_at(const tabi_model *model, double mass[9], double bias[3], double point[3]) {
  tabi_error error;
  tabi_dynamics *d = tabi_dynamics_create(model, &error);
  assert_non_null(d);
  const double q[3] = {0.3, -0.4, 0.5};
  const double v[3] = {1, 2, -1};
  assert_int_equal(tabi_model_nv(model), 3);
  tabi_dynamics_set_state(d, q, v);
  tabi_dynamics_mass_matrix(d, mass);
  tabi_dynamics_inverse(d, NULL, bias);
  tabi_connection_def c = tabi_model_connection(model, 0);
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(d, c.a, pos, quat);
  m3 r = q_matrix(q_load(quat));
  v3_store(v3_add(v3_load(pos), m3_mulv(&r, v3_load(c.pos_a))), point);
  tabi_dynamics_destroy(d);
}

static void test_global_coordinates(void **state) {
  (void)state;
  heard h;
  double mass[2][9];
  double bias[2][3];
  double point[2][3];
  for (int i = 0; i < 2; ++i) {
    tabi_model *model = load_heard(i == 0 ? in_bodies : in_the_world, &h);
    dynamics_at(model, mass[i], bias[i], point[i]);
    tabi_model_destroy(model);
  }
  for (int i = 0; i < 9; ++i)
    assert_near(mass[1][i], mass[0][i], 1e-11);
  for (int i = 0; i < 3; ++i) {
    assert_near(bias[1][i], bias[0][i], 1e-10);
    assert_near(point[1][i], point[0][i], 1e-13);
  }
}

/* Springs by time constant and damping ratio, also of a class; numbers by MuJoCo 4.0. */
static void test_springdamper(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load_heard(
      "<mujoco><default><joint springdamper='.1 .8' stiffness='7'/></default><worldbody>"
      "<body name='b1'><joint name='a' axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 .5 0 0' size='.02'/><body name='b2' pos='.5 0 0'>"
      "<joint name='b' type='ball' armature='.01'/><geom type='box' size='.1 .2 .3' pos='.1 0 0'/>"
      "<body name='b3' pos='0 0 .4'><joint name='c' type='slide' springdamper='.2 1'/>"
      "<geom size='.1'/></body></body></body></worldbody></mujoco>",
      &h);
  assert_near(joint(model, "a").stiffness, 1564.0284587336816, 1e-9);
  assert_near(joint(model, "a").damping, 200.1956427179113, 1e-10);
  assert_near(joint(model, "b").stiffness, 255.96144469121373, 1e-10);
  assert_near(joint(model, "b").damping, 32.763064920475365, 1e-11);
  assert_near(joint(model, "c").stiffness, 94.80183230288603, 1e-11);
  assert_near(joint(model, "c").damping, 37.92073292115442, 1e-11);
  tabi_model_destroy(model);
}

static tabi_actuator_def actuator(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_actuator(model, name);
  if (index == TABI_NONE) fail_msg("no actuator '%s'", name);
  return tabi_model_actuator(model, index);
}

/* Damping ratios, inherited ranges and limits of the joint; numbers by MuJoCo 4.0. */
static void test_servos(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load_heard(
      "<mujoco><default><position kp='50'/></default><worldbody><body name='b1' gravcomp='0.5'>"
      "<joint name='a' armature='0.02' axis='0 1 0' range='-90 90' actuatorfrcrange='-3 5'/>"
      "<geom type='box' size='.1 .05 .3' pos='0 0 -.3'/><body pos='0 0 -.6'>"
      "<joint name='b' axis='0 1 0' range='0 100' damping='.1 .2'/>"
      "<geom type='box' size='.05 .05 .2' pos='0 0 -.2'/></body></body></worldbody><actuator>"
      "<position name='p' dampratio='0.7' inheritrange='0.8' joint='a' gear='2' armature='.01'/>"
      "<position name='r' joint='b' kv='3' damping='.3' gear='3'/>"
      "<general name='g' joint='b' gainprm='20' biastype='affine' biasprm='0 -20 1'/>"
      "<position name='s' joint='b' dampratio='1' timeconst='.1'/></actuator></mujoco>",
      &h);
  assert_near(actuator(model, "p").bias[2], -6.852523398214479, 1e-12);
  assert_near(actuator(model, "g").bias[2], -2.827065885977328, 1e-12);
  assert_near(actuator(model, "s").bias[2], -4.469983647525116, 1e-12);
  assert_near(actuator(model, "r").bias[2], -3, 0);
  assert_near(actuator(model, "p").control_max, 1.2566370614359172, 1e-15);
  assert_near(actuator(model, "p").force_min, -1.5, 1e-15);
  assert_near(actuator(model, "p").force_max, 2.5, 1e-15);
  assert_near(joint(model, "a").effort, 5, 0);
  assert_near(joint(model, "a").rotor_inertia, 0.02 + 4 * 0.01, 1e-16);
  assert_near(joint(model, "b").damping, 0.1 + 9 * 0.3, 1e-15);
  assert_near(link(model, "b1").buoyancy, 0.5, 0);
  assert_true(has_heard(&h, "joint 'b': damping is taken as linear"));
  assert_true(has_heard(&h, "position 's': its filter is left out"));
  tabi_model_destroy(model);
}

/* A light joint with a stiff, strongly damped servo holds still at a time step far beyond what is
 * stable when its force is taken from the start of the step; and obeys its limit. */
static void test_stiff_servo(void **state) {
  (void)state;
  tabi_model *model =
      load("<mujoco><option timestep='0.002'/><worldbody><body gravcomp='1'>"
           "<joint name='a' axis='0 1 0'/><geom size='0.01' pos='0.02 0 0' mass='0.01'/></body>"
           "</worldbody><actuator><position name='p' joint='a' kp='2000' kv='200'"
           " forcerange='-1 1'/></actuator></mujoco>");
  tabi_error error;
  tabi_world *world = tabi_world_create(model, NULL, &error);
  assert_non_null(world);
  for (int i = 0; i < 500; ++i) {
    tabi_world_set_control(world, 0, i < 100 ? 0 : 1);
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    if (i < 100) assert_near(tabi_world_v(world)[0], 0, 1e-9);
  }
  // 0.2 s is many times the servo's time constant of kv / kp
  assert_near(tabi_world_q(world)[0], 1, 1e-3);
  tabi_energy energy = tabi_world_energy(world);
  // what its force of at most 1 N m did, over a radian
  assert_true(energy.kinetic < 1e-9 && fabs(energy.work) < 1);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
}

/* Gravity compensation of one carries a body. */
static void test_buoyancy(void **state) {
  (void)state;
  tabi_model *model =
      load(WORLD("<body gravcomp='1'><freejoint/><geom size='.1' pos='1 0 0'/></body>"
                 "<body gravcomp='0.5' pos='0 0 5'><freejoint/>" GEOM "</body>"));
  tabi_world *world = tabi_world_create(model, NULL, NULL);
  assert_non_null(world);
  for (int i = 0; i < 100; ++i)
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  assert_near(tabi_world_v(world)[2], 0, 1e-12);
  assert_near(tabi_world_v(world)[4], 0, 1e-12);
  assert_near(tabi_world_v(world)[8], -0.5 * 9.81 * tabi_world_time(world), 1e-9);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
}

static tabi_shape_def shape(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_shape(model, name);
  if (index == TABI_NONE) fail_msg("no shape '%s'", name);
  return tabi_model_shape(model, index);
}

static bool meet(const tabi_model *model, const char *a, const char *b) {
  tabi_shape_def x = shape(model, a);
  tabi_shape_def y = shape(model, b);
  return x.collides && y.collides && ((x.group & y.mask) || (y.group & x.mask));
}

/* Geoms that meet by pairs alone, with the friction of the pair. */
static void test_pairs(void **state) {
  (void)state;
  tabi_model *model = load(
      "<mujoco><default><geom contype='0' conaffinity='0' size='.1'/></default><worldbody>"
      "<geom name='floor' type='plane' size='1 1 1'/><geom name='shelf' type='plane' size='1 1 1'/>"
      "<body pos='0 0 .1'><freejoint/><geom name='a'/></body>"
      "<body pos='1 0 .1'><freejoint/><geom name='b'/></body>"
      "<body pos='2 0 .1'><freejoint/><geom name='c'/></body></worldbody>"
      "<contact><pair geom1='a' geom2='floor' friction='.3 .3'/><pair geom1='b' geom2='floor'/>"
      "</contact></mujoco>");
  assert_true(meet(model, "a", "floor") && meet(model, "b", "floor"));
  assert_false(meet(model, "a", "b") || meet(model, "a", "shelf") || shape(model, "c").collides);
  tabi_world *world = tabi_world_create(model, NULL, NULL);
  assert_non_null(world);
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  assert_int_equal(count, 2);
  assert_near(fmin(contact[0].friction, contact[1].friction), 0.3, 1e-15);
  assert_near(fmax(contact[0].friction, contact[1].friction), 1, 1e-15);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
}

/* Two geoms slide with the larger friction, unless one has priority. */
static void test_friction_of_two(void **state) {
  (void)state;
  static const char *const extra[2] = {"", "priority='1'"};
  for (int i = 0; i < 2; ++i) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "<mujoco><worldbody><geom type='plane' size='1 1 1' friction='0.9'/>"
                   "<body pos='0 0 .1'><freejoint/><geom size='.1' friction='0.4' %s/></body>"
                   "</worldbody></mujoco>",
                   extra[i]);
    tabi_model *model = load(text);
    tabi_world *world = tabi_world_create(model, NULL, NULL);
    assert_non_null(world);
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    int32_t count = 0;
    const tabi_contact *contact = tabi_world_contacts(world, &count);
    assert_int_equal(count, 1);
    assert_near(contact[0].friction, i == 0 ? 0.9 : 0.4, 1e-15);
    tabi_world_destroy(world);
    tabi_model_destroy(model);
  }
}

static void test_sensors(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load_heard(
      "<mujoco><worldbody><body name='b'><joint name='j'/>" GEOM
      "<frame pos='0 0 1'><site name='s' pos='0 1 0' euler='90 0 0'/></frame></body></worldbody>"
      "<sensor><gyro name='g' site='s' noise='0.1'/><force name='f' site='s'/>"
      "<jointpos name='q' joint='j' cutoff='2'/><framequat objtype='site' objname='s'/></sensor>"
      "</mujoco>",
      &h);
  assert_int_equal(tabi_model_nsensor(model), 3);
  tabi_sensor_def gyro = tabi_model_sensor(model, tabi_model_find_sensor(model, "g"));
  assert_int_equal(gyro.type, TABI_SENSOR_GYRO);
  assert_int_equal(gyro.link, tabi_model_find_link(model, "b"));
  assert_near_n(gyro.pos, ((const double[3]){0, 1, 1}), 3, 1e-15);
  assert_near(gyro.quat[1], sqrt(0.5), 1e-15);
  assert_near(gyro.noise[2], 0.1, 0);
  tabi_sensor_def force = tabi_model_sensor(model, tabi_model_find_sensor(model, "f"));
  assert_int_equal(force.type, TABI_SENSOR_FORCE_TORQUE);
  assert_int_equal(force.joint, tabi_model_find_joint(model, "j"));
  assert_near(tabi_model_sensor(model, tabi_model_find_sensor(model, "q")).range[0], 2, 0);
  assert_true(has_heard(&h, "<framequat> is ignored"));
  tabi_model_destroy(model);
}

/* In a scene a robot stands on the floor of its own file, though its links do not meet. */
static void test_own_floor(void **state) {
  (void)state;
  (void)scratch_text("own.xml",
                     "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='table'>"
                     "<geom pos='5 0 0' type='box' size='.1 .1 .1'/></body><body name='b' pos='0 0 "
                     ".1'><freejoint/><geom size='.1'/><body pos='0 0 .05'><joint/><geom "
                     "size='.1'/></body></body></worldbody></mujoco>");
  const char *text = "robots: [{name: r, model: own.xml, self_collision: false}]\nduration: 1\n";
  tabi_error error = {0};
  tabi_scene *scene =
      tabi_scene_load_text(text, strlen(text), scratch_path("scene.yaml"), NULL, &error);
  if (!scene) fail_msg("%s", error.message);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world *world = tabi_world_create(model, NULL, &error);
  assert_non_null(world);
  for (int i = 0; i < 100; ++i)
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  assert_near(tabi_world_q(world)[2], 0.1, 1e-4);
  assert_int_equal(tabi_scene_get_robot(scene, 0).base, tabi_model_find_link(model, "r/b"));
  int32_t count = 0;
  (void)tabi_world_contacts(world, &count);
  assert_int_equal(count, 1);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_friction_of_two),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_own_floor),
      cmocka_unit_test(test_servos),
      cmocka_unit_test(test_springdamper),
      cmocka_unit_test(test_global_coordinates),
      cmocka_unit_test(test_stiff_servo),
      cmocka_unit_test(test_buoyancy),
      cmocka_unit_test(test_sloppy_text),
      cmocka_unit_test(test_reversed_ranges),
      cmocka_unit_test(test_free_start),
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_units_and_limits),
      cmocka_unit_test(test_free_defaults),
      cmocka_unit_test(test_unnamed),
      cmocka_unit_test(test_base),
      cmocka_unit_test(test_base_behind_a_floor),
      cmocka_unit_test(test_held_base_with_key),
      cmocka_unit_test(test_keyframe_controls),
      cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_option),
      cmocka_unit_test(test_flags),
      cmocka_unit_test(test_ignored),
      cmocka_unit_test(test_unused_class),
      cmocka_unit_test(test_damped_servo),
      cmocka_unit_test(test_condim),
      cmocka_unit_test(test_surface),
      cmocka_unit_test(test_mesh_text),
      cmocka_unit_test(test_missing_mesh),
      cmocka_unit_test(test_include),
  };
  return cmocka_run_group_tests(tests, begin, scratch_end);
}
