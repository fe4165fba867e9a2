/* test_robot.c - robots in scenes: placement, locked joints, materials, groups, control. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

#define MASS  "<inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial>"
#define SHAPE "<collision><geometry><sphere radius='0.05'/></geometry></collision>"

/* A column with a lift, a turning arm and a hand. */
static const char arm[] =
    "<robot name='arm'><link name='stand'>" MASS SHAPE "</link><link name='sled'>" MASS SHAPE
    "</link><link name='upper'>" MASS SHAPE "</link><link name='hand'>" MASS SHAPE "</link>"
    "<joint name='lift' type='prismatic'><parent link='stand'/><child link='sled'/>"
    "<origin xyz='0 0 0.5' rpy='0 0.5 0'/><axis xyz='0 0 1'/>"
    "<limit lower='-1' upper='1' effort='1000' velocity='9'/></joint>"
    "<joint name='turn' type='continuous'><parent link='sled'/><child link='upper'/>"
    "<origin xyz='0.3 0 0'/><axis xyz='0 1 0'/></joint>"
    "<joint name='wrist' type='continuous'><parent link='upper'/><child link='hand'/>"
    "<origin xyz='0.4 0 0' rpy='0.2 0 0'/><axis xyz='0 0 1'/></joint></robot>";

/* a tabi_warning_fn */
static void keep_note(void *user, const tabi_error *warning) {
  if (strstr(warning->message, "overlap")) *(tabi_error *)user = *warning;
}

static tabi_scene *load(const char *text) {
  (void)scratch_text("arm.urdf", arm);
  return load_scene(scratch_text("s.yaml", text), NULL);
}

static void pose_of(const char *text, const char *link, double pose[7]) {
  tabi_scene *scene = load(text);
  tabi_world *world = open_world(scene, NULL);
  int32_t index = tabi_model_find_link(tabi_scene_model(scene), link);
  assert_int_not_equal(index, TABI_NONE);
  tabi_dynamics_link_pose(tabi_world_dynamics(world), index, pose, pose + 3);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

#define POSTURE "posture: {lift: 0.2, turn: 0.7, wrist: -0.4}"
#define PLACED \
  "name: r, model: arm.urdf, base: free, xyz: [1, 2, 3], rpy: [0.1, 0.2, 0.3], " POSTURE

static void test_lock(void **state) {
  (void)state;
  double moving[7];
  double locked[7];
  pose_of("robots: [{" PLACED "}]\n", "r/hand", moving);
  pose_of("robots: [{" PLACED ", lock: [turn, lift, wrist]}]\n", "r/hand", locked);
  assert_near_n(locked, moving, 7, 1e-14);
  tabi_scene *scene = load("robots: [{" PLACED ", lock: [lift, wrist]}]\n");
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_model_nv(model), 7);
  int32_t lift = tabi_model_find_joint(model, "r/lift");
  assert_int_equal(tabi_model_joint(model, lift).type, TABI_JOINT_FIXED);
  tabi_scene_destroy(scene);
}

