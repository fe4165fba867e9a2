/* test_urdf_dialects.c - URDF as programs and people write it: what others add, and odd ways. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INERTIAL   "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>"
#define ENDS       "<parent link='a'/><child link='b'/>"
#define HINGE(name, parent, child, more)                                                    \
  "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child \
  "'/>" more "</joint>"

typedef struct heard {
  int count;
  tabi_error told[32];
} heard;

static void listen(void *user, const tabi_error *told) {
  heard *h = user;
  assert_true(h->count < 32);
  h->told[h->count++] = *told;
}

static tabi_model *try_load(const char *text, heard *h, bool strict, tabi_error *error) {
  tabi_load_def def = tabi_load_def_default();
  def.strict = strict;
  if (h) {
    *h = (heard){0};
    def.warn = listen;
    def.warn_user = h;
  }
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status =
      tabi_builder_load_text(builder, text, strlen(text), "dir/r.urdf", &def, error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, error) : NULL;
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text, heard *h) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, h, false, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  return model;
}

static void assert_refused(const char *text, const char *words) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, NULL, true, &error);
  assert_null(model);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in: %s", words, error.message);
}

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_joint(model, index);
}

static void test_spherical(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load("<robot name='r'>" LINK("a")
                               LINK("b") "<joint name='j' type='spherical'>" ENDS
                                         "<axis xyz='0 0 1'/><limit effort='1'/></joint></robot>",
                           &h);
  assert_int_equal(joint(model, "j").type, TABI_JOINT_BALL);
  assert_int_equal(tabi_model_nv(model), 9);
  assert_int_equal(h.count, 0);
  tabi_model_destroy(model);
}

static void test_transmission(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b") LINK("c") HINGE("j", "a", "b", "")
               HINGE("k", "b", "c",
                     "") "<transmission name='t'><type>x/SimpleTransmission</type><joint name='j'>"
                         "<hardwareInterface>e</hardwareInterface></joint><actuator name='m'>"
                         "<mechanicalReduction>-50</mechanicalReduction><motorInertia>1e-4</"
                         "motorInertia></actuator>"
                         "</transmission>"
                         "<transmission name='old' type='y'><actuator name='n'/><joint name='k'/>"
                         "<mechanicalReduction>20</mechanicalReduction></transmission></robot>",
           &h);
  tabi_joint_def j = joint(model, "j");
  assert_near(j.gear, -50, 0);
  assert_near(j.rotor_inertia, 1e-4, 0);
  assert_near(joint(model, "k").gear, 20, 0);
  for (int i = 0; i < h.count; ++i)
    assert_int_equal(h.told[i].severity, TABI_SEVERITY_NOTE);
  tabi_model_destroy(model);
}

/* One that mixes two joints gives neither a gear, and a text that is no number none either. */
static void test_transmission_odd(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      "<robot name='r'>" LINK("a") LINK("b") LINK("c") HINGE("j", "a", "b", "")
          HINGE("k", "b", "c",
                "") "<transmission name='t'><joint name='j'/><joint name='k'/><actuator name='m'>"
                    "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>\n"
                    "<transmission><joint "
                    "name='j'/><actuator><mechanicalReduction>fast</mechanicalReduction>"
                    "</actuator></transmission><transmission/></robot>",
      &h);
  assert_near(joint(model, "j").gear, 1, 0);
  assert_near(joint(model, "k").gear, 1, 0);
  assert_string_equal(h.told[0].message,
                      "transmission 't' moves several joints, its gears are left out; give the "
                      "joints rotor_inertia and gear in a scene");
  assert_string_equal(h.told[1].message, "<mechanicalReduction>: 'fast' is not a number; ignored");
  assert_int_equal(h.told[1].line, 2);
  tabi_model_destroy(model);
}

