/* cmd_compare.c - `tabi compare`: a scene under several methods, or several runs, side by side. */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "compare/compare.h"
#include "compare/compare_output.h"
#include "plot/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONTACT, TIME, DT, SET, TOLERANCE, JSON, HTML, PLOT };

/* The parsed command line. */
typedef struct request {
  const tbi_args *args;
  int32_t method[TABI_CONTACT_COUNT]; /* after --contact */
  int32_t nmethod;                    /* 0: all that can run the scene */
  tbi_findings warnings;
} request;

/* -- the command line */

static bool parse_methods(request *r, const char *text) {
  for (;; ++text) {
    char word[32] = "";
    size_t length = strcspn(text, ",");
    if (length < sizeof word) memcpy(word, text, length);
    int32_t kind = tabi_contact_find(word);
    if (kind == TABI_NONE) {
      char list[TBI_NAMES_SIZE];
      tbi_usage_error("compare", "unknown contact method '%.*s' (%s)", (int)length, text,
                      tbi_names_list(&tbi_contact_names, list));
      return false;
    }
    for (int32_t i = 0; i < r->nmethod; ++i) {
      if (r->method[i] != kind) continue;
      tbi_usage_error("compare", "--contact: '%s' is given twice", word);
      return false;
    }
    r->method[r->nmethod++] = kind;
    text += length;
    if (*text == '\0') return true;
  }
}

/* Options that change a run do not go with logs. */
static bool check_words(const tbi_args *args) {
  int logs = 0;
  for (int i = 0; i < args->nword; ++i)
    logs += tbi_source_is_log(args->word[i]) ? 1 : 0;
  const char *wrong = NULL;
  if (args->value[CONTACT] && (args->nword > 1 || logs > 0))
    wrong = "--contact goes with one SCENE, not with several files";
  if (logs == args->nword && args->value[DT]) wrong = "--dt goes with scenes, not with logs";
  if (logs == args->nword && args->nmany > 0) wrong = "--set goes with scenes, not with logs";
  if (wrong) tbi_usage_error("compare", "%s", wrong);
  if (wrong) return false;
  tbi_file_use use[TBI_MAX_WORDS + 2] = {
      {"--html", args->value[HTML], true},
      {"--plot", args->value[PLOT], true},
  };
  for (int i = 0; i < args->nword; ++i)
    use[i + 2].path = args->word[i];
  return tbi_check_files("compare", use, args->nword + 2);
}

static bool check_options(request *r, tbi_compared *c) {
  const tbi_args *args = r->args;
  const char *methods = args->value[CONTACT];
  const char *tolerances = args->value[TOLERANCE];
  const char *plot = args->value[PLOT];
  if (methods && !parse_methods(r, methods)) return false;
  if (tolerances && !tbi_tolerances_parse(c, tolerances)) return false;
  if (plot && !tbi_plot_path("compare", "--plot", plot)) return false;
  return tbi_check_seconds("compare", "--time", args->value[TIME], false) &&
         tbi_check_seconds("compare", "--dt", args->value[DT], false) &&
         tbi_check_settings("compare", args) && check_words(args);
}

/* -- opening */

/* How many bytes of a text fit into `room` without cutting a UTF-8 character. */
static size_t cut(const char *text, size_t length, size_t room) {
  if (length > room) length = room;
  while (length > 0 && ((unsigned char)text[length] & 0xc0U) == 0x80U)
    --length;
  return length;
}

/* The name of the column: the file without folder and extension, shortened, unlike the others. */
static void name_run(tbi_compared *c, tbi_run *run) {
  enum { LONGEST = 10 };
  const char *path = run->source.path;
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  for (int number = 1; number <= TBI_MAX_RUNS; ++number) {
    char end[8] = "";
    if (number > 1) (void)snprintf(end, sizeof end, "#%d", number);
    int kept = (int)cut(base, length, LONGEST - strlen(end));
    (void)snprintf(run->name, sizeof run->name, "%.*s%s", kept, base, end);
    bool taken = false;
    for (const tbi_run *other = c->run; other < run; ++other)
      taken = taken || strcmp(other->name, run->name) == 0;
    if (!taken) break;
  }
}

