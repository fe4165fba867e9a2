/* test_connections.c - what connections of a scene become: links, frames on both sides, lengths. */
#include "math/quat.h"
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

/* A rod leans by a quarter turn about x: its z axis is the world's -y.  A ball hangs beside it. */
#define BODIES                                                              \
  "bodies:\n"                                                               \
  "  - {name: bar, mass: 1, shape: {box: [0.1, 0.1, 1]}, xyz: [1, 2, 3],\n" \
  "     rpy: [1.5707963267948966, 0, 0]}\n"                                 \
  "  - {name: ball, mass: 1, shape: {sphere: 0.1}, xyz: [1, 1, 4]}\n"

static tabi_scene *load(const char *text) { return load_scene_text(text, "dir/s.yaml", NULL); }

static tabi_connection_def only(const tabi_scene *scene) {
  assert_int_equal(tabi_model_nconnection(tabi_scene_model(scene)), 1);
  return tabi_model_connection(tabi_scene_model(scene), 0);
}

static v3 turn(const double quat[4], v3 v) {
  m3 matrix = q_matrix(q_load(quat));
  return m3_mulv(&matrix, v);
}

static void assert_vector(v3 v, double x, double y, double z) {
  assert_near(v.x, x, 1e-12);
  assert_near(v.y, y, 1e-12);
  assert_near(v.z, z, 1e-12);
}

/* Point (0, 0, -1) of the bar is at (1, 3, 3): two up and one to the left of the ball. */
static void test_ball(void **state) {
  (void)state;
  tabi_scene *scene =
      load(BODIES "connections: [{type: ball, name: c, a: bar, b: ball, at: [0, 0, -1]}]\n");
  tabi_connection_def def = only(scene);
  assert_int_equal(def.type, TABI_CONNECTION_BALL);
  assert_string_equal(def.name, "c");
  assert_int_equal(def.a, tabi_model_find_link(tabi_scene_model(scene), "bar"));
  assert_int_equal(def.b, tabi_model_find_link(tabi_scene_model(scene), "ball"));
  assert_vector(v3_load(def.pos_a), 0, 0, -1);
  assert_vector(v3_load(def.pos_b), 0, 2, -1);
  assert_int_equal(def.place.line, 5);
  tabi_scene_destroy(scene);
}

/* A point of the world, and a name made from those of the links. */
static void test_world(void **state) {
  (void)state;
  tabi_scene *scene =
      load(BODIES "connections: [{type: ball, a: world, b: bar, at: [1, 2.5, 3]}]\n");
  tabi_connection_def def = only(scene);
  assert_string_equal(def.name, "world to bar");
  assert_int_equal(def.a, TABI_WORLD);
  assert_vector(v3_load(def.pos_a), 1, 2.5, 3);
  assert_vector(v3_load(def.pos_b), 0, 0, -0.5);
  tabi_scene_destroy(scene);
}

/* The axis is one of a's frame, and z of the frame on either side is that axis. */
static void test_hinge(void **state) {
  (void)state;
  tabi_scene *scene = load(
      BODIES "connections: [{type: hinge, a: bar, b: world, at: [0, 0, 0.5], axis: [0, 0, -2]}]\n");
  tabi_connection_def def = only(scene);
  assert_int_equal(def.type, TABI_CONNECTION_HINGE);
  assert_vector(turn(def.quat_a, v3_make(0, 0, 1)), 0, 0, -1);
  assert_vector(turn(def.quat_b, v3_make(0, 0, 1)), 0, 1, 0);
  assert_vector(v3_load(def.pos_b), 1, 1.5, 3);
  tabi_scene_destroy(scene);
}

/* Both sides given: nothing is taken from the start. */
static void test_both_sides(void **state) {
  (void)state;
  tabi_scene *scene =
      load(BODIES "connections: [{type: hinge, a: bar, b: ball, at: [0, 0, 0.5],\n"
                  "  axis: [1, 0, 0], at_b: [0.1, 0.2, 0.3], axis_b: [0, 1, 0]}]\n");
  tabi_connection_def def = only(scene);
  assert_vector(v3_load(def.pos_b), 0.1, 0.2, 0.3);
  assert_vector(turn(def.quat_b, v3_make(0, 0, 1)), 0, 1, 0);
  tabi_scene_destroy(scene);
}

static void test_fixed(void **state) {
  (void)state;
  tabi_scene *scene = load(BODIES "connections: [{type: fixed, a: bar, b: ball}]\n");
  tabi_connection_def def = only(scene);
  assert_int_equal(def.type, TABI_CONNECTION_FIXED);
  assert_vector(v3_load(def.pos_a), 0, 0, 0);
  assert_vector(v3_load(def.pos_b), 0, 1, -1);
  assert_vector(turn(def.quat_b, v3_make(0, 0, 1)), 0, -1, 0);
  tabi_scene_destroy(scene);
}

