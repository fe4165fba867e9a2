/* test_sdf.c - SDF: frames, joints, surfaces, includes and worlds. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER TABI_SOURCE_DIR "/tests/io/sdf/"
#define MASS \
  "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define LINK(name, more) "<link name='" name "'>" MASS more "</link>"
#define SDF(text)        "<sdf version='1.7'>" text "</sdf>"
#define MODEL(text)      SDF("<model name='m'>" text "</model>")

typedef struct heard {
  int count;
  tabi_error told[64];
} heard;

static void listen(void *user, const tabi_error *told) {
  heard *h = user;
  assert_true(h->count < 64);
  h->told[h->count++] = *told;
}

static bool is_told(const heard *h, tabi_severity severity, const char *words) {
  for (int i = 0; i < h->count; ++i) {
    if (h->told[i].severity == severity && strstr(h->told[i].message, words)) return true;
  }
  return false;
}

static tabi_model *try_load(const char *text, const tabi_load_def *def, tabi_error *error) {
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status =
      tabi_builder_load_text(builder, text, strlen(text), FOLDER "text.sdf", def, error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, error) : NULL;
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text, heard *h) {
  tabi_error error = {0};
  tabi_load_def def = tabi_load_def_default();
  if (h) {
    h->count = 0;
    def.warn = listen;
    def.warn_user = h;
  }
  tabi_model *model = try_load(text, &def, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  return model;
}

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  if (index == TABI_NONE) fail_msg("no joint %s", name);
  return tabi_model_joint(model, index);
}

static tabi_dynamics *at_state(const tabi_model *model, const double *q, const double *v) {
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_set_state(d, q, v);
  return d;
}

/* Where a link is in the initial state. */
static void pose_of(const tabi_model *model, const char *name, double pos[3], double quat[4]) {
  double q[100];
  double v[100] = {0};
  assert_true(tabi_model_nq(model) <= 100);
  tabi_model_initial_q(model, q);
  tabi_dynamics *d = at_state(model, q, v);
  int32_t link = tabi_model_find_link(model, name);
  assert_int_not_equal(link, TABI_NONE);
  tabi_dynamics_link_pose(d, link, pos, quat);
  tabi_dynamics_destroy(d);
}

static void assert_pos(const tabi_model *model, const char *name, double x, double y, double z) {
  double pos[3];
  double quat[4];
  pose_of(model, name, pos, quat);
  assert_near_n(pos, ((const double[3]){x, y, z}), 3, 1e-12);
}

/* As in the other formats: what no body can have is repaired, and told. */
static void test_inertia_repaired(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      MODEL("<link name='a'><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>9</izz>"
            "</inertia></inertial></link>"),
      &h);
  assert_true(is_told(&h, TABI_SEVERITY_WARNING, "inertia violates A+B>=C (1+1<9)"));
  tabi_model_destroy(model);
}

