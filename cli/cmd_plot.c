/* cmd_plot.c - `tabi plot`: signals of logs over time, drawn by gnuplot. */
#include "common/cli.h"
#include "common/output.h"
#include "plot/plot.h"
#include "tabi/tabi_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIST, OUTPUT, FROM, TO };

/* A log that is open. */
typedef struct source {
  const char *path;
  char name[64]; /* in legends */
  tabi_recording *recording;
  tabi_recording_info info;
  tabi_scene *scene;
  tabi_signals *signals;
} source;

typedef struct request {
  source source[TBI_PLOT_RUNS];
  int nsource;
  const char *pattern[TBI_MAX_WORDS];
  int npattern;
  double from, to; /* s */
} request;

static bool is_log(const char *word) {
  struct stat status;
  size_t length = strlen(word);
  if (length > 5 && strcmp(word + length - 5, ".tabi") == 0) return true;
  return stat(word, &status) == 0 && S_ISREG(status.st_mode);
}

static bool take_number(const char *option, const char *text, double *number) {
  if (!text) return true;
  char *end = NULL;
  *number = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(*number)) return true;
  tbi_usage_error("plot", "%s needs a number of seconds, not '%s'", option, text);
  return false;
}

/* The first word is a log, and so are others that are files; the rest are signals. */
static bool read_words(const tbi_args *args, request *q) {
  q->from = -HUGE_VAL;
  q->to = HUGE_VAL;
  if (!take_number("--from", args->value[FROM], &q->from) ||
      !take_number("--to", args->value[TO], &q->to)) {
    return false;
  }
  q->source[q->nsource++].path = args->word[0];
  for (int i = 1; i < args->nword; ++i) {
    if (!is_log(args->word[i])) {
      q->pattern[q->npattern++] = args->word[i];
    } else if (q->nsource < TBI_PLOT_RUNS) {
      q->source[q->nsource++].path = args->word[i];
    } else {
      tbi_usage_error("plot", "more than %d logs", TBI_PLOT_RUNS);
      return false;
    }
  }
  return true;
}

/* The name of the file without folders and ending. */
static void name_source(source *s) {
  const char *slash = strrchr(s->path, '/');
  (void)snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : s->path);
  char *dot = strrchr(s->name, '.');
  if (dot && dot != s->name) *dot = '\0';
}

static int open_source(source *s) {
  tabi_error err = {0};
  name_source(s);
  s->recording = tabi_recording_open(s->path, &err);
  if (s->recording) s->scene = tabi_recording_scene(s->recording, NULL, &err);
  if (s->scene) s->signals = tabi_signals_create(s->scene, &err);
  if (!s->signals) return tbi_print_error(&err);
  s->info = tabi_recording_get_info(s->recording);
  return TBI_EXIT_OK;
}

static void close_source(source *s) {
  tabi_signals_destroy(s->signals);
  tabi_scene_destroy(s->scene);
  tabi_recording_close(s->recording);
}

