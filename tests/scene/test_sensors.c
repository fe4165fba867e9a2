/* test_sensors.c - sensors in scenes and beside a URDF: what they become, how they read, and what
 * is refused. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MASS "<inertial><mass value='2'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial>"

/* A post, an arm on a hinge, and a hand welded to it. */
static const char arm[] =
    "<robot name='arm'><link name='post'>" MASS "</link><link name='upper'>" MASS
    "</link><link name='hand'>" MASS "</link>"
    "<joint name='turn' type='continuous'><parent link='post'/><child link='upper'/>"
    "<origin xyz='0 0 1'/><axis xyz='0 1 0'/></joint>"
    "<joint name='grip' type='fixed'><parent link='upper'/><child link='hand'/>"
    "<origin xyz='0 0 -0.5'/></joint></robot>";

static const char list[] =
    "[{name: ft, type: force_torque, joint: grip, xyz: [0, 0, 0.1], rpy: [0, 0, 1.5],\n"
    "  noise: [1, 2, 3, 4, 5, 6], resolution: 0.5, range: [9, 9, 9, 8, 8, 8], delay: 3e-3},\n"
    " {name: gyro, type: gyro, link: hand, quat: [0, 1, 0, 0], noise: 0.1},\n"
    " {name: acc, type: accelerometer, link: hand, range: 20},\n"
    " {name: q, type: encoder, joint: turn}, {name: tau, type: joint_torque, joint: turn},\n"
    " {name: sole, type: contact, link: hand}, {name: zmp, type: zmp},\n"
    " {name: cop, type: pressure_centre, link: hand, xyz: [0, 0, -0.1]}]\n";

static int begin(void **state) {
  (void)scratch_begin(state);
  (void)scratch_text("arm.urdf", arm);
  return 0;
}

static tabi_scene *load(const char *text) { return load_scene(scratch_text("s.yaml", text), NULL); }

