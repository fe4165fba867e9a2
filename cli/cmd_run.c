/* cmd_run.c - `tabi run`: a scene, stepped to its end. */
#include "cli.h"
#include "log.h"
#include "plot.h"
#include "states.h"
#include "tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONTACT, INTEGRATOR, DT, TIME, SET, LOG, CSV, PLOT, JSON, NOPTION };

#define MAX_STEPS 1e12

/* Assignments to the scene; the options come after --set. */
typedef struct settings {
  const char *set[TBI_MAX_MANY + 4];
  char text[4][96]; /* of the options */
  int32_t count;
} settings;

/* Everything of one run. */
typedef struct run {
  const char *path;
  tabi_scene *scene;
  tabi_world *world;
  int64_t steps;
  tbi_tally tally;
  tbi_log log;
  tbi_states states;
  tbi_plot plot;
  double shown; /* when the progress line was last written, s */
} run;

static bool add_setting(settings *s, int option, const char *path, const char *value) {
  int n = snprintf(s->text[option], sizeof s->text[option], "%s=%s", path, value);
  s->set[s->count++] = s->text[option];
  return n > 0 && (size_t)n < sizeof s->text[option];
}

static bool is_positive(const char *text) {
  char *end = NULL;
  double value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(value) && value > 0;
}

/* The words that are chosen from a list, and numbers, are checked before any file is read. */
static bool check_options(const tbi_args *args) {
  const char *contact = args->value[CONTACT];
  const char *integrator = args->value[INTEGRATOR];
  if (contact && tabi_contact_find(contact) == TABI_NONE) {
    tbi_usage_error("run", "unknown contact model '%s'", contact);
    return false;
  }
  if (integrator && tabi_integrator_find(integrator) == TABI_NONE) {
    tbi_usage_error("run", "unknown integrator '%s'", integrator);
    return false;
  }
  static const struct {
    int option;
    const char *name;
  } numbers[] = {
      {DT,   "--dt"  },
      {TIME, "--time"},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    const char *text = args->value[numbers[i].option];
    if (!text || is_positive(text)) continue;
    tbi_usage_error("run", "%s needs a number of seconds > 0, not '%s'", numbers[i].name, text);
    return false;
  }
  for (int i = 0; i < args->nmany; ++i) {
    const char *equals = strchr(args->many[i], '=');
    if (equals && equals != args->many[i]) continue;
    tbi_usage_error("run", "--set needs path=value, as in bodies.box.mass=3, not '%s'",
                    args->many[i]);
    return false;
  }
  return true;
}

