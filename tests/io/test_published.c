/* test_published.c - faults that published robots have, and what becomes of them: each is mended,
 * told, and an error where the caller is strict. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INERTIAL   "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>"
#define JOINT(name, type, parent, child, more)                                            \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child \
  "'/>" more "</joint>"
#define ROBOT(text)    "<robot name='r'>" text "</robot>"
#define BOX(x, y, z)   "<geometry><box size='" x " " y " " z "'/></geometry>"
#define MUJOCO(bodies) "<mujoco><worldbody>" bodies "</worldbody></mujoco>"
#define SDF_MASS \
  "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"

typedef struct heard {
  int count;
  tabi_error told[64];
} heard;

static void listen(void *user, const tabi_error *told) {
  heard *h = user;
  assert_true(h->count < 64);
  h->told[h->count++] = *told;
}

static tabi_model *try_load(const char *text, size_t size, heard *h, bool strict,
                            tabi_error *error) {
  tabi_load_def def = tabi_load_def_default();
  def.strict = strict;
  if (h) {
    *h = (heard){0};
    def.warn = listen;
    def.warn_user = h;
  }
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status = tabi_builder_load_text(builder, text, size, "dir/robot", &def, error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, error) : NULL;
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text, heard *h) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, strlen(text), h, false, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  return model;
}

static bool is_told(const heard *h, tabi_severity severity, const char *words) {
  for (int i = 0; i < h->count; ++i) {
    if (h->told[i].severity == severity && strstr(h->told[i].message, words)) return true;
  }
  return false;
}

/* Mended with a warning of these words; refused with them where the caller is strict. */
static tabi_model *load_mended(const char *text, const char *words) {
  heard h;
  tabi_error error = {0};
  tabi_model *model = load(text, &h);
  if (!is_told(&h, TABI_SEVERITY_WARNING, words))
    fail_msg("'%s' is not told, but %d others: %s", words, h.count, h.told[0].message);
  assert_null(try_load(text, strlen(text), NULL, true, &error));
  return model;
}

static void assert_refused(const char *text, const char *words) {
  tabi_error error = {0};
  assert_null(try_load(text, strlen(text), NULL, false, &error));
  if (!strstr(error.message, words)) fail_msg("'%s' is not in: %s", words, error.message);
}

static tabi_link_def link_of(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_link(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_link(model, index);
}

static tabi_joint_def joint_of(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_joint(model, index);
}

/* -- masses */

/* A box of water, what it collides with before what is seen, and its place in the link. */
static void test_mass_by_shapes(void **state) {
  (void)state;
  tabi_model *model = load_mended(
      ROBOT(LINK("a") "<link name='tip'><visual>" BOX(
          "9", "9", "9") "</visual><collision>"
                         "<origin xyz='0 0 0.1'/>" BOX(
                             "0.1", "0.2", "0.3") "</collision></link>" JOINT("j", "continuous",
                                                                              "a", "tip", "")),
      "link 'tip': no mass, but a joint moves it, 6 kg taken from its shapes");
  tabi_link_def tip = link_of(model, "tip");
  assert_near(tip.mass, 6, 1e-12);
  assert_near(tip.com[2], 0.1, 1e-15);
  assert_near(tip.inertia[0], 6.0 / 12 * (0.04 + 0.09), 1e-14);
  assert_near(tip.inertia[2], 6.0 / 12 * (0.01 + 0.04), 1e-14);
  tabi_model_destroy(model);
}

/* What is behind a massless link carries it; that link is left as it is. */
static void test_mass_only_where_needed(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load(ROBOT(LINK("a") "<link name='m'><visual>" BOX("1", "1", "1") "</visual></link>" LINK("b")
                     JOINT("j", "continuous", "a", "m", "")
                         JOINT("k", "continuous", "m", "b", "<axis xyz='0 1 0'/>")),
           &h);
  assert_int_equal(h.count, 0);
  assert_near(link_of(model, "m").mass, 0, 0);
  tabi_model_destroy(model);
}

/* A file without any mass is an arm that nobody weighed; its foot stands. */
static void test_mass_of_all(void **state) {
  (void)state;
#define PLAIN(name) \
  "<link name='" name "'><collision>" BOX("0.1", "0.1", "0.1") "</collision></link>"
  tabi_model *model =
      load_mended(ROBOT(PLAIN("a") PLAIN("b") PLAIN("c") JOINT("j", "continuous", "a", "b", "")
                            JOINT("k", "continuous", "b", "c", "")),
                  "link 'b': no mass, but a joint moves it, 1 kg");
  assert_int_equal(tabi_model_nv(model), 2);
  assert_near(link_of(model, "a").mass, 0, 0);
  assert_near(link_of(model, "b").mass, 1, 1e-12);
  assert_near(link_of(model, "c").mass, 1, 1e-12);
  tabi_model_destroy(model);
}

static void test_mass_of_missing_mesh(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      ROBOT(LINK("a") "<link name='b'><visual><geometry><mesh filename='nowhere.stl'/></geometry>"
                      "</visual></link>" JOINT("j", "continuous", "a", "b", "")),
      &h);
  assert_true(is_told(&h, TABI_SEVERITY_WARNING, "taken as a ball of 0.1 kg and 0.05 m"));
  assert_near(link_of(model, "b").mass, 0.1, 0);
  assert_near(link_of(model, "b").inertia[1], 0.4 * 0.1 * 0.0025, 1e-18);
  tabi_model_destroy(model);
}

