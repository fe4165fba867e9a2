/* report.c - the table for people, the object for programs. */
#include "report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  tbi_bench_tree_shape shape;
  const char *name;
} grown[] = {
    {TBI_BENCH_TREE_CHAIN,  "chain"},
    {TBI_BENCH_TREE_BINARY, "tree" }
};
static const char *const linear[] = {"rnea", "aba", "ada"};
enum { NGROWN = sizeof grown / sizeof grown[0], NLINEAR = sizeof linear / sizeof linear[0] };

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
                   .peer_us = nan(""),
                   .peer_us_median = nan("")};
  return row;
}

void tbi_report_free(tbi_report *report) {
  free(report->rows);
  *report = (tbi_report){0};
}

double tbi_report_growth(const tbi_report *report, tbi_bench_tree_shape shape, const char *function,
                         bool instructions) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int32_t i = 0; i < report->nrow; i++) {
    const tbi_row *row = &report->rows[i];
    double cost = instructions ? row->instructions : row->us;
    if (row->shape != shape || strcmp(row->function, function) != 0) continue;
    if (row->links < 50 || isnan(cost)) continue;
    double x = log(row->links), y = log(cost);
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

static void print_head(void) {
  (void)printf("%-12s %4s %-11s %9s %9s %9s %12s %8s %9s %6s\n", "robot", "dof", "function", "us",
               "median", "alone", "instructions", "error", "peer us", "ratio");
}

void tbi_report_print_tree(const tbi_report *report, int32_t first_row) {
  if (first_row == 0) print_head();
  for (int32_t i = first_row; i < report->nrow; i++) {
    const tbi_row *row = &report->rows[i];
    (void)printf("%-12s %4d %-11s", row->tree, (int)row->dof, row->function);
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

void tbi_report_print_growth(const tbi_report *report) {
  bool any = false;
  for (size_t s = 0; s < NGROWN; s++)
    for (size_t f = 0; f < NLINEAR; f++) {
      double time = tbi_report_growth(report, grown[s].shape, linear[f], false);
      if (isnan(time)) continue;
      if (!any)
        (void)printf("\ncost ~ links^p, 50 links and more       p of us  p of instructions\n");
      any = true;
      (void)printf("%-12s      %-11s          ", grown[s].name, linear[f]);
      print_number(8, "%.3f", time);
      print_number(18, "%.3f", tbi_report_growth(report, grown[s].shape, linear[f], true));
      (void)putchar('\n');
    }
  if (report->engine[0]) (void)printf("\npeer: %s, same tree and states\n", report->engine);
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

static void add_row(json_t *rows, const tbi_row *row, const char *engine) {
  json_t *ours = row_object(row, "tabi");
  set_number(ours, "us", row->us);
  set_number(ours, "us_median", row->us_median);
  set_number(ours, "us_alone", row->us_alone);
  set_number(ours, "instructions", row->instructions);
  set_number(ours, "error", row->error);
  (void)json_array_append_new(rows, ours);
  if (isnan(row->peer_us)) return;

  json_t *theirs = row_object(row, engine);
  set_number(theirs, "us", row->peer_us);
  set_number(theirs, "us_median", row->peer_us_median);
  set_number(theirs, "ratio", row->peer_us / row->us);
  (void)json_array_append_new(rows, theirs);
}

static json_t *growth_array(const tbi_report *report) {
  json_t *array = json_array();
  for (size_t s = 0; s < NGROWN; s++)
    for (size_t f = 0; f < NLINEAR; f++) {
      double time = tbi_report_growth(report, grown[s].shape, linear[f], false);
      if (isnan(time)) continue;
      json_t *object = json_pack("{s:s, s:s}", "shape", grown[s].name, "function", linear[f]);
      set_number(object, "us", time);
      set_number(object, "instructions",
                 tbi_report_growth(report, grown[s].shape, linear[f], true));
      (void)json_array_append_new(array, object);
    }
  return array;
}

bool tbi_report_print_json(const tbi_report *report) {
  json_t *rows = json_array();
  for (int32_t i = 0; i < report->nrow; i++)
    add_row(rows, &report->rows[i], report->engine);
  json_t *object = json_pack("{s:o, s:o}", "rows", rows, "growth", growth_array(report));
  if (!object) return false;
  bool ok = json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
  json_decref(object);
  (void)putchar('\n');
  return ok;
}
