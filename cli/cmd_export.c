/* cmd_export.c - `tabi export`: a log in the formats of other programs.  Samples pass one by one
 * from the log through the signals to a writer (export.h), so that memory does not grow with the
 * log. */
#include "common/cli.h"
#include "export/export.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT, FORMAT, SIGNALS, EVERY, FROM, TO };

static const tbi_export_format *const formats[] = {&tbi_export_csv, &tbi_export_hdf5,
                                                   &tbi_export_mcap};
enum { NFORMAT = sizeof formats / sizeof formats[0] };

/* The log and the file to write. */
typedef struct job {
  const tbi_args *args;
  const char *log, *path;
  const tbi_export_format *format;
  tabi_recording *recording;
  tabi_recording_info info;
  tabi_scene *scene;
  tabi_signals *signals;
  int32_t *chosen; /* indexes of signals */
  int32_t nchosen;
  double *value; /* of all signals */
  int64_t first, last, every;
  tbi_output output;
} job;

/* -- arguments */

static bool ends_with(const char *path, const char *ending) {
  if (!ending) return false;
  size_t length = strlen(path);
  size_t tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static const tbi_export_format *find_format(const tbi_args *args) {
  const char *word = args->value[FORMAT];
  for (int i = 0; i < NFORMAT; ++i) {
    const tbi_export_format *f = formats[i];
    if (word ? strcmp(word, f->name) == 0
             : ends_with(args->value[OUTPUT], f->endings[0]) ||
                   ends_with(args->value[OUTPUT], f->endings[1])) {
      return f;
    }
  }
  if (word) {
    tbi_usage_error("export", "unknown format '%s' (csv, hdf5, mcap)", word);
  } else {
    tbi_usage_error("export",
                    "the extension of '%s' names no format; use .csv, .h5, .hdf5 or .mcap, or give "
                    "--format",
                    args->value[OUTPUT]);
  }
  return NULL;
}

static bool read_number(const char *text, double least, double *number) {
  char *end = NULL;
  if (!text) return true;
  *number = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*number) && *number >= least;
}

static bool check_numbers(job *j) {
  double every = 1;
  double from = 0;
  double to = HUGE_VAL;
  const char *const *value = j->args->value;
  if (!read_number(value[EVERY], 1, &every) || every != floor(every) || every > 1e9) {
    tbi_usage_error("export", "--every needs a whole number >= 1, not '%s'", value[EVERY]);
    return false;
  }
  for (int option = FROM; option <= TO; ++option) {
    if (read_number(value[option], 0, option == FROM ? &from : &to)) continue;
    tbi_usage_error("export", "%s needs a number of seconds >= 0, not '%s'",
                    option == FROM ? "--from" : "--to", value[option]);
    return false;
  }
  if (from > to) tbi_usage_error("export", "--from %g is after --to %g", from, to);
  j->every = (int64_t)every;
  return from <= to;
}

static bool check_arguments(job *j) {
  if (!j->path) {
    tbi_usage_error("export", "-o FILE is missing");
    return false;
  }
  j->format = find_format(j->args);
  const tbi_file_use use[] = {
      {"-o", j->path, true },
      {NULL, j->log,  false},
  };
  return j->format && check_numbers(j) && tbi_check_files("export", use, 2);
}

/* -- what is exported of the log */

/* Times of samples are multiples of the time step; what was typed need not be one to the last bit.
 */
static int find_samples(job *j) {
  double from = 0;
  double to = HUGE_VAL;
  double dt = j->info.timestep;
  (void)read_number(j->args->value[FROM], 0, &from);
  (void)read_number(j->args->value[TO], 0, &to);
  double earliest = fmin(ceil(from / dt - 1e-6), 1e15);
  double latest = fmin(floor(to / dt + 1e-6), 1e15);
  j->first = tabi_recording_find(j->recording, (int64_t)earliest - 1) + 1;
  j->last = tabi_recording_find(j->recording, (int64_t)latest);
  if (j->first <= j->last && j->last < j->info.nsample) return TBI_EXIT_OK;
  return tbi_usage_error("export", "no samples in this time; the log goes from %g to %g s",
                         (double)j->info.first * dt, (double)j->info.last * dt);
}