/* Surfaces as Bullet writes them; what <gazebo> says goes before. */
static void test_bullet_contact(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      "<robot name='r'><link name='a'><contact><lateral_friction value='0.7'/><rolling_friction "
      "value='0.001'/><spinning_friction value='0.02'/><restitution value='1.5'/><stiffness "
      "value='3e4'/><damping value='1e3'/><contact_cfm value='0'/></contact>" INERTIAL
      "<collision><geometry><sphere radius='1'/></geometry></collision></link>"
      "<link name='b'><contact><lateral_friction value='-1'/><restitution "
      "value='high'/></contact>" INERTIAL
      "<collision><geometry><sphere radius='1'/></geometry></collision></link>" LINK("c")
          HINGE("j", "a", "b", "") HINGE(
              "k", "b", "c", "") "<gazebo reference='a'><mu1>0.9</mu1></gazebo>"
                                 "<gazebo reference='c'><mu1>0.9</mu1><kp>1</kp></gazebo></robot>",
      &h);
  tabi_material_def m = tabi_model_material(model, tabi_model_shape(model, 0).material);
  assert_near(m.friction, 0.9, 0);
  assert_near(m.rolling_friction, 0.001, 0);
  assert_near(m.torsional_friction, 0.02, 0);
  assert_near(m.restitution, 1, 0);
  assert_near(m.stiffness, 3e4, 0);
  assert_near(m.damping, 1e3, 0);
  // what says nothing leaves the shape without a material of its own
  assert_int_equal(tabi_model_shape(model, 1).material, TABI_NONE);
  int warnings = 0;
  for (int i = 0; i < h.count; ++i)
    warnings += h.told[i].severity == TABI_SEVERITY_WARNING;
  assert_int_equal(warnings, 1); // "high"
  tabi_model_destroy(model);
}

static void test_gazebo_surface(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(
      "<robot name='r'><link name='a'>" INERTIAL
      "<collision><geometry><sphere radius='1'/></geometry></collision></link>" LINK("b") HINGE(
          "j", "a", "b",
          "") "<gazebo "
              "reference='a'><mu1>0.9</mu1><mu2>0.4</mu2><kp>1e6</kp><maxVel>1</maxVel></gazebo>"
              "<gazebo reference='a'><kd "
              "value='100'/><turnGravityOff>false</turnGravityOff></gazebo>"
              "<gazebo reference='j'><springStiffness>7</springStiffness><springReference>0.1"
              "</springReference></gazebo><gazebo "
              "reference='b'><turnGravityOff>true</turnGravityOff>"
              "<selfCollide>1</selfCollide></gazebo></robot>",
      &h);
  tabi_material_def m = tabi_model_material(model, tabi_model_shape(model, 0).material);
  assert_near(m.friction, 0.6, 1e-15);
  assert_near(m.stiffness, 1e6, 0);
  assert_near(m.damping, 100, 0);
  assert_near(joint(model, "j").stiffness, 7, 0);
  assert_near(joint(model, "j").rest_position, 0.1, 0);
  for (int i = 0; i < h.count; ++i)
    assert_int_equal(h.told[i].severity, TABI_SEVERITY_NOTE);
  assert_near(tabi_model_link(model, 0).buoyancy, 0, 0);
  assert_near(tabi_model_link(model, 1).buoyancy, 1, 0);
  tabi_model_destroy(model);
}

static int32_t sensor_type(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_sensor(model, name);
  if (index == TABI_NONE) fail_msg("no sensor '%s'", name);
  return (int32_t)tabi_model_sensor(model, index).type;
}

static void test_gazebo_sensors(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b")
               HINGE("j", "a", "b",
                     "") "<gazebo reference='a'><sensor name='imu' type='imu'><pose>1 2 3 0 "
                         "0 1.5707963267948966</pose><update_rate>100</update_rate>"
                         "</sensor><sensor name='eye' type='camera'><camera/></sensor>"
                         "</gazebo><gazebo reference='b'><sensor name='foot' "
                         "type='contact'><contact><collision>c</collision></contact>"
                         "</sensor></gazebo><gazebo reference='j'><sensor name='ft' "
                         "type='force_torque'/></gazebo></robot>",
           &h);
  assert_int_equal(tabi_model_nsensor(model), 4);
  assert_int_equal(sensor_type(model, "imu_gyro"), TABI_SENSOR_GYRO);
  assert_int_equal(sensor_type(model, "imu_accelerometer"), TABI_SENSOR_ACCELEROMETER);
  assert_int_equal(sensor_type(model, "foot"), TABI_SENSOR_CONTACT);
  assert_int_equal(sensor_type(model, "ft"), TABI_SENSOR_FORCE_TORQUE);
  tabi_sensor_def gyro = tabi_model_sensor(model, tabi_model_find_sensor(model, "imu_gyro"));
  assert_near_n(gyro.pos, ((const double[3]){1, 2, 3}), 3, 0);
  assert_near(gyro.quat[3], sqrt(0.5), 1e-15);
  for (int i = 0; i < h.count; ++i)
    assert_int_equal(h.told[i].severity, TABI_SEVERITY_NOTE);
  assert_true(h.count > 0); // of the camera
  tabi_model_destroy(model);
}