static void test_start(void **state) {
  (void)state;
  tabi_scene *scene = load("robots: [{" PLACED ", velocity: {turn: 2}, lin: [1, 0, 0],"
                           " ang: [0, 0, 3]}]\n");
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world *world = open_world(scene, NULL);
  const double *q = tabi_world_q(world);
  const double *v = tabi_world_v(world);
  assert_near_n(q, ((const double[3]){1, 2, 3}), 3, 1e-15);
  assert_near(q[tabi_model_joint_q(model, tabi_model_find_joint(model, "r/turn")).first], 0.7, 0);
  assert_near(v[tabi_model_joint_v(model, tabi_model_find_joint(model, "r/turn")).first], 2, 0);
  assert_near_n(v, ((const double[6]){1, 0, 0, 0, 0, 3}), 6, 0);
  assert_int_equal(tabi_scene_nrobot(scene), 1);
  assert_string_equal(tabi_scene_get_robot(scene, 0).name, "r");
  int32_t base = tabi_scene_get_robot(scene, 0).base;
  assert_string_equal(tabi_model_link(model, base).name, "r/stand");
  assert_int_equal(tabi_scene_get_robot(scene, 0).moving, base);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* Of an arm that hangs in the world the first link behind a joint moves. */
static void fixed_robot_has_a_moving_link(void **state) {
  (void)state;
  tabi_scene *scene = load("robots: [{name: r, model: arm.urdf, base: fixed}]\n");
  tabi_scene_robot robot = tabi_scene_get_robot(scene, 0);
  const tabi_model *model = tabi_scene_model(scene);
  assert_string_equal(tabi_model_link(model, robot.base).name, "r/stand");
  int32_t joint = tabi_model_link_joint(model, robot.moving);
  assert_string_equal(tabi_model_joint(model, joint).name, "r/lift");
  tabi_scene_destroy(scene);
}

static bool is_excluded(const tabi_model *model, const char *a, const char *b) {
  int32_t link_a = tabi_model_find_link(model, a);
  int32_t link_b = tabi_model_find_link(model, b);
  assert_true(link_a != TABI_NONE && link_b != TABI_NONE);
  for (int32_t i = 0; i < tabi_model_nexclusion(model); ++i) {
    int32_t links[2];
    tabi_model_exclusion(model, i, links);
    if ((links[0] == link_a && links[1] == link_b) || (links[0] == link_b && links[1] == link_a))
      return true;
  }
  return false;
}

/* Links that are inside each other when the scene starts do not collide, and a note says so; the
 * hand may come anywhere, so nothing is proved of it. */
static void overlap_is_left_out(void **state) {
  (void)state;
  (void)scratch_text("arm.urdf", arm);
  tabi_error told = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = keep_note;
  def.warn_user = &told;
  tabi_scene *scene = load_scene(
      scratch_text("s.yaml", "robots: [{name: r, model: arm.urdf, posture: {lift: -0.5}}]\n"),
      &def);
  const tabi_model *model = tabi_scene_model(scene);
  assert_true(is_excluded(model, "r/stand", "r/upper"));
  assert_false(is_excluded(model, "r/stand", "r/hand"));
  assert_non_null(strstr(told.message, "robot 'r': 1 pair of links overlap or touch in the initial "
                                       "posture and do not collide with each other: stand and "
                                       "upper"));
  assert_int_equal(told.severity, TABI_SEVERITY_NOTE);
  tabi_scene_destroy(scene);
  scene = load("robots: [{name: r, model: arm.urdf}]\n");
  assert_false(is_excluded(tabi_scene_model(scene), "r/stand", "r/upper"));
  tabi_scene_destroy(scene);
}

/* Pelvis, two light links and thigh, by hinges at one place or, `apart` m lower, by a third that
 * misses it. */
static tabi_scene *load_hip(double apart) {
  static const char link[] = "<link name='%s'>" MASS "<collision><origin xyz='0 0 %g'/><geometry>"
                             "<sphere radius='0.05'/></geometry></collision></link>";
  static const char *const names[] = {"pelvis", "yaw", "roll", "thigh"};
  static const char *const axes[] = {"0 0 1", "1 0 0", "0 1 0"};
  static char text[4096] = "";
  text[0] = '\0';
  scratch_append(text, sizeof text, "<robot name='hip'>");
  for (int i = 0; i < 4; ++i)
    scratch_append(text, sizeof text, link, names[i], i == 0 ? 0.3 : -0.3 - i);
  for (int i = 0; i < 3; ++i) {
    scratch_append(text, sizeof text,
                   "<joint name='j%d' type='continuous'><parent link='%s'/><child link='%s'/>"
                   "<origin xyz='%g 0 0'/><axis xyz='%s'/></joint>",
                   i, names[i], names[i + 1], i == 2 ? apart : 0, axes[i]);
  }
  scratch_append(text, sizeof text, "</robot>");
  (void)scratch_text("hip.urdf", text);
  return load_scene(scratch_text("s.yaml", "robots: [{name: r, model: hip.urdf}]\n"), NULL);
}

/* A hip of three hinges is one joint: thigh and pelvis are neighbours. */
static void hip_joins_neighbours(void **state) {
  (void)state;
  tabi_scene *hip = load_hip(0);
  assert_true(is_excluded(tabi_scene_model(hip), "r/pelvis", "r/thigh"));
  assert_true(is_excluded(tabi_scene_model(hip), "r/pelvis", "r/roll"));
  tabi_scene_destroy(hip);
  hip = load_hip(0.05);
  assert_false(is_excluded(tabi_scene_model(hip), "r/pelvis", "r/thigh"));
  assert_true(is_excluded(tabi_scene_model(hip), "r/pelvis", "r/roll"));
  tabi_scene_destroy(hip);
}

static bool may_touch(const tabi_shape_def *a, const tabi_shape_def *b) {
  return (a->group & b->mask) != 0 || (b->group & a->mask) != 0;
}

static tabi_shape_def shape_of(const tabi_model *model, const char *link) {
  int32_t index = tabi_model_find_link(model, link);
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (shape.link == index) return shape;
  }
  fail_msg("no shape on '%s'", link);
  return tabi_shape_def_default();
}

