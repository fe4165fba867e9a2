/* test_sidecar.c - robot.tabi.yaml beside robot.urdf: what it adds, when it is read, and what is
 * refused. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define INERTIAL   "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>"

/* Two legs of a four-bar: they hang on `a`, 1 m apart, and are 2 m long; `plate` is fixed on one.
 */
static const char bars[] = "<robot name='r'>" LINK("a") LINK("left") LINK("right")
    LINK("plate") "<joint name='jl' type='continuous'><parent link='a'/><child link='left'/>"
                  "<axis xyz='0 1 0'/><dynamics damping='3'/></joint>"
                  "<joint name='jr' type='continuous'><parent link='a'/><child link='right'/>"
                  "<origin xyz='1 0 0'/><axis xyz='0 1 0'/></joint>"
                  "<joint name='jp' type='fixed'><parent link='right'/><child "
                  "link='plate'/></joint></robot>";

static const char beside[] = "joints:\n"
                             "  jl: {stiffness: 50, rest: 0.5, friction: 0.1}\n"
                             "  jr: {damping: 7, rotor_inertia: 1e-4, gear: 100}\n"
                             "connections:\n"
                             "  - {type: rod, name: coupler, a: left, b: right, at: [0, 0, -2],\n"
                             "     at_b: [0, 0, -2]}\n"
                             "  - {type: ball, a: left, b: plate, at: [0.5, 0, -2]}\n";

static int begin(void **state) {
  (void)scratch_begin(state);
  (void)scratch_text("bars.urdf", bars);
  (void)scratch_text("bars.tabi.yaml", beside);
  return 0;
}

static tabi_model *load(const char *path, const tabi_load_def *def) {
  tabi_error err = {0};
  tabi_model *model = tabi_model_load(path, def, &err);
  if (!model) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
  return model;
}

static void check(const tabi_model *model, const char *coupler) {
  tabi_joint_def left = tabi_model_joint(model, 1);
  tabi_joint_def right = tabi_model_joint(model, 2);
  assert_near(left.stiffness, 50, 0);
  assert_near(left.rest_position, 0.5, 0);
  assert_near(left.friction, 0.1, 0);
  assert_near(left.damping, 3, 0); // the URDF's
  assert_near(right.damping, 7, 0);
  assert_near(right.rotor_inertia, 1e-4, 0);
  assert_near(right.gear, 100, 0);
  assert_int_equal(tabi_model_nconnection(model), 2);
  tabi_connection_def rod = tabi_model_connection(model, 0);
  assert_int_equal(rod.type, TABI_CONNECTION_ROD);
  assert_string_equal(rod.name, coupler);
  assert_near(rod.length, 1, 1e-12);
  assert_int_equal(rod.a, 1);
  assert_int_equal(rod.b, 2);
  assert_int_equal(rod.place.line, 5);
  tabi_connection_def ball = tabi_model_connection(model, 1);
  assert_near_n(ball.pos_b, ((const double[3]){-0.5, 0, -2}), 3, 1e-12);
}

static void test_read(void **state) {
  (void)state;
  tabi_model *model = load(scratch_path("bars.urdf"), NULL);
  check(model, "coupler");
  assert_non_null(strstr(tabi_model_connection(model, 0).place.file, "bars.tabi.yaml"));
  tabi_model_destroy(model);
}

/* Twice in one model, each with its own links, wherever its base is. */
static void test_prefix(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_builder *builder = tabi_builder_create();
  tabi_load_def def = tabi_load_def_default();
  def.prefix = "one/";
  assert_int_equal(tabi_builder_load(builder, scratch_path("bars.urdf"), &def, &err), TABI_OK);
  def.prefix = "two/";
  def.place_base = true;
  def.base_pos[0] = 5;
  def.base_quat[0] = 0;
  def.base_quat[3] = 1;
  assert_int_equal(tabi_builder_load(builder, scratch_path("bars.urdf"), &def, &err), TABI_OK);
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  assert_int_equal(tabi_model_nconnection(model), 4);
  tabi_connection_def rod = tabi_model_connection(model, 2);
  assert_string_equal(rod.name, "two/coupler");
  assert_int_equal(rod.a, tabi_model_find_link(model, "two/left"));
  assert_near(rod.length, 1, 1e-12);
  assert_near_n(tabi_model_connection(model, 3).pos_b, ((const double[3]){-0.5, 0, -2}), 3, 1e-12);
  tabi_joint_def joint = tabi_model_joint(model, tabi_model_find_joint(model, "two/jl"));
  assert_near(joint.stiffness, 50, 0);
  tabi_model_destroy(model);
  tabi_builder_destroy(builder);
}

/* Text from memory has no file beside it, even if its path has. */
static void test_memory(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_builder *builder = tabi_builder_create();
  tabi_status status =
      tabi_builder_load_text(builder, bars, sizeof bars - 1, scratch_path("bars.urdf"), NULL, &err);
  assert_int_equal(status, TABI_OK);
  tabi_model *model = tabi_builder_build(builder, &err);
  assert_int_equal(tabi_model_nconnection(model), 0);
  tabi_model_destroy(model);
  tabi_builder_destroy(builder);
}

