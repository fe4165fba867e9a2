/* cmd_try.c - `tabi try`: puts a robot on a floor and tells under which contact methods it stands.
 *
 * The robot becomes a scene (try/try_scene.h), which is run as any other, once under every method.
 */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "try/try_robot.h"
#include "try/try_run.h"
#include "try/try_scene.h"
#include "view/find_file.h"
#include "view/show.h"

#include <stdlib.h>
#include <string.h>

enum { BASE, TIME, KEYFRAME, CONTACT, VIEW, HTML, SCENE, JSON };
enum { MAX_RUNS = 16 };

typedef struct attempt {
  const tbi_args *args;
  char path[TBI_FIND_PATH]; /* of the robot */
  char methods[256];        /* words between zeros */
  tbi_try_run run[MAX_RUNS];
  int nrun;
  tbi_try_scene scene;
  tbi_findings findings;
} attempt;

/* -- arguments */

/* "cone,lcp" into runs. */
static bool read_methods(attempt *a, const char *list) {
  if (!list) list = "cone,lcp,exact,impulse,penalty";
  if (strlen(list) >= sizeof a->methods) {
    tbi_usage_error("try", "'%.40s...' is too long", list);
    return false;
  }
  (void)snprintf(a->methods, sizeof a->methods, "%s", list);
  for (char *word = a->methods; word && a->nrun < MAX_RUNS;) {
    char *comma = strchr(word, ',');
    if (comma) *comma = '\0';
    if (!tbi_check_name("try", "contact method", word, &tbi_contact_names)) return false;
    if (strcmp(word, "gait") == 0) {
      tbi_usage_error("try", "gait is for planar bipeds in scenes of their own");
      return false;
    }
    a->run[a->nrun++].contact = word;
    word = comma ? comma + 1 : NULL;
  }
  return true;
}

static bool read_options(attempt *a) {
  const char *const *value = a->args->value;
  const tbi_file_use use[] = {
      {NULL,      a->path,      false},
      {"--html",  value[HTML],  true },
      {"--scene", value[SCENE], true },
  };
  a->scene.duration = value[TIME] ? value[TIME] : "5";
  a->scene.keyframe = value[KEYFRAME];
  return tbi_base_parse("try", value[BASE], &a->scene.base) &&
         tbi_check_seconds("try", "--time", value[TIME], false) &&
         read_methods(a, value[CONTACT]) && tbi_check_files("try", use, 3);
}

/* -- results */

static void print_table(const attempt *a, const tabi_model *model, FILE *out) {
  const tbi_try_scene *s = &a->scene;
  (void)fprintf(out, "%s: %.4g kg, %d degrees of freedom, %s%s, held by %s\n", a->path,
                tabi_model_mass(model), tabi_model_nv(model),
                s->keyframe ? "keyframe " : "initial posture", s->keyframe ? s->keyframe : "",
                s->own_gains ? "its own actuators" : "gains made for it");
  (void)fprintf(out, "base %s: %s%s\n", s->floats ? "free" : "fixed", s->base_why,
                a->args->value[BASE] ? ""
                : s->floats          ? "; --base fixed to change"
                                     : "; --base free to change");
  (void)fprintf(out, "\n  %-10s %-8s %18s %7s %9s %9s %9s %8s\n", "contact",
                s->floats ? "stands" : "still", "height [m]", "tilt", "slip", "depth", "energy",
                "time");
  for (int i = 0; i < a->nrun; ++i) {
    const tbi_try_run *r = &a->run[i];
    (void)fprintf(out, "  %-10s %-8s %8.4f > %7.4f %5.2f d %6.2f mm %6.3f mm %9.1e %5.0f us%s%s\n",
                  r->contact, r->stands ? "yes" : "NO", r->height_start, r->height_end, r->tilt,
                  1e3 * r->slip, 1e3 * r->penetration, r->energy_gain, r->us_per_step,
                  r->stands ? "" : "  ", r->stands ? "" : r->why);
  }
  if (a->args->value[SCENE]) (void)fprintf(out, "\n  scene: tabi run %s\n", a->args->value[SCENE]);
}

