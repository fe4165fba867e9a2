/* analysis.c - what the rows of a study tell. */
#include "base/assertion.h"
#include "base/error.h"
#include "study/results.h"
#include "study/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A measure of all runs that have it. */
typedef struct column {
  double *value;
  int64_t *run;
  int64_t count;
} column;

static bool read_column(tabi_results *results, int32_t measure, column *c, tabi_error *err) {
  c->value = tbi_results_measure(results, measure, &c->run, &c->count, err);
  return c->value != NULL;
}

static void free_column(column *c) {
  free(c->value);
  free(c->run);
}

static int64_t hits(const column *c) {
  int64_t sum = 0;
  for (int64_t i = 0; i < c->count; ++i)
    sum += c->value[i] != 0;
  return sum;
}

static int by_value(const void *one, const void *other) {
  const double *a = one;
  const double *b = other;
  return (*a > *b) - (*a < *b);
}

static void fill_extremes(column *c, tabi_measure_summary *s) {
  int64_t low = 0;
  int64_t high = 0;
  double square = 0;
  for (int64_t i = 0; i < c->count; ++i) {
    if (c->value[i] < c->value[low]) low = i;
    if (c->value[i] > c->value[high]) high = i;
    square += (c->value[i] - s->mean.value) * (c->value[i] - s->mean.value);
  }
  s->min = c->value[low];
  s->max = c->value[high];
  s->min_run = c->run[low];
  s->max_run = c->run[high];
  s->deviation = c->count > 1 ? sqrt(square / (double)(c->count - 1)) : 0;
  qsort(c->value, (size_t)c->count, sizeof *c->value, by_value);
  s->median = 0.5 * (c->value[(c->count - 1) / 2] + c->value[c->count / 2]);
}

tabi_status tabi_results_summary(tabi_results *results, int32_t measure,
                                 tabi_measure_summary *summary, tabi_error *err) {
  TBI_ASSERT(results && summary);
  column c = {0};
  tabi_error failed = {0};
  if (!read_column(results, measure, &c, &failed)) {
    if (err) *err = failed;
    return failed.status;
  }
  bool boolean = tabi_study_measure_is_boolean(results->study, measure);
  *summary = (tabi_measure_summary){.count = c.count, .min_run = TABI_NONE, .max_run = TABI_NONE};
  summary->mean =
      boolean ? tabi_wilson_interval(hits(&c), c.count) : tabi_mean_interval(c.value, c.count);
  summary->deviation = summary->min = summary->median = summary->max = (double)NAN;
  if (c.count > 0) fill_extremes(&c, summary);
  free_column(&c);
  return TABI_OK;
}

/* -- effects */

static const tabi_interval unknown = {NAN, NAN, NAN};

/* Whether every run of saltelli's groups has the measure: then they are in order. */
static bool is_whole(const tabi_study *study, const column *c) {
  return study->design.sampling == TBI_SAMPLING_SALTELLI && c->count == study->design.runs;
}

tabi_status tabi_results_effect(tabi_results *results, int32_t parameter, int32_t measure,
                                tabi_effect *effect, tabi_error *err) {
  TBI_ASSERT(results && effect);
  const tabi_study *study = results->study;
  column c = {0};
  tabi_error failed = {0};
  if (!read_column(results, measure, &c, &failed)) {
    if (err) *err = failed;
    return failed.status;
  }
  double *x = calloc((size_t)c.count + 1, sizeof *x);
  int64_t *order = calloc((size_t)c.count + 1, sizeof *order);
  *effect = (tabi_effect){(double)NAN, unknown, unknown};
  bool memory = x && order;
  if (memory) {
    for (int64_t i = 0; i < c.count; ++i)
      x[i] = tabi_study_value(study, c.run[i], parameter);
    effect->main = tbi_main_effect(x, c.value, c.count, order);
  }
  if (memory && is_whole(study, &c)) {
    tbi_sobol_indices indices = tbi_sobol_estimate(c.value, c.count / (study->nparameter + 2),
                                                   study->nparameter, parameter);
    effect->first = indices.first;
    effect->total = indices.total;
  }
  free(x);
  free(order);
  free_column(&c);
  return memory ? TABI_OK : tbi_error_memory(err);
}

/* -- changes */

tabi_status tabi_results_compare(tabi_results *results, tabi_results *other, int32_t measure,
                                 double *p, tabi_error *err) {
  TBI_ASSERT(results && other && p);
  column a = {0};
  column b = {0};
  tabi_error failed = {0};
  if (read_column(results, measure, &a, &failed) && read_column(other, measure, &b, &failed)) {
    bool boolean = tabi_study_measure_is_boolean(results->study, measure);
    *p = boolean ? tbi_same_probability(hits(&a), a.count, hits(&b), b.count)
                 : tbi_same_distribution(a.value, a.count, b.value, b.count);
  }
  free_column(&a);
  free_column(&b);
  if (err && failed.status != TABI_OK) *err = failed;
  return failed.status;
}
