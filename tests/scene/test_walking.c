/* test_walking.c - `controller: {type: walk}`: the scenes that come with tabi walk to their end and
 * come to stand where their steps lead, a run repeats itself bit by bit, a robot walks from where
 * it was put, and what is wrong is refused with its cure. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <string.h>

#define WALK       TABI_SOURCE_DIR "/scenes/walk.yaml"
#define WALK_BUSH  TABI_SOURCE_DIR "/scenes/walk_bush.yaml"
#define WALK19     TABI_SOURCE_DIR "/scenes/walk19.yaml"
#define CONTROLLER "robots.robot.controller."
#define HANGING_BOX                                                            \
  "bodies=[{name: floor, fixed: true, shape: {plane: {}}, material: ground}, " \
  "{name: box, mass: 1, shape: {box: [0.1, 0.1, 0.1]}, xyz: [9, 0, 1]}]"
#define SHORT CONTROLLER "steps=[{stride: 0.2}, {}]"

typedef struct result {
  double at[3];  /* m, of the pelvis at the end */
  double yaw;    /* rad */
  double lowest; /* m, of the pelvis on the way */
  uint64_t hash;
} result;

static tabi_scene *load(const char *path, const char *const *set, int32_t nset) {
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  return load_scene(path, &def);
}

static void look(tabi_world *world, int32_t link, result *seen) {
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(world), link, seen->at, quat);
  seen->yaw = 2 * atan2(quat[3], quat[0]);
  seen->lowest = fmin(seen->lowest, seen->at[2]);
}

static result walk(tabi_scene *scene) {
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *world = open_world(scene, &def);
  int32_t base = tabi_scene_get_robot(scene, 0).base;
  result seen = {.lowest = 10};
  double steps = round(tabi_scene_duration(scene) / def.timestep);
  for (int64_t i = 0; i < (int64_t)steps; ++i) {
    step_world(scene, world);
    look(world, base, &seen);
  }
  seen.hash = tabi_world_hash(world);
  tabi_world_destroy(world);
  return seen;
}

static result run(const char *path, const char *const *set, int32_t nset) {
  tabi_scene *scene = load(path, set, nset);
  result seen = walk(scene);
  tabi_scene_destroy(scene);
  return seen;
}

/* A step of 0.2 m and one that closes the feet, before which the weight comes back over both. */
static void test_short(void **state) {
  (void)state;
  static const char *const set[] = {SHORT, CONTROLLER "stand_before=0.8",
                                    CONTROLLER "stand_after=0.4", "duration=3"};
  static const char *const scenes[] = {WALK, WALK_BUSH};
  for (int i = 0; i < 2; ++i) {
    result seen = run(scenes[i], set, 4);
    print_message("two steps: pelvis at %.4f %.4f %.4f m\n", seen.at[0], seen.at[1], seen.at[2]);
    assert_near(seen.at[0], 0.2 - 0.007, 0.01);
    assert_near(seen.at[1], 0, 0.03);
    assert_true(seen.lowest > 0.64);
  }
}

/* The stabiliser forgets what it felt when a run starts anew. */
static void test_repeat(void **state) {
  (void)state;
  static const char *const set[] = {CONTROLLER "stand_before=0.2", CONTROLLER "stand_after=0",
                                    CONTROLLER "steps=1", "duration=0.4"};
  tabi_scene *scene = load(WALK_BUSH, set, 4);
  assert_true(walk(scene).hash == walk(scene).hash);
  tabi_scene_destroy(scene);
}

#if !TEST_SHORT
/* Five steps of 0.2 m and three of 12 degrees on a circle of 0.75 m to the left. */
static void test_shipped(void **state) {
  (void)state;
  static const char *const contacts[] = {"contact.model=cone", "contact.model=lcp",
                                         "contact.model=exact", "contact.model=penalty",
                                         "contact.model=impulse"};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 2; ++k) {
      result seen = run(k == 0 ? WALK : WALK_BUSH, &contacts[i], 1);
      print_message("%s, %s: pelvis at %.4f %.4f %.4f m, yaw %.4f rad\n",
                    k == 0 ? "walk" : "walk_bush", contacts[i], seen.at[0], seen.at[1], seen.at[2],
                    seen.yaw);
      assert_near(seen.at[0], 1 + 0.75 * sin(3 * 0.2094), 0.02);
      assert_near(seen.at[1], 0.75 * (1 - cos(3 * 0.2094)), 0.02);
      assert_near(seen.yaw, 3 * 0.2094, 0.01);
      assert_true(seen.lowest > 0.63);
    }
  }
}

/* The papers' own setting, in which all servos are explicit: with the rotors of its motors it walks
 * as by default. */