static void test_groups(void **state) {
  (void)state;
  tabi_scene *scene = load("bodies: [{name: ball, mass: 1, shape: {sphere: 0.1}}]\n"
                           "robots:\n"
                           "  - {name: a, model: arm.urdf, self_collision: false}\n"
                           "  - {name: b, model: arm.urdf, self_collision: false}\n"
                           "  - {name: c, model: arm.urdf}\n");
  const tabi_model *model = tabi_scene_model(scene);
  tabi_shape_def ball = shape_of(model, "ball");
  tabi_shape_def a = shape_of(model, "a/stand");
  tabi_shape_def a_hand = shape_of(model, "a/hand");
  tabi_shape_def b = shape_of(model, "b/stand");
  tabi_shape_def c = shape_of(model, "c/stand");
  tabi_shape_def c_hand = shape_of(model, "c/hand");
  assert_false(may_touch(&a, &a_hand));
  assert_true(may_touch(&a, &b));
  assert_true(may_touch(&a, &ball));
  assert_true(may_touch(&c, &c_hand));
  assert_true(may_touch(&c, &ball));
  assert_true(may_touch(&c, &a));
  tabi_scene_destroy(scene);
}

static void test_many_robots(void **state) {
  (void)state;
  static char text[8192] = "robots:\n";
  for (int i = 0; i < 34; ++i)
    scratch_append(text, sizeof text,
                   "  - {name: r%d, model: arm.urdf, self_collision: false, xyz: [%d, 0, 0]}\n", i,
                   i);
  tabi_scene *scene = load(text);
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_scene_nrobot(scene), 34);
  // the last three exclude their six pairs of links
  assert_int_equal(tabi_model_nexclusion(model), 18);
  tabi_shape_def first = shape_of(model, "r0/hand");
  tabi_shape_def last = shape_of(model, "r33/hand");
  assert_true(may_touch(&first, &last));
  tabi_scene_destroy(scene);
}

static void test_materials(void **state) {
  (void)state;
  tabi_scene *scene = load("materials: {w: {friction: 0.3}}\n"
                           "robots: [{name: a, model: arm.urdf, materials: {hand: w}}]\n");
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(shape_of(model, "a/hand").material, 0);
  assert_int_equal(shape_of(model, "a/stand").material, TABI_NONE);
  tabi_scene_destroy(scene);
}

static double value_after(const tabi_scene *scene, tabi_world *world, const char *joint) {
  const tabi_model *model = tabi_scene_model(scene);
  return tabi_world_q(world)[tabi_model_joint_q(model, tabi_model_find_joint(model, joint)).first];
}

static void run(tabi_scene *scene, tabi_world *world, int steps) {
  for (int i = 0; i < steps; ++i) {
    step_world(scene, world);
  }
}

