/* cmd_run.c - `tabi run`: simulates a scene from its initial state, or from a time of a log. */
#include "common/cli.h"
#include "common/input.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "run/resume.h"
#include "run/run_html.h"
#include "run/run_summary.h"
#include "run/signal_outputs.h"
#include "run/stage_timing.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  CONTACT,
  INTEGRATOR,
  DT,
  TIME,
  SET,
  LOG,
  CSV,
  PLOT,
  HTML,
  JSON,
  RESUME,
  AT,
  SPARK,
  STATS,
  CHECK,
  NOPTION
};

#define MAX_STEPS 1e12

/* One run and its outputs. */
typedef struct run {
  const char *path;
  tabi_scene *scene;
  tabi_world *world;
  int64_t steps;
  tbi_run_summary summary;
  tbi_signal_outputs outputs;
  tabi_recorder *recorder; /* or NULL */
  tbi_resume resume;
  tbi_run_html html;
  const tbi_findings *loaded; /* warnings of the scene */
  tbi_findings found;         /* of the run */
  double shown;               /* when the progress line was last written, s */
} run;

static bool check_files(const tbi_args *args) {
  const char *resume = args->value[RESUME];
  const char *wrong = NULL;
  if (!resume && args->nword == 0) wrong = "SCENE is missing";
  if (resume && args->nword > 0) wrong = "--resume takes the scene from the log; leave out SCENE";
  if (!resume && args->value[AT]) wrong = "--at goes with --resume LOG";
  if (wrong) {
    tbi_usage_error("run", "%s", wrong);
    return false;
  }
  const char *input = resume ? resume : args->word[0];
  const tbi_file_use use[] = {
      {NULL,     input,             false},
      {"--log",  args->value[LOG],  true },
      {"--csv",  args->value[CSV],  true },
      {"--plot", args->value[PLOT], true },
      {"--html", args->value[HTML], true },
  };
  return tbi_check_files("run", use, sizeof use / sizeof *use);
}

/* The words that are chosen from a list, and numbers, are checked before any file is read. */
static bool check_options(const tbi_args *args) {
  const char *const *value = args->value;
  return tbi_check_name("run", "contact method", value[CONTACT], &tbi_contact_names) &&
         tbi_check_name("run", "integrator", value[INTEGRATOR], &tbi_integrator_names) &&
         tbi_check_seconds("run", "--dt", value[DT], false) &&
         tbi_check_seconds("run", "--time", value[TIME], false) &&
         tbi_check_seconds("run", "--at", value[AT], true) && tbi_check_settings("run", args) &&
         (!value[PLOT] || tbi_plot_path("run", "--plot", value[PLOT])) && check_files(args);
}

