/* cmd_check.c - `tabi check`: all that is odd in a model or scene, in one run.
 *
 * Two sources: what the reader warns of, repairs among it, and what the model doctor finds.  The
 * text lists them together, the worst first; JSON keeps them apart. */
#include "common/cli.h"
#include "common/input.h"
#include "common/scene_options.h"

#include <stdlib.h>
#include <string.h>

enum { BASE, SELF_COLLISION, JSON };

#define SAMPLES 2000 /* random postures in which pairs of links are looked at */

typedef struct checked {
  const char *path;
  tabi_model *model; /* of a model file, else */
  tabi_scene *scene;
  tbi_findings warnings; /* of the reader */
  tbi_findings findings; /* of the model doctor */
} checked;

/* What the doctor says will spoil a simulation. */
static int32_t count_problems(const tbi_findings *findings) {
  int32_t count = 0;
  for (int32_t i = 0; i < findings->count; ++i)
    count += findings->item[i].status != TABI_OK;
  return count;
}

/* All findings of both sources are kept in the first. */
static void merge(tbi_findings *all, const tbi_findings *more) {
  for (int32_t i = 0; i < more->count; ++i)
    tbi_findings_add(all, &more->item[i]);
  all->no_memory = all->no_memory || more->no_memory;
}

static void print_count(FILE *out, int32_t count, const char *word, const char **separator) {
  if (count == 0) return;
  (void)fprintf(out, "%s%d %s%s", *separator, count, word, count == 1 ? "" : "s");
  *separator = ", ";
}

static int32_t count_repairs(const tbi_findings *findings) {
  int32_t count = 0;
  for (int32_t i = 0; i < findings->count; ++i)
    count += findings->item[i].repair.item[0] != '\0';
  return count;
}

/* "robot.urdf: 2 errors, 3 warnings, 12 notes (1 repair)" */
static void print_summary(FILE *out, const char *path, const tbi_findings *all) {
  const char *separator = ": ";
  (void)fputs(path, out);
  for (int s = TABI_SEVERITY_ERROR; s <= TABI_SEVERITY_NOTE; ++s) {
    tabi_severity severity = (tabi_severity)s;
    print_count(out, tbi_findings_count(all, severity), tabi_severity_text(severity), &separator);
  }
  if (all->count == 0) (void)fputs(": no findings", out);
  separator = " (";
  print_count(out, count_repairs(all), "repair", &separator);
  (void)fputs(separator[0] == ',' ? ")\n" : "\n", out);
}

static void print_text(FILE *out, const char *path, const tbi_findings *all) {
  for (int32_t i = 0; i < all->count; ++i) {
    char text[sizeof(tabi_error)];
    const tabi_error *f = &all->item[i];
    (void)tabi_error_text(f, tabi_severity_text(f->severity), text, sizeof text);
    (void)fprintf(out, "%s\n", text);
  }
  print_summary(out, path, all);
}

static int print_json(FILE *out, const checked *c, bool ok) {
  int32_t problems = count_problems(&c->findings);
  json_t *object = json_object();
  int bad = json_object_set_new(object, "file", tbi_json_text(c->path));
  bad |= json_object_set_new(object, "ok", json_boolean(ok));
  bad |= json_object_set_new(object, "problems", json_integer(problems));
  bad |= json_object_set_new(object, "advice", json_integer(c->findings.count - problems));
  bad |= json_object_set_new(object, "findings", tbi_json_findings(&c->findings));
  bad |= json_object_set_new(object, "warnings", tbi_json_findings(&c->warnings));
  bad |= json_object_set_new(object, "repairs", tbi_json_repairs(&c->warnings));
  if (bad) {
    json_decref(object);
    object = NULL;
  }
  return tbi_json_print(out, object);
}

static bool is_scene(const char *path) {
  const char *dot = strrchr(path, '.');
  bool yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
  return yaml || tbi_input_kind_of(path) == TBI_INPUT_SCENE;
}

/* Repairs are made, so that all are found, and are errors afterwards where the caller is strict. */
static void be_strict(tbi_findings *warnings) {
  for (int32_t i = 0; i < warnings->count; ++i) {
    tabi_error *w = &warnings->item[i];
    bool refused = w->repair.item[0] != '\0' || w->status != TABI_OK;
    if (refused) w->severity = TABI_SEVERITY_ERROR;
  }
}

/* Reads the file; false after an error was printed, below what was noticed before it. */
static bool read_file(checked *c, const tbi_args *args, tabi_base base, int *code) {
  tabi_error err = {0};
  tabi_scene_def scene = tbi_args_scene_def(args, &c->warnings);
  scene.strict = false;
  scene.skip_plugins = true;
  tabi_load_def def = tbi_args_load_def(args);
  def.strict = false;
  def.base = base;
  def.warn = tbi_findings_add;
  def.warn_user = &c->warnings;
  if (is_scene(c->path)) {
    c->scene = tabi_scene_load(c->path, &scene, &err);
  } else {
    c->model = tabi_model_load(c->path, &def, &err);
  }
  if (args->value[TBI_STRICT]) be_strict(&c->warnings);
  tbi_findings_sort(&c->warnings);
  if (c->model || c->scene) return true;
  tbi_print_warnings(&c->warnings, args);
  *code = tbi_print_error(&err);
  return false;
}

typedef struct pair_list {
  const tabi_model *model;
  tbi_findings *findings;
} pair_list;

static const char *shown(const tabi_model *model, int32_t link) {
  const char *name = link == TABI_WORLD ? "the world" : tabi_model_link(model, link).name;
  return name ? name : "(unnamed)";
}