static void test_explicit(void **state) {
  (void)state;
  static const char *const contacts[] = {"contact.model=cone", "contact.model=lcp",
                                         "contact.model=cone-paper"};
  for (int i = 0; i < 3; ++i) {
    const char *const set[] = {contacts[i], "integrator=rk4"};
    result seen = run(WALK, set, 2);
    print_message("walk, rk4, %s: pelvis at %.4f %.4f %.4f m, yaw %.4f rad\n", contacts[i],
                  seen.at[0], seen.at[1], seen.at[2], seen.yaw);
    assert_near(seen.at[0], 1 + 0.75 * sin(3 * 0.2094), 0.02);
    assert_near(seen.at[1], 0.75 * (1 - cos(3 * 0.2094)), 0.02);
    assert_near(seen.yaw, 3 * 0.2094, 0.03);
    assert_true(seen.lowest > 0.63);
  }
}

/* Nineteen steps with all joints free lead where they should: forward, along an arc of 60 degrees
 * and back the way it then looks. */
static void test_nineteen(void **state) {
  (void)state;
  result seen = run(WALK19, NULL, 0);
  double turn = 5 * 0.2094;
  print_message("walk19: pelvis at %.4f %.4f %.4f m, yaw %.4f rad\n", seen.at[0], seen.at[1],
                seen.at[2], seen.yaw);
  assert_near(seen.at[0], 6 * 0.2 + 0.75 * sin(turn) - 5 * 0.15 * cos(turn), 0.02);
  assert_near(seen.at[1], 0.75 * (1 - cos(turn)) - 5 * 0.15 * sin(turn), 0.02);
  assert_near(seen.yaw, turn, 0.01);
  assert_true(seen.lowest > 0.63);
}

/* Feet and waist of the other humanoids are found as well. */
static void test_others(void **state) {
  (void)state;
  static const char *const small[] = {
      "robots.robot.controller={type: walk, kp: 500, kd: 10, steps: 5, stride: 0.06, lift: 0.02, "
      "single_support: 0.5}",
      "duration=8"};
  static const char *const human[] = {
      "robots.robot.controller={type: walk, kp: 15000, kd: 300, steps: 5, stride: 0.2}",
      "duration=9"};
  result seen = run(TABI_SOURCE_DIR "/scenes/stand_humanoid20.yaml", small, 2);
  assert_near(seen.at[0], 0.24, 0.005);
  assert_true(seen.lowest > 0.21);
  seen = run(TABI_SOURCE_DIR "/scenes/stand_figure40.yaml", human, 2);
  assert_near(seen.at[0], 0.8, 0.02);
  assert_true(seen.lowest > 0.88);
}

/* The stabiliser is what keeps the robot on its rubber feet. */
static void test_open_loop(void **state) {
  (void)state;
  static const char *const set[] = {CONTROLLER "stabiliser=off"};
  assert_true(run(WALK_BUSH, set, 1).lowest < 0.4);
}
#endif

/* Put elsewhere and turned, it walks there, beside a box that hangs on a connection, for which the
 * model is made a second time. */
static void test_place(void **state) {
  (void)state;
  static const char *const set[] = {
      SHORT,
      CONTROLLER "stand_before=0.5",
      CONTROLLER "stand_after=0.2",
      "duration=2.5",
      "robots.robot.xyz=[1, 2, 0.7]",
      "robots.robot.rpy=[0, 0, 1.5707963267948966]",
      "connections=[{type: ball, a: box, b: world, at: [0, 0, 0.1]}]",
      HANGING_BOX,
  };
  result seen = run(WALK, set, 8);
  assert_near(seen.at[0], 1, 0.03);
  assert_near(seen.at[1], 2.2 - 0.007, 0.01);
  assert_near(seen.yaw, 1.5708, 0.01);
}