/* A link that is nothing but a frame on a joint gets a mass that nothing else feels. */
static void test_mass_of_nothing(void **state) {
  (void)state;
  const char *words =
      "link 'b': no mass, but joint 'j' moves it and nothing heavier hangs from it, "
      "taken as a ball of 0.001 kg";
  const char *const files[] = {
      ROBOT(LINK("a") "<link name='b'/>" JOINT("j", "continuous", "a", "b", "")),
      ROBOT(LINK("a") "<link name='b'><inertial><mass value='0'/><inertia ixx='0' "
                      "iyy='0' izz='0'/></inertial></link>" JOINT("j", "continuous", "a", "b", "")),
      // of two links that are fixed to each other, the one at the joint
      ROBOT(LINK("a") "<link name='c'/><link name='b'/>" JOINT("j", "prismatic", "a", "b",
                                                               "<limit lower='0' upper='1'/>")
                JOINT("k", "fixed", "b", "c", ""))};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    tabi_model *model = load_mended(files[i], words);
    assert_near(link_of(model, "b").mass, 1e-3, 0);
    assert_near(link_of(model, "b").inertia[1], 0.4e-7, 1e-20);
    assert_near(tabi_model_mass(model), 1 + 1e-3, 1e-15);
    tabi_model_destroy(model);
  }
  // a chain of frames ends in one mass only
  tabi_model *model = load_mended(ROBOT(LINK("a") "<link name='m'/><link name='b'/>" JOINT(
                                      "i", "continuous", "a", "m", "<axis xyz='0 1 0'/>")
                                            JOINT("j", "continuous", "m", "b", "")),
                                  words);
  assert_near(link_of(model, "m").mass, 0, 0);
  tabi_model_destroy(model);
}