/* The arm in SDF and the same in URDF, whose numbers were worked out apart from tabi. */
static void test_equals_urdf(void **state) {
  (void)state;
  tabi_error error;
  tabi_model *sdf = tabi_model_load(FOLDER "arm.sdf", NULL, &error);
  if (!sdf) fail_msg("%s", error.message);
  tabi_model *urdf = tabi_model_load(FOLDER "arm.urdf", NULL, &error);
  if (!urdf) fail_msg("%s", error.message);
  assert_int_equal(tabi_model_nv(sdf), 9);
  assert_int_equal(tabi_model_nv(urdf), 9);
  double q[10] = {0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5, 0.4, -0.8, 0.05};
  double v[9] = {1, -0.5, 0.3, 0.7, -1.1, 0.4, 2, -3, 0.6};
  double tau[9] = {3, 1, -2, 0.4, 0.2, 0.9, 1, 2, -3};
  tabi_dynamics *a = at_state(sdf, q, v);
  tabi_dynamics *b = at_state(urdf, q, v);
  double one[81];
  double two[81];
  tabi_dynamics_mass_matrix(a, one);
  tabi_dynamics_mass_matrix(b, two);
  assert_near_n(one, two, 81, 1e-12);
  tabi_dynamics_inverse(a, NULL, one);
  tabi_dynamics_inverse(b, NULL, two);
  assert_near_n(one, two, 9, 1e-11);
  tabi_dynamics_forward(a, tau, one);
  tabi_dynamics_forward(b, tau, two);
  assert_near_n(one, two, 9, 1e-9);
  static const char *const links[] = {"trunk", "upper", "hand::palm", "hand::finger"};
  for (int i = 0; i < 4; ++i) {
    double pose[2][7];
    tabi_dynamics_link_pose(a, tabi_model_find_link(sdf, links[i]), pose[0], pose[0] + 3);
    tabi_dynamics_link_pose(b, tabi_model_find_link(urdf, links[i]), pose[1], pose[1] + 3);
    double sign = 0;
    for (int k = 3; k < 7; ++k)
      sign += pose[0][k] * pose[1][k];
    for (int k = 3; k < 7; ++k)
      pose[0][k] *= sign < 0 ? -1 : 1;
    assert_near_n(pose[0], pose[1], 7, 1e-12);
  }
  tabi_joint_def turn = joint(sdf, "turn");
  assert_near(turn.lower, -1, 0);
  assert_near(turn.effort, 30, 0);
  assert_near(turn.velocity, 4, 0);
  assert_near(turn.damping, 0.5, 0);
  assert_near(turn.friction, 0.25, 0);
  assert_near(turn.stiffness, 7, 0);
  assert_near(turn.rest_position, 0.1, 0);
  assert_near(joint(sdf, "base").initial_q[2], 8, 1e-15);
  tabi_dynamics_destroy(a);
  tabi_dynamics_destroy(b);
  tabi_model_destroy(sdf);
  tabi_model_destroy(urdf);
}

/* What a file does not say: mass 1, inertia 1, friction 1, no limits. */
static void test_defaults(void **state) {
  (void)state;
  tabi_model *model =
      load(MODEL("<link name='a'><collision name='c'><geometry><box/></geometry></collision></link>"
                 "<link name='b'><inertial><mass>3</mass></inertial></link>"
                 "<joint name='j' type='revolute'><parent>a</parent><child>b</child>"
                 "<axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower><upper>1e16</upper>"
                 "<effort>-1</effort></limit></axis></joint>"),
           NULL);
  tabi_link_def a = tabi_model_link(model, tabi_model_find_link(model, "a"));
  assert_near(a.mass, 1, 0);
  assert_near_n(a.inertia, ((const double[6]){1, 1, 1, 0, 0, 0}), 6, 0);
  assert_near(tabi_model_mass(model), 4, 0);
  assert_int_equal(joint(model, "j").type, TABI_JOINT_CONTINUOUS);
  assert_true(isinf(joint(model, "j").effort));
  tabi_shape_def shape = tabi_model_shape(model, 0);
  assert_near_n(shape.size, ((const double[3]){1, 1, 1}), 3, 0);
  assert_near(tabi_model_material(model, shape.material).friction, 1, 0);
  tabi_model_destroy(model);
}

static void test_frames(void **state) {
  (void)state;
  tabi_model *model = load(
      MODEL("<pose>1 0 0 0 0 1.5707963267948966</pose>"
            "<frame name='f' attached_to='g'><pose>0 0 1 0 0 0</pose></frame>"
            "<frame name='g'><pose relative_to='j'>1 0 0 0 0 0</pose></frame>" LINK("a", "")
                LINK("b", "<pose relative_to='a'>0 2 0 0 0 0</pose>") LINK(
                    "c",
                    "<pose relative_to='f'>0 0 1 0 0 0</pose>") "<joint name='j' "
                                                                "type='fixed'><pose>0 0 5 0 0 "
                                                                "0</pose><parent>a</parent>"
                                                                "<child>b</child></joint>"
                                                                "<joint name='k' "
                                                                "type='ball'><parent>g</"
                                                                "parent><child>c</child></joint>"),
      NULL);
  assert_pos(model, "a", 1, 0, 0);
  assert_pos(model, "b", -1, 0, 0);
  // 5 above b, 1 along x of the model, which is y of the world, 1 up, and 1 up again
  assert_pos(model, "c", -1, 1, 7);
  // g is attached to the model, and that to its first link
  assert_int_equal(joint(model, "k").parent, tabi_model_find_link(model, "a"));
  assert_int_equal(tabi_model_nv(model), 9);
  tabi_model_destroy(model);
}