static bool gather(const tbi_args *args, settings *s) {
  static const char *const paths[4] = {"contact.model", "integrator", "timestep", "duration"};
  for (int i = 0; i < args->nmany; ++i)
    s->set[s->count++] = args->many[i];
  for (int option = CONTACT; option <= TIME; ++option) {
    const char *value = args->value[option];
    if (!value || add_setting(s, option, paths[option], value)) continue;
    tbi_usage_error("run", "'%.40s...' is too long", value);
    return false;
  }
  return true;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(run *r, double time) {
  if (time - r->shown < 0.2 || !isatty(STDERR_FILENO)) return;
  r->shown = time;
  (void)fprintf(stderr, "\r%3.0f %%  %.2f s, %d contacts ",
                100.0 * (double)r->tally.steps / (double)r->steps, tabi_world_time(r->world),
                tabi_world_certificate(r->world).contacts);
}

static void end_progress(const run *r) {
  if (r->shown > 0) (void)fputs("\r\033[K", stderr);
}

static int fail_step(const run *r) {
  tabi_error err = *tabi_world_error(r->world);
  (void)snprintf(err.file, sizeof err.file, "%s", r->path);
  err.line = 1;
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_DIVERGED;
}

static int step_all(run *r) {
  double begun = now();
  r->shown = 0;
  for (int64_t i = 0; i < r->steps; ++i) {
    double before = now();
    tabi_scene_control(r->scene, r->world);
    tabi_status status = tabi_world_step(r->world, NULL);
    double after = now();
    r->tally.seconds += after - before;
    if (status == TABI_ERR_ENDED) break;
    if (status != TABI_OK) {
      end_progress(r);
      return fail_step(r);
    }
    tbi_tally_step(&r->tally);
    tbi_log_step(&r->log);
    tbi_states_step(&r->states);
    tbi_plot_step(&r->plot);
    if (after - begun > 0.5) show_progress(r, after);
  }
  end_progress(r);
  return TBI_EXIT_OK;
}

static int run_opened(run *r, bool json, FILE *out) {
  int code = step_all(r);
  if (!tbi_log_close(&r->log)) code = TBI_EXIT_INTERNAL;
  if (!tbi_states_close(&r->states)) code = TBI_EXIT_INTERNAL;
  if (!tbi_plot_close(&r->plot, code == TBI_EXIT_OK)) code = TBI_EXIT_INTERNAL;
  if (code != TBI_EXIT_OK) return code;
  if (r->tally.gait.no_memory) return tbi_out_of_memory();
  tbi_loops_warn(&r->tally);
  if (json) return tbi_tally_print_json(&r->tally, r->path, out);
  tbi_tally_print(&r->tally, out);
  return TBI_EXIT_OK;
}

static int run_world(run *r, const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  if (tabi_scene_reset(r->scene, r->world, &err) != TABI_OK) {
    (void)snprintf(err.file, sizeof err.file, "%s", r->path);
    return tbi_print_error(&err);
  }
  if (!tbi_tally_begin(&r->tally, r->scene, r->world)) return tbi_out_of_memory();
  int code = TBI_EXIT_INTERNAL;
  if (tbi_plot_open(&r->plot, args->value[PLOT], &r->tally, r->steps) &&
      tbi_log_open(&r->log, args->value[CSV], r->scene, r->world) &&
      tbi_states_open(&r->states, args->value[LOG], r->scene, r->world)) {
    code = run_opened(r, args->value[JSON] != NULL, out);
  } else {
    (void)tbi_log_close(&r->log);
    (void)tbi_plot_close(&r->plot, false);
  }
  tbi_tally_free(&r->tally);
  return code;
}

static int run_scene(run *r, const tbi_args *args, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(r->scene);
  double steps = round(tabi_scene_duration(r->scene) / def.timestep);
  if (steps > MAX_STEPS) {
    return tbi_usage_error("run", "%g steps are too many; give a shorter --time", steps);
  }
  r->steps = steps < 1 ? 1 : (int64_t)steps;
  tabi_error err = {0};
  r->world = tabi_world_create(tabi_scene_model(r->scene), &def, &err);
  if (!r->world) {
    if (err.file[0] == '\0') (void)snprintf(err.file, sizeof err.file, "%s", r->path);
    return tbi_print_error(&err);
  }
  int code = run_world(r, args, out);
  tabi_world_destroy(r->world);
  return code;
}

static int run_command(const tbi_args *args, FILE *out) {
  settings s = {0};
  if (!check_options(args) || !gather(args, &s)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = s.set;
  def.nset = s.count;
  def.plugins = true;
  def.warn = tbi_findings_add;
  def.warn_user = &warnings;
  tabi_error err = {0};
  run r = {.path = args->word[0]};
  r.scene = tabi_scene_load(r.path, &def, &err);
  int code = TBI_EXIT_OK;
  if (!r.scene) {
    code = tbi_print_error(&err);
  } else if (warnings.no_memory) {
    code = tbi_out_of_memory();
  } else {
    tbi_print_warnings(&warnings);
    code = run_scene(&r, args, out);
  }
  tabi_scene_destroy(r.scene);
  tbi_findings_free(&warnings);
  return code;
}

const tbi_command tbi_cmd_run = {
    .name = "run",
    .usage = "run SCENE [--contact NAME] [--integrator NAME] [--dt S] [--time S]\n"
             "                [--set path=value] [--log F] [--csv F] [--plot F.svg] [--json]",
    .summary = "simulate a scene: how it ends, contacts, penetration, energy, speed",
    .text =
        "Steps a scene (YAML) to its end and prints what happened, with the worst breach of\n"
        "the laws of contact in any step.  The walk of a planar biped, by contact method gait,\n"
        "is told step by step.\n"
        "\n"
        "examples:\n"
        "  tabi run scenes/stack.yaml\n"
        "  tabi run scenes/stand.yaml --contact lcp --time 2 --plot forces.svg\n"
        "  tabi run scenes/incline.yaml --set materials.wood.friction=0.4 --csv log.csv\n"
        "  tabi run scenes/biped_walk.yaml --plot walk.svg\n",
    .nword = 1,
    .word = "SCENE",
    .options =
        {[CONTACT] = {"--contact", "NAME", "cone, lcp, exact, penalty, impulse; gait for bipeds",
                      false},
                  [INTEGRATOR] = {"--integrator", "NAME", "semi-implicit, midpoint, rk4, euler", false},
                  [DT] = {"--dt", "S", "time step", false},
                  [TIME] = {"--time", "S", "how long to simulate", false},
                  [SET] = {"--set", "path=value", "change the scene; may be given several times", true},
                  [LOG] = {"--log", "F", "log every position and velocity, exactly (docs/log.md)", false},
                  [CSV] = {"--csv", "F", "log as CSV: time, energies, certificate, forces", false},
                  [PLOT] = {"--plot", "F.svg", "draw force, energy, residual, or a walk (needs gnuplot)",
                   false},
                  [JSON] = {"--json", NULL, "the result as one object", false}},
    .run = run_command,
};
