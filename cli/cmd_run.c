/* cmd_run.c - `tabi run`: a scene, stepped to its end, from its start or from a time of a log. */
#include "common/cli.h"
#include "common/output.h"
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
  NOPTION
};

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
  tbi_run_summary summary;
  tbi_signal_outputs outputs;
  tabi_recorder *recorder; /* or NULL */
  tbi_resume resume;
  tbi_run_html html;
  double shown; /* when the progress line was last written, s */
} run;

static bool add_setting(settings *s, int option, const char *path, const char *value) {
  int n = snprintf(s->text[option], sizeof s->text[option], "%s=%s", path, value);
  s->set[s->count++] = s->text[option];
  return n > 0 && (size_t)n < sizeof s->text[option];
}

static bool is_number(const char *text, bool zero) {
  char *end = NULL;
  double value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(value) && (value > 0 || (zero && value == 0));
}

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
  return tbi_output_spares("run", "--log", args->value[LOG], input) &&
         tbi_output_spares("run", "--csv", args->value[CSV], input) &&
         tbi_output_spares("run", "--plot", args->value[PLOT], input) &&
         tbi_output_spares("run", "--html", args->value[HTML], input);
}

static const char *contact_name(int i) { return tabi_contact_name((tabi_contact_kind)i); }
static const char *integrator_name(int i) { return tabi_integrator_name((tabi_integrator)i); }

/* Whether a word is in a list; if not, the message shows the list. */
static bool check_word(const char *what, const char *word, const char *(*name_of)(int), int count) {
  char list[200] = "";
  size_t used = 0;
  for (int i = 0; i < count; ++i) {
    if (!word || strcmp(word, name_of(i)) == 0) return true;
    int n = snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name_of(i));
    if (n > 0 && (size_t)n < sizeof list - used) used += (size_t)n;
  }
  tbi_usage_error("run", "unknown %s '%s' (%s)", what, word, list);
  return false;
}

/* The words that are chosen from a list, and numbers, are checked before any file is read. */
static bool check_options(const tbi_args *args) {
  if (!check_word("contact model", args->value[CONTACT], contact_name, TABI_CONTACT_COUNT) ||
      !check_word("integrator", args->value[INTEGRATOR], integrator_name, TABI_INTEGRATOR_COUNT)) {
    return false;
  }
  static const struct {
    int option;
    const char *name;
  } numbers[] = {
      {DT,   "--dt"  },
      {TIME, "--time"},
      {AT,   "--at"  },
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    const char *text = args->value[numbers[i].option];
    bool zero = numbers[i].option == AT;
    if (!text || is_number(text, zero)) continue;
    tbi_usage_error("run", "%s needs a number of seconds >%s 0, not '%s'", numbers[i].name,
                    zero ? "=" : "", text);
    return false;
  }
  for (int i = 0; i < args->nmany; ++i) {
    const char *equals = strchr(args->many[i], '=');
    if (equals && equals != args->many[i]) continue;
    tbi_usage_error("run", "--set needs path=value, as in bodies.box.mass=3, not '%s'",
                    args->many[i]);
    return false;
  }
  if (args->value[PLOT] && !tbi_plot_path("run", "--plot", args->value[PLOT])) return false;
  return check_files(args);
}

static bool gather(const tbi_args *args, settings *s) {
  static const char *const paths[4] = {"contact.model", "integrator", "timestep", "duration"};
  for (int i = 0; i < args->nmany; ++i)
    s->set[s->count++] = args->many[i];
  for (int option = CONTACT; option <= TIME; ++option) {
    const char *value = args->value[option];
    // a longer run is no other scene
    if (option == TIME && args->value[RESUME]) break;
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

/* -- signals: the loop ends after its step, and what was written stays */

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
  if (log) (void)fprintf(stderr, "; go on with: tabi run --resume %s", log);
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

/* A run that went on after its log could not would have nothing to show for it. */
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
    tabi_status status = tabi_world_step(r->world, NULL);
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

static int run_opened(run *r, const tbi_args *args, FILE *out) {
  bool json = args->value[JSON] != NULL;
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
  tbi_connection_summary_warn(&r->summary);
  if (json) return tbi_run_summary_print_json(&r->summary, r->path, out);
  tbi_run_summary_print(&r->summary, out);
  tbi_stage_timing_print(r->world, r->summary.seconds, out);
  tbi_sparks_print(&r->outputs.sparks, out);
  return TBI_EXIT_OK;
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
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_INTERNAL;
}

static int run_world(run *r, const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  if (tabi_scene_reset(r->scene, r->world, &err) != TABI_OK) {
    (void)snprintf(err.file, sizeof err.file, "%s", r->path);
    return tbi_print_error(&err);
  }
  if (!tbi_run_summary_begin(&r->summary, r->scene, r->world)) return tbi_out_of_memory();
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
  int code = TBI_EXIT_OK;
  if (args->value[RESUME]) {
    code = tbi_resume_open(&r.resume, args->value[RESUME], args->value[AT], s.set, s.count);
    r.path = r.resume.info.source.path;
  }
  if (code == TBI_EXIT_OK) r.scene = load(&r, &def, &err);
  if (code == TBI_EXIT_OK && !r.scene) code = tbi_print_error(&err);
  if (code == TBI_EXIT_OK && warnings.no_memory) code = tbi_out_of_memory();
  if (code == TBI_EXIT_OK) {
    tbi_print_warnings(&warnings);
    code = run_scene(&r, args, out);
  }
  tabi_scene_destroy(r.scene);
  tbi_resume_close(&r.resume);
  tbi_findings_free(&warnings);
  return code;
}

const tbi_command tbi_cmd_run = {
    .name = "run",
    .usage = "run SCENE [--contact NAME] [--integrator NAME] [--dt S] [--time S]\n"
             "                [--set path=value] [--log F] [--csv F] [--plot F] [--html F]\n"
             "                [--json] [--spark] [--stats]\n"
             "       tabi run --resume LOG [--at S] [--time S] [--set path=value] ...",
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
        "  tabi run scenes/biped_walk.yaml --plot walk.svg\n"
        "  tabi run scenes/walk.yaml --html walk.html\n"
        "  tabi run scenes/stand.yaml --log stand.tabi\n"
        "  tabi run --resume stand.tabi --at 1.5 --set contact.model=exact\n",
    .nmore = 1,
    .word = "SCENE",
    .options = {[CONTACT] = {"--contact", "NAME",
                             "cone, lcp, exact, penalty, impulse; gait for bipeds", false},
                [INTEGRATOR] = {"--integrator", "NAME", "semi-implicit, midpoint, rk4, euler",
                                false},
                [DT] = {"--dt", "S", "time step", false},
                [TIME] = {"--time", "S", "how long to simulate", false},
                [SET] = {"--set", "path=value", "change the scene; may be given several times",
                         true},
                [LOG] = {"--log", "F", "log of all, to be played and resumed (docs/log.md)", false},
                [CSV] = {"--csv", "F", "log as CSV: time, energies, certificate, forces", false},
                [PLOT] = {"--plot", "F", "draw an overview, or a walk: .svg, .png or .pdf", false},
                [HTML] = {"--html", "F", "a replay of it in one file, to open in a browser", false},
                [JSON] = {"--json", NULL, "the result as one object", false},
                [RESUME] = {"--resume", "LOG", "go on with the run of a log, from its end", false},
                [AT] = {"--at", "S", "or from this time of it", false},
                [SPARK] = {"--spark", NULL, "lines of force, height and residual", false},
                [STATS] = {"--stats", NULL, "where the time of a step goes", false}},
    .run = run_command,
};