static void test_placement_frame(void **state) {
  (void)state;
  tabi_model *model = load(
      SDF("<model name='m' placement_frame='b'><pose>0 0 3 0 0 0</pose>" LINK("a", "") LINK(
          "b",
          "<pose>1 0 1 0 0 3.141592653589793</pose>") "<joint name='j' "
                                                      "type='fixed'><parent>a</parent><child>b</"
                                                      "child></joint></model>"),
      NULL);
  assert_pos(model, "b", 0, 0, 3);
  assert_pos(model, "a", 1, 0, 2);
  tabi_model_destroy(model);
}

/* Axes: of 1.4 in the model's frame, later in the joint's unless the file says otherwise. */
/* What is merged is part of the outer model: its names, and joints between both. */
static void test_merge(void **state) {
  (void)state;
  heard h = {0};
  (void)scratch_text("hand/model.sdf",
                     MODEL("<pose>0 0 9 0 0 0</pose>" LINK("palm", "<pose>1 0 0 0 0 0</pose>")
                               LINK("finger", "") "<joint name='grip' type='revolute'><parent>palm"
                                                  "</parent><child>finger</child></joint>"));
  const char *path = scratch_text(
      "arm/model.sdf",
      SDF("<model name='arm'>" LINK(
          "upper",
          "") "<include merge='true'><uri>../hand/model.sdf</uri>"
              "<pose>0 0 3 0 0 0</pose></include><joint name='wrist' type='revolute'><parent>upper"
              "</parent><child>palm</child></joint></model>"));
  tabi_load_def def = tabi_load_def_default();
  tabi_error error = {0};
  def.warn = listen;
  def.warn_user = &h;
  tabi_model *model = tabi_model_load(path, &def, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  assert_int_equal(h.count, 0);
  assert_int_equal(tabi_model_nv(model), 8);
  assert_near_n(joint(model, "wrist").pos, ((const double[3]){1, 0, 3}), 3, 1e-15);
  assert_near_n(joint(model, "grip").pos, ((const double[3]){-1, 0, 0}), 3, 1e-15);
  tabi_model_destroy(model);
}

static void test_axes(void **state) {
  (void)state;
  static const struct {
    const char *version, *attribute, *more;
    double axis[3];
  } cases[] = {
      {"1.4",  "",                         "",                                                      {0, -1, 0}},
      {"1.5",  "",                         "",                                                      {1, 0, 0} },
      {"1.6",  "",                         "<use_parent_model_frame>true</use_parent_model_frame>", {0, -1, 0}},
      {"1.11", "expressed_in='__model__'", "",                                                      {0, -1, 0}},
      {"1.10", "expressed_in='b'",         "",                                                      {1, 0, 0} },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        "<sdf version='%s'><model name='m'>" LINK("a", "") LINK(
            "b", "<pose>0 0 0 0 0 1.5707963267948966</pose>") "<joint name='j' "
                                                              "type='revolute'><parent>a</"
                                                              "parent><child>b</child><axis><xyz "
                                                              "%s>1 0 0</xyz>%s"
                                                              "</axis></joint></model></sdf>",
        cases[i].version, cases[i].attribute, cases[i].more);
    tabi_model *model = load(text, NULL);
    assert_near_n(joint(model, "j").axis, cases[i].axis, 3, 1e-15);
    tabi_model_destroy(model);
  }
}

