/* test_posture.c - how robots start: keyframes of their files, the ground below them, and gains
 * that fill in where the file drives only some joints. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A trunk on a leg with a box for a foot, 0.5 m below the trunk's origin when stretched; the file
 * drives the hip and leaves the toe alone. */
#define BODY                                                                             \
  "<body name='trunk' pos='0 0 2'><freejoint/><geom type='sphere' size='0.1' mass='5'/>" \
  "<body name='leg' pos='0 0 -0.2'><joint name='hip' axis='0 1 0'/>"                     \
  "<geom type='box' size='0.15 0.15 0.05' pos='0 0 -0.25' mass='2'/>"                    \
  "<body name='toe' pos='0.4 0 0'><joint name='toe' axis='0 1 0'/>"                      \
  "<geom type='sphere' size='0.02' mass='0.2'/></body></body></body>"
#define ACTUATOR "<actuator><position name='p' joint='hip' kp='200' kv='20'/></actuator>"
#define KEYS                                                                            \
  "<keyframe><key name='home' qpos='1 2 0.49 1 0 0 0 0 0.3' qvel='0.1 0 0 0 0 0 0 0'/>" \
  "<key name='bent' qpos='0 0 3 1 0 0 0 0.5 0'/>"                                       \
  "<key name='deep' qpos='0 0 0.1 1 0 0 0 0 0'/></keyframe>"