static void check_holds(const char *controller, double tolerance) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, 0]\nrobots: [{name: r, model: arm.urdf, base: fixed, " POSTURE
                 ", velocity: {turn: 1}, controller: {%s}}]\n",
                 controller);
  tabi_scene *scene = load(text);
  tabi_world *world = open_world(scene, NULL);
  run(scene, world, 4000);
  assert_near(value_after(scene, world, "r/lift"), 0.2, tolerance);
  assert_near(value_after(scene, world, "r/turn"), 0.7, tolerance);
  assert_near(value_after(scene, world, "r/wrist"), -0.4, tolerance);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_pd(void **state) {
  (void)state;
  check_holds("type: pd, kp: 200, kd: 20", 1e-3);
  check_holds("type: pd, kp: 1e6, kd: 1e4, implicit: true", 1e-6);
  check_holds("type: pd, kp: 200, kd: 20, joints: {turn: {kp: 1e5, kd: 1e3, implicit: true}}",
              1e-3);
}

static void test_csv(void **state) {
  (void)state;
  (void)scratch_text("t.csv", "time,turn,lift\n0,0.5,0\n1,0.5,0\n2,1.5,0.25\n");
  tabi_scene *scene =
      load("gravity: [0, 0, 0]\n"
           "robots: [{name: r, model: arm.urdf, base: fixed, self_collision: false,\n"
           "  posture: {wrist: 0.3}, controller: {type: csv, file: t.csv,\n"
           "  kp: 1e6, kd: 1e4, implicit: true}}]\n");
  tabi_world *world = open_world(scene, NULL);
  assert_near(value_after(scene, world, "r/turn"), 0.5, 0);
  assert_near(value_after(scene, world, "r/wrist"), 0.3, 0);
  run(scene, world, 1500);
  assert_near(value_after(scene, world, "r/turn"), 1.0, 1e-3);
  assert_near(value_after(scene, world, "r/lift"), 0.125, 1e-3);
  run(scene, world, 1500);
  assert_near(value_after(scene, world, "r/turn"), 1.5, 1e-6);
  assert_near(value_after(scene, world, "r/lift"), 0.25, 1e-6);
  assert_near(value_after(scene, world, "r/wrist"), 0.3, 1e-6);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_csv_rate(void **state) {
  (void)state;
  (void)scratch_text("t.csv", "# rate 2\r\nturn\r\n0\r\n1\r\n3\r\n");
  tabi_scene *scene =
      load("gravity: [0, 0, 0]\n"
           "robots: [{name: r, model: arm.urdf, base: fixed, self_collision: false, controller:\n"
           "  {type: csv, file: t.csv, kp: 1e6, kd: 1e4, implicit: true}}]\n");
  tabi_world *world = open_world(scene, NULL);
  run(scene, world, 750);
  assert_near(value_after(scene, world, "r/turn"), 2.0, 1e-2);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* Where a robot with an actuator of its own comes to rest whose target is 0.5 rad. */
static double rest_under(const char *actuator) {
  char crank[512];
  (void)snprintf(crank, sizeof crank,
                 "<mujoco><worldbody><body name='b'><joint name='j' axis='0 0 1' damping='5'/>"
                 "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody>"
                 "<actuator>%s</actuator></mujoco>",
                 actuator);
  (void)scratch_text("crank.xml", crank);
  tabi_scene *scene = load("robots: [{name: r, model: crank.xml, posture: {j: 0.5},\n"
                           "  velocity: {j: 1}, controller: {type: pd}}]\n");
  tabi_world *world = open_world(scene, NULL);
  run(scene, world, 5000);
  double rest = value_after(scene, world, "r/j");
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return rest;
}

/* Position actuators of the model hold the posture, whatever their gear and offset. */
static void test_actuators(void **state) {
  (void)state;
  assert_near(rest_under("<position name='p' joint='j' kp='50' gear='2'/>"), 0.5, 1e-6);
  assert_near(rest_under("<general name='p' joint='j' biastype='affine' gainprm='20'"
                         " biasprm='7 -50 0' gear='-3'/>"),
              0.5, 1e-6);
  assert_near(rest_under("<position name='p' joint='j' kp='50'/>"), 0.5, 1e-6);
  tabi_error err = {0};
  const char *path = scratch_text("s.yaml", "robots: [{name: r, model: crank.xml,\n"
                                            "  controller: {type: pd, joints: {j: {kp: 5}}}}]\n");
  assert_null(tabi_scene_load(path, NULL, &err));
  assert_non_null(
      strstr(err.message, "the model drives joint 'r/j' itself; leave it out of joints"));
}

/* Controllers move only to a robot whose joints are in the same places of q and v. */
static void test_swap(void **state) {
  (void)state;
#define DRIVEN "robots: [{" PLACED ", controller: {type: pd, kp: 5}}]\n"
  tabi_scene *scene = load(DRIVEN);
  tabi_scene *heavier = load("gravity: [0, 0, -20]\n" DRIVEN);
  tabi_scene *locked = load("robots: [{" PLACED ", lock: [lift], "
                            "controller: {type: pd, kp: 5}}]\n");
  tabi_scene *alone = load("bodies: [{name: a, fixed: true}]\n");
  assert_int_equal(tabi_scene_swap_controllers(scene, heavier, NULL), TABI_OK);
  assert_int_equal(tabi_scene_swap_controllers(scene, heavier, NULL), TABI_OK);
  tabi_error err = {0};
  assert_int_equal(tabi_scene_swap_controllers(scene, locked, &err), TABI_ERR_ARGUMENT);
  assert_string_equal(err.message, "the scenes have different robots");
  assert_int_equal(tabi_scene_swap_controllers(scene, alone, NULL), TABI_ERR_ARGUMENT);
  tabi_scene_destroy(scene);
  tabi_scene_destroy(heavier);
  tabi_scene_destroy(locked);
  tabi_scene_destroy(alone);
}

/* Numbers of the scene replace those of the file, whatever text sets them; a link's inertia goes
 * with its mass. */
static void scene_overrides_the_file(void **state) {
  (void)state;
  (void)scratch_text("arm.urdf", arm);
  static const char *const set[] = {"robots.r.joints.turn.damping=2", "robots.r.links.hand.mass=3"};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = 2;
  tabi_scene *scene = load_scene(
      scratch_text("s.yaml",
                   "robots:\n"
                   "  - name: r\n    model: arm.urdf\n    self_collision: false\n"
                   "    joints: {turn: {stiffness: 4, rest: 0.1, friction: 0.5, damping: 1},"
                   " lift: {rotor_inertia: 2e-5, gear: 100, effort: 70}}\n"
                   "    links: {hand: {com: [0, 0, 0.1]}}\n"),
      &def);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_joint_def turn = tabi_model_joint(model, tabi_model_find_joint(model, "r/turn"));
  assert_near_n(((const double[]){turn.stiffness, turn.rest_position, turn.friction, turn.damping}),
                ((const double[]){4, 0.1, 0.5, 2}), 4, 0);
  tabi_joint_def lift = tabi_model_joint(model, tabi_model_find_joint(model, "r/lift"));
  assert_near_n(((const double[]){lift.rotor_inertia, lift.gear, lift.effort, lift.upper}),
                ((const double[]){2e-5, 100, 70, 1}), 4, 0);
  tabi_link_def hand = tabi_model_link(model, tabi_model_find_link(model, "r/hand"));
  assert_near_n(((const double[]){hand.mass, hand.com[2], hand.inertia[0], hand.inertia[3]}),
                ((const double[]){3, 0.1, 0.3, 0}), 4, 1e-15);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_robot_has_a_moving_link),
      cmocka_unit_test(test_lock),
      cmocka_unit_test(test_start),
      cmocka_unit_test(overlap_is_left_out),
      cmocka_unit_test(hip_joins_neighbours),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_many_robots),
      cmocka_unit_test(test_materials),
      cmocka_unit_test(test_pd),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_csv_rate),
      cmocka_unit_test(test_actuators),
      cmocka_unit_test(test_swap),
      cmocka_unit_test(scene_overrides_the_file),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