static void test_joint_types(void **state) {
  (void)state;
  static const struct {
    const char *type, *more;
    int32_t nv, couplings;
  } cases[] = {
      {"revolute",   "<axis><xyz>0 0 1</xyz></axis>",                                              1, 0},
      {"continuous", "<axis><xyz>0 0 1</xyz></axis>",                                              1, 0},
      {"prismatic",  "<axis><xyz>0 0 1</xyz></axis>",                                              1, 0},
      {"fixed",      "",                                                                           0, 0},
      {"ball",       "",                                                                           3, 0},
      {"universal",  "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>",               2, 0},
      {"revolute2",  "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>",               2, 0},
      {"screw",      "<screw_thread_pitch>0.01</screw_thread_pitch><axis><xyz>0 0 1</xyz></axis>", 2, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   MODEL(LINK("a", "") LINK("b", "") "<joint name='j' type='%s'><parent>a</parent>"
                                                     "<child>b</child>%s</joint>"),
                   cases[i].type, cases[i].more);
    tabi_model *model = load(text, NULL);
    assert_int_equal(tabi_model_nv(model), 6 + cases[i].nv);
    assert_int_equal(tabi_model_ncoupling(model), cases[i].couplings);
    if (cases[i].couplings)
      assert_near(tabi_model_coupling(model, 0).coef[1], 0.01 / (2 * acos(-1)), 1e-15);
    tabi_model_destroy(model);
  }
}

/* A joint with the world holds the base; a second one, or one more parent, closes a loop. */
static void test_loops(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      MODEL(LINK("a", "") LINK("b", "<pose>1 0 0 0 0 0</pose>") LINK(
          "c", "<pose>1 1 0 0 0 0</pose>") "<joint name='ab' type='revolute'><parent>a</parent>"
                                           "<child>b</child><axis><xyz>0 0 1</xyz></axis></joint>"
                                           "<joint name='bc' "
                                           "type='revolute'><parent>b</parent><child>c</child>"
                                           "<axis><xyz>0 0 1</xyz></axis></joint>"
                                           "<joint name='wc' type='revolute'><pose>0 0 0 0 0 "
                                           "0</pose><parent>world</parent>"
                                           "<child>c</child><axis><xyz>1 0 "
                                           "0</xyz><dynamics><damping>1</damping></dynamics></axis>"
                                           "</joint><joint name='wa' "
                                           "type='fixed'><parent>a</parent><child>world</child></"
                                           "joint>"),
      &h);
  // c hangs in the world by wc, so that bc closes the loop; a is fixed by wa
  assert_int_equal(tabi_model_nv(model), 2);
  assert_int_equal(tabi_model_nconnection(model), 1);
  tabi_connection_def loop = tabi_model_connection(model, 0);
  assert_string_equal(loop.name, "bc");
  assert_int_equal(loop.type, TABI_CONNECTION_HINGE);
  assert_near_n(loop.pos_a, ((const double[3]){0, 1, 0}), 3, 1e-15);
  assert_near_n(loop.pos_b, ((const double[3]){0, 0, 0}), 3, 1e-15);
  assert_pos(model, "c", 1, 1, 0);
  tabi_model_destroy(model);
}

static void test_couplings(void **state) {
  (void)state;
  tabi_model *model = load(
      SDF("<model name='m'>" LINK("frame", "") LINK("a", "") LINK("b", "<pose>1 0 0 0 0 0</pose>")
              LINK("c",
                   "") "<joint name='ja' type='revolute'><parent>frame</parent><child>a</child>"
                       "<axis><xyz>0 0 1</xyz></axis></joint>"
                       "<joint name='jb' type='revolute'><parent>frame</parent><child>b</child>"
                       "<axis><xyz>0 0 -1</xyz></axis></joint>"
                       "<joint name='jc' type='prismatic'><parent>frame</parent><child>c</child>"
                       "<axis><xyz>0 0 1</xyz><mimic "
                       "joint='ja'><multiplier>2</multiplier><offset>0.5</offset>"
                       "<reference>0.1</reference></mimic></axis></joint>"
                       "<joint name='g' type='gearbox'><parent>a</parent><child>b</child>"
                       "<gearbox_reference_body>frame</gearbox_reference_body><gearbox_ratio>3</"
                       "gearbox_ratio>"
                       "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 "
                       "1</xyz></axis2></joint></model>"),
      NULL);
  assert_int_equal(tabi_model_ncoupling(model), 2);
  tabi_coupling_def mimic = tabi_model_coupling(model, 0);
  assert_near(mimic.coef[0], 0.5 - 0.2, 1e-15);
  assert_near(mimic.coef[1], 2, 0);
  // jb counts the other way round
  tabi_coupling_def gear = tabi_model_coupling(model, 1);
  assert_int_equal(gear.joint, tabi_model_find_joint(model, "jb"));
  assert_near(gear.coef[1], 3, 1e-15);
  tabi_model_destroy(model);
}