/* Opens a scene as a new run; method NULL: the scene's.  After a failure there is no new run. */
static int open_scene(request *r, tbi_compared *c, const char *path, const char *method,
                      tabi_error *err) {
  tbi_scene_settings settings = {0};
  tbi_settings_add_all(&settings, r->args);
  if (!tbi_settings_add(&settings, "compare", "timestep", r->args->value[DT]) ||
      !tbi_settings_add(&settings, "compare", "duration", r->args->value[TIME]) ||
      !tbi_settings_add(&settings, "compare", "contact.model", method)) {
    return TBI_EXIT_USAGE;
  }
  tabi_scene_def def = tbi_settings_scene_def(&settings, r->args, &r->warnings);
  tbi_run *run = &c->run[c->nrun];
  int code = tbi_source_open_scene(&run->source, path, &def, err);
  if (code != TBI_EXIT_OK) {
    tbi_source_close(&run->source);
    return code;
  }
  ++c->nrun;
  return TBI_EXIT_OK;
}

static int open_log(request *r, tbi_compared *c, const char *path, tabi_error *err) {
  tabi_scene_def def = tbi_args_scene_def(r->args, &r->warnings);
  const char *time = r->args->value[TIME];
  tbi_run *run = &c->run[c->nrun++];
  return tbi_source_open_log(&run->source, path, &def, time ? strtod(time, NULL) : 0, err);
}

/* A usage error was printed already. */
static int fail_open(int code, const tabi_error *err) {
  return code == TBI_EXIT_USAGE ? code : tbi_print_error(err);
}

/* One method of a scene; that it cannot run the scene is noted. */
static int open_method(request *r, tbi_compared *c, int32_t kind) {
  tbi_refusal *refusal = &c->refusal[c->nrefusal];
  refusal->name = tabi_contact_name((tabi_contact_kind)kind);
  refusal->reason = (tabi_error){0};
  int code = open_scene(r, c, r->args->word[0], refusal->name, &refusal->reason);
  if (code == TBI_EXIT_OK) {
    tbi_run *run = &c->run[c->nrun - 1];
    (void)snprintf(run->name, sizeof run->name, "%s", refusal->name);
    return TBI_EXIT_OK;
  }
  if (code != TBI_EXIT_INPUT) return fail_open(code, &refusal->reason);
  ++c->nrefusal;
  return TBI_EXIT_OK;
}

/* Without --contact, the scene's own method comes first, then the other methods without variants.
 */
static int open_methods(request *r, tbi_compared *c) {
  if (r->nmethod == 0) {
    tabi_error err = {0};
    int code = open_scene(r, c, r->args->word[0], NULL, &err);
    if (code != TBI_EXIT_OK) return fail_open(code, &err);
    tabi_contact_kind own = c->run[0].source.contact;
    (void)snprintf(c->run[0].name, sizeof c->run[0].name, "%s", tabi_contact_name(own));
    for (int32_t i = 0; i < TABI_CONTACT_METHODS; ++i) {
      if (i != (int32_t)own) r->method[r->nmethod++] = i;
    }
  }
  int code = TBI_EXIT_OK;
  for (int32_t i = 0; i < r->nmethod && code == TBI_EXIT_OK; ++i)
    code = open_method(r, c, r->method[i]);
  if (code == TBI_EXIT_OK && c->nrun == 0) return tbi_print_error(&c->refusal[0].reason);
  return code;
}

static int open_words(request *r, tbi_compared *c) {
  for (int i = 0; i < r->args->nword; ++i) {
    const char *path = r->args->word[i];
    tabi_error err = {0};
    int code =
        tbi_source_is_log(path) ? open_log(r, c, path, &err) : open_scene(r, c, path, NULL, &err);
    if (code != TBI_EXIT_OK) return fail_open(code, &err);
    name_run(c, &c->run[c->nrun - 1]);
  }
  return TBI_EXIT_OK;
}