static void test_axes(void **state) {
  (void)state;
  tabi_scene *scene =
      load(BODIES "connections: [{type: axes, a: bar, b: ball, at: [0, 0, 0], axes: [x, z, ry],\n"
                  "  rpy: [0, 0, 1.5707963267948966], quat_b: [1, 0, 0, 0]}]\n");
  tabi_connection_def def = only(scene);
  assert_int_equal(def.type, TABI_CONNECTION_AXES);
  assert_int_equal(def.axes, TABI_MOVE_X | TABI_MOVE_Z | TABI_TURN_Y);
  assert_vector(turn(def.quat_a, v3_make(1, 0, 0)), 0, 1, 0);
  assert_vector(turn(def.quat_b, v3_make(1, 0, 0)), 1, 0, 0);
  tabi_scene_destroy(scene);
}

/* Turns alone have no point. */
static void test_turns(void **state) {
  (void)state;
  tabi_scene *scene = load(BODIES "connections: [{type: axes, a: bar, b: ball, axes: [rx, rz]}]\n");
  assert_int_equal(only(scene).axes, TABI_TURN_X | TABI_TURN_Z);
  tabi_scene_destroy(scene);
}

static void test_lengths(void **state) {
  (void)state;
  tabi_scene *scene =
      load(BODIES "connections:\n"
                  "  - {type: rod, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, -1]}\n"
                  "  - {type: rod, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, 0], length: 7}\n"
                  "  - {type: spring, a: ball, b: world, at: [0, 0, 0], at_b: [1, 1, 6],\n"
                  "     stiffness: 100, damping: 3}\n"
                  "  - {type: spring, a: ball, b: world, at: [0, 0, 0], at_b: [1, 1, 6],\n"
                  "     stiffness: 100, rest: 0}\n");
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_model_nconnection(model), 4);
  assert_near(tabi_model_connection(model, 0).length, 1, 1e-12);
  assert_near(tabi_model_connection(model, 1).length, 7, 0);
  tabi_connection_def spring = tabi_model_connection(model, 2);
  assert_int_equal(spring.type, TABI_CONNECTION_SPRING);
  assert_near(spring.length, 2, 1e-12);
  assert_near(spring.stiffness, 100, 0);
  assert_near(spring.damping, 3, 0);
  assert_near(tabi_model_connection(model, 3).length, 0, 0);
  tabi_scene_destroy(scene);
}

/* The posture in which a connection is closed is the scene's, not the file's: with the knee bent by
 * a quarter turn the ankle is 0.3 m behind it. */
static void test_posture(void **state) {
  (void)state;
  static const char text[] =
      "robots:\n"
      "  - {name: r, model: ../../models/humanoid36.urdf, base: fixed, xyz: [0, 0, 1],\n"
      "     posture: {l_knee: 1.5707963267948966}}\n"
      "connections: [{type: ball, a: r/l_shank, b: world, at: [0, 0, -0.3]}]\n";
  char path[512];
  (void)snprintf(path, sizeof path, "%s/tests/scene/s.yaml", TABI_SOURCE_DIR);
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(text, sizeof text - 1, path, NULL, &err);
  if (!scene) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
  tabi_connection_def def = only(scene);
  assert_vector(v3_load(def.pos_b), -0.3, 0.095, 0.7);
  tabi_scene_destroy(scene);
}

static void test_fallback(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tabi_fallback means;
  } words[] = {
      {"bodies: [{name: a, fixed: true}]\n",                              TABI_FALLBACK_DEFAULT},
      {"contact: {fallback: none}\nbodies: [{name: a, fixed: true}]\n",   TABI_FALLBACK_NONE   },
      {"contact: {fallback: newton}\nbodies: [{name: a, fixed: true}]\n", TABI_FALLBACK_NEWTON },
      {"contact: {fallback: exact}\nbodies: [{name: a, fixed: true}]\n",  TABI_FALLBACK_EXACT  },
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    tabi_scene *scene = load(words[i].text);
    assert_int_equal(tabi_scene_world_def(scene).fallback, words[i].means);
    tabi_scene_destroy(scene);
  }
}

typedef struct bad {
  const char *item, *words;
} bad;