static void test_gazebo_static(void **state) {
  (void)state;
  tabi_model *model = load("<robot name='r'><gazebo><static>true</static></gazebo>" LINK("a")
                               LINK("b") HINGE("j", "a", "b", "<mimic joint='j'/>") "</robot>",
                           NULL);
  assert_int_equal(tabi_model_nv(model), 0);
  assert_int_equal(tabi_model_nlink(model), 2);
  tabi_model_destroy(model);
}

static void test_mimic_chain(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r'>" LINK("a") LINK("b") LINK("c") LINK("d") HINGE("i", "a", "b", "")
               HINGE("j", "b", "c", "<mimic joint='i' multiplier='2' offset='0.5'/>")
                   HINGE("k", "c", "d", "<mimic joint='j' multiplier='-3' offset='1'/>") "</robot>",
           NULL);
  assert_int_equal(tabi_model_ncoupling(model), 2);
  tabi_coupling_def k = tabi_model_coupling(model, 1);
  assert_int_equal(k.leader, tabi_model_find_joint(model, "i"));
  assert_near(k.coef[0], 1 - 3 * 0.5, 1e-15);
  assert_near(k.coef[1], -6, 1e-15);
  tabi_model_destroy(model);
}

/* Of joints that follow each other each is told with the one that it names. */
static void test_mimic_in_a_circle(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load("<robot name='r'>" LINK("a") LINK("b") LINK("c")
                               HINGE("j", "a", "b", "<mimic joint='k'/>")
                                   HINGE("k", "b", "c", "<mimic joint='j'/>") "</robot>",
                           &h);
  assert_int_equal(h.count, 2);
  assert_string_equal(h.told[0].message,
                      "joint 'j': mimics 'k', which follows it, coupling left out");
  assert_string_equal(h.told[1].message,
                      "joint 'k': mimics 'j', which follows it, coupling left out");
  tabi_model_destroy(model);
}

static void test_mimic_left_out(void **state) {
  (void)state;
  static const struct {
    const char *j, *k, *told;
  } cases[] = {
      {"type='fixed'",      "joint='j'",
       "joint 'k': mimics 'j', which does not move, coupling left out"                                  },
      {"type='continuous'", "joint='x'",
       "joint 'k': mimics 'x', which does not exist, coupling left out"                                 },
      {"type='continuous'", "joint='k'",
       "joint 'k': mimics 'k', which follows it, coupling left out"                                     },
      {"type='continuous'", "",          "joint 'k': mimics '', which does not exist, coupling left out"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    heard h;
    char text[1500];
    (void)snprintf(text, sizeof text,
                   "<robot name='r'>" LINK("a") LINK("b")
                       LINK("c") "<joint name='j' %s>" ENDS
                                 "</joint>" HINGE("k", "b", "c", "<mimic %s/>") "</robot>",
                   cases[i].j, cases[i].k);
    tabi_model *model = load(text, &h);
    assert_int_equal(tabi_model_ncoupling(model), 0);
    assert_int_equal(h.count, 1);
    assert_string_equal(h.told[0].message, cases[i].told);
    assert_int_equal(h.told[0].severity, TABI_SEVERITY_WARNING);
    assert_string_equal(h.told[0].repair.what, "coupling left out");
    tabi_model_destroy(model);
    assert_refused(text, "coupling left out");
  }
}

static void test_massless_root(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t nv;
    int told;
  } cases[] = {
  // shapes alone stand in the world, and so does what drives something heavy
      {"<robot name='r'><link name='a'><collision><geometry><sphere radius='1'/></geometry>"
       "</collision></link></robot>",                   0,         1                                                                         },
      {"<robot name='r'><link name='a'/>" LINK("b") HINGE("j", "a",       "b",                                                                        "") "</robot>", 1, 1},
 // the world itself is no fault
      {"<robot name='r'><link name='world'/>" LINK("b") HINGE("j",                                                     "world",                                                             "b",                                                                                                                                       "") "</robot>", 1,
       0},
      {"<robot name='r'><link name='world'/>" LINK(
           "b") "<joint name='j' type='fixed'>"
                "<parent link='world'/><child link='b'/></joint></robot>",0,0},
 // what is fixed to the root weighs: it floats
      {"<robot name='r'><link name='a'/><link name='m'/>" LINK(
           "b") "<joint name='k' type='fixed'><parent link='m'/><child link='b'/></joint>"
                "<joint name='j' type='fixed'><parent link='a'/><child link='m'/></joint></robot>",                                                      6,                                                               0                                                                },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    heard h;
    tabi_model *model = load(cases[i].text, &h);
    assert_int_equal(tabi_model_nv(model), cases[i].nv);
    assert_int_equal(h.count, cases[i].told);
    tabi_model_destroy(model);
    if (cases[i].told > 0) assert_refused(cases[i].text, "root without mass");
  }
}