static void test_auto_inertia(void **state) {
  (void)state;
  tabi_model *model =
      load("<sdf version='1.11'><model name='m'><link name='a'><inertial auto='true'/>"
           "<collision name='c'><density>100</density><pose>1 0 0 0 0 1.5707963267948966</pose>"
           "<geometry><box><size>1 2 3</size></box></geometry></collision></link>"
           "<link name='b'><inertial auto='true'><density>10</density></inertial>"
           "<collision name='c'><geometry><capsule><radius>0.5</radius><length>2</length></capsule>"
           "</geometry></collision></link></model></sdf>",
           NULL);
  tabi_link_def a = tabi_model_link(model, tabi_model_find_link(model, "a"));
  assert_near(a.mass, 600, 1e-10);
  assert_near_n(a.com, ((const double[3]){1, 0, 0}), 3, 1e-12);
  // the box lies with its edge of 2 m along x
  assert_near_n(a.inertia, ((const double[6]){50 * 10, 50 * 13, 50 * 5, 0, 0, 0}), 6, 1e-9);
  tabi_link_def b = tabi_model_link(model, tabi_model_find_link(model, "b"));
  double pi = acos(-1);
  double cylinder = 10 * pi * 0.25 * 2;
  double cap = 10 * pi * 0.125 * 2 / 3;
  double axial = cylinder * 0.125 + 2 * cap * 0.1;
  double side = cylinder * (0.75 + 4) / 12 + 2 * cap * (0.1 + 1 + 0.375);
  assert_near(b.mass, cylinder + 2 * cap, 1e-12);
  assert_near_n(b.inertia, ((const double[6]){side, side, axial, 0, 0, 0}), 6, 1e-12);
  tabi_model_destroy(model);
}

static void test_surfaces(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      MODEL(LINK(
          "a", "<collision name='x'><geometry><sphere><radius>1</radius></sphere></geometry>"
               "<surface><friction><ode><mu>0.9</mu><mu2>0.4</mu2><fdir1>1 0 0</fdir1></ode>"
               "<torsional><coefficient>0.5</coefficient><patch_radius>0.1</patch_radius>"
               "</torsional></friction><bounce><restitution_coefficient>0.7"
               "</restitution_coefficient></bounce><contact><collide_bitmask>0x02"
               "</collide_bitmask><ode><kp>1e5</kp><kd>10</kd><max_vel>1</max_vel></ode></contact>"
               "</surface></collision>"
               "<collision name='y'><geometry><cone><radius>1</radius><length>2</length></cone>"
               "</geometry></collision>"
               "<collision name='z'><geometry><plane/></geometry></collision>"
               "<visual name='v'><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry>"
               "<transparency>0.5</transparency><material><diffuse>1 0 0.5</diffuse></material>"
               "</visual><gravity>0</gravity>")),
      &h);
  assert_int_equal(tabi_model_nshape(model), 3);
  tabi_shape_def x = tabi_model_shape(model, tabi_model_find_shape(model, "a::x"));
  tabi_material_def m = tabi_model_material(model, x.material);
  assert_near(m.friction, 0.6, 1e-15);
  assert_near(m.restitution, 0.7, 0);
  assert_near(m.stiffness, 1e5, 0);
  assert_near(m.damping, 10, 0);
  assert_near(m.torsional_friction, 3 * acos(-1) / 16 * 0.05, 1e-15);
  assert_int_equal(x.group, 2);
  tabi_shape_def v = tabi_model_shape(model, tabi_model_find_shape(model, "a::v"));
  assert_near_n(v.rgba, ((const double[4]){1, 0, 0.5, 0.5}), 4, 0);
  assert_true(is_told(&h, TABI_SEVERITY_WARNING, "<plane> is ignored"));
  assert_near(tabi_model_link(model, 0).buoyancy, 1, 0);
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "<fdir1> is ignored"));
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "<max_vel> is ignored"));
  tabi_model_destroy(model);
}