/* Frames in a row that turn about one axis: one of them must resist. */
static void test_frames_on_one_axis(void **state) {
  (void)state;
  tabi_model *model = load_mended(ROBOT(LINK("a") "<link name='m'/><link name='n'/>" LINK("b")
                                            JOINT("i", "continuous", "a", "m", "")
                                                JOINT("j", "continuous", "m", "n", "")
                                                    JOINT("k", "continuous", "n", "b", "")),
                                  "link 'm': no mass, but joint 'i' moves it");
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

static void test_inertial_in_part(void **state) {
  (void)state;
  tabi_model *model =
      load_mended(ROBOT("<link name='a'><inertial><mass value='2'/></inertial></link>" LINK("b")
                            JOINT("j", "fixed", "a", "b", "")),
                  "link 'a': <inertial> without <inertia>, taken as none");
  assert_near(tabi_model_mass(model), 3, 0);
  tabi_model_destroy(model);
  model = load_mended(ROBOT("<link name='a'><inertial><inertia ixx='0' iyy='0' izz='0'/></inertial>"
                            "</link>" LINK("b") JOINT("j", "fixed", "a", "b", "")),
                      "link 'a': <inertial> without <mass>, taken as no mass");
  assert_near(tabi_model_mass(model), 1, 0);
  tabi_model_destroy(model);
}

#define POINT "<inertial><mass value='3'/><inertia ixx='0' iyy='0' izz='0'/></inertial>"

/* A mass without inertia that floats alone: that of its shapes, with its mass; else a ball. */
static void test_points(void **state) {
  (void)state;
  tabi_model *model = load_mended(
      ROBOT("<link name='a'>" POINT "<collision>" BOX("0.2", "0.4", "0.4") "</collision></link>"),
      "link 'a': mass without inertia, moments 0.08, 0.05, 0.05 kg m^2");
  assert_near(link_of(model, "a").mass, 3, 0);
  assert_near(link_of(model, "a").inertia[0], 0.08, 1e-15);
  tabi_model_destroy(model);
  model = load_mended(ROBOT("<link name='a'>" POINT "</link>"), "a ball of its mass");
  double radius = cbrt(3 / (4.0 / 3 * M_PI * 1000));
  assert_near(link_of(model, "a").inertia[2], 0.4 * 3 * radius * radius, 1e-15);
  tabi_model_destroy(model);
}

/* On a heavy link, or beside its axis, a point is all right. */
static void test_points_that_may_be(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      ROBOT(LINK("a") "<link name='p'>" POINT
                      "</link><link name='q'><inertial><origin xyz='0 1 0'/>"
                      "<mass value='1'/><inertia ixx='0' iyy='0' izz='0'/></inertial></link>" JOINT(
                          "f", "fixed", "a", "p", "")
                          JOINT("j", "continuous", "a", "q", "<axis xyz='0 0 1'/>")),
      &h);
  assert_int_equal(h.count, 0);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

/* Two massless links in a row whose axes are one: only what is heavy behind both resists. */
static void test_massless_chain(void **state) {
  (void)state;
#define BAR "<collision>" BOX("0.1", "0.1", "0.1") "</collision>"
  tabi_model *model = load_mended(
      ROBOT(LINK("a") "<link name='m'>" BAR "</link><link name='n'>" BAR "</link>" LINK("b")
                JOINT("i", "continuous", "a", "m", "") JOINT("j", "continuous", "m", "n", "")
                    JOINT("k", "continuous", "n", "b", "<axis xyz='0 1 0'/>")),
      "link 'm': no mass, but a joint moves it, 1 kg");
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

/* -- URDF */

static void test_world_parent(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load(ROBOT(LINK("a") JOINT("j", "fixed", "world", "a", "<origin xyz='0 0 2'/>")), &h);
  assert_int_equal(tabi_model_nv(model), 0);
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "there is no link 'world'; the world is taken"));
  tabi_model_destroy(model);
  model = load(ROBOT(LINK("a") JOINT("j", "floating", "world", "a", "")), &h);
  assert_int_equal(tabi_model_nv(model), 6);
  tabi_model_destroy(model);
  assert_refused(ROBOT(LINK("a") JOINT("j", "fixed", "map", "a", "")),
                 "parent link 'map' does not exist");
}

static void test_numbers(void **state) {
  (void)state;
  tabi_model *model = load_mended(
      ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<origin xyz='1, 2, 3'/>")),
      "joint 'j': xyz: commas between numbers, taken as spaces");
  assert_near_n(joint_of(model, "j").pos, ((const double[3]){1, 2, 3}), 3, 0);
  tabi_model_destroy(model);
  model = load_mended(
      ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<origin xyz='1 2 3 4'/>")),
      "joint 'j': xyz: 4 numbers, the first 3 taken");
  assert_near_n(joint_of(model, "j").pos, ((const double[3]){1, 2, 3}), 3, 0);
  tabi_model_destroy(model);
  assert_refused(
      ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<origin xyz='1,5 0 0'/>")),
      "'1,5' is not a number (use a point)");
  assert_refused(
      ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<origin xyz='1 2'/>")),
      "xyz needs 3 numbers, got 2");
}