static void expect_refused(const char *path, const char *set, const char *words) {
  tabi_error err = {0};
  tabi_scene_def def = tabi_scene_def_default();
  /* a plan that is soon made, before what is wrong */
  const char *const all[] = {CONTROLLER "steps=0", CONTROLLER "stand_before=0.1",
                             CONTROLLER "stand_after=0.1", set};
  def.set = all;
  def.nset = 4;
  tabi_scene *scene = tabi_scene_load(path, &def, &err);
  if (scene) fail_msg("'%s' was taken", set);
  if (!strstr(err.message, words)) fail_msg("'%s': %s", set, err.message);
  assert_true(err.line > 0);
  assert_true(err.file[0] != '\0');
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *set, *words;
  } bad[] = {
      {CONTROLLER "stpes=3",                                  "unknown key 'stpes' (did you mean 'steps'?)"                     },
      {CONTROLLER "steps=many",                               "steps 'many' is not a number"                                    },
      {CONTROLLER "steps=1001",                               "more than 1000 steps"                                            },
      {CONTROLLER "steps=[{times: 600}, {times: 600}]",       "more than 1000 steps"                                            },
      {CONTROLLER "steps=[{times: 10, single_support: 100}]", "or 600 s of them"                                                },
      {CONTROLLER "steps=[{strid: 1}]",                       "steps: unknown key 'strid' (did you mean 'stride'?)"             },
      {CONTROLLER "steps=[{arc: 1, turn: 0.1, stride: 0.2}]", "give arc and turn, or stride"                                    },
      {CONTROLLER "stand_after=601",                          "stand_after must be at most 600 s"                               },
      {CONTROLLER "steps=[{stride: 2}]",                      "leg cannot reach its place"                                      },
      {CONTROLLER "steps=[{sideways: -0.1}]",                 "step 1: the feet come to stand"                                  },
      {CONTROLLER "first=both",                               "first must be left or right, not 'both'"                         },
      {CONTROLLER "feet=[l_foot]",                            "feet must be [left, right]"                                      },
      {CONTROLLER "feet=[l_foot, l_boot]",                    "no link is called 'l_boot'; name both soles"                     },
      {CONTROLLER "feet=[r_foot, l_foot]",                    "the left foot is not to the left"                                },
      {CONTROLLER "waist=belt",                               "no link is called 'belt'; name the one that floats"              },
      {CONTROLLER "place=[1, 2]",                             "place needs 3 numbers, got 2"                                    },
      {CONTROLLER "stabiliser=maybe",                         "stabiliser must be true or false, not 'maybe'"                   },
      {CONTROLLER "stabiliser=on",                            "stabiliser: no sensor is called 'l_ft'; add {name: l_ft, type: "
                                   "force_torque, joint: (left ankle)} to the robot's sensors"},
      {"robots.robot.base=fixed",                             "does not float; load the robot with a free base"                 },
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    expect_refused(WALK, bad[i].set, bad[i].words);
  expect_refused(WALK_BUSH, CONTROLLER "stabiliser={gyro: giro}",
                 "no sensor is called 'giro'; add {name: giro, type: gyro");
  expect_refused(WALK_BUSH, CONTROLLER "stabiliser={gyro: accelerometer}",
                 "is not a sensor of type gyro");
  expect_refused(WALK_BUSH, CONTROLLER "stabiliser={pole: [-1, 4]}", "poles must be negative");
  expect_refused(WALK_BUSH, CONTROLLER "stabiliser={force: l_ft}", "force must be a list");
}

/* "steps: 3" is two and one that closes the feet.  An arc beside the list leads steps with turns of
 * their own along it, and none with a stride of its own. */
#define SOON CONTROLLER "stand_before=0.2", CONTROLLER "stand_after=0", "duration=0.3"
static void test_count(void **state) {
  (void)state;
  static const char *const list[] = {SOON, CONTROLLER "steps=[{stride: 0.1}, {stride: 0.1}, {}]"};
  static const char *const count[] = {SOON, CONTROLLER "steps=3", CONTROLLER "stride=0.1"};
  static const char *const arc[] = {SOON, CONTROLLER "steps=[{turn: 0.1, arc: 0}]"};
  static const char *const turn[] = {SOON, CONTROLLER "steps=[{turn: 0.1}]"};
  static const char *const own_arc[] = {SOON, CONTROLLER "steps=[{arc: 0.75, turn: 0.1}]"};
  static const char *const all_arc[] = {SOON, CONTROLLER "steps=[{turn: 0.1}]",
                                        CONTROLLER "arc=0.75", CONTROLLER "turn=0.2"};
  static const char *const straight[] = {SOON, CONTROLLER "steps=[{stride: 0.1, turn: 0}]"};
  static const char *const leaves_arc[] = {SOON, CONTROLLER "steps=[{stride: 0.1, turn: 0}]",
                                           CONTROLLER "arc=0.75", CONTROLLER "turn=0.2"};
  assert_true(run(WALK, own_arc, 4).hash == run(WALK, all_arc, 6).hash);
  assert_true(run(WALK, straight, 4).hash == run(WALK, leaves_arc, 6).hash);
  assert_true(run(WALK, list, 4).hash == run(WALK, count, 5).hash);
  assert_true(run(WALK, arc, 4).hash == run(WALK, turn, 4).hash);
}
#undef SOON

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_short),
    cmocka_unit_test(test_repeat),
    cmocka_unit_test(test_place),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_count),
#if !TEST_SHORT
    cmocka_unit_test(test_shipped),
    cmocka_unit_test(test_explicit),
    cmocka_unit_test(test_nineteen),
    cmocka_unit_test(test_others),
    cmocka_unit_test(test_open_loop),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