static int print_json(const attempt *a, const tabi_model *model, FILE *out) {
  const tbi_try_scene *s = &a->scene;
  json_t *runs = json_array();
  int bad = 0;
  for (int i = 0; i < a->nrun; ++i)
    bad |= json_array_append_new(runs, tbi_try_run_json(&a->run[i]));
  json_t *o = json_object();
  bad |= json_object_set_new(o, "robot", tbi_json_text(a->path));
  bad |= json_object_set_new(o, "format", json_string(tbi_try_format(a->path)));
  bad |= json_object_set_new(o, "base", json_string(s->floats ? "free" : "fixed"));
  bad |= json_object_set_new(o, "base_why", json_string(s->base_why));
  bad |= json_object_set_new(o, "mass", tbi_json_number(tabi_model_mass(model)));
  bad |= json_object_set_new(o, "dof", json_integer(tabi_model_nv(model)));
  bad |= json_object_set_new(o, "keyframe", tbi_json_text(s->keyframe));
  bad |= json_object_set_new(o, "gains", json_string(s->own_gains ? "file" : "auto"));
  bad |= json_object_set_new(o, "repairs", tbi_json_repairs(&a->findings));
  bad |= json_object_set_new(o, "warnings", tbi_json_findings(&a->findings));
  bad |= json_object_set_new(o, "runs", runs);
  if (bad) {
    json_decref(o);
    o = NULL;
  }
  return tbi_json_print(out, o);
}

/* -- scenes */

/* What the scene says of itself; of the robot's file everything is known already. */
static void keep_own(tbi_findings *kept, const tbi_findings *found, const char *path) {
  for (int32_t i = 0; i < found->count; ++i) {
    if (strcmp(found->item[i].file, path) == 0) tbi_findings_add(kept, &found->item[i]);
  }
}

/* NULL and the exit code after an error was printed. */
static tabi_scene *load_scene(attempt *a, const char *contact, bool tells, int *code) {
  tbi_scene_settings settings = {0};
  tbi_findings found = {0};
  (void)tbi_settings_add(&settings, "try", "contact.model", contact);
  tabi_scene_def def = tbi_settings_scene_def(&settings, a->args, &found);
  const char *path = a->args->value[SCENE] ? a->args->value[SCENE] : "scene of tabi try";
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(a->scene.text, a->scene.size, path, &def, &err);
  if (tells) keep_own(&a->findings, &found, path);
  if (!scene) *code = tbi_print_error(&err);
  tbi_findings_free(&found);
  return scene;
}

static int run_method(attempt *a, int index) {
  int code = TBI_EXIT_OK;
  tbi_try_run *run = &a->run[index];
  run->floats = a->scene.floats;
  run->open = a->scene.open;
  tabi_scene *scene = load_scene(a, run->contact, index == 0, &code);
  if (scene) code = tbi_try_run_scene(scene, index == 0 ? a->args->value[HTML] : NULL, run);
  tabi_scene_destroy(scene);
  return code;
}

static int write_scene(const attempt *a, const char *path) {
  tbi_output output;
  if (!tbi_output_begin(&output, path, true)) return TBI_EXIT_INTERNAL;
  tbi_output_put(&output, a->scene.text, a->scene.size);
  return tbi_output_end(&output, true) ? TBI_EXIT_OK : TBI_EXIT_INTERNAL;
}

/* As `tabi view` does. */
static int view(attempt *a) {
  int code = TBI_EXIT_OK;
  tabi_scene *scene = load_scene(a, a->run[0].contact, true, &code);
  if (!scene) return code;
  tbi_print_warnings(&a->findings, a->args);
  return tbi_show_scene(scene, a->path, &(tbi_show_options){.paused = true});
}

static int run_all(attempt *a, const tabi_model *model, FILE *out) {
  int code = TBI_EXIT_OK;
  a->scene.contact = a->run[0].contact;
  if (!tbi_try_scene_make(&a->scene, model, &code)) return code;
  if (a->args->value[SCENE]) code = write_scene(a, a->args->value[SCENE]);
  if (code == TBI_EXIT_OK && a->args->value[VIEW]) return view(a);
  for (int i = 0; i < a->nrun && code == TBI_EXIT_OK; ++i)
    code = run_method(a, i);
  if (code == TBI_EXIT_OK && a->findings.no_memory) code = tbi_out_of_memory();
  if (code != TBI_EXIT_OK) return code;
  tbi_print_warnings(&a->findings, a->args);
  if (a->args->value[JSON]) {
    code = print_json(a, model, out);
  } else {
    print_table(a, model, out);
  }
  return code == TBI_EXIT_OK && !a->run[0].stands ? TBI_EXIT_CHECK : code;
}