static void test_sensors(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      MODEL(LINK("a", "<sensor name='s' type='imu'><pose>1 2 3 0 0 0</pose></sensor>"
                      "<sensor name='t' type='contact'/><sensor name='c' type='camera'/>")
                LINK("b", "") "<joint name='j' type='revolute'><parent>a</parent><child>b</child>"
                              "<sensor name='f' type='force_torque'/></joint>"),
      &h);
  static const struct {
    const char *name;
    tabi_sensor_type type;
  } expected[] = {
      {"a::s_gyro",          TABI_SENSOR_GYRO         },
      {"a::s_accelerometer", TABI_SENSOR_ACCELEROMETER},
      {"a::t",               TABI_SENSOR_CONTACT      },
      {"j::f",               TABI_SENSOR_FORCE_TORQUE },
  };
  assert_int_equal(tabi_model_nsensor(model), 4);
  for (size_t i = 0; i < 4; ++i) {
    int32_t sensor = tabi_model_find_sensor(model, expected[i].name);
    if (sensor == TABI_NONE) fail_msg("no sensor %s", expected[i].name);
    assert_int_equal(tabi_model_sensor(model, sensor).type, expected[i].type);
  }
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "<sensor> is ignored"));
  tabi_model_destroy(model);
}

/* Links of a model do not collide unless the model says so. */
static void test_self_collide(void **state) {
  (void)state;
  for (int on = 0; on < 2; ++on) {
    char text[1500];
    (void)snprintf(
        text, sizeof text,
        MODEL("<self_collide>%d</self_collide>" LINK(
            "a", "<collision name='c'><geometry><box/></geometry></collision>")
                  LINK("b", "<collision name='c'><geometry><box/></geometry></collision>")),
        on);
    tabi_model *model = load(text, NULL);
    assert_int_equal(tabi_model_nexclusion(model), on ? 0 : 1);
    tabi_model_destroy(model);
  }
}

static void test_world(void **state) {
  (void)state;
  heard h = {0};
  tabi_error error = {0};
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  tabi_model *model = tabi_model_load(FOLDER "world.sdf", &def, &error);
  if (!model) fail_msg("%s", error.message);
  double gravity[3];
  tabi_model_gravity(model, gravity);
  assert_near(gravity[2], -9.5, 0);
  assert_near(tabi_model_timestep(model), 0.002, 0);
  assert_int_equal(tabi_model_nv(model), 6);
  assert_pos(model, "ball::link", 0, 0, 0.5);
  // the pose of the include replaces the model's own
  assert_pos(model, "gate_post::pole", 2, 0, 0.5);
  assert_true(
      is_told(&h, TABI_SEVERITY_WARNING, "'model://ground_plane' not found; a plane is taken"));
  assert_true(is_told(&h, TABI_SEVERITY_NOTE, "<light> is ignored"));
  tabi_model_destroy(model);
  // one part of it alone, at another place
  def.part = "ball";
  def.place_base = true;
  def.base_pos[0] = 7;
  model = tabi_model_load(FOLDER "world.sdf", &def, &error);
  assert_non_null(model);
  assert_int_equal(tabi_model_nlink(model), 1);
  assert_pos(model, "link", 7, 0, 0);
  tabi_model_destroy(model);
  def.part = "none";
  assert_null(tabi_model_load(FOLDER "world.sdf", &def, &error));
  assert_string_equal(error.message, "no model is called 'none'");
}