static int unknown_signal(const job *j, const char *pattern) {
  const char *nearest = tabi_signals_nearest(j->signals, pattern);
  return tbi_usage_error("export", "no signal '%s' in %s%s%s%s", pattern, j->log,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "");
}

/* Marks the signals that a list of patterns, separated by commas, matches. */
static int match_list(const job *j, const char *list, bool strict, bool *chosen) {
  char *copy = strdup(list);
  if (!copy) return tbi_out_of_memory();
  int code = TBI_EXIT_OK;
  char *rest = NULL;
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (tabi_signals_match(j->signals, word, chosen) > 0 || !strict) continue;
    code = unknown_signal(j, word);
    break;
  }
  free(copy);
  return code;
}

static int choose_signals(job *j) {
  int32_t count = tabi_signals_count(j->signals);
  bool *chosen = calloc((size_t)count + 1, sizeof *chosen);
  j->chosen = calloc((size_t)count + 1, sizeof *j->chosen);
  j->value = calloc((size_t)count + 1, sizeof *j->value);
  if (!chosen || !j->chosen || !j->value) {
    free(chosen);
    return tbi_out_of_memory();
  }
  int code = TBI_EXIT_OK;
  if (j->args->nmany == 0) code = match_list(j, j->format->signals, false, chosen);
  for (int i = 0; code == TBI_EXIT_OK && i < j->args->nmany; ++i)
    code = match_list(j, j->args->many[i], true, chosen);
  for (int32_t i = 0; code == TBI_EXIT_OK && i < count; ++i) {
    bool time = strcmp(tabi_signals_get(j->signals, i).name, "time") == 0;
    if (chosen[i] && !time) j->chosen[j->nchosen++] = i;
  }
  free(chosen);
  return code;
}

/* Robots and meshes are needed for the poses of links, and are read again. */
static int open_log(job *j) {
  tabi_error err = {0};
  j->recording = tabi_recording_open(j->log, &err);
  if (!j->recording) return tbi_print_error(&err);
  j->info = tabi_recording_get_info(j->recording);
  j->scene = tabi_recording_scene(j->recording, NULL, &err);
  if (!j->scene) return tbi_print_error(&err);
  j->signals = tabi_signals_create(j->scene, &err);
  if (!j->signals) return tbi_print_error(&err);
  int code = find_samples(j);
  return code == TBI_EXIT_OK ? choose_signals(j) : code;
}

static void close_log(job *j) {
  tabi_signals_destroy(j->signals);
  tabi_scene_destroy(j->scene);
  tabi_recording_close(j->recording);
  free(j->chosen);
  free(j->value);
}

/* -- the export */

static volatile sig_atomic_t caught;

static void interrupt(int number) {
  if (caught) _exit(128 + number);
  caught = number;
}

static int write_samples(job *j, void *writer) {
  for (int64_t i = j->first; i <= j->last; i += j->every) {
    tabi_error err = {0};
    tabi_sample sample;
    if (caught) return 128 + (int)caught;
    if (tabi_recording_sample(j->recording, i, &sample, &err) != TABI_OK)
      return tbi_print_error(&err);
    if (j->nchosen > 0) tabi_signals_eval(j->signals, &sample, j->value);
    if (!j->format->sample(writer, &sample, j->value)) return TBI_EXIT_INTERNAL;
  }
  return j->format->finish(writer) ? TBI_EXIT_OK : TBI_EXIT_INTERNAL;
}