static void test_shapes_without_extent(void **state) {
  (void)state;
  static const char *const shapes[] = {
      BOX("1", "0", "1"), "<geometry><cylinder radius='0' length='1'/></geometry>",
      "<geometry><mesh filename='m.stl' scale='1 1 0'/></geometry>"};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "<robot name='r'><link name='a'>" INERTIAL "<collision>%s</collision></link>"
                   "</robot>",
                   shapes[i]);
    tabi_model *model = load_mended(text, " of 0, left out");
    assert_int_equal(tabi_model_nshape(model), 0);
    tabi_model_destroy(model);
  }
}

static void test_shapes_in_part(void **state) {
  (void)state;
  static const char *const shapes[][2] = {
      {"<visual><geometry/></visual>",                                             "<geometry> is empty, left out"},
      {"<visual/>",                                                                "without <geometry>, left out" },
      {"<visual><geometry><mesh filename=''/></geometry></visual>",
       "mesh without 'filename', left"                                                                            },
      {"<visual><geometry><mesh filename='m.stl' scale='2'/></geometry></visual>",
       "one number as scale, taken for all axes"                                                                  },
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "<robot name='r'><link name='a'>" INERTIAL "%s</link></robot>", shapes[i][0]);
    tabi_model_destroy(load_mended(text, shapes[i][1]));
  }
}

static void test_cosmetics(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(ROBOT("<link name='a'>" INERTIAL "<visual><origin xyz='' rpy=' '/>" BOX(
                               "1", "1", "1") "<material name='m'><color "
                                              "rgba='red'/></material></visual><visual>" BOX(
                                                  "1", "1", "1") "<material "
                                                                 "name='n'><color "
                                                                 "rgba='1 0.5 "
                                                                 "0'/></material></"
                                                                 "visual>"
                                                                 "</link>"),
                           &h);
  assert_int_equal(h.count, 1);
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "rgba 'red' is no colour"));
  assert_near_n(tabi_model_shape(model, 1).rgba, ((const double[4]){1, 0.5, 0, 1}), 3, 0);
  tabi_model_destroy(model);
}

static void test_limits(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(ROBOT(LINK("a") LINK("b") JOINT(
                               "j", "revolute", "a", "b",
                               "<limit lower='-inf' upper='Infinity' effort='inf' velocity='2'/>")),
                           &h);
  assert_int_equal(h.count, 0);
  tabi_joint_def j = joint_of(model, "j");
  assert_true(isinf(j.lower) && isinf(j.upper) && isinf(j.effort));
  tabi_model_destroy(model);
  model = load_mended(ROBOT(LINK("a") LINK("b") JOINT("j", "revolute", "a", "b",
                                                      "<limit lower='-1' upper='1' effort='-1'/>")),
                      "joint 'j': effort -1 < 0, taken as no limit");
  assert_true(isinf(joint_of(model, "j").effort));
  tabi_model_destroy(model);
}

#define LIMITED(name, effort, more)  \
  JOINT(name, "revolute", "a", name, \
        "<limit lower='-1' upper='1' effort='" effort "' velocity='" effort "'/>" more)

