/* test_gait.c - the section `gait` of scenes: what it becomes, what is refused and how, that other
 * contact methods let it be, and that the tables of docs/gait.md are those of the code. */
#include "gait/gait.h"
#include "scene/refused.h"
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIPED TABI_SOURCE_DIR "/models/biped9.urdf"
#define LEFT  "    - {link: left_foot, heel: [-0.5, 0, -0.5], toe: [0.5, 0, -0.5]}\n"
#define RIGHT "    - {link: right_foot, heel: [-0.5, 0, -0.5], toe: [0.5, 0, -0.5]}\n"
/* lines 1 and 2; the section begins in line 3 */
#define ROBOT "robots: [{name: b, model: " BIPED "}]\ncontact: {model: gait}\n"
/* up to line 6 */
#define FEET ROBOT "gait:\n  feet:\n" LEFT RIGHT

static const refused scenes[] = {
    {ROBOT,                                                                                        2, "contact: model gait needs a section 'gait:' with two feet"                               },
    {ROBOT "gait: {}\n",                                                                           3, "gait: feet must be two: [{link, heel"                                                    },
    {ROBOT "gait:\n  feet:\n" LEFT,                                                                4, "gait: feet must be two: [{link, heel"                                                    },
    {ROBOT "gait: 3\n",                                                                            3, "gait must be a map"                                                                      },
    {ROBOT "gait:\n  feet:\n" LEFT "    - {link: rigth_foot}\n",                                   6,
     "gait: no link is called 'rigth_foot' (did you mean 'right_foot'?)"                                                                                                                        },
    {ROBOT "gait:\n  feet:\n" LEFT "    - {heel: [0, 0, 0]}\n",                                    6, "gait: foot: link is missing"                                                             },
    {ROBOT "gait:\n  feet:\n" LEFT "    - {link: right_foot}\n",                                   6,
     "gait: foot: heel is missing: [x, y, z]"                                                                                                                                                   },
    {ROBOT "gait:\n  feet:\n" LEFT "    - {link: right_foot, heel: [0, 0, 0], toe: [0, 0, 0]}\n",  6,
     "gait: foot: toe must be ahead of heel"                                                                                                                                                    },
    {ROBOT "gait:\n  feet:\n" LEFT LEFT,                                                           6, "gait: both feet are 'b/left_foot'; name two links"                                       },
    {FEET "  frictoin: 1\n",                                                                       7, "gait: unknown key 'frictoin' (did you mean 'friction'?)"                                 },
    {FEET "  friction: -1\n",                                                                      7, "gait: friction -1 must be >= 0"                                                          },
    {FEET "  support_friction: -1\n",                                                              7, "gait: support_friction -1 must be >= 0, or .inf"                                         },
    {FEET "  slip_stop: 0\n",                                                                      7, "gait: slip_stop 0 must be > 0"                                                           },
    {FEET "  support: head\n",                                                                     7, "gait: support 'head' is not one of the feet"                                             },
    {FEET "  start: \"9\"\n",                                                                      7, "gait: start '9' is not a mode; write one of \"1\" to \"4\""                              },
    {FEET "  events: later\n",                                                                     7, "gait: events must be located or step, not 'later'"                                       },
    {FEET "  guards: none\n",                                                                      7, "gait: guards must be strict or paper, not 'none'"                                        },
    {FEET "  impact: soft\n",                                                                      7, "gait: impact must be normal or coulomb, not 'soft'"                                      },
    {FEET "  forces: [{link: head}]\n",                                                            7, "gait: force: amplitude is missing: [x, z] in N"                                          },
    {FEET "  forces: [{amplitude: [1, 2]}]\n",                                                     7, "gait: force: link is missing"                                                            },
    {FEET "  forces:\n    - {links: [head], amplitude: [1, 2]}\n",                                 8,
     "gait: force: give link, or links: [while"                                                                                                                                                 },
    {FEET "  forces: [{link: head, amplitude: [1, 2], period: -1}]\n",                             7,
     "gait: force: period must be >= 0"                                                                                                                                                         },
    {FEET "  forces: [{link: ground, amplitude: [1, 2]}]\n",                                       3,
     "gait: forces and floors need links that move"                                                                                                                                             },
    {FEET "  floors: [{link: ground, height: -1}]\n",                                              3,
     "gait: forces and floors need links that move"                                                                                                                                             },
    {ROBOT "gait:\n  feet:\n" LEFT "    - {link: right_foot, heel: [1, 0, 0], toe: [0, 0, 0]}\n",  3,
     "gait: toes must be ahead of heels, at the same y, in the initial posture"                                                                                                                 },
    {FEET "  floors: [{height: 1}]\n",                                                             7, "gait: floor: link is missing"                                                            },
    {FEET "forces: [{body: b/head, force: [1, 0, 0]}]\n",                                          3,
     "gait: contact method gait allows no external forces"                                                                                                                                      },
    {"contact: {model: gait, variant: paper}\n",                                                   1,
     "contact: gait has no variant: paper; leave it out"                                                                                                                                        },
    {"robots: [{name: b, model: legs.urdf}]\ncontact: {model: gait}\ngait:\n  feet:\n" LEFT RIGHT,
     3,                                                                                               "gait: the base joint must be planar, with its normal along y; correct it, or use another"},
    {"robots: [{name: b, model: legs.urdf, base: fixed}]\ncontact: {model: gait}\ngait:\n  "
     "feet:\n" LEFT RIGHT,
     3,                                                                                               "gait: the scene must hold one robot and nothing that moves"                              },
    {"robots: [{name: b, rpy: [0, 0, 1], model: " BIPED
     "}]\ncontact: {model: gait}\ngait:\n  feet:\n" LEFT RIGHT,
     3,                                                                                               "gait: all joints must turn about the y axis; correct it"                                 },
    {"robots:\n  - {name: a, model: " BIPED "}\n  - {name: b, model: " BIPED
     "}\ncontact: {model: gait}\ngait:\n  feet:\n" LEFT RIGHT,
     7,                                                                                               "gait: more than one robot has a link 'left_foot'; write robot/link"                      },
};

