/* report.c - the table for people, the object for programs. */
#include "report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is expected to grow by a power of the size, from some size on. */
typedef struct growth {
  const char *series, *function, *unit;
  double from;
} growth;
static const growth growths[] = {
    {"chain",  "rnea",    "links",    50 },
    {"chain",  "aba",     "links",    50 },
    {"chain",  "ada",     "links",    50 },
    {"tree",   "rnea",    "links",    50 },
    {"tree",   "aba",     "links",    50 },
    {"tree",   "ada",     "links",    50 },
    {"chain",  "ada100",  "links",    50 },
    {"tree",   "ada100",  "links",    50 },
    {"points", "cone20",  "contacts", 8  },
    {"points", "cone20",  "contacts", 100},
    {"points", "dense20", "contacts", 8  },
    {"points", "dense20", "contacts", 100},
    {"points", "penalty", "contacts", 8  },
    {"points", "penalty", "contacts", 100},
    {"points", "impulse", "contacts", 8  },
    {"points", "impulse", "contacts", 100},
    {"pile",   "cone20",  "contacts", 8  },
    {"snake",  "penalty", "links",    100},
};
enum { NGROWTH = sizeof growths / sizeof growths[0] };

tbi_row *tbi_report_add(tbi_report *report) {
  if (report->nrow == report->capacity) {
    int32_t capacity = 2 * report->capacity + 32;
    tbi_row *rows = realloc(report->rows, (size_t)capacity * sizeof *rows);
    if (!rows) return NULL;
    report->rows = rows;
    report->capacity = capacity;
  }
  tbi_row *row = &report->rows[report->nrow++];
  *row = (tbi_row){.us = nan(""),
                   .us_median = nan(""),
                   .us_alone = nan(""),
                   .instructions = nan(""),
                   .error = nan(""),
                   .contacts = nan(""),
                   .iterations = nan(""),
                   .depth = nan(""),
                   .deepest = nan(""),
                   .residual = nan(""),
                   .cone = nan(""),
                   .step = nan(""),
                   .gap = nan(""),
                   .energy = nan(""),
                   .memory = nan(""),
                   .per_second = nan(""),
                   .ratio = nan(""),
                   .speed = nan(""),
                   .steps = nan(""),
                   .peer_us = nan(""),
                   .peer_us_median = nan(""),
                   .peer_contacts = nan(""),
                   .peer_iterations = nan(""),
                   .peer_depth = nan("")};
  return row;
}

void tbi_report_free(tbi_report *report) {
  free(report->rows);
  *report = (tbi_report){0};
}

/* The exponent p of time (or instructions) ~ size^p, by least squares of the logarithms; NAN with
 * fewer than three sizes. */