/* Exporters write 0 where nobody gave a number; beside other numbers it is meant. */
static void test_no_effort(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load(ROBOT(LINK("a") LINK("j") LINK("k") LINK("f") LIMITED("j", "0", "")
                     LIMITED("k", "0.0", "") JOINT("f", "fixed", "a", "f", "<limit effort='1'/>")),
           &h);
  assert_int_equal(h.count, 1);
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "effort is 0 at all joints, taken as no limit"));
  assert_true(isinf(joint_of(model, "j").effort) && isinf(joint_of(model, "k").effort));
  assert_true(isinf(joint_of(model, "k").velocity));
  tabi_model_destroy(model);
  model =
      load(ROBOT(LINK("a") LINK("j") LINK("k") LIMITED("j", "0", "") LIMITED("k", "2", "")), &h);
  assert_int_equal(h.count, 0);
  assert_near(joint_of(model, "j").effort, 0, 0);
  assert_near(joint_of(model, "k").effort, 2, 0);
  tabi_model_destroy(model);
}

static void test_negative_damping(void **state) {
  (void)state;
  tabi_model *model =
      load_mended(ROBOT(LINK("a") LINK("b") JOINT("j", "continuous", "a", "b",
                                                  "<dynamics damping='-0.1' friction='0.2'/>")),
                  "joint 'j': damping -0.1 < 0, taken as 0");
  assert_near(joint_of(model, "j").damping, 0, 0);
  assert_near(joint_of(model, "j").friction, 0.2, 0);
  tabi_model_destroy(model);
  model = load_mended(MUJOCO("<body><joint name='j' frictionloss='-1'/><geom size='1'/></body>"),
                      "joint 'j': frictionloss -1 < 0, taken as 0");
  assert_near(joint_of(model, "j").friction, 0, 0);
  tabi_model_destroy(model);
}

static void test_friction_beyond(void **state) {
  (void)state;
  tabi_model *model = load_mended(
      ROBOT("<link name='a'>" INERTIAL "<collision>" BOX(
          "1", "1",
          "1") "</collision></link><gazebo reference='a'><mu1>1e14</mu1><mu2>1e14</mu2></gazebo>"),
      "link 'a': friction 1e+14, taken as 1e+06");
  tabi_model_destroy(model);
}

/* -- XML */

static void test_declarations(void **state) {
  (void)state;
  static const char *const texts[] = {"<?xml verison=\"1.0\"?>\n" ROBOT(LINK("a")),
                                      "<?xml encoding='utf-8'?>\n" ROBOT(LINK("a")),
                                      "\xef\xbb\xbf<?xml version='1.0'?>\r\n" ROBOT(LINK("a"))};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    tabi_model_destroy(load(texts[i], NULL));
}

static void test_zeros_at_the_end(void **state) {
  (void)state;
  const char text[] = ROBOT(LINK("a")) "\n\0\0";
  tabi_error error = {0};
  tabi_model *model = try_load(text, sizeof text, NULL, false, &error);
  assert_non_null(model);
  tabi_model_destroy(model);
}

static void test_latin1(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load("<?xml version='1.0' encoding='ISO-8859-1'?><!-- Universit\xe4t -->\n" ROBOT(
               "<link name='f\xfc\xdf'>" INERTIAL "</link>"),
           &h);
  assert_int_equal(h.count, 0);
  assert_int_not_equal(tabi_model_find_link(model, "f\xc3\xbc\xc3\x9f"), TABI_NONE);
  tabi_model_destroy(model);
  assert_refused("<?xml version='1.0'?><!-- Universit\xe4t -->" ROBOT(LINK("a")), "invalid UTF-8");
}

/* -- MJCF and SDF */

/* Names that tabi makes up leave alone those of the file. */
static void test_names_made_up(void **state) {
  (void)state;
  tabi_model *model = load(MUJOCO("<body><joint name='joint1'/><geom size='1'/></body>"
                                  "<body><joint/><geom size='1'/></body>"
                                  "<body name='body2'><geom size='1'/></body>"),
                           NULL);
  assert_int_equal(tabi_model_nv(model), 2);
  assert_int_not_equal(tabi_model_find_joint(model, "joint1_"), TABI_NONE);
  tabi_model_destroy(model);
}