/* A world runs as a scene, in which each model is a robot. */
static void test_world_scene(void **state) {
  (void)state;
  heard h = {0};
  tabi_error error = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  def.warn_user = &h;
  assert_true(tabi_scene_recognise(FOLDER "world.sdf"));
  assert_false(tabi_scene_recognise(FOLDER "arm.sdf"));
  assert_false(tabi_scene_recognise(FOLDER "arm.urdf"));
  tabi_scene *scene = tabi_scene_load(FOLDER "world.sdf", &def, &error);
  if (!scene) fail_msg("%s", error.message);
  // each once, although the file is read for every model
  assert_int_equal(h.count, 5);
  assert_string_equal(tabi_scene_name(scene), "yard");
  assert_int_equal(tabi_scene_nrobot(scene), 3);
  assert_string_equal(tabi_scene_get_robot(scene, 0).name, "ball");
  tabi_world_def world_def = tabi_scene_world_def(scene);
  assert_near(world_def.timestep, 0.002, 0);
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), &world_def, &error);
  assert_non_null(world);
  assert_int_equal(tabi_scene_reset(scene, world, &error), TABI_OK);
  for (int i = 0; i < 500; ++i)
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  // at rest on the plane, where the smaller friction counts
  assert_near(tabi_world_q(world)[2], 0.1, 1e-4);
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  assert_int_equal(count, 1);
  assert_near(contact->friction, 0.4, 1e-12);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  assert_null(tabi_scene_load(FOLDER "arm.urdf", &def, &error));
  assert_non_null(strstr(error.message, "<robot> is a robot, not a scene"));
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } cases[] = {
      {SDF(""),                                                                         "no model in the file"                                                         },
      {MODEL(""),                                                                       "model without links"                                                          },
      {MODEL("<link/>"),                                                                "link without 'name'"                                                          },
      {MODEL(LINK("a",                                                                  "") LINK("a",                                                                    "")), "link 'm::a': the name is taken already"},
      {MODEL(LINK("a",                                       "<pose>1 2 3</pose>")),                                                                                                                      "<pose> needs 6 numbers, got 3"},
      {MODEL(LINK("a",                   "<pose relative_to='x'/>")),"no link, joint or frame is called 'x'"},
      {MODEL(LINK("a",                                                                  "<pose relative_to='b'/>") LINK("b",                                                                                                    "<pose relative_to='a'/>")),
       "its pose depends on itself"},
      {MODEL(LINK("a",                                                                               "") "<joint name='j' type='fixed'><parent>world</parent></joint>"),
       "joint 'j': no <child>"},
      {MODEL(LINK("a",                                                    "") "<joint name='j' type='fixed'><child>a</child></joint>"),                                                                                                                                     "no <parent>"},
      {MODEL(
           LINK("a",                                                                  "") "<joint name='j' type='fixed'><parent>a</parent><child>a</child></joint>"),
       "parent and child are both 'm::a'"},
      {MODEL(LINK("a",                                                                               "") LINK("b",                                                                                                                                                 "") "<joint name='j' type='elbow'><parent>a</parent>"
                                         "<child>b</child></joint>"),
       "unknown type 'elbow'"},
      {MODEL("<link name='a'><inertial><mass>x</mass></inertial></link>"),                                                                  "'x' is not a number"            },
      {SDF("<include/>"),"include without <uri>"                                                                                                                              },
      {SDF("<include><uri>text.sdf/../../../../../../../etc</uri></include>"),
       "no model in the file"                                                      },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tabi_error error = {0};
    tabi_model *model = try_load(cases[i].text, NULL, &error);
    if (model) fail_msg("accepted: %s", cases[i].text);
    if (!strstr(error.message, cases[i].words))
      fail_msg("'%s' is not in: %s", cases[i].words, error.message);
    assert_true(error.line > 0);
  }
}

static void test_includes_itself(void **state) {
  (void)state;
  const char *path = scratch_text("loop.sdf", "<sdf version='1.7'><model name='m'><include><uri>"
                                              "loop.sdf</uri></include></model></sdf>");
  tabi_error error = {0};
  assert_null(tabi_model_load(path, NULL, &error));
  assert_true(strstr(error.message, "includes itself") || strstr(error.message, "include itself"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inertia_repaired),
      cmocka_unit_test(test_equals_urdf),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_frames),
      cmocka_unit_test(test_placement_frame),
      cmocka_unit_test(test_merge),
      cmocka_unit_test(test_axes),
      cmocka_unit_test(test_joint_types),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_couplings),
      cmocka_unit_test(test_auto_inertia),
      cmocka_unit_test(test_surfaces),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_self_collide),
      cmocka_unit_test(test_world),
      cmocka_unit_test(test_world_scene),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_includes_itself),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