/* Whether there is something to try; an exit code. */
static int check_robot(const tabi_model *model, const char *path) {
  tabi_error err = {0};
  if (tabi_model_nlink(model) > 0) return TBI_EXIT_OK;
  tbi_fail(&err, TABI_ERR_MODEL, (tabi_place){path, 0}, "there is no robot in it: no links");
  return tbi_print_error(&err);
}

static int run_command(const tbi_args *args, FILE *out) {
  attempt a = {.args = args, .scene.command = "try"};
  if (!tbi_find_file(args->word[0], a.path)) return TBI_EXIT_INPUT;
  if (!read_options(&a)) return TBI_EXIT_USAGE;
  char *absolute = realpath(a.path, NULL);
  if (!absolute) return tbi_out_of_memory();
  a.scene.model_path = absolute;
  int code = TBI_EXIT_OK;
  tabi_model *model = tbi_try_robot_open(a.path, &a.scene, args, &a.findings, &code);
  if (model) code = check_robot(model, a.path);
  if (model && code == TBI_EXIT_OK) code = run_all(&a, model, out);
  tabi_model_destroy(model);
  tbi_findings_free(&a.findings);
  free(a.scene.text);
  free(absolute);
  return code;
}

const tbi_command tbi_cmd_try = {
    .name = "try",
    .usage = "try ROBOT [--base free|fixed] [--time S] [--keyframe NAME] [--contact a,b,..]\n"
             "                [--view] [--html F] [--scene F] [--json]",
    .summary = "put a robot on a floor and see whether it stands",
    .text =
        "Loads a robot (URDF, MJCF, SDF), looks for mistakes in it, puts it on the ground, and\n"
        "runs it for five seconds under every contact method.  The table tells whether it stands:\n"
        "the height of its centre of mass at the start and the end, the tilt of its base, how far\n"
        "a sole slipped, the deepest overlap, energy from nowhere, and the time of a step.\n"
        "\n"
        "It starts at a keyframe of its file (home, stand, ... or the only one), else in its\n"
        "initial posture.  Position actuators of the file hold it; where it has none, joints get\n"
        "implicit gains from the inertia that they carry and their effort limits.  A floor is\n"
        "added unless the file has one.  A robot with a fixed base should hold still instead.\n"
        "Where a URDF or SDF file does not say, the base is free if the robot can stand: two "
        "limbs\n"
        "or wheels reach the ground, with the centre of mass above them.\n"
        "\n"
        "--scene writes the scene that was made, to go on from: tabi run F, tabi view F.\n"
        "Exits with 0 if the robot stands under the first method, else with 5.\n"
        "\n"
        "examples:\n"
        "  tabi try models/humanoid36.urdf\n"
        "  tabi try robot.xml --keyframe home --contact cone,exact --html robot.html\n"
        "  tabi try arm.urdf --base fixed --scene arm.yaml\n",
    .nword = 1,
    .word = "ROBOT",
    .options =
        {[BASE] = {"--base", "free|fixed",
                   "default: as the file says; if it does not, free if it can stand", false, NULL},
                  [TIME] = {"--time", "S", "duration of each run in seconds; default: 5", false, NULL},
                  [KEYFRAME] = {"--keyframe", "NAME", "keyframe of the file to start at", false, NULL},
                  [CONTACT] = {"--contact", "a,b,..",
                      "contact methods; default: cone,lcp,exact,impulse,penalty; out of", false,
                      &tbi_contact_names},
                  [VIEW] = {"--view", NULL, "show it in the browser instead, as tabi view does", false,
                   NULL},
                  [HTML] = {"--html", "F", "write the replay of the first run to one HTML file", false,
                   NULL},
                  [SCENE] = {"--scene", "F", "write the scene, in YAML", false, NULL},
                  [JSON] = {"--json", NULL, "print one JSON object", false, NULL}},
    .loads = true,
    .tells = true,
    .run = run_command,
};