static int write_file(job *j) {
  const tbi_export export = {.scene = j->scene,
                             .info = j->info,
                             .signals = j->signals,
                             .chosen = j->chosen,
                             .nchosen = j->nchosen,
                             .output = &j->output};
  /* before the file exists, or an interrupt could leave it behind */
  (void)signal(SIGINT, interrupt);
  (void)signal(SIGTERM, interrupt);
  if (!tbi_output_begin(&j->output, j->path, j->format->stream)) return TBI_EXIT_INTERNAL;
  int code = TBI_EXIT_INTERNAL;
  void *writer = j->format->open(&export);
  if (writer) {
    code = write_samples(j, writer);
    j->format->close(writer);
  }
  /* an error that the writer has not printed */
  if (code == TBI_EXIT_INTERNAL && j->output.error) (void)tbi_output_fail(&j->output, NULL);
  if (tbi_output_end(&j->output, code == TBI_EXIT_OK)) return TBI_EXIT_OK;
  return code == TBI_EXIT_OK ? TBI_EXIT_INTERNAL : code;
}

static void print_summary(const job *j, FILE *out) {
  struct stat there;
  int64_t samples = (j->last - j->first) / j->every + 1;
  (void)fprintf(out, "%s: %lld sample%s, %d signal%s", j->path, (long long)samples,
                samples == 1 ? "" : "s", (int)j->nchosen, j->nchosen == 1 ? "" : "s");
  if (stat(j->path, &there) == 0 && S_ISREG(there.st_mode))
    (void)fprintf(out, ", %.3g MB", (double)there.st_size / 1e6);
  (void)fputc('\n', out);
}

const char *tbi_export_version(const tabi_recording_info *info, char text[32]) {
  (void)snprintf(text, 32, "%u.%u.%u", info->tabi_version / 10000, info->tabi_version / 100 % 100,
                 info->tabi_version % 100);
  return text;
}

static int run_export(const tbi_args *args, FILE *out) {
  job j = {.args = args, .log = args->word[0], .path = args->value[OUTPUT]};
  if (!check_arguments(&j)) return TBI_EXIT_USAGE;
  int code = open_log(&j);
  if (code == TBI_EXIT_OK) code = write_file(&j);
  if (code == TBI_EXIT_OK) print_summary(&j, out);
  close_log(&j);
  return code;
}

const tbi_command tbi_cmd_export = {
    .name = "export",
    .usage = "export LOG -o FILE [OPTIONS]",
    .summary = "write a log as CSV, HDF5 or MCAP for other programs",
    .text =
        "Writes the samples of a log (tabi run --log) in the format that the extension of FILE\n"
        "names: a table of signals for spreadsheets and pandas (.csv), arrays for Python and\n"
        "MATLAB (.h5), or ROS 2 messages for Foxglove, PlotJuggler, Rerun and ros2 bag (.mcap).\n"
        "docs/export.md describes the formats, docs/signals.md lists the signals.\n\n"
        "examples:\n"
        "  tabi run scenes/stand.yaml --log stand.tabi\n"
        "  tabi export stand.tabi -o stand.csv --signals com,ground.fz\n"
        "  tabi export stand.tabi -o stand.mcap --every 10\n",
    .nword = 1,
    .word = "LOG",
    .options = {[OUTPUT] = {"-o", "FILE", "file to write; required", false, NULL},
                [FORMAT] = {"--format", "csv|hdf5|mcap",
                            "format; default: by the extension of FILE", false, NULL},
                [SIGNALS] = {"--signals", "PATTERN",
                             "signals to write, as in com, *_knee.q or com,zmp; may be repeated; "
                             "default: those of the format (docs/export.md)",
                             true, NULL},
                [EVERY] = {"--every", "N", "write every N-th sample; default: 1", false, NULL},
                [FROM] = {"--from", "S", "start time in seconds; default: that of the log", false,
                          NULL},
                [TO] = {"--to", "S", "end time in seconds; default: that of the log", false, NULL}},
    .loads = true,
    .run = run_export,
};