static tabi_sensor_def sensor(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_sensor(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_sensor(model, index);
}

static void check_list(const tabi_model *model) {
  assert_int_equal(tabi_model_nsensor(model), 8);
  tabi_sensor_def ft = sensor(model, "r/ft");
  assert_int_equal(ft.type, TABI_SENSOR_FORCE_TORQUE);
  assert_int_equal(ft.joint, tabi_model_find_joint(model, "r/grip"));
  assert_near(ft.pos[2], 0.1, 0);
  assert_near(ft.quat[3], sin(0.75), 1e-15);
  for (int i = 0; i < 6; ++i) {
    assert_near(ft.noise[i], i + 1, 0);
    assert_near(ft.resolution[i], 0.5, 0);
    assert_near(ft.range[i], i < 3 ? 9 : 8, 0);
  }
  assert_near(ft.delay, 3e-3, 0);
  tabi_sensor_def gyro = sensor(model, "r/gyro");
  assert_int_equal(gyro.link, tabi_model_find_link(model, "r/hand"));
  assert_near(gyro.noise[2], 0.1, 0);
  assert_near(gyro.quat[1], 1, 0);
  assert_true(isinf(gyro.range[0]));
  /* any link of the robot that moves with it */
  int32_t base = sensor(model, "r/zmp").link;
  assert_int_not_equal(tabi_model_link_body(model, base), TABI_WORLD);
  assert_int_equal(sensor(model, "r/cop").type, TABI_SENSOR_PRESSURE_CENTRE);
}

static void test_scene(void **state) {
  (void)state;
  char text[2048];
  (void)snprintf(text, sizeof text, "robots: [{name: r, model: arm.urdf, sensors: %s }]\n", list);
  tabi_scene *scene = load(text);
  check_list(tabi_scene_model(scene));
  assert_int_equal(sensor(tabi_scene_model(scene), "r/acc").place.line, 4);
  tabi_scene_destroy(scene);
}

/* The same list beside the robot's own file. */
static void test_sidecar(void **state) {
  (void)state;
  char text[2048];
  (void)snprintf(text, sizeof text, "sensors: %s", list);
  (void)scratch_text("kept.urdf", arm);
  (void)scratch_text("kept.tabi.yaml", text);
  tabi_scene *scene = load("robots: [{name: r, model: kept.urdf}]\n");
  check_list(tabi_scene_model(scene));
  assert_non_null(strstr(sensor(tabi_scene_model(scene), "r/q").place.file, "kept.tabi.yaml"));
  tabi_scene_destroy(scene);
}

/* Hanging at 0.3 rad by a locked joint: its encoder says so, and the weld bears the hand. */
static void test_locked(void **state) {
  (void)state;
  tabi_scene *scene =
      load("robots: [{name: r, model: arm.urdf, base: fixed, posture: {turn: 0.3}, lock: [turn],\n"
           "  sensors: [{name: q, type: encoder, joint: turn},\n"
           "    {name: tau, type: joint_torque, joint: turn},\n"
           "    {name: ft, type: force_torque, joint: grip}]}]\n");
  tabi_error err = {0};
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), NULL, &err);
  if (!world || tabi_scene_reset(scene, world, &err) != TABI_OK) fail_msg("%s", err.message);
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  double value[TABI_SENSOR_MAX];
  (void)tabi_world_sensor(world, 0, value);
  assert_near(value[0], 0.3, 0);
  (void)tabi_world_sensor(world, 1, value);
  assert_near(value[0], 0, 0);
  (void)tabi_world_sensor(world, 2, value);
  double weight = 2 * 9.81;
  const double wanted[6] = {-weight * sin(0.3), 0, weight * cos(0.3), 0, 0, 0};
  assert_near_n(value, wanted, 6, 1e-12);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static const struct {
  const char *text;
  const char *words;
} refused[] = {
    {"{type: gyro, link: hand}",                            "sensor: name is missing"                         },
    {"{name: a, link: hand}",                               "sensor 'a': type is missing (force_torque, gyro" },
    {"{name: a, type: giro, link: hand}",                   "unknown type 'giro' (did you mean 'gyro'?)"      },
    {"{name: a, type: thermometer, link: hand}",            "unknown type 'thermometer' (force_torque, gyro"  },
    {"{name: a, type: gyro, link: hnd}",                    "no link is called 'hnd' (did you mean 'hand'?)"  },
    {"{name: a, type: encoder, joint: turm}",               "no joint is called 'turm' (did you mean 'turn'?)"},
    {"{name: a, type: encoder, joint: grip}",               "type encoder needs a joint with one coordinate"  },
    {"{name: a, type: encoder}",                            "type encoder needs a joint: its name"            },
    {"{name: a, type: gyro, joint: turn}",                  "type gyro has no 'joint', but a link"            },
    {"{name: a, type: encoder, joint: turn, link: hand}",
     "type encoder has no 'link', but a joint"                                                                },
    {"{name: a, type: encoder, joint: turn, rpy: [0,0,0]}", "type encoder has no 'rpy'"                       },
    {"{name: a, type: zmp, noise: [1, 1]}",                 "noise needs 4 numbers, got 2"                    },
    {"{name: a, type: zmp, noise: -1}",                     "noise must be >= 0"                              },
    {"{name: a, type: zmp, range: 0}",                      "range must be > 0"                               },
    {"{name: a, type: zmp, delay: -1}",                     "delay -1 must be >= 0"                           },
    {"{name: a, type: zmp, nose: 1}",                       "unknown key 'nose' (did you mean 'noise'?)"      },
    {"{name: a, type: zmp, resolution: fine}",              "resolution 'fine' is not a number"               },
    {"{name: a, type: zmp}, {name: a, type: zmp}",          "sensor 'r/a' defined twice"                      },
    {"7",                                                   "expected a map"                                  },
    {"{name: [a], type: zmp}",                              "name must be a single value"                     },
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "robots:\n  - name: r\n    model: arm.urdf\n    sensors: [%s]\n",
                   refused[i].text);
    tabi_error err = {0};
    assert_null(tabi_scene_load(scratch_text("s.yaml", text), NULL, &err));
    if (!strstr(err.message, refused[i].words) || err.line != 4)
      fail_msg("%s\nsaid line %d: %s", refused[i].text, (int)err.line, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scene),
      cmocka_unit_test(test_sidecar),
      cmocka_unit_test(test_locked),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, begin, scratch_end);
}