/* a tabi_link_pair_fn */
static void add_pair(void *user, const tabi_link_pair *pair) {
  static const char *const what[] = {
      [TABI_PAIR_OVERLAPS] = "overlap or touch in the initial posture; a robot's self-collision "
                             "leaves them out",
      [TABI_PAIR_NEIGHBOURS] = "are joined by hinges whose axes meet in a point; a robot's "
                               "self-collision leaves them out",
      [TABI_PAIR_NEVER_MEETS] = "never meet within the joint limits, which is proved; a robot's "
                                "self-collision leaves them out",
      [TABI_PAIR_UNSEEN] = "met in none of the random postures tried, which proves nothing; they "
                           "collide",
  };
  const pair_list *list = user;
  tabi_error note;
  tabi_place place = tabi_model_link(list->model, pair->link_b).place;
  tbi_fail(&note, TABI_OK, place, "'%.100s' and '%.100s' %s", shown(list->model, pair->link_a),
           shown(list->model, pair->link_b), what[pair->kind]);
  note.severity = TABI_SEVERITY_NOTE;
  tbi_findings_add(list->findings, &note);
}

/* Which links of a robot can meet, from the initial posture of the model. */
static void check_self_collision(const tabi_model *model, tbi_findings *findings) {
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  pair_list list = {model, findings};
  tabi_error err = {.status = TABI_ERR_MEMORY};
  if (q) {
    tabi_model_initial_q(model, q);
    if (tabi_model_link_pairs(model, q, SAMPLES, add_pair, &list, &err) == TABI_OK)
      err.status = TABI_OK;
  }
  findings->no_memory = findings->no_memory || err.status == TABI_ERR_MEMORY;
  if (err.status != TABI_OK && err.status != TABI_ERR_MEMORY) tbi_findings_add(findings, &err);
  free(q);
}

static int report(checked *c, const tbi_args *args, FILE *out) {
  const tabi_model *model = c->scene ? tabi_scene_model(c->scene) : c->model;
  tabi_model_check(model, tbi_findings_add, &c->findings);
  if (args->value[SELF_COLLISION]) check_self_collision(model, &c->findings);
  tbi_findings_sort(&c->findings);
  tbi_findings all = {0};
  merge(&all, &c->warnings);
  merge(&all, &c->findings);
  tbi_findings_sort(&all);
  bool ok = count_problems(&c->findings) == 0 && tbi_findings_count(&all, TABI_SEVERITY_ERROR) == 0;
  int code = ok ? TBI_EXIT_OK : TBI_EXIT_CHECK;
  if (all.no_memory) {
    code = tbi_out_of_memory();
  } else if (args->value[JSON]) {
    tbi_print_warnings(&c->warnings, args);
    int printed = print_json(out, c, ok);
    if (printed != TBI_EXIT_OK) code = printed;
  } else {
    print_text(out, c->path, &all);
  }
  tbi_findings_free(&all);
  return code;
}

static int run(const tbi_args *args, FILE *out) {
  tabi_base base;
  if (!tbi_base_parse("check", args->value[BASE], &base)) return TBI_EXIT_USAGE;
  checked c = {.path = args->word[0]};
  int code = TBI_EXIT_INTERNAL;
  if (read_file(&c, args, base, &code)) code = report(&c, args, out);
  tabi_model_destroy(c.model);
  tabi_scene_destroy(c.scene);
  tbi_findings_free(&c.findings);
  tbi_findings_free(&c.warnings);
  return code;
}

const tbi_command tbi_cmd_check = {
    .name = "check",
    .usage = "check MODEL|SCENE [--base free|fixed] [--self-collision] [--strict]\n"
             "             [--package-path DIR[:DIR]] [--json]",
    .summary = "find mistakes in a model and say how to correct them",
    .text =
        "Reads a robot (URDF, MJCF, SDF) or a scene and lists all that is odd about it, the worst\n"
        "first: what the file says that tabi repairs (impossible inertias, swapped limits) or\n"
        "ignores, and values that are possible but probably wrong: inertias that no solid of that\n"
        "size has, placeholders such as 1 1 1, masses in grams, limits in degrees, light links\n"
        "that carry heavy ones, joints with almost no inertia, missing limits, an initial posture\n"
        "outside the limits, connections that are open and links that penetrate each other in the\n"
        "initial posture, centres of mass far outside the shapes, limbs without collision shapes,\n"
        "left and right sides that differ.\n"
        "\n"
        "  error    a simulation cannot work, or --strict refuses it\n"
        "  warning  the robot may behave otherwise than its author expects\n"
        "  note     of little or no consequence\n"
        "\n"
        "Exits with 5 if there is an error, or a value that spoils a simulation.  Repairs alone "
        "do\n"
        "not fail the check; with --strict they are errors.\n"
        "\n"
        "examples:\n"
        "  tabi check robot.urdf\n"
        "  tabi check robot.urdf --strict --json | jq '.repairs[]'\n",
    .nword = 1,
    .word = "MODEL",
    .options = {[BASE] = {"--base", "free|fixed",
                          "base of the root link; default: free for URDF, the file's for MJCF",
                          false, NULL},
                [SELF_COLLISION] = {"--self-collision", NULL,
                                    "list pairs of links that overlap, that can never meet, and "
                                    "that were never seen to meet",
                                    false, NULL},
                [JSON] = {"--json", NULL, "print the findings as one JSON object", false, NULL}},
    .loads = true,
    .tells = true,
    .run = run,
};