static double exponent(const tbi_report *report, const growth *g, bool instructions) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int32_t i = 0; i < report->nrow; ++i) {
    const tbi_row *row = &report->rows[i];
    double cost = instructions ? row->instructions : row->us;
    if (!row->series || strcmp(row->series, g->series) != 0) continue;
    if (strcmp(row->function, g->function) != 0 || row->size < g->from || isnan(cost)) continue;
    double x = log(row->size), y = log(cost);
    n++;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  if (n < 3) return nan("");
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* A number in so many columns, or a dash. */
static void print_number(int width, const char *format, double x) {
  char text[32];
  (void)snprintf(text, sizeof text, format, x);
  (void)printf(" %*s", width, isnan(x) ? "-" : text);
}

/* Four figures, whatever the size. */
static const char *micros_format(double us) {
  return us < 10 ? "%.3f" : us < 1000 ? "%.2f" : "%.0f";
}

static void print_micros(double us) { print_number(9, micros_format(us), us); }

void tbi_report_print_dynamics(const tbi_report *report, int32_t first_row, bool head) {
  if (head)
    (void)printf("%-12s %4s %-11s %9s %9s %9s %12s %8s %9s %6s\n", "robot", "dof", "function", "us",
                 "median", "alone", "instructions", "error", "peer us", "ratio");
  for (int32_t i = first_row; i < report->nrow; ++i) {
    const tbi_row *row = &report->rows[i];
    (void)printf("%-12s %4d %-11s", row->subject, (int)row->dof, row->function);
    print_micros(row->us);
    print_micros(row->us_median);
    print_micros(row->us_alone);
    print_number(12, "%.0f", row->instructions);
    print_number(8, "%.1e", row->error);
    print_micros(row->peer_us);
    print_number(6, "%.2f", row->peer_us / row->us);
    (void)putchar('\n');
  }
  (void)fflush(stdout);
}

static void print_peer(const tbi_row *row, const char *engine) {
  (void)printf("%-11s %4d %-8s", row->subject, (int)row->dof, "peer");
  print_number(8, "%.1f", row->peer_contacts);
  print_number(6, "%.1f", row->peer_iterations);
  print_micros(row->peer_us);
  print_micros(row->peer_us_median);
  print_number(8, "%.3f", row->peer_us / row->peer_contacts);
  (void)printf(" %12s", "-");
  print_number(8, "%.1e", row->peer_depth);
  (void)printf("   %s, %.2f x\n", engine, row->peer_us / row->us);
}

void tbi_report_print_contact(const tbi_report *report, int32_t first_row, bool head) {
  if (head)
    (void)printf("%s%-11s %4s %-8s %8s %6s %9s %9s %8s %12s %8s %8s %8s %8s\n",
                 first_row > 0 ? "\n" : "", "scene", "dof", "method", "contacts", "iter", "us",
                 "median", "/contact", "instructions", "depth m", "res m/s", "cone N", "speed");
  for (int32_t i = first_row; i < report->nrow; ++i) {
    const tbi_row *row = &report->rows[i];
    (void)printf("%-11s %4d %-8s", row->subject, (int)row->dof, row->function);
    print_number(8, "%.1f", row->contacts);
    print_number(6, "%.1f", row->iterations);
    print_micros(row->us);
    print_micros(row->us_median);
    print_number(8, "%.3f", row->us / row->contacts);
    print_number(12, "%.0f", row->instructions);
    print_number(8, "%.1e", row->depth);
    print_number(8, "%.1e", row->residual);
    print_number(8, "%.1e", row->cone);
    print_number(8, "%.1e", row->speed);
    (void)putchar('\n');
    if (!isnan(row->peer_us)) print_peer(row, report->engine);
  }
  (void)fflush(stdout);
}

/* The first row of its scene is what the others are compared with. */
static const tbi_row *first_of_scene(const tbi_report *report, int32_t index) {
  const char *scene = report->rows[index].subject;
  while (index > 0 && strcmp(report->rows[index - 1].subject, scene) == 0)
    --index;
  return &report->rows[index];
}

void tbi_report_print_engines(const tbi_report *report, int32_t first_row, bool head) {
  if (head)
    (void)printf("%s%-13s %5s %-13s %8s %9s %9s %6s %12s %9s %9s %8s %8s %8s %8s %8s\n",
                 first_row > 0 ? "\n" : "", "scene", "dof", "engine", "contacts", "us", "median",
                 "ratio", "instructions", "depth m", "deepest m", "error", "gap m", "energy",
                 "res m/s", "speed");
  for (int32_t i = first_row; i < report->nrow; ++i) {
    const tbi_row *row = &report->rows[i];
    (void)printf("%-13s %5d %-13s", row->subject, (int)row->dof, row->function);
    print_number(8, "%.1f", row->contacts);
    print_micros(row->us);
    print_micros(row->us_median);
    print_number(6, "%.2f", row->us / first_of_scene(report, i)->us);
    print_number(12, "%.0f", row->instructions);
    print_number(9, "%.1e", row->depth);
    print_number(9, "%.1e", row->deepest);
    print_number(8, "%.1e", row->error);
    print_number(8, "%.1e", row->gap);
    print_number(8, "%.1e", row->energy);
    print_number(8, "%.1e", row->residual);
    print_number(8, "%.1e", row->speed);
    (void)printf("%s%s\n", row->note[0] ? "  " : "", row->note);
  }
  (void)fflush(stdout);
}

void tbi_report_print_growth(const tbi_report *report, int32_t first_row, const char *unit) {
  bool any = false, peer = false;
  for (int32_t i = first_row; i < report->nrow; ++i)
    peer = peer || !isnan(report->rows[i].peer_us);
  for (size_t g = 0; g < NGROWTH; ++g) {
    double time = exponent(report, &growths[g], false);
    if (strcmp(growths[g].unit, unit) != 0 || isnan(time)) continue;
    if (!any)
      (void)printf("\ncost ~ %s^p %*s  p of us  p of instructions\n", unit,
                   (int)(25 - strlen(unit)), "from");
    any = true;
    (void)printf("%-12s      %-11s %8.0f", growths[g].series, growths[g].function, growths[g].from);
    print_number(8, "%.3f", time);
    print_number(18, "%.3f", exponent(report, &growths[g], true));
    (void)putchar('\n');
  }
  if (peer) (void)printf("\npeer: %s, same models and states\n", report->engine);
}

/* NAN is left out: JSON has no word for it. */
static void set_number(json_t *object, const char *key, double x) {
  if (isfinite(x)) (void)json_object_set_new(object, key, json_real(x));
}

static json_t *row_object(const tbi_row *row, const char *engine) {
  json_t *object = json_pack("{s:s, s:s, s:i, s:i}", "workload", row->name, "engine", engine,
                             "links", (int)row->links, "dof", (int)row->dof);
  return object;
}

/* of the workload batch */
static void set_batch(json_t *object, const tbi_row *row) {
  if (row->worlds == 0) return;
  (void)json_object_set_new(object, "worlds", json_integer(row->worlds));
  (void)json_object_set_new(object, "threads", json_integer(row->threads));
  (void)json_object_set_new(object, "lanes", json_integer(row->lanes));
  set_number(object, "steps_per_second_per_core", row->per_second);
  set_number(object, "bytes_per_world", row->memory);
  set_number(object, "ratio", row->ratio);
  if (row->threads <= 1 || !(row->scaling > 0)) return;
  set_number(object, "scaling", row->scaling);
  set_number(object, "probe", row->probe);
}

static void add_row(json_t *rows, const tbi_row *row, const char *engine) {
  json_t *ours = row_object(row, row->engine[0] ? row->engine : "tabi");
  if (row->settings) (void)json_object_set_new(ours, "settings", json_string(row->settings));
  set_number(ours, "us", row->us);
  set_number(ours, "us_median", row->us_median);
  set_number(ours, "us_alone", row->us_alone);
  set_number(ours, "instructions", row->instructions);
  set_number(ours, "error", row->error);
  set_number(ours, "contacts", row->contacts);
  set_number(ours, "iterations", row->iterations);
  set_number(ours, "penetration", row->depth);
  set_number(ours, "deepest", row->deepest);
  set_number(ours, "residual", row->residual);
  set_number(ours, "cone", row->cone);
  set_number(ours, "step", row->step);
  set_number(ours, "speed", row->speed);
  set_number(ours, "gap", row->gap);
  set_number(ours, "energy", row->energy);
  set_number(ours, "memory", row->memory);
  set_number(ours, "steps", row->steps);
  set_batch(ours, row);
  if (row->note[0]) (void)json_object_set_new(ours, "note", json_string(row->note));
  (void)json_array_append_new(rows, ours);
  if (isnan(row->peer_us)) return;

  json_t *theirs = row_object(row, engine);
  set_number(theirs, "us", row->peer_us);
  set_number(theirs, "us_median", row->peer_us_median);
  set_number(theirs, "ratio", row->peer_us / row->us);
  set_number(theirs, "contacts", row->peer_contacts);
  set_number(theirs, "iterations", row->peer_iterations);
  set_number(theirs, "penetration", row->peer_depth);
  (void)json_array_append_new(rows, theirs);
}

static json_t *growth_array(const tbi_report *report) {
  json_t *array = json_array();
  for (size_t g = 0; g < NGROWTH; ++g) {
    double time = exponent(report, &growths[g], false);
    if (isnan(time)) continue;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:f}", "shape", growths[g].series, "function",
                  growths[g].function, "size", growths[g].unit, "from", growths[g].from);
    set_number(object, "us", time);
    set_number(object, "instructions", exponent(report, &growths[g], true));
    (void)json_array_append_new(array, object);
  }
  return array;
}

bool tbi_report_print_json(const tbi_report *report) {
  json_t *rows = json_array();
  for (int32_t i = 0; i < report->nrow; ++i)
    add_row(rows, &report->rows[i], report->engine);
  json_t *object = json_pack("{s:o, s:o}", "rows", rows, "growth", growth_array(report));
  if (!object) return false;
  bool ok = json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
  json_decref(object);
  (void)putchar('\n');
  return ok;
}