static void test_find(void **state) {
  (void)state;
  char found[512];
  assert_true(tabi_sidecar_find(scratch_path("bars.urdf"), found, sizeof found));
  assert_string_equal(found, scratch_path("bars.tabi.yaml"));
  assert_false(tabi_sidecar_find(scratch_path("bars.urdf"), found, 10));
  (void)scratch_text("alone.urdf", bars);
  assert_false(tabi_sidecar_find(scratch_path("alone.urdf"), found, sizeof found));
  assert_false(tabi_sidecar_find(scratch_path("none.urdf"), found, sizeof found));
  assert_false(tabi_sidecar_find("", found, sizeof found));
  assert_false(tabi_sidecar_find("/dev/stdin", found, sizeof found));
  // other endings and pipes have none
  (void)scratch_text("other.xml", bars);
  (void)scratch_text("other.tabi.yaml", beside);
  assert_false(tabi_sidecar_find(scratch_path("other.xml"), found, sizeof found));
  (void)scratch_text("pipe.tabi.yaml", beside);
  assert_int_equal(mkfifo(scratch_path("pipe.urdf"), 0600), 0);
  assert_false(tabi_sidecar_find(scratch_path("pipe.urdf"), found, sizeof found));
}

typedef struct bad {
  const char *text;
  int line;
  const char *words;
} bad;

static const bad refused[] = {
    {"",                                                                    1, "file is empty"                                       },
    {"joint: {}\n",                                                         1, "unknown key 'joint' (did you mean 'joints'?)"        },
    {"joints: []\n",                                                        1, "joints must be a map"                                },
    {"connections: {}\n",                                                   1, "connections must be a list"                          },
    {"joints:\n  jk: {stiffness: 1}\n",                                     2, "joints: no joint is called 'jk' (did you mean 'jl'?)"},
    {"joints:\n  jl: {stifness: 1}\n",                                      2, "joint 'jl': unknown key 'stifness' (did you mean"    },
    {"joints:\n  jl: {stiffness: -1}\n",                                    2, "joint 'jl': stiffness -1 must be >= 0"               },
    {"joints:\n  jl: {gear: .inf}\n",                                       2, "joint 'jl': gear '.inf' is not a finite number"      },
    {"joints:\n  jp: {damping: 1}\n",                                       2, "joint 'jp': it is fixed"                             },
    {"joints:\n  base: {stiffness: 1}\n",                                   2, "joint 'base': only joints with one coordinate"       },
    {"connections:\n  - {type: ball, a: left, b: rihgt, at: [0, 0, 0]}\n",  2,
     "no link is called 'rihgt' (did you mean 'right'?)"                                                                             },
    {"connections:\n  - {type: ball, a: left, b: world, at: [0, 0, 0]}\n",  2,
     "cannot hang it on the world; let a scene do it"                                                                                },
    {"connections:\n  - {type: ball, a: right, b: plate, at: [0, 0, 0]}\n", 2,
     "cannot move against each other"                                                                                                },
};

/* Errors are those of the file beside, by line, and no half-built robot escapes. */
static void test_refused(void **state) {
  (void)state;
  const char *path = scratch_text("bad.urdf", bars);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    const char *file = scratch_text("bad.tabi.yaml", refused[i].text);
    tabi_error err = {0};
    tabi_model *model = tabi_model_load(path, NULL, &err);
    if (model) fail_msg("was read: %s", refused[i].text);
    assert_string_equal(err.file, file);
    assert_int_equal(err.line, refused[i].line);
    if (!strstr(err.message, refused[i].words))
      fail_msg("'%s' is not in '%s'", refused[i].words, err.message);
  }
}

/* A folder of that name is not skipped in silence. */
static void test_folder(void **state) {
  (void)state;
  const char *path = scratch_text("folder.urdf", bars);
  assert_int_equal(mkdir(scratch_path("folder.tabi.yaml"), 0700), 0);
  tabi_error err = {0};
  assert_null(tabi_model_load(path, NULL, &err));
  assert_non_null(strstr(err.message, "cannot read"));
}

/* In a scene, and with a joint of the loop locked in the scene's posture. */
static void test_scene(void **state) {
  (void)state;
  static const char text[] = "robots: [{name: r, model: bars.urdf, base: fixed, lock: [jl]}]\n";
  tabi_scene *scene = load_scene(scratch_text("scene.yaml", text), NULL);
  const tabi_model *model = tabi_scene_model(scene);
  assert_int_equal(tabi_model_nconnection(model), 2);
  assert_string_equal(tabi_model_connection(model, 0).name, "r/coupler");
  assert_int_equal(tabi_model_nv(model), 1);
  tabi_scene_destroy(scene);
}

static void count_open(void *user, const tabi_error *warning) {
  int *count = user;
  if (!strstr(warning->message, "in the initial state; give a posture in which it closes")) return;
  assert_non_null(strstr(warning->file, "bars.tabi.yaml"));
  ++*count;
}

/* Both legs turned alike keep the rod as long, but the ball that is fixed on both is torn open. */
static void test_open_posture(void **state) {
  (void)state;
  static const char *const postures[] = {"{}", "{jl: 0.1, jr: 0.1}", "{jl: 0.1}"};
  static const int expected[] = {0, 1, 2};
  for (int i = 0; i < 3; ++i) {
    char text[256];
    (void)snprintf(text, sizeof text,
                   "robots: [{name: r, model: bars.urdf, base: fixed, posture: %s}]\n",
                   postures[i]);
    int count = 0;
    tabi_error err = {0};
    tabi_scene_def def = tabi_scene_def_default();
    def.warn = count_open;
    def.warn_user = &count;
    tabi_scene *scene = tabi_scene_load(scratch_text("posture.yaml", text), &def, &err);
    if (!scene) fail_msg("%s", err.message);
    assert_int_equal(count, expected[i]);
    tabi_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),    cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_memory),  cmocka_unit_test(test_find),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_folder),
      cmocka_unit_test(test_scene),   cmocka_unit_test(test_open_posture),
  };
  return cmocka_run_group_tests(tests, begin, scratch_end);
}