/* A waist with two feet, hung as the scene says. */
static const char legs[] =
    "<robot name='legs'><link name='waist'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
    "<link name='left_foot'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
    "izz='1'/></inertial>"
    "</link><link name='right_foot'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
    "</inertial></link>"
    "<joint name='left' type='continuous'><parent link='waist'/><child link='left_foot'/>"
    "<axis xyz='0 1 0'/></joint><joint name='right' type='continuous'><parent link='waist'/>"
    "<child link='right_foot'/><axis xyz='0 1 0'/></joint></robot>";

static tabi_scene *load(const char *text, tabi_error *err) {
  return tabi_scene_load(scratch_text("s.yaml", text), NULL, err);
}

static void test_refused(void **state) {
  (void)state;
  (void)scratch_text("legs.urdf", legs);
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const char *path = scratch_text("s.yaml", scenes[i].text);
    refused_check(path, &scenes[i], path);
  }
}

/* Every key arrives where it belongs; links are found with and without their robot. */
static void test_settings(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_scene *scene =
      load(FEET "  support: b/right_foot\n  start: \"4\"\n  events: step\n  guards: paper\n"
                "  impact: coulomb\n  friction: 0.4\n  support_friction: 0.7\n  slip_stop: 0.02\n"
                "  pivot_damping: 3\n  least_stride: 0.1\n  scuff: 0.03\n  sink: 0.05\n"
                "  forces:\n    - {links: [head, b/torso], at: [0, 1, 2], amplitude: [4, 40], "
                "period: [2.9, 3]}\n    - {link: waist, amplitude: [1, 2]}\n"
                "  floors: [{link: waist, height: 2.7}]\n",
           &err);
  if (!scene) fail_msg("%s:%d: %s", err.file, (int)err.line, err.message);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world_def world = tabi_scene_world_def(scene);
  assert_int_equal(world.contact, TABI_CONTACT_GAIT);
  tabi_gait_def def = tabi_gait_get_def(world.gait.biped);
  assert_int_equal(def.foot[0].link, tabi_model_find_link(model, "b/left_foot"));
  assert_int_equal(def.foot[1].link, tabi_model_find_link(model, "b/right_foot"));
  assert_near_n(def.foot[1].toe, ((const double[3]){0.5, 0, -0.5}), 3, 0);
  assert_int_equal(def.initial_support, 1);
  assert_string_equal(def.initial_mode, "4");
  assert_int_equal(def.events, TABI_GAIT_STEP);
  assert_int_equal(def.guards, TABI_GAIT_PAPER);
  assert_int_equal(def.impact, TABI_GAIT_COULOMB);
  const double numbers[] = {def.friction,      def.support_friction, def.slip_stop,
                            def.pivot_damping, def.min_stride,       def.scuff,
                            def.sink};
  assert_near_n(numbers, ((const double[]){0.4, 0.7, 0.02, 3, 0.1, 0.03, 0.05}), 7, 0);
  assert_int_equal(def.nforce, 2);
  assert_int_equal(def.force[0].link[0], tabi_model_find_link(model, "b/head"));
  assert_int_equal(def.force[0].link[1], tabi_model_find_link(model, "b/torso"));
  assert_near_n(def.force[0].point, ((const double[3]){0, 1, 2}), 3, 0);
  assert_near_n(def.force[0].period, ((const double[2]){2.9, 3}), 2, 0);
  assert_int_equal(def.force[1].link[0], def.force[1].link[1]);
  assert_near_n(def.force[1].period, ((const double[2]){0, 0}), 2, 0);
  assert_int_equal(def.nfloor, 1);
  assert_near(def.floor[0].height, 2.7, 0);
  tabi_scene_destroy(scene);
}