static bool gather_settings(const tbi_args *args, tbi_scene_settings *settings) {
  // resuming a log for longer does not make it another scene
  const char *duration = args->value[RESUME] ? NULL : args->value[TIME];
  tbi_settings_add_all(settings, args);
  return tbi_settings_add(settings, "run", "contact.model", args->value[CONTACT]) &&
         tbi_settings_add(settings, "run", "integrator", args->value[INTEGRATOR]) &&
         tbi_settings_add(settings, "run", "timestep", args->value[DT]) &&
         tbi_settings_add(settings, "run", "duration", duration);
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
                100.0 * (double)r->summary.steps / (double)r->steps, tabi_world_time(r->world),
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

/* -- signals: the loop ends after the current step, and all files are closed */

static volatile sig_atomic_t caught;

static void give_up(int number) {
  (void)number;
  _exit(128 + (int)caught);
}

static void interrupt(int number) {
  if (caught) _exit(128 + number);
  caught = number;
  // a step or a disk that takes too long does not hold up the end
  (void)alarm(1);
}

static void catch_signals(void) {
  (void)signal(SIGALRM, give_up);
  (void)signal(SIGINT, interrupt);
  (void)signal(SIGTERM, interrupt);
}

static int tell_interrupted(const run *r, const char *log) {
  (void)fprintf(stderr, "tabi: interrupted at %g s", tabi_world_time(r->world));
  if (log) (void)fprintf(stderr, "; continue with: tabi run --resume %s", log);
  (void)fputc('\n', stderr);
  return 128 + (int)caught;
}

/* -- the run */

static bool record(run *r) {
  tabi_error err = {0};
  if (!r->recorder || tabi_recorder_step(r->recorder, &err) == TABI_OK) return true;
  end_progress(r);
  tbi_print_diagnostic(&err, "error");
  return false;
}

/* An error of the log ends the run with an error, since the log was asked for. */
static bool close_record(run *r, bool failed) {
  tabi_error err = {0};
  tabi_status status = tabi_recorder_close(r->recorder, &err);
  r->recorder = NULL;
  if (status != TABI_OK && !failed) tbi_print_diagnostic(&err, "error");
  return status == TABI_OK;
}

static int step_all(run *r) {
  double begun = now();
  r->shown = 0;
  for (int64_t i = 0; i < r->steps && !caught; ++i) {
    double before = now();
    tabi_scene_control(r->scene, r->world);
    tabi_status status = tabi_world_step_or_grow(r->world, NULL);
    double after = now();
    r->summary.seconds += after - before;
    if (status == TABI_ERR_ENDED) break;
    if (status != TABI_OK) {
      end_progress(r);
      return fail_step(r);
    }
    tbi_run_summary_step(&r->summary);
    tbi_signal_outputs_step(&r->outputs);
    if (!record(r) || !tbi_run_html_step(&r->html)) return TBI_EXIT_INTERNAL;
    if (after - begun > 0.5) show_progress(r, after);
  }
  end_progress(r);
  return TBI_EXIT_OK;
}

/* Notes are in the summary already, so only what is wrong goes to stderr. */
static int report(run *r, const tbi_args *args, FILE *out) {
  int code = TBI_EXIT_OK;
  tbi_run_summary_find(&r->summary, r->path, &r->found);
  if (r->found.no_memory) return tbi_out_of_memory();
  for (int32_t i = 0; i < r->found.count && !args->value[TBI_QUIET]; ++i) {
    const tabi_error *found = &r->found.item[i];
    if (found->severity != TABI_SEVERITY_NOTE)
      tbi_print_diagnostic(found, tabi_severity_text(found->severity));
  }
  if (args->value[JSON]) {
    code = tbi_run_summary_print_json(&r->summary, r->path, r->loaded, &r->found, out);
  } else {
    tbi_run_summary_print(&r->summary, out);
    tbi_stage_timing_print(r->world, r->summary.seconds, out);
    tbi_sparks_print(&r->outputs.sparks, out);
  }
  bool failed = args->value[CHECK] && !tbi_run_checks_ok(&r->summary.checks);
  return code == TBI_EXIT_OK && failed ? TBI_EXIT_CHECK : code;
}

static int run_opened(run *r, const tbi_args *args, FILE *out) {
  catch_signals();
  if (args->value[STATS]) tbi_stage_timing_begin(r->world);
  int code = step_all(r);
  if (!close_record(r, code == TBI_EXIT_INTERNAL)) code = TBI_EXIT_INTERNAL;
  if (!tbi_run_html_close(&r->html)) code = TBI_EXIT_INTERNAL;
  if (!tbi_signal_outputs_close(&r->outputs, code == TBI_EXIT_OK && !caught))
    code = TBI_EXIT_INTERNAL;
  if (code == TBI_EXIT_OK && caught) return tell_interrupted(r, args->value[LOG]);
  if (code != TBI_EXIT_OK) return code;
  if (r->summary.gait.no_memory || r->summary.slip_ledger.no_memory) return tbi_out_of_memory();
  return report(r, args, out);
}

static int open_files(run *r, const tbi_args *args) {
  if (!tbi_signal_outputs_open(&r->outputs, &r->summary, args->value[CSV], args->value[PLOT],
                               r->steps) ||
      !tbi_run_html_open(&r->html, args->value[HTML], r->scene, r->world)) {
    return TBI_EXIT_INTERNAL;
  }
  bool spark = args->value[SPARK] || tbi_sparks_possible();
  if (spark && !args->value[JSON]) tbi_signal_outputs_spark(&r->outputs, r->steps);
  if (!args->value[LOG]) return TBI_EXIT_OK;
  tabi_error err = {0};
  r->recorder = tabi_recorder_create(args->value[LOG], r->scene, r->world, &err);
  if (r->recorder) return TBI_EXIT_OK;
  /* a path that is no log's is a mistake of the user, a full disk is not */
  int code = tbi_print_error(&err);
  return err.status == TABI_ERR_FILE ? TBI_EXIT_INTERNAL : code;
}

static int run_world(run *r, const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  if (tabi_scene_reset(r->scene, r->world, &err) != TABI_OK) {
    (void)snprintf(err.file, sizeof err.file, "%s", r->path);
    return tbi_print_error(&err);
  }
  if (tbi_run_summary_begin(&r->summary, r->scene, r->world, &err) != TABI_OK)
    return tbi_print_error(&err);
  int code = tbi_resume_enter(&r->resume, r->scene, r->world);
  r->summary.from = tabi_world_time(r->world);
  if (code == TBI_EXIT_OK) code = open_files(r, args);
  if (code == TBI_EXIT_OK) {
    code = run_opened(r, args, out);
  } else {
    (void)tbi_signal_outputs_close(&r->outputs, false);
    tbi_replay_destroy(r->html.replay);
  }
  tbi_run_summary_free(&r->summary);
  return code;
}

static int run_scene(run *r, const tbi_args *args, FILE *out) {
  tabi_world_def def = tabi_scene_world_def(r->scene);
  if (r->resume.recording && def.timestep != r->resume.info.timestep) {
    return tbi_usage_error("run", "the time step of the log is %g s and cannot change on the way",
                           r->resume.info.timestep);
  }
  bool longer = r->resume.recording && args->value[TIME];
  double duration = longer ? strtod(args->value[TIME], NULL) : tabi_scene_duration(r->scene);
  double steps = fmax(1, round(duration / def.timestep));
  if (steps > MAX_STEPS) {
    return tbi_usage_error("run", "%g steps are too many; give a shorter --time", steps);
  }
  r->steps = (int64_t)steps - r->resume.step;
  if (r->steps < 1) {
    return tbi_usage_error("run",
                           "nothing is left to do: the log is taken up at %g s, and the end is at "
                           "%g s; give a longer --time or an earlier --at",
                           (double)r->resume.step * def.timestep, duration);
  }
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

static tabi_scene *load(const run *r, const tabi_scene_def *def, tabi_error *err) {
  if (r->resume.recording) return tabi_recording_scene(r->resume.recording, def, err);
  return tabi_scene_load(r->path, def, err);
}

static int run_command(const tbi_args *args, FILE *out) {
  tbi_scene_settings s = {0};
  if (!check_options(args) || !gather_settings(args, &s)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  tabi_scene_def def = tbi_settings_scene_def(&s, args, &warnings);
  tabi_error err = {0};
  run r = {.path = args->word[0]};
  int code = TBI_EXIT_OK;
  if (args->value[RESUME]) {
    code = tbi_resume_open(&r.resume, args->value[RESUME], args->value[AT], s.set, s.count);
    r.path = r.resume.info.source.path;
  }
  if (code == TBI_EXIT_OK) r.scene = load(&r, &def, &err);
  if (code == TBI_EXIT_OK && !r.scene) {
    if (!args->value[RESUME]) tbi_input_explain(r.path, TBI_INPUT_SCENE, &err);
    code = tbi_print_error(&err);
  }
  if (code == TBI_EXIT_OK && warnings.no_memory) code = tbi_out_of_memory();
  if (code == TBI_EXIT_OK) {
    tbi_print_warnings(&warnings, args);
    r.loaded = &warnings;
    code = run_scene(&r, args, out);
  }
  tbi_findings_free(&r.found);
  tabi_scene_destroy(r.scene);
  tbi_resume_close(&r.resume);
  tbi_findings_free(&warnings);
  return code;
}

const tbi_command tbi_cmd_run = {
    .name = "run",
    .usage = "run SCENE [--contact NAME] [--integrator NAME] [--dt S] [--time S]\n"
             "                [--set path=value] [--log F] [--csv F] [--plot F] [--html F]\n"
             "                [--json] [--spark] [--stats] [--check]\n"
             "       tabi run --resume LOG [--at S] [--time S] [--set path=value] ...",
    .summary = "simulate a scene and print a summary: contacts, residuals, energy, slip, speed",
    .text = "Simulates a scene (YAML) to its end and prints a summary: contacts, penetration, the\n"
            "largest residuals of the contact laws in any step, energy, slip and final poses.\n"
            "Overlaps, energy from nowhere and contact laws missed beyond the bounds of the\n"
            "scene's section check are warnings at the end; --check makes them exit code 5.\n"
            "Contact method gait (planar bipeds) adds a table of the steps.\n"
            "\n"
            "examples:\n"
            "  tabi run scenes/stack.yaml\n"
            "  tabi run scenes/stand.yaml --contact lcp --time 2 --plot forces.svg\n"
            "  tabi run scenes/incline.yaml --set materials.wood.friction=0.4 --csv log.csv\n"
            "  tabi run scenes/biped_walk.yaml --plot walk.svg\n"
            "  tabi run scenes/walk.yaml --html walk.html\n"
            "  tabi run scenes/stand.yaml --log stand.tabi\n"
            "  tabi run scenes/stack.yaml --check --set check.penetration=1e-5\n"
            "  tabi run --resume stand.tabi --at 1.5 --set contact.model=exact\n",
    .nmore = 1,
    .word = "SCENE",
    .options =
        {[CONTACT] = {"--contact", "NAME", "contact method; default: the scene's; one of", false,
                      &tbi_contact_names},
                  [INTEGRATOR] = {"--integrator", "NAME", "integrator; default: the scene's; one of", false,
                         &tbi_integrator_names},
                  [DT] = {"--dt", "S", "time step in seconds; default: the scene's", false, NULL},
                  [TIME] = {"--time", "S", "duration of the run in seconds; default: the scene's", false,
                   NULL},
                  [SET] = {"--set", "path=value",
                  "change a value of the scene, as in bodies.box.mass=3; may be repeated", true,
                  NULL},
                  [LOG] = {"--log", "F",
                  "record the run to a log that can be viewed, plotted, exported and resumed "
                  "(docs/log.md)",
                  false, NULL},
                  [CSV] = {"--csv", "F",
                  "write CSV: time, energies, certificate, contact forces, and the signals that "
                  "the scene's section log names",
                  false, NULL},
                  [PLOT] = {"--plot", "F",
                   "draw an overview of the run, or of its gait: .svg, .png or .pdf (needs "
                   "gnuplot)",
                   false, NULL},
                  [HTML] = {"--html", "F", "write a replay to one HTML file that any browser plays", false,
                   NULL},
                  [JSON] = {"--json", NULL, "print the summary as one JSON object", false, NULL},
                  [RESUME] = {"--resume", "LOG", "continue the run of a log, from its end", false, NULL},
                  [AT] = {"--at", "S", "with --resume: continue from this time of the log, in seconds",
                 false, NULL},
                  [SPARK] = {"--spark", NULL,
                    "add lines of characters for force, height and residual over time; default: "
                    "on a terminal only",
                    false, NULL},
                  [STATS] = {"--stats", NULL, "add the time that each stage of a step takes", false, NULL},
                  [CHECK] = {"--check", NULL,
                    "exit with 5 if a bound of the scene's section check was exceeded", false,
                    NULL}},
    .loads = true,
    .tells = true,
    .run = run_command,
};