static const char robot[] = "<mujoco><worldbody>" BODY "</worldbody>" ACTUATOR KEYS "</mujoco>";
static const char with_floor[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='9 9 1'/>" BODY
    "</worldbody>" ACTUATOR KEYS "</mujoco>";

#define FLOOR "bodies: [{name: floor, fixed: true, shape: {plane: {}}}]\n"

/* a tabi_warning_fn */
static void keep_lift(void *user, const tabi_error *warning) {
  if (strstr(warning->message, "lifted out")) *(tabi_error *)user = *warning;
}

static tabi_scene *load(const char *text, tabi_error *note) {
  (void)scratch_text("r.xml", robot);
  (void)scratch_text("floor.xml", with_floor);
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = keep_lift;
  def.warn_user = note;
  return load_scene(scratch_text("s.yaml", text), note ? &def : NULL);
}

/* q and v of the first robot at the start */
static void start_of(const char *text, double q[9], double v[8]) {
  tabi_scene *scene = load(text, NULL);
  tabi_world *world = open_world(scene, NULL);
  assert_int_equal(tabi_model_nq(tabi_scene_model(scene)), 9);
  memcpy(q, tabi_world_q(world), 9 * sizeof *q);
  memcpy(v, tabi_world_v(world), 8 * sizeof *v);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static double height_of(const char *text) {
  double q[9];
  double v[8];
  start_of(text, q, v);
  return q[2];
}

static void keyframe_by_name(void **state) {
  (void)state;
  double q[9];
  double v[8];
  start_of("robots: [{name: r, model: r.xml, posture: home}]\n", q, v);
  assert_near_n(q, ((const double[9]){1, 2, 0.49, 1, 0, 0, 0, 0, 0.3}), 9, 0);
  assert_near(v[0], 0.1, 0);
  start_of("robots: [{name: r, model: r.xml, posture: bent}]\n", q, v);
  assert_near(q[7], 0.5, 0);
}

/* What the scene says of the base counts more. */
static void scene_places_keyframe(void **state) {
  (void)state;
  double q[9];
  double v[8];
  start_of("robots: [{name: r, model: r.xml, posture: home, xyz: [5, 6, 7], lin: [0, 0, 3]}]\n", q,
           v);
  assert_near_n(q, ((const double[9]){5, 6, 7, 1, 0, 0, 0, 0, 0.3}), 9, 0);
  assert_near_n(v, ((const double[3]){0, 0, 3}), 3, 0);
}

static void locked_at_keyframe(void **state) {
  (void)state;
  tabi_scene *scene = load("robots: [{name: r, model: r.xml, posture: home, lock: [toe]}]\n", NULL);
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_model_nq(model), 8);
  tabi_joint_def toe = tabi_model_joint(model, tabi_model_find_joint(model, "r/toe"));
  assert_near(toe.initial_q[0], 0.3, 0);
  tabi_scene_destroy(scene);
}

static void two_robots_have_their_own(void **state) {
  (void)state;
  tabi_scene *scene = load("robots: [{name: a, model: r.xml, posture: bent},\n"
                           "  {name: b, model: r.xml, posture: home}]\n",
                           NULL);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world *world = open_world(scene, NULL);
  const double *q = tabi_world_q(world);
  assert_near(q[tabi_model_joint_q(model, tabi_model_find_joint(model, "a/hip")).first], 0.5, 0);
  assert_near(q[tabi_model_joint_q(model, tabi_model_find_joint(model, "b/toe")).first], 0.3, 0);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* Two servos and a motor on joints without weight; the file wants them elsewhere than they are. */
static const char driven[] =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body><joint name='a' axis='0 1 0'/><geom size='0.1' pos='0.3 0 0' mass='1'/></body>"
    "<body><joint name='b' axis='0 1 0'/><geom size='0.1' pos='0.3 1 0' mass='1'/></body>"
    "<body><joint name='c' axis='0 1 0' damping='2'/><geom size='0.1' pos='0.3 2 0' "
    "mass='1'/></body>"
    "</worldbody><actuator><position joint='a' kp='200' kv='20'/>"
    "<position joint='b' kp='200' kv='20'/><motor joint='c'/></actuator>"
    "<keyframe><key name='home' qpos='0.1 0.2 0.3' ctrl='0.4 0.5 1.5'/>"
    "<key name='still' qpos='0.1 0.2 0.3'/></keyframe></mujoco>";

/* q after 3 s, and the speed of the last joint */
static void settle(const char *keys, double q[3], double *speed) {
  char text[300];
  (void)scratch_text("d.xml", driven);
  (void)snprintf(
      text, sizeof text,
      "gravity: [0, 0, 0]\nrobots: [{name: r, model: d.xml, self_collision: false, %s}]\n", keys);
  tabi_scene *scene = load_scene(scratch_text("s.yaml", text), NULL);
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 3000; ++i) {
    tabi_scene_control(scene, world);
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  }
  int32_t nv = tabi_model_nv(tabi_scene_model(scene));
  for (int32_t i = 0; i < nv; ++i)
    q[i] = tabi_world_q(world)[i];
  *speed = tabi_world_v(world)[nv - 1];
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* With a controller that holds the posture and without one: servos go where the keyframe sends
 * them, the motor gives 1.5 N m against 2 N m s. */
static void keyframe_drives(void **state) {
  (void)state;
  const char *const keys[] = {"posture: home", "posture: home, controller: {type: pd, kp: 0}"};
  for (int i = 0; i < 2; ++i) {
    double q[3];
    double speed = 0;
    settle(keys[i], q, &speed);
    assert_near(q[0], 0.4, 1e-6);
    assert_near(q[1], 0.5, 1e-6);
    assert_near(speed, 0.75, 1e-6);
  }
}

/* Without inputs in the keyframe the controller holds the posture. */
static void keyframe_without_inputs(void **state) {
  (void)state;
  double q[3];
  double speed = 0;
  settle("posture: still, controller: {type: pd, kp: 0}", q, &speed);
  assert_near_n(q, ((const double[3]){0.1, 0.2, 0.3}), 3, 1e-9);
}

/* A servo of a tendon holds the length that the posture has, one of the keyframe goes where it
 * sends it, and without a controller it goes to 0. */
static void tendon_servo_holds(void **state) {
  (void)state;
  static const char hand[] =
      "<mujoco><compiler angle='radian'/><worldbody><body><joint name='a' axis='0 1 0' "
      "damping='2'/><geom size='0.1' mass='1'/></body></worldbody><tendon><fixed name='t'>"
      "<joint joint='a' coef='0.5'/></fixed></tendon>"
      "<actuator><position tendon='t' kp='200' gear='2'/></actuator>"
      "<keyframe><key name='home' qpos='0.3' ctrl='0.2'/></keyframe></mujoco>";
  static const struct {
    const char *keys;
    double to;
  } cases[] = {
      {"posture: {a: 0.3}, controller: {type: pd, kp: 0}", 0.3},
      {"posture: home, controller: {type: pd, kp: 0}",     0.2},
      {"posture: {a: 0.3}",                                0  },
  };
  (void)scratch_text("hand.xml", hand);
  for (int i = 0; i < 3; ++i) {
    char text[200];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, 0]\nrobots: [{name: r, model: hand.xml, %s}]\n", cases[i].keys);
    tabi_scene *scene = load(text, NULL);
    tabi_world *world = open_world(scene, NULL);
    for (int k = 0; k < 3000; ++k)
      step_world(scene, world);
    assert_near(tabi_world_q(world)[0], cases[i].to, 1e-6);
    tabi_world_destroy(world);
    tabi_scene_destroy(scene);
  }
}

/* The inputs of the others stay their own when a joint is locked. */
static void locked_joint_takes_its_input_along(void **state) {
  (void)state;
  double q[3];
  double speed = 0;
  settle("posture: home, lock: [a]", q, &speed);
  assert_near(q[0], 0.5, 1e-6);
  assert_near(speed, 0.75, 1e-6);
}

/* A gripper: b turns as 0.1 + 2 a, c against b, d by itself; motors on a and d. */
static const char gripper[] =
    "<mujoco><default><geom type='box' size='.1 .1 .1' mass='1' contype='0' "
    "conaffinity='0'/></default><worldbody>"
    "<body name='A'><joint name='a' axis='0 1 0'/><geom/></body><body name='B'><joint name='b' "
    "axis='0 1 0'/><geom/></body>"
    "<body name='C'><joint name='c' axis='0 1 0'/><geom/></body><body name='D'><joint name='d' "
    "type='slide' axis='0 0 1'/>"
    "<geom/></body></worldbody><equality><joint joint1='b' joint2='a' polycoef='0.1 2 0 0 0'/>"
    "<joint joint1='c' joint2='b' polycoef='0 -1 0 0 0'/></equality>"
    "<actuator><position joint='a' kp='9'/><motor joint='d'/></actuator></mujoco>";

/* Whichever is locked, all that move with it stand where the couplings put them. */
static void locked_with_what_it_is_coupled_to(void **state) {
  (void)state;
  static const char *const names[] = {"a", "b", "c"};
  (void)scratch_text("g.xml", gripper);
  for (int i = 0; i < 3; ++i) {
    char text[200];
    (void)snprintf(text, sizeof text,
                   "robots: [{name: r, model: g.xml, posture: {a: 0.4}, lock: [%s]}]\n", names[i]);
    tabi_scene *scene = load_scene(scratch_text("s.yaml", text), NULL);
    const tabi_model *model = tabi_scene_model(scene);
    assert_int_equal(tabi_model_nv(model), 1);
    assert_int_equal(tabi_model_ncoupling(model), 0);
    assert_int_equal(tabi_model_nactuator(model), 1);
    const double at[3] = {0.4, 0.9, -0.9};
    for (int k = 0; k < 3; ++k) {
      char name[8];
      (void)snprintf(name, sizeof name, "r/%s", names[k]);
      tabi_joint_def joint = tabi_model_joint(model, tabi_model_find_joint(model, name));
      assert_int_equal(joint.type, TABI_JOINT_FIXED);
      assert_near(joint.initial_q[0], at[k], 1e-15);
      assert_near(joint.quat[2], sin(at[k] / 2), 1e-15);
    }
    tabi_scene_destroy(scene);
  }
}

/* What is not coupled to it stays free, with its couplings. */
static void locked_beside_couplings(void **state) {
  (void)state;
  (void)scratch_text("g.xml", gripper);
  tabi_scene *scene =
      load_scene(scratch_text("s.yaml", "robots: [{name: r, model: g.xml, lock: [d]}]\n"), NULL);
  assert_int_equal(tabi_model_nv(tabi_scene_model(scene)), 3);
  assert_int_equal(tabi_model_ncoupling(tabi_scene_model(scene)), 2);
  tabi_scene_destroy(scene);
}

static void refuse(const char *text, const char *message) {
  tabi_error err = {0};
  (void)scratch_text("r.xml", robot);
  assert_null(tabi_scene_load(scratch_text("s.yaml", text), NULL, &err));
  if (!strstr(err.message, message)) fail_msg("%s", err.message);
}

static void refused(void **state) {
  (void)state;
  refuse("robots: [{name: r, model: r.xml, posture: hone}]\n",
         "no keyframe of its file is called 'hone' (did you mean 'home'?); there are: home, bent, "
         "deep");
  refuse("robots: [{name: r, model: r.xml, posture: [1, 2]}]\n",
         "posture must be the name of a keyframe or {joint: position, ...}");
  refuse("robots: [{name: r, model: r.xml, place: floor}]\n", "place must be ground");
  refuse("robots: [{name: r, model: r.xml, place: ground}]\n", "nothing is below it");
  refuse("robots: [{name: r, model: r.xml, base: fixed, place: ground}]\n", "a base that floats");
}

/* Feet in groups of their own, 2 and 4, as files have them so that they meet only each other. */
static void stands_in_any_group(void **state) {
  (void)state;
  (void)scratch_text("bits.xml",
                     "<mujoco><worldbody><body name='b' pos='0 0 3'><freejoint/>"
                     "<geom type='sphere' size='0.3' pos='0 0 0.5' mass='1'/>"
                     "<geom type='sphere' size='0.1' contype='2' conaffinity='4'/>"
                     "<geom type='sphere' size='0.1' pos='1 0 0' contype='4' conaffinity='2'/>"
                     "</body></worldbody></mujoco>");
  tabi_scene *scene = load_scene(
      scratch_text("s.yaml", FLOOR "robots: [{name: r, model: bits.xml, place: ground}]\n"), NULL);
  tabi_world *world = open_world(scene, NULL);
  assert_near(tabi_world_q(world)[2], 0.1, 1e-9);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void stands_on_ground(void **state) {
  (void)state;
#define ON_GROUND "robots: [{name: r, model: r.xml, place: ground"
  assert_near(height_of(FLOOR ON_GROUND "}]\n"), 0.5, 1e-9);
  assert_near(height_of(FLOOR ON_GROUND ", xyz: [0, 0, -30]}]\n"), 0.5, 1e-9);
  assert_near(height_of(FLOOR ON_GROUND ", posture: deep}]\n"), 0.5, 1e-9);
  // the edge of a foot that is turned by 0.5 rad
  double edge = 0.2 + 0.3 * cos(0.5) + 0.15 * sin(0.5);
  assert_near(height_of(FLOOR ON_GROUND ", posture: {hip: 0.5, toe: -1}}]\n"), edge, 1e-9);
}

static void stands_on_things(void **state) {
  (void)state;
  static const char boxes[] =
      "bodies: [{name: floor, fixed: true, shape: {plane: {}}},\n"
      "  {name: box, fixed: true, shape: {box: [1, 1, 0.4]}, xyz: [0.6, 0, 0.2]}]\n" ON_GROUND
      "}]\n";
  assert_near(height_of(boxes), 0.9, 1e-9);
  // a slope of 0.2 rad: the lower edge of the foot, or of the toe, touches
  static const char slope[] = "bodies: [{name: floor, fixed: true, shape: {plane: {}}, "
                              "rpy: [0, -0.2, 0]}]\n" ON_GROUND "}]\n";
  double foot = 0.5 + 0.15 * tan(0.2);
  double toe = 0.2 + 0.4 * tan(0.2) + 0.02 / cos(0.2);
  assert_near(height_of(slope), fmax(foot, toe), 1e-8);
  // a ball under the foot
  static const char ball[] =
      "bodies: [{name: ball, fixed: true, shape: {sphere: 0.3}, xyz: [0.05, 0.02, 0]}]\n" ON_GROUND
      "}]\n";
  assert_near(height_of(ball), 0.8, 1e-7);
}

/* The floor of the robot's own file, whether or not the robot collides with itself. */
static void stands_on_own_floor(void **state) {
  (void)state;
  assert_near(height_of("robots: [{name: r, model: floor.xml, place: ground}]\n"), 0.5, 1e-9);
  assert_near(height_of("robots: [{name: r, model: floor.xml, place: ground, "
                        "self_collision: false}]\n"),
              0.5, 1e-9);
}

/* Just inside the ground it is lifted out, and a note says so; deeper it stays. */
static void keyframe_is_lifted(void **state) {
  (void)state;
  tabi_error note = {0};
  static const char text[] = "robots: [{name: r, model: floor.xml, posture: home}]\n";
  tabi_scene *scene = load(text, &note);
  assert_non_null(strstr(note.message, "keyframe 'home' is 10 mm inside the ground"));
  assert_int_equal(note.severity, TABI_SEVERITY_NOTE);
  tabi_scene_destroy(scene);
  assert_near(height_of(text), 0.5, 1e-9);
  assert_near(height_of("robots: [{name: r, model: floor.xml, posture: deep}]\n"), 0.1, 0);
  assert_near(height_of("robots: [{name: r, model: floor.xml, posture: bent}]\n"), 3, 0);
}

/* A trunk of 4 kg on a foot, with a spring of 2000 N/m between them; the keyframe has it beyond a
 * limit. */
static const char hopper[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='9 9 1'/>"
    "<body name='trunk' pos='0 0 0.5'><freejoint/><geom type='sphere' size='0.05' mass='4'/>"
    "<body name='foot' pos='0 0 -0.4'><joint name='spring' type='slide' axis='0 0 1' "
    "stiffness='2000' damping='5' range='-0.1 0.2'/>"
    "<geom type='box' size='0.2 0.2 0.05' pos='0 0 -0.05' mass='1'/></body></body></worldbody>"
    "<keyframe><key name='home' qpos='0 0 0.5 1 0 0 0 0'/>"
    "<key name='long' qpos='0 0 0.7 1 0 0 0 -0.15'/></keyframe></mujoco>";

/* fastest motion of the trunk in the first half second; *q: of the spring at the start */
static double drop(const char *text, double *q) {
  (void)scratch_text("hopper.xml", hopper);
  tabi_scene *scene = load(text, NULL);
  tabi_world *world = open_world(scene, NULL);
  double fastest = 0;
  *q = tabi_world_q(world)[7];
  for (int i = 0; i < 500; ++i) {
    step_world(scene, world);
    fastest = fmax(fastest, fabs(tabi_world_v(world)[2]));
  }
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return fastest;
}

/* Settled, the spring bears the weight of the trunk at the start, and nothing moves. */
static void settles_on_springs(void **state) {
  (void)state;
  double q;
  assert_true(drop("robots: [{name: r, model: hopper.xml, posture: home}]\n", &q) > 0.3);
  assert_near(q, 0, 0);
  double speed = drop("robots: [{name: r, model: hopper.xml, posture: home, settle: 3}]\n", &q);
  assert_near(q, 4 * 9.81 / 2000, 1e-6);
  assert_true(speed < 1e-4);
}

/* The base of a rope is its lightest end, which the damper of the whole may not throw. */
static void settles_with_a_light_base(void **state) {
  (void)state;
  char rope[3000] = "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 0.2' "
                    "euler='45 45 45'><freejoint/><geom type='sphere' size='0.01' mass='0.002'/>";
  size_t used = strlen(rope);
  for (int i = 0; i < 10; ++i) {
    used +=
        (size_t)snprintf(rope + used, sizeof rope - used,
                         "<body pos='0.02 0 0'><joint name='j%d' axis='0 1 0' stiffness='0.01'/>"
                         "<geom type='sphere' size='0.01' mass='0.002'/>",
                         i);
  }
  for (int i = 0; i < 10; ++i)
    used += (size_t)snprintf(rope + used, sizeof rope - used, "</body>");
  (void)snprintf(rope + used, sizeof rope - used, "</body></worldbody></mujoco>");
  (void)scratch_text("rope.xml", rope);
  tabi_scene *scene =
      load("robots: [{name: r, model: rope.xml, place: ground, settle: 2}]\n", NULL);
  tabi_world *world = open_world(scene, NULL);
  assert_near(tabi_world_q(world)[2], 0.01, 1e-6); // on the ground
  for (int i = 0; i < 100; ++i)
    step_world(scene, world);
  assert_near(tabi_world_q(world)[2], 0.01, 1e-6);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void keyframe_keeps_limits(void **state) {
  (void)state;
  double q;
  (void)drop("robots: [{name: r, model: hopper.xml, posture: long}]\n", &q);
  assert_near(q, -0.1, 0);
}

/* kp is for the joints that the file does not drive. */
static void gains_fill_in(void **state) {
  (void)state;
  tabi_scene *scene = load("robots: [{name: r, model: floor.xml, place: ground, controller: "
                           "{type: pd, kp: 20, kd: 1, implicit: true}}]\n",
                           NULL);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 1000; ++i) {
    tabi_scene_control(scene, world);
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  }
  const double *q = tabi_world_q(world);
  assert_near(q[tabi_model_joint_q(model, tabi_model_find_joint(model, "r/toe")).first], 0, 0.05);
  assert_near(q[tabi_model_joint_q(model, tabi_model_find_joint(model, "r/hip")).first], 0, 0.05);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  refuse("robots: [{name: r, model: r.xml, controller: {type: pd}}]\n",
         "kp is missing (joint 'r/toe', which its file does not drive; kp: 0 leaves it passive)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settles_on_springs),
      cmocka_unit_test(settles_with_a_light_base),
      cmocka_unit_test(keyframe_keeps_limits),
      cmocka_unit_test(keyframe_by_name),
      cmocka_unit_test(scene_places_keyframe),
      cmocka_unit_test(locked_at_keyframe),
      cmocka_unit_test(locked_with_what_it_is_coupled_to),
      cmocka_unit_test(locked_beside_couplings),
      cmocka_unit_test(keyframe_drives),
      cmocka_unit_test(keyframe_without_inputs),
      cmocka_unit_test(tendon_servo_holds),
      cmocka_unit_test(locked_joint_takes_its_input_along),
      cmocka_unit_test(two_robots_have_their_own),
      cmocka_unit_test(refused),
      cmocka_unit_test(stands_on_ground),
      cmocka_unit_test(stands_in_any_group),
      cmocka_unit_test(stands_on_things),
      cmocka_unit_test(stands_on_own_floor),
      cmocka_unit_test(keyframe_is_lifted),
      cmocka_unit_test(gains_fill_in),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