static void test_infinite_friction(void **state) {
  (void)state;
  static const char *const texts[] = {FEET, FEET "  support_friction: .inf\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    tabi_error err = {0};
    tabi_scene *scene = load(texts[i], &err);
    if (!scene) fail_msg("%s", err.message);
    assert_true(isinf(tabi_gait_get_def(tabi_scene_world_def(scene).gait.biped).support_friction));
    tabi_scene_destroy(scene);
  }
}

/* Under another method the section makes nothing, but mistakes in it are still found. */
static void test_other_model(void **state) {
  (void)state;
  tabi_scene_def def = tabi_scene_def_default();
  const char *const set[] = {"contact.model=cone", "gait.friction=-1"};
  def.set = set;
  def.nset = 1;
  tabi_error err = {0};
  const char *path = scratch_text("s.yaml", FEET);
  tabi_scene *scene = load_scene(path, &def);
  assert_null(tabi_scene_world_def(scene).gait.biped);
  tabi_scene_destroy(scene);
  def.nset = 2;
  assert_null(tabi_scene_load(path, &def, &err));
  assert_non_null(strstr(err.message, "friction -1 must be >= 0"));
}

/* What is driven: the force on the head turns the neck by its arm, J' f. */
static void test_torque(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_scene *scene =
      load(FEET "  forces: [{link: head, at: [0, 0, 0.5], amplitude: [4, 48]}]\n", &err);
  if (!scene) fail_msg("%s", err.message);
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world *world = open_world(scene, NULL);
  double tau[11];
  assert_int_equal(tabi_model_nv(model), 11);
  tabi_world_gait_torque(world, tau);
  /* standing straight, about -y: a push forward turns clockwise */
  int32_t neck = tabi_model_joint_v(model, tabi_model_find_joint(model, "b/neck")).first;
  int32_t torso = tabi_model_joint_v(model, tabi_model_find_joint(model, "b/torso")).first;
  assert_near(tau[neck], -4 * 0.5, 1e-12);
  assert_near(tau[torso], -4 * 2.5, 1e-12);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static char *read_document(void) {
  FILE *file = fopen(TABI_SOURCE_DIR "/docs/gait.md", "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 17);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
  (void)fclose(file);
  return text;
}

static void need_row(const char *document, const char *row) {
  if (!strstr(document, row)) fail_msg("docs/gait.md has no row %s", row);
}

static int count_rows(const char *document, const char *heading) {
  const char *at = strstr(document, heading);
  assert_non_null(at);
  int rows = 0;
  for (at = strchr(at, '\n'); at && at[1] == '|'; at = strchr(at + 1, '\n'))
    ++rows;
  return rows - 1; /* but the line below the heading */
}

/* Document and code cannot part: one row for every mode and for every change, and no more. */
static void test_document(void **state) {
  (void)state;
  static const char *const support[] = {"flat", "on its toe", "on its heel"};
  static const char *const swing[] = {"in the air", "heel", "toe", "flat"};
  static const char *const rows[] = {"A", "B", "B", "C"};
  static const char *const jump[] = {"release", "impact", "swap", "friction", "end"};
  char *document = read_document();
  char row[256];
  for (int32_t i = 0; i < TBI_GAIT_MODES; ++i) {
    const tbi_gait_mode *mode = &tbi_gait_modes[i];
    (void)snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s | %s |\n", mode->name,
                   support[mode->support], swing[mode->swing],
                   mode->support == TBI_FLAT ? "n" : "n + 1", rows[mode->swing]);
    need_row(document, row);
  }
  assert_int_equal(count_rows(document, "| mode | support"), TBI_GAIT_MODES);
  for (int32_t i = 0; i < tbi_gait_change_count; ++i) {
    const tbi_gait_change *change = &tbi_gait_changes[i];
    const char *from = change->from == TBI_ANY_MODE ? "any" : tbi_gait_modes[change->from].name;
    const char *to = change->to == TBI_SAME_MODE ? "same" : tbi_gait_modes[change->to].name;
    (void)snprintf(row, sizeof row, "\n| `%s` | `%s` | %s | %s | %s |\n", from, to,
                   tbi_gait_guard_infos[change->guard].name, jump[change->jump],
                   change->strict ? "strict" : "both");
    need_row(document, row);
  }
  assert_int_equal(count_rows(document, "| from | to"), tbi_gait_change_count);
  free(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_infinite_friction),
      cmocka_unit_test(test_other_model),
      cmocka_unit_test(test_torque),
      cmocka_unit_test(test_document),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