static int unknown_signal(const source *s, const char *name) {
  const char *nearest = tabi_signals_nearest(s->signals, name);
  tabi_error err;
  tbi_fail(&err, TABI_ERR_ARGUMENT, (tabi_place){s->path, 1},
           "no signal is called '%.80s'%s%.120s%s; tabi plot LOG --list shows them", name,
           nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_USAGE;
}

/* Marks the signals of the first log that match a pattern; without patterns, all. */
static int choose(const request *q, bool *chosen) {
  const source *s = &q->source[0];
  int32_t count = tabi_signals_count(s->signals);
  for (int32_t i = 0; i < count; ++i)
    chosen[i] = q->npattern == 0;
  for (int i = 0; i < q->npattern; ++i) {
    if (tabi_signals_match(s->signals, q->pattern[i], chosen) == 0)
      return unknown_signal(s, q->pattern[i]);
  }
  return TBI_EXIT_OK;
}

static void print_list(const source *s, const bool *chosen, FILE *out) {
  int width = 0;
  for (int32_t i = 0; i < tabi_signals_count(s->signals); ++i) {
    int length = (int)strlen(tabi_signals_get(s->signals, i).name);
    if (chosen[i] && length > width) width = length;
  }
  for (int32_t i = 0; i < tabi_signals_count(s->signals); ++i) {
    tabi_signal signal = tabi_signals_get(s->signals, i);
    if (chosen[i])
      (void)fprintf(out, "%-*s  %-5s  %s\n", width, signal.name, signal.unit, signal.about);
  }
}

static double time_of(const source *s, int64_t step) { return (double)step * s->info.timestep; }

/* Times are compared to half a step. */
static int read_samples(tbi_plot *plot, source *s, double from, double to, double *value) {
  int number = tbi_plot_add_run(plot, s->name, s->signals, from, to);
  if (number < 0) return tbi_out_of_memory();
  double slack = 0.5 * s->info.timestep;
  int64_t step = (int64_t)floor((from - slack) / s->info.timestep);
  int64_t first = tabi_recording_find(s->recording, step);
  for (int64_t i = first < 0 ? 0 : first; i < s->info.nsample; ++i) {
    tabi_sample sample;
    tabi_error err = {0};
    if (tabi_recording_sample(s->recording, i, &sample, &err) != TABI_OK)
      return tbi_print_error(&err);
    if (sample.time > to + slack) break;
    if (sample.time < from - slack) continue;
    tabi_signals_eval(s->signals, &sample, value);
    tbi_plot_add(plot, number, value);
  }
  return TBI_EXIT_OK;
}

static int add_samples(tbi_plot *plot, const request *q, source *s) {
  double from = fmax(q->from, time_of(s, s->info.first));
  double to = fmin(q->to, time_of(s, s->info.last));
  if (from > to) {
    return tbi_usage_error("plot",
                           "%s is from %g to %g s; nothing of it is between --from and --to",
                           s->path, time_of(s, s->info.first), time_of(s, s->info.last));
  }
  double *value = calloc((size_t)tabi_signals_count(s->signals), sizeof *value);
  if (!value) return tbi_out_of_memory();
  int code = read_samples(plot, s, from, to, value);
  free(value);
  return code;
}

static void make_title(const request *q, char *title, size_t size) {
  const source *s = &q->source[0];
  bool same = true;
  for (int i = 1; i < q->nsource; ++i)
    same &= q->source[i].info.contact == s->info.contact;
  const char *name = s->info.scene[0] ? s->info.scene : s->name;
  (void)snprintf(title, size, "%s%s%s", name, same ? ", " : "",
                 same ? tabi_contact_name(s->info.contact) : "");
}

static int draw(request *q, const char *path, FILE *out) {
  tbi_plot *plot = tbi_plot_create(q->source[0].signals, q->pattern, q->npattern);
  if (!plot) return tbi_out_of_memory();
  int code = TBI_EXIT_OK;
  for (int i = 0; i < q->nsource && code == TBI_EXIT_OK; ++i)
    code = add_samples(plot, q, &q->source[i]);
  if (code == TBI_EXIT_OK) {
    char title[200];
    make_title(q, title, sizeof title);
    code = tbi_plot_draw(plot, path, title);
  }
  int panels = 0;
  int curves = 0;
  tbi_plot_size(plot, &panels, &curves);
  if (code == TBI_EXIT_OK)
    (void)fprintf(out, "%s: %d curve%s in %d panel%s\n", path, curves, curves == 1 ? "" : "s",
                  panels, panels == 1 ? "" : "s");
  tbi_plot_destroy(plot);
  return code;
}

/* Without a path it is that of the first log, with another ending. */
static int draw_to(request *q, const char *path, FILE *out) {
  char buffer[4096];
  if (!path) {
    const char *log = q->source[0].path;
    size_t length = strlen(log);
    if (length > 5 && strcmp(log + length - 5, ".tabi") == 0) length -= 5;
    (void)snprintf(buffer, sizeof buffer, "%.*s.svg", (int)length, log);
    path = buffer;
  }
  for (int i = 0; i < q->nsource; ++i) {
    const tbi_file_use use[] = {
        {"-o", path,              true },
        {NULL, q->source[i].path, false},
    };
    if (!tbi_check_files("plot", use, 2)) return TBI_EXIT_USAGE;
  }
  return draw(q, path, out);
}

static int run_opened(request *q, const tbi_args *args, FILE *out) {
  const source *s = &q->source[0];
  int32_t count = tabi_signals_count(s->signals);
  bool *chosen = calloc((size_t)count, sizeof *chosen);
  if (!chosen) return tbi_out_of_memory();
  int code = choose(q, chosen);
  int32_t wanted = 0;
  for (int32_t i = 0; i < count && q->npattern > 0; ++i)
    wanted += chosen[i];
  if (code != TBI_EXIT_OK) {
    // the error was printed
  } else if (args->value[LIST]) {
    print_list(s, chosen, out);
  } else if (wanted > TBI_PLOT_SIGNALS) {
    code = tbi_usage_error("plot", "%d signals are too many for one figure, which takes %d", wanted,
                           TBI_PLOT_SIGNALS);
  } else {
    code = draw_to(q, args->value[OUTPUT], out);
  }
  free(chosen);
  return code;
}

static int run_command(const tbi_args *args, FILE *out) {
  request q = {0};
  const char *path = args->value[OUTPUT];
  if (!read_words(args, &q) || (path && !tbi_plot_path("plot", "-o", path))) return TBI_EXIT_USAGE;
  int code = TBI_EXIT_OK;
  for (int i = 0; i < q.nsource && code == TBI_EXIT_OK; ++i)
    code = open_source(&q.source[i]);
  if (code == TBI_EXIT_OK) code = run_opened(&q, args, out);
  for (int i = 0; i < q.nsource; ++i)
    close_source(&q.source[i]);
  return code;
}

const tbi_command tbi_cmd_plot = {
    .name = "plot",
    .usage = "plot LOG ... [SIGNAL ...] [--list] [-o F.svg|.png|.pdf] [--from S] [--to S]",
    .summary = "plot signals of logs over time: forces, joints, balance, certificate",
    .text =
        "Plots signals of a log (tabi run --log) over time: the named ones, or an overview.\n"
        "SIGNAL is a name (robot/l_knee.q, or l_knee.q), a group (com for com.x, com.y, com.z)\n"
        "or a pattern with stars ('*_knee.v').  Signals of one unit share axes.  Several logs\n"
        "are drawn over each other.  docs/signals.md lists all signals.\n"
        "\n"
        "examples:\n"
        "  tabi run scenes/walk.yaml --log walk.tabi\n"
        "  tabi plot walk.tabi\n"
        "  tabi plot walk.tabi --list\n"
        "  tabi plot walk.tabi com zmp '*_knee.q' --from 1 --to 3 -o walk.pdf\n"
        "  tabi plot cone.tabi exact.tabi ground.fz -o both.png\n",
    .nword = 1,
    .nmore = TBI_MAX_WORDS - 1,
    .word = "LOG",
    .options = {[LIST] = {"--list", NULL, "list the signals of the log with their units", false,
                          NULL},
                [OUTPUT] = {"-o", "F",
                            "file to write: .svg, .png or .pdf; default: the log's name with .svg",
                            false, NULL},
                [FROM] = {"--from", "S", "start time in seconds; default: that of the log", false,
                          NULL},
                [TO] = {"--to", "S", "end time in seconds; default: that of the log", false, NULL}},
    .loads = true,
    .run = run_command,
};