/* A mesh that is missing matters only where it gives the mass of something that moves. */
static void test_missing_mesh_that_stands(void **state) {
  (void)state;
#define MESH_BODY(joint)                                                                          \
  "<mujoco><asset><mesh name='m' file='nowhere.stl'/></asset><worldbody><body name='room'>" joint \
  "<geom type='mesh' mesh='m'/></body><body name='b'><joint/><geom size='1'/></body>"             \
  "</worldbody></mujoco>"
  heard h;
  tabi_model *model = load(MESH_BODY(""), &h);
  assert_true(is_told(&h, TABI_SEVERITY_WARNING, "not found"));
  assert_int_equal(tabi_model_nv(model), 1);
  tabi_model_destroy(model);
  assert_refused(MESH_BODY("<joint/>"), "its mesh is missing, and with it the mass");
}

/* Paths of Windows, and meshes beside the file that names them. */
static void test_included_files(void **state) {
  (void)state;
  tabi_error error = {0};
  (void)scratch_text("robot/meshes/m.obj",
                     "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  (void)scratch_text("robot/assets/parts.xml",
                     "<mujocoinclude><asset><mesh name='m' file='../meshes/m.obj'/></asset>"
                     "</mujocoinclude>");
  const char *path =
      scratch_text("robot/robot.xml", "<mujoco><include file='assets\\parts.xml'/><worldbody><body>"
                                      "<joint/><geom type='mesh' mesh='m' density='6'/></body>"
                                      "</worldbody></mujoco>");
  tabi_model *model = tabi_model_load(path, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  assert_near(tabi_model_mass(model), 1, 1e-12);
  tabi_model_destroy(model);
}

static void test_sdf_sizes_and_damping(void **state) {
  (void)state;
#define SDF_ARM(more, axis)                                                                  \
  "<sdf version='1.6'><model name='m'><link name='a'>" SDF_MASS more                         \
  "</link><link name='b'>" SDF_MASS                                                          \
  "</link><joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 " \
  "1</xyz>" axis "</axis></joint></model></sdf>"
  tabi_model *model =
      load_mended(SDF_ARM("<collision name='c'><geometry><box><size>1 0 1</size></box>"
                          "</geometry></collision>",
                          ""),
                  "box: size of 0, left out");
  assert_int_equal(tabi_model_nshape(model), 0);
  tabi_model_destroy(model);
  model = load_mended(SDF_ARM("", "<dynamics><damping>-1</damping></dynamics>"),
                      "damping -1 < 0, taken as 0");
  assert_near(joint_of(model, "j").damping, 0, 0);
  tabi_model_destroy(model);
}

static void test_models_of_one_name(void **state) {
  (void)state;
  tabi_model *model =
      load_mended("<sdf version='1.6'><world name='w'>"
                  "<model name='m'><link name='a'>" SDF_MASS "</link></model>"
                  "<model name='m'><link name='a'>" SDF_MASS "</link></model></world></sdf>",
                  "model 'm': defined twice, called 'm_2'");
  assert_near(tabi_model_mass(model), 2, 0);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass_by_shapes),
      cmocka_unit_test(test_mass_only_where_needed),
      cmocka_unit_test(test_mass_of_all),
      cmocka_unit_test(test_mass_of_missing_mesh),
      cmocka_unit_test(test_mass_of_nothing),
      cmocka_unit_test(test_frames_on_one_axis),
      cmocka_unit_test(test_inertial_in_part),
      cmocka_unit_test(test_massless_chain),
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_points_that_may_be),
      cmocka_unit_test(test_world_parent),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_shapes_without_extent),
      cmocka_unit_test(test_shapes_in_part),
      cmocka_unit_test(test_cosmetics),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_no_effort),
      cmocka_unit_test(test_negative_damping),
      cmocka_unit_test(test_friction_beyond),
      cmocka_unit_test(test_declarations),
      cmocka_unit_test(test_zeros_at_the_end),
      cmocka_unit_test(test_latin1),
      cmocka_unit_test(test_missing_mesh_that_stands),
      cmocka_unit_test(test_included_files),
      cmocka_unit_test(test_names_made_up),
      cmocka_unit_test(test_models_of_one_name),
      cmocka_unit_test(test_sdf_sizes_and_damping),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