static const bad refused[] = {
    {"a: bar, b: ball",                                                              "type is missing (ball, hinge"    },
    {"type: bal, a: bar, b: ball",                                                   "unknown type 'bal' (ball, hinge" },
    {"type: ball, b: ball, at: [0, 0, 0]",                                           "a is missing"                    },
    {"type: ball, a: bar, at: [0, 0, 0]",                                            "b is missing"                    },
    {"type: ball, a: bar, b: ball",                                                  "at is missing: [x, y, z]"        },
    {"type: ball, a: bar, b: balll, at: [0, 0, 0]",
     "no link is called 'balll' (did you mean 'ball'?)"                                                                },
    {"type: ball, a: bar, b: wrold, at: [0, 0, 0]",                                  "(did you mean 'world'?)"         },
    {"type: ball, a: bar, b: bar, at: [0, 0, 0]",                                    "cannot move against each other"  },
    {"type: ball, a: world, b: world, at: [0, 0, 0]",                                "cannot move against each other"  },
    {"type: ball, a: bar, b: ball, at: [0, 0]",                                      "at needs 3 numbers, got 2"       },
    {"type: ball, a: bar, b: ball, at: [0, 0, 0], at_b: 1",                          "at_b must be a list"             },
    {"type: ball, a: bar, b: ball, at: [0, 0, 0], axis: [1, 0, 0]",
     "type ball has no 'axis' (at, at_b, collide)"                                                                     },
    {"type: ball, a: bar, b: ball, at: [0, 0, 0], lenght: 1",
     "unknown key 'lenght' (did you mean 'length'?)"                                                                   },
    {"type: hinge, a: bar, b: ball, at: [0, 0, 0]",                                  "type hinge needs axis: [x, y, z]"},
    {"type: hinge, a: bar, b: ball, at: [0, 0, 0], axis: [0, 0, 0]",                 "axis has no direction"           },
    {"type: hinge, a: bar, b: ball, at: [0, 0, 0], axis: [1, 0, 0], rpy: [0, 0, 0]",
     "type hinge has no 'rpy'"                                                                                         },
    {"type: axes, a: bar, b: ball, at: [0, 0, 0]",                                   "type axes needs axes"            },
    {"type: axes, a: bar, b: ball, at: [0, 0, 0], axes: []",                         "axes is empty"                   },
    {"type: axes, a: bar, b: ball, at: [0, 0, 0], axes: [x, w]",                     "'w' is none of x, y, z, rx"      },
    {"type: axes, a: bar, b: ball, at: [0, 0, 0], axes: [x, [y]]",                   "'[..]' is none of x, y, z"       },
    {"type: axes, a: bar, b: ball, at: [0, 0, 0], axes: [x, x]",                     "x is named twice"                },
    {"type: fixed, a: bar, b: ball, rpy: [0, 0, 0], quat: [1, 0, 0, 0]",             "give rpy or quat"                },
    {"type: fixed, a: bar, b: ball, quat_b: [1, 1, 0, 0]",                           "quat_b has length 1.41"          },
    {"type: rod, a: bar, b: ball, at: [0, 0, 0]",                                    "type rod needs at_b: [x, y, z]"  },
    {"type: rod, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, 0], rest: 1",
     "type rod has no 'rest' (at, at_b, length)"                                                                       },
    {"type: rod, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, 0], length: 0",
     "length 0 must be > 0"                                                                                            },
    {"type: rod, a: world, b: ball, at: [1, 1, 4], at_b: [0, 0, 0]",
     "its ends meet in the initial posture; give length, or use type ball"                                             },
    {"type: spring, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, 0]",
     "type spring needs stiffness or damping"                                                                          },
    {"type: spring, a: bar, b: ball, at: [0, 0, 0], at_b: [0, 0, 0], stiffness: -1",
     "stiffness -1 must be >= 0"                                                                                       },
};

/* Every misuse is an error at its line that says what to do. */
static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    char text[1024];
    tabi_error err = {0};
    int size = snprintf(text, sizeof text, "%sconnections:\n  - {%s}\n", BODIES, refused[i].item);
    tabi_scene *scene = tabi_scene_load_text(text, (size_t)size, "dir/s.yaml", NULL, &err);
    if (scene) fail_msg("was read: %s", refused[i].item);
    assert_int_equal(err.line, 6);
    assert_string_equal(err.file, "dir/s.yaml");
    if (!strstr(err.message, refused[i].words))
      fail_msg("%s: '%s' is not in '%s'", refused[i].item, refused[i].words, err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball),    cmocka_unit_test(test_world),
      cmocka_unit_test(test_hinge),   cmocka_unit_test(test_both_sides),
      cmocka_unit_test(test_fixed),   cmocka_unit_test(test_axes),
      cmocka_unit_test(test_turns),   cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_posture), cmocka_unit_test(test_fallback),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