/* The first run is the reference; the others need the same robots. */
static int check_robots(tbi_compared *c) {
  const tbi_source *first = &c->run[0].source;
  if (!tbi_reference_begin(&c->reference, first->scene, first->spacing)) return tbi_out_of_memory();
  for (int32_t i = 1; i < c->nrun; ++i) {
    char which[400];
    tabi_error err;
    const tbi_source *source = &c->run[i].source;
    if (tbi_reference_fits(&c->reference, source->scene, which, sizeof which)) continue;
    tbi_fail(&err, TABI_ERR_MODEL, (tabi_place){source->path, 1},
             "its joints are not those of %s: %s; compare runs of the same robots", first->path,
             which);
    return tbi_print_error(&err);
  }
  return TBI_EXIT_OK;
}

/* -- running */

static void show_progress(const tbi_compared *c, int32_t run, time_t *shown) {
  time_t now = time(NULL);
  if (now == *shown || !isatty(STDERR_FILENO)) return;
  *shown = now;
  const tbi_source *s = &c->run[run].source;
  (void)fprintf(stderr, "\r\033[K%s (%d of %d)  %3.0f %%", c->run[run].name, run + 1, c->nrun,
                100.0 * (double)s->next / (double)s->count);
}

static bool take_sample(tbi_compared *c, int32_t index, tbi_compare_output *output,
                        const tabi_sample *sample, tabi_error *err) {
  tbi_run *run = &c->run[index];
  if (!tbi_run_metrics_add(&run->metrics, sample, err)) return false;
  if (index == 0 && !tbi_reference_add(&c->reference, sample)) {
    tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory; give a shorter --time");
    return false;
  }
  tbi_reference_compare(&c->reference, &run->deviation, sample);
  return tbi_compare_output_sample(output, index, sample, err);
}

static void end_run(tbi_run *run) {
  double *value = run->metrics.value;
  const tbi_deviation *d = &run->deviation;
  int64_t steps = run->metrics.samples - 1;
  if (tbi_source_gait_ended(&run->source) && isnan(value[TBI_FALL]))
    value[TBI_FALL] = run->metrics.last;
  if (!run->source.recording && steps > 0)
    value[TBI_STEP_TIME] = run->source.seconds / (double)steps;
  if (d->zmp_count > 0) value[TBI_ZMP_ERROR] = sqrt(d->zmp_square / (double)d->zmp_count);
  if (d->pairs == 0) return;
  value[TBI_POSITION_ERROR] = d->position;
  value[TBI_ANGLE_ERROR] = d->angle;
}

static bool do_run(tbi_compared *c, int32_t index, tbi_compare_output *output, tabi_error *err) {
  tbi_run *run = &c->run[index];
  time_t shown = time(NULL);
  run->deviation.spacing = run->source.spacing;
  bool fine = tbi_run_metrics_begin(&run->metrics, run->source.scene, err) &&
              tbi_compare_output_begin(output, index, run, err);
  while (fine) {
    const tabi_sample *sample = tbi_source_next(&run->source, err);
    if (!sample) break;
    fine = take_sample(c, index, output, sample, err);
    show_progress(c, index, &shown);
  }
  if (isatty(STDERR_FILENO)) (void)fputs("\r\033[K", stderr);
  fine = fine && err->status == TABI_OK && tbi_run_metrics_end(&run->metrics, err);
  if (fine) end_run(run);
  return fine;
}

/* Runs that failed are part of the result unless all failed. */
static int check_ends(const tbi_compared *c) {
  for (int32_t i = 0; i < c->nrun; ++i) {
    if (c->run[i].source.failure.status == TABI_OK) return TBI_EXIT_OK;
  }
  tabi_error err = c->run[0].source.failure;
  (void)snprintf(err.file, sizeof err.file, "%s", c->run[0].source.path);
  err.line = 1;
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_DIVERGED;
}

