/* cmd_sweep.c - `tabi sweep`: all runs of a study, and what their rows tell. */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "sweep/sweep_hdf5.h"
#include "sweep/sweep_report.h"
#include "sweep/sweep_slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  OUT,
  JOBS,
  SHARD,
  RESUME,
  CSV,
  HDF5,
  REPORT,
  JSON,
  MERGE,
  REPLAY,
  LOG,
  REPEAT,
  SLURM,
  ENGINE
};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -- signals: runs under way are finished, no further one begins */

static volatile sig_atomic_t caught;

static void interrupt(int number) {
  if (caught) _exit(128 + number);
  caught = number;
}

/* -- progress */

typedef struct progress {
  double begun, shown;
} progress;

static void show_time(FILE *out, double seconds) {
  if (seconds < 120) (void)fprintf(out, "%.0f s", seconds);
  if (seconds >= 120 && seconds < 7200) (void)fprintf(out, "%.0f min", seconds / 60);
  if (seconds >= 7200) (void)fprintf(out, "%.1f h", seconds / 3600);
}

static bool show_progress(void *user, int64_t done, int64_t total) {
  progress *p = user;
  double time = now();
  bool due = time - p->shown >= 0.2 && time - p->begun >= 0.5;
  if (due && isatty(STDERR_FILENO)) {
    double rate = (double)done / (time - p->begun);
    p->shown = time;
    (void)fprintf(stderr, "\r%3.0f %%  %" PRId64 " of %" PRId64 " runs, %.3g a second, ",
                  100.0 * (double)done / (double)total, done, total, rate);
    show_time(stderr, (double)(total - done) / rate);
    (void)fputs(" left \033[K", stderr);
  }
  return !caught;
}

/* -- arguments */

static bool parse_count(const char *text, int64_t least, int64_t *value) {
  char *rest = NULL;
  errno = 0;
  long long number = strtoll(text, &rest, 10);
  *value = number;
  return errno == 0 && rest != text && *rest == '\0' && number >= least;
}

/* "2/8": the second of eight */
static bool parse_shard(const char *text, tabi_sweep_def *def) {
  char *rest = NULL;
  errno = 0;
  long long which = strtoll(text, &rest, 10);
  if (errno != 0 || rest == text || *rest != '/' || !parse_count(rest + 1, 1, &def->shards))
    return false;
  def->shard = which - 1;
  return which >= 1 && which <= def->shards;
}

static bool parse_engine(const char *text, tabi_engine *engine) {
  for (int i = TABI_ENGINE_WORLD; i <= TABI_ENGINE_BATCH; ++i) {
    if (strcmp(text, tabi_engine_name((tabi_engine)i)) == 0) *engine = (tabi_engine)i;
  }
  return *engine != TABI_ENGINE_OF_STUDY;
}

static bool read_def(const tbi_args *args, tabi_sweep_def *def) {
  int64_t jobs = 0;
  *def = tabi_sweep_def_default();
  if (args->value[JOBS] && (!parse_count(args->value[JOBS], 1, &jobs) || jobs > 1024)) {
    tbi_usage_error("sweep", "--jobs must be a number from 1 to 1024");
    return false;
  }
  def->jobs = (int32_t)jobs;
  if (args->value[ENGINE] && !parse_engine(args->value[ENGINE], &def->engine)) {
    tbi_usage_error("sweep", "--engine must be world or batch");
    return false;
  }
  if (args->value[SHARD] && !parse_shard(args->value[SHARD], def)) {
    tbi_usage_error("sweep", "--shard is I/N with I from 1 to N, as in 2/8");
    return false;
  }
  return true;
}

/* The results beside where the command runs: study.yaml gives study.sqlite. */
static const char *default_path(const char *study, char *path, size_t size) {
  const char *slash = strrchr(study, '/');
  const char *name = slash ? slash + 1 : study;
  const char *dot = strrchr(name, '.');
  int length = (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name));
  (void)snprintf(path, size, "%.*s.sqlite", length, name);
  return path;
}