/* Numbers and files as editors and scripts write them. */
static void test_spellings(void **state) {
  (void)state;
  tabi_model *model =
      load("\xef\xbb\xbf<?xml version='1.0'?>\r\n<!-- c --><robot name='r' "
           "xmlns:xacro='http://ros.org/wiki/xacro'>\r\n<!-- d -->"
           "<joint name='j' type='revolute'><!-- e --><origin xyz=' 1.\t.5\r\n+1 ' rpy='0 -0 "
           "1e-3'/>" ENDS "<limit lower='-1' upper='+.5' effort='0' velocity='1E2'/></joint>"
           "<link name='a'>" INERTIAL "</link><link name='b'>" INERTIAL "<!-- f --></link>"
           "</robot>\r\n<!-- g -->",
           NULL);
  tabi_joint_def j = joint(model, "j");
  assert_near_n(j.pos, ((const double[3]){1, 0.5, 1}), 3, 0);
  assert_near(j.upper, 0.5, 0);
  assert_near(j.velocity, 100, 0);
  tabi_model_destroy(model);
}

static void test_xacro(void **state) {
  (void)state;
  assert_refused("<robot name='r'>" LINK("a") "<link name='b'><xacro:box/></link></robot>",
                 "expand the file by xacro first: xacro r.urdf > robot.urdf");
  assert_refused("<robot name='r'><link name='${side}_foot'/></robot>",
                 "'${side}_foot' is not URDF; expand the file by xacro first");
}

/* A quaternion in place of rpy, as URDF 1.2 has it. */
static void test_quaternion(void **state) {
  (void)state;
  tabi_model *model =
      load("<robot name='r' version='1.2'>" LINK("a") LINK("b")
               HINGE("j", "a", "b", "<origin xyz='1 2 3' quat_xyzw='0 0.6 0 1.6'/>") "</robot>",
           NULL);
  tabi_joint_def j = joint(model, "j");
  const double length = sqrt(0.6 * 0.6 + 1.6 * 1.6);
  assert_near(j.pos[2], 3, 0);
  assert_near(j.quat[0], 1.6 / length, 1e-15);
  assert_near(j.quat[2], 0.6 / length, 1e-15);
  tabi_model_destroy(model);
  assert_refused("<robot name='r'>" LINK("a") LINK("b")
                     HINGE("j", "a", "b", "<origin quat_xyzw='0 0 0 0'/>") "</robot>",
                 "joint 'j': quaternion has zero length");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quaternion),       cmocka_unit_test(test_mimic_in_a_circle),
      cmocka_unit_test(test_spherical),        cmocka_unit_test(test_transmission),
      cmocka_unit_test(test_transmission_odd), cmocka_unit_test(test_bullet_contact),
      cmocka_unit_test(test_gazebo_surface),   cmocka_unit_test(test_gazebo_sensors),
      cmocka_unit_test(test_gazebo_static),    cmocka_unit_test(test_mimic_chain),
      cmocka_unit_test(test_mimic_left_out),   cmocka_unit_test(test_massless_root),
      cmocka_unit_test(test_spellings),        cmocka_unit_test(test_xacro),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