static int run_all(tbi_compared *c, const request *r, FILE *out) {
  const tbi_args *args = r->args;
  tbi_compare_output output = {0};
  tabi_error err = {0};
  if (!tbi_compare_output_prepare(&output, args->value[PLOT], args->value[HTML], &err)) {
    tbi_print_diagnostic(&err, "error");
    return TBI_EXIT_INTERNAL;
  }
  bool fine = true;
  for (int32_t i = 0; i < c->nrun && fine; ++i)
    fine = do_run(c, i, &output, &err);
  int code = fine ? check_ends(c) : tbi_print_error(&err);
  if (code == TBI_EXIT_OK) code = tbi_compare_output_end(&output, c);
  tbi_compare_output_free(&output);
  if (code != TBI_EXIT_OK) return code;
  if (args->value[JSON]) {
    code = tbi_compared_print_json(c, &r->warnings, out);
  } else {
    tbi_compared_print(c, out);
  }
  return code == TBI_EXIT_OK && !tbi_compared_within(c) ? TBI_EXIT_CHECK : code;
}

static int compare_opened(request *r, tbi_compared *c, FILE *out) {
  c->methods = r->args->nword == 1 && !tbi_source_is_log(r->args->word[0]);
  int code = c->methods ? open_methods(r, c) : open_words(r, c);
  if (code == TBI_EXIT_OK && r->warnings.no_memory) code = tbi_out_of_memory();
  if (code == TBI_EXIT_OK) tbi_print_warnings(&r->warnings, r->args);
  if (code == TBI_EXIT_OK) code = check_robots(c);
  if (code == TBI_EXIT_OK) code = run_all(c, r, out);
  return code;
}

static int compare_command(const tbi_args *args, FILE *out) {
  request r = {.args = args};
  tbi_compared *c = calloc(1, sizeof *c);
  if (!c) return tbi_out_of_memory();
  int code = check_options(&r, c) ? compare_opened(&r, c, out) : TBI_EXIT_USAGE;
  for (int32_t i = 0; i < c->nrun; ++i) {
    tbi_run_metrics_free(&c->run[i].metrics);
    tbi_source_close(&c->run[i].source);
  }
  tbi_reference_free(&c->reference);
  tbi_findings_free(&r.warnings);
  free(c);
  return code;
}

const tbi_command tbi_cmd_compare = {
    .name = "compare",
    .usage = "compare SCENE|LOG... [--contact A,B] [--time S] [--dt S] [--set path=value]\n"
             "                    [--tolerance name=value,...] [--json] [--html F] [--plot F]",
    .summary = "compare contact methods, scenes or logs: forces, slip, residuals, divergence",
    .text = "Runs one scene under several contact methods, the scene's own first, or compares\n"
            "several scenes or logs as they are.  The first is the reference.  Exits with 5 if a\n"
            "tolerance is exceeded.  docs/compare.md defines the metrics.\n"
            "\n"
            "examples:\n"
            "  tabi compare scenes/stand.yaml --time 2\n"
            "  tabi compare scenes/stand.yaml --contact exact,cone --tolerance zmp_error=0.001\n"
            "  tabi compare monday.tabi tuesday.tabi --plot both.svg\n",
    .nword = 1,
    .nmore = TBI_MAX_RUNS - 1,
    .word = "SCENE or LOG",
    .options =
        {[CONTACT] =
             {"--contact", "A,B",
              "contact methods; default: the scene's, then the others that can run it; any of",
              false, &tbi_contact_names},
                  [TIME] = {"--time", "S",
                   "duration of the runs in seconds, or how much of logs to read; default: all",
                   false, NULL},
                  [DT] = {"--dt", "S", "time step in seconds; default: the scene's", false, NULL},
                  [SET] = {"--set", "path=value",
                  "change a value of the scenes, as in bodies.box.mass=3; may be repeated", true,
                  NULL},
                  [TOLERANCE] = {"--tolerance", "N=V,...",
                        "limits of metrics in SI units, as in slip=0.001,creep=1e-5", false, NULL},
                  [JSON] = {"--json", NULL, "print the comparison as one JSON object", false, NULL},
                  [HTML] = {"--html", "F", "write replays of all runs to one HTML file", false, NULL},
                  [PLOT] = {"--plot", "F",
                   "draw the signals of all runs: .svg, .png or .pdf (needs gnuplot)", false,
                   NULL}},
    .loads = true,
    .tells = true,
    .run = compare_command,
};