/* Known before the runs, and not behind them. */
static bool may_write_beside(const char *path) {
  char folder[4096] = ".";
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (slash) (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
  if (!path || access(folder, W_OK) == 0) return true;
  (void)fprintf(stderr, "%s:1: error: cannot write: %s\n", path, strerror(errno));
  return false;
}

static tabi_scene_def scene_def(const tbi_args *args) {
  tabi_scene_def def = tbi_args_scene_def(args, NULL);
  def.warn = NULL;
  def.plugins = true;
  return def;
}

/* -- what is told */

/* A row's place for measures is the caller's to free; NULL after an error was printed. */
static double *make_row(const tabi_study *study, tabi_study_row *row) {
  *row = (tabi_study_row){.measure =
                              calloc((size_t)tabi_study_nmeasure(study) + 1, sizeof *row->measure)};
  if (!row->measure) (void)tbi_out_of_memory();
  return row->measure;
}

/* Why the first run failed that did: its scene is loaded once more. */
static void tell_failure(tabi_results *results) {
  tabi_study_row row;
  const tabi_study *study = tabi_results_study(results);
  double *measure = make_row(study, &row);
  for (int64_t run = 0; measure && run < tabi_study_nrun(study); ++run) {
    tabi_error why = {0};
    if (!tabi_results_has(results, run) || !tabi_results_get(results, run, &row) ||
        strcmp(row.status, "failed") != 0)
      continue;
    (void)tabi_study_run(study, run, NULL, &row, &why);
    (void)fprintf(stderr, "tabi: warning: run %" PRId64 " failed%s%s\n", run,
                  why.status != TABI_OK ? ": " : "", why.message);
    break;
  }
  free(measure);
}

/* before: results of another version that these are compared with, or NULL. */
static int tell(tabi_results *results, tabi_results *before, const char *path, double seconds,
                const tbi_args *args, FILE *out) {
  tbi_sweep_summary summary;
  int code = TBI_EXIT_INTERNAL;
  if (args->value[CSV] && !tbi_sweep_write_csv(results, args->value[CSV])) return code;
  if (args->value[HDF5] && !tbi_sweep_write_hdf5(results, args->value[HDF5])) return code;
  if (tbi_sweep_summary_make(&summary, results, before, path)) {
    summary.seconds = seconds;
    code = TBI_EXIT_OK;
    if (summary.failed > 0) tell_failure(results);
    if (args->value[REPORT] && !tbi_sweep_report_write(&summary, args->value[REPORT]))
      code = TBI_EXIT_INTERNAL;
    if (code == TBI_EXIT_OK && args->value[JSON])
      code = tbi_sweep_summary_print_json(&summary, out);
    if (!args->value[JSON]) tbi_sweep_summary_print(&summary, out);
    if (code == TBI_EXIT_OK && tbi_sweep_summary_changed(&summary)) code = TBI_EXIT_CHECK;
  }
  tbi_sweep_summary_free(&summary);
  return code;
}

/* -- a sweep */

static int sweep_into(tabi_results *results, tabi_results *before, const char *path,
                      tabi_sweep_def *def, const tbi_args *args, FILE *out) {
  const tabi_study *study = tabi_results_study(results);
  if (tabi_results_count(results) > 0 && !args->value[RESUME]) {
    return tbi_usage_error("sweep",
                           "%s holds %" PRId64 " of %" PRId64
                           " runs already; go on with --resume, or give another --out",
                           path, tabi_results_count(results), tabi_study_nrun(study));
  }
  progress p = {.begun = now()};
  def->progress = show_progress;
  def->progress_user = &p;
  (void)signal(SIGINT, interrupt);
  (void)signal(SIGTERM, interrupt);
  tabi_error err = {0};
  tabi_status status = tabi_sweep(study, results, def, &err);
  if (p.shown > 0) (void)fputs("\r\033[K", stderr);
  if (status != TABI_OK) return tbi_print_error(&err);
  if (caught) {
    (void)fprintf(
        stderr, "tabi: interrupted after %" PRId64 " of %" PRId64 " runs; continue with --resume\n",
        tabi_results_count(results), tabi_study_nrun(study));
    return 128 + (int)caught;
  }
  if (tabi_results_count(results) < tabi_study_nrun(study) && tabi_study_may_stop(study)) {
    (void)fprintf(stderr, "tabi: the rule `stop` holds after %" PRId64 " runs\n",
                  tabi_results_count(results));
  }
  return tell(results, before, path, now() - p.begun, args, out);
}

/* --jobs is the number of tasks there. */
static int submit(const tabi_study *study, const char *study_path, const char *path,
                  const tabi_sweep_def *def, const tbi_args *args, FILE *out) {
  if (tabi_study_may_stop(study)) {
    return tbi_usage_error("sweep",
                           "%s has a rule `stop`, which needs all rows in one place; remove "
                           "it to use --slurm",
                           study_path);
  }
  bool chosen = def->engine != TABI_ENGINE_OF_STUDY;
  tbi_slurm_jobs jobs = {.study = study_path,
                         .out = path,
                         .engine =
                             tabi_engine_name(chosen ? def->engine : tabi_study_engine(study)),
                         .runs = tabi_study_nrun(study),
                         .tasks = def->jobs};
  int code = tbi_slurm_submit(&jobs);
  if (code != TBI_EXIT_OK) return code;
  if (args->value[JSON]) {
    return tbi_json_print(out, json_pack("{sI sI sI so}", "array", (json_int_t)jobs.array, "merge",
                                         (json_int_t)jobs.merge, "tasks", (json_int_t)jobs.tasks,
                                         "results", tbi_json_text(path)));
  }
  (void)fprintf(out,
                "job %ld does %" PRId64 " runs in %" PRId64 " tasks; job %ld then writes %s\n"
                "what is left after that: tabi sweep %s --out %s --resume\n",
                jobs.array, jobs.runs, jobs.tasks, jobs.merge, path, study_path, path);
  return TBI_EXIT_OK;
}

static int run_study(const tbi_args *args, FILE *out) {
  char made[4096];
  tabi_sweep_def def;
  tabi_error err = {0};
  const char *study_path = args->word[0];
  const char *path =
      args->value[OUT] ? args->value[OUT] : default_path(study_path, made, sizeof made);
  const tbi_file_use use[] = {
      {NULL,       study_path,          false},
      {"--out",    path,                true },
      {"--csv",    args->value[CSV],    true },
      {"--hdf5",   args->value[HDF5],   true },
      {"--report", args->value[REPORT], true },
  };
  if (!read_def(args, &def) || !tbi_check_files("sweep", use, sizeof use / sizeof *use) ||
      !may_write_beside(args->value[CSV]) || !may_write_beside(args->value[HDF5]) ||
      !may_write_beside(args->value[REPORT]))
    return TBI_EXIT_USAGE;
  tabi_scene_def scene = scene_def(args);
  tabi_study *study = tabi_study_load(study_path, &scene, &err);
  if (study && tabi_study_check_engine(study, def.engine, &err) != TABI_OK) {
    tabi_study_destroy(study);
    study = NULL;
  }
  if (!study) return tbi_print_error(&err);
  if (args->value[SLURM]) {
    int submitted = submit(study, study_path, path, &def, args, out);
    tabi_study_destroy(study);
    return submitted;
  }
  tabi_results *results = tabi_results_create(path, study, &err);
  int code = results ? sweep_into(results, NULL, path, &def, args, out) : tbi_print_error(&err);
  tabi_results_close(results);
  tabi_study_destroy(study);
  return code;
}

/* -- files of results */

static int merge(const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  tabi_scene_def scene = scene_def(args);
  const char *path = args->value[MERGE];
  if (args->nword == 0) return tbi_usage_error("sweep", "--merge OUT needs files to merge");
  tabi_results *first = tabi_results_open(args->word[0], &scene, &err);
  if (!first) return tbi_print_error(&err);
  tabi_results *all = tabi_results_create(path, tabi_results_study(first), &err);
  tabi_status status = all ? TABI_OK : err.status;
  for (int i = 0; i < args->nword && status == TABI_OK; ++i)
    status = tabi_results_merge(all, args->word[i], &err);
  int code = status == TABI_OK ? tell(all, NULL, path, 0, args, out) : tbi_print_error(&err);
  tabi_results_close(all);
  tabi_results_close(first);
  return code;
}

static int tell_replay(const tabi_study *study, const tabi_study_row row[2], const char *why,
                       FILE *out) {
  bool same = row[0].hash == row[1].hash && strcmp(row[0].status, row[1].status) == 0;
  (void)fprintf(out, "run %" PRId64 ": %s, state hash %016" PRIx64 "\n", row[0].run, row[1].status,
                row[1].hash);
  for (int32_t i = 0; i < tabi_study_nparameter(study); ++i) {
    const char *choice = tabi_study_choice(study, row[0].run, i);
    (void)fprintf(out, "  %-20s ", tabi_study_parameter_name(study, i));
    if (choice) (void)fprintf(out, "%s\n", choice);
    if (!choice) (void)fprintf(out, "%.9g\n", tabi_study_value(study, row[0].run, i));
  }
  for (int32_t i = 0; i < tabi_study_nmeasure(study); ++i)
    (void)fprintf(out, "  %-20s %.9g\n", tabi_study_measure_name(study, i), row[1].measure[i]);
  if (why[0] != '\0') (void)fprintf(out, "  %s\n", why);
  if (same) return TBI_EXIT_OK;
  (void)fprintf(stderr,
                "tabi: warning: the row has state hash %016" PRIx64 " (%s): files of the "
                "scene have changed, or this is another version of tabi\n",
                row[0].hash, row[0].status);
  return TBI_EXIT_CHECK;
}

static int replay(const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  tabi_scene_def scene = scene_def(args);
  int64_t run = 0;
  if (!parse_count(args->value[REPLAY], 0, &run))
    return tbi_usage_error("sweep", "--replay takes the id of a run");
  tabi_results *results = tabi_results_open(args->word[0], &scene, &err);
  if (!results) return tbi_print_error(&err);
  const tabi_study *study = tabi_results_study(results);
  size_t width = (size_t)tabi_study_nmeasure(study);
  double *measure = calloc(2 * width + 1, sizeof *measure);
  tabi_study_row row[2] = {{.measure = measure}, {.measure = measure ? measure + width : NULL}};
  int code = TBI_EXIT_OK;
  if (!measure) {
    code = tbi_out_of_memory();
  } else if (run >= tabi_study_nrun(study) || !tabi_results_get(results, run, &row[0])) {
    code = tbi_usage_error("sweep", "%s has no run %" PRId64, args->word[0], run);
  } else {
    row[1].engine = row[0].engine;
    tabi_status status = tabi_study_run(study, run, args->value[LOG], &row[1], &err);
    code = status == TABI_OK ? tell_replay(study, row, err.message, out) : tbi_print_error(&err);
  }
  free(measure);
  tabi_results_close(results);
  return code;
}

static bool is_results(const char *path) {
  char begin[16] = "";
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(begin, 1, sizeof begin, file) : 0;
  if (file) (void)fclose(file);
  return size == sizeof begin && memcmp(begin, "SQLite format 3", sizeof begin) == 0;
}

static int show(const tbi_args *args, FILE *out) {
  tabi_error err = {0};
  tabi_scene_def scene = scene_def(args);
  tabi_results *results = tabi_results_open(args->word[0], &scene, &err);
  int code = results ? tell(results, NULL, args->word[0], 0, args, out) : tbi_print_error(&err);
  tabi_results_close(results);
  return code;
}

/* -- the same study by this version */

/* What stepped the first of the rows. */
static tabi_engine engine_of(tabi_results *results) {
  tabi_study_row row;
  const tabi_study *study = tabi_results_study(results);
  double *measure = make_row(study, &row);
  int64_t run = 0;
  while (run < tabi_study_nrun(study) && !tabi_results_has(results, run))
    ++run;
  if (measure && run < tabi_study_nrun(study)) (void)tabi_results_get(results, run, &row);
  free(measure);
  return row.engine;
}

static int repeat(const tbi_args *args, FILE *out) {
  char made[4096];
  tabi_sweep_def def;
  tabi_error err = {0};
  tabi_scene_def scene = scene_def(args);
  if (!read_def(args, &def)) return TBI_EXIT_USAGE;
  tabi_results *before = tabi_results_open(args->value[REPEAT], &scene, &err);
  if (!before) return tbi_print_error(&err);
  if (def.engine == TABI_ENGINE_OF_STUDY) def.engine = engine_of(before);
  (void)snprintf(made, sizeof made, "%s.repeat", args->value[REPEAT]);
  const char *path = args->value[OUT] ? args->value[OUT] : made;
  tabi_results *after = tabi_results_create(path, tabi_results_study(before), &err);
  int code = after ? sweep_into(after, before, path, &def, args, out) : tbi_print_error(&err);
  tabi_results_close(after);
  tabi_results_close(before);
  return code;
}

static int sweep_command(const tbi_args *args, FILE *out) {
  if (args->value[MERGE]) return merge(args, out);
  if (args->value[REPEAT]) return repeat(args, out);
  if (args->nword != 1) return tbi_usage_error("sweep", "STUDY is missing");
  if (args->value[REPLAY]) return replay(args, out);
  if (is_results(args->word[0])) return show(args, out);
  return run_study(args, out);
}

const tbi_command tbi_cmd_sweep = {
    .name = "sweep",
    .usage = "sweep STUDY [--out F] [--jobs N] [--shard I/N] [--resume] [--csv F]\n"
             "                  [--hdf5 F] [--report F] [--slurm] [--engine E] [--json]\n"
             "       tabi sweep --merge OUT IN...\n"
             "       tabi sweep RESULTS [--replay ID [--log F]] [--csv F] [--hdf5 F]\n"
             "                  [--report F] [--json]\n"
             "       tabi sweep --repeat RESULTS [--out F]",
    .summary = "run a scene many times over parameters that are not known exactly",
    .text =
        "Runs a study (YAML): a scene, parameters with distributions, and measures. All\n"
        "processors work; every finished run is a row in an SQLite file at once, so that a\n"
        "sweep that is stopped or killed goes on with --resume. Prints probabilities and means\n"
        "with 95 % intervals, and how far each parameter decides each measure.\n"
        "Rows do not depend on the number of threads, shards or machines.\n"
        "\n"
        "examples:\n"
        "  tabi sweep slippery.yaml\n"
        "  tabi sweep slippery.yaml --shard 1/4 --out part1.sqlite\n"
        "  tabi sweep --merge all.sqlite part*.sqlite --csv all.csv\n"
        "  tabi sweep slippery.sqlite --replay 17 --log run17.tabi\n"
        "  tabi sweep --repeat slippery.sqlite\n",
    .nmore = TBI_MAX_WORDS,
    .word = "STUDY",
    .options =
        {[OUT] = {"--out", "F", "file of results; default: the study's name with .sqlite", false,
                  NULL},
                  [JOBS] = {"--jobs", "N", "runs at a time; default: one for each processor", false, NULL},
                  [SHARD] = {"--shard", "I/N", "only every N-th run, from the I-th on", false, NULL},
                  [RESUME] = {"--resume", NULL, "do the runs that the file of results lacks", false, NULL},
                  [CSV] = {"--csv", "F", "write all rows as CSV", false, NULL},
                  [HDF5] = {"--hdf5", "F", "write all rows as an HDF5 file, a dataset for each column",
                   false, NULL},
                  [REPORT] = {"--report", "F",
                     "write a page (HTML) with intervals, response curves, maps, effects, and "
                     "replays of extreme runs beside it",
                     false, NULL},
                  [JSON] = {"--json", NULL, "print one JSON object", false, NULL},
                  [MERGE] = {"--merge", "OUT", "put rows of several files of one study into one file", false,
                    NULL},
                  [REPLAY] = {"--replay", "ID",
                     "do a run of a file of results again; exit 5 if it ends elsewhere", false,
                     NULL},
                  [LOG] = {"--log", "F", "with --replay: record it to a log", false, NULL},
                  [REPEAT] = {"--repeat", "RESULTS",
                     "do the study of a file of results with this version and compare both; exit 5 "
                     "if a measure has changed (p < 0.01)",
                     false, NULL},
                  [SLURM] = {"--slurm", NULL,
                    "submit the study to Slurm: an array job of --jobs tasks and a job that merges "
                    "their results",
                    false, NULL},
                  [ENGINE] = {"--engine", "world|batch",
                     "what steps the runs: worlds one by one, or lanes some at once; default: as "
                     "the study says",
                     false, NULL}},
    .loads = true,
    .run = sweep_command,
};
