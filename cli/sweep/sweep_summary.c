/* sweep_summary.c - means and probabilities with their intervals, and which parameter decides. */
#include "sweep/sweep_summary.h"

#include "common/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool count_failed(tbi_sweep_summary *s, tabi_study_row *row) {
  for (int64_t run = 0; run < tabi_study_nrun(s->study); ++run) {
    if (!tabi_results_has(s->results, run)) continue;
    if (!tabi_results_get(s->results, run, row)) return false;
    s->failed += strcmp(row->status, "ok") != 0;
  }
  return true;
}

static tabi_status fill(tbi_sweep_summary *s, tabi_error *err) {
  int32_t nparameter = tabi_study_nparameter(s->study);
  tabi_status status = TABI_OK;
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study) && status == TABI_OK; ++i) {
    status = tabi_results_summary(s->results, i, &s->measure[i], err);
    for (int32_t k = 0; k < nparameter && status == TABI_OK; ++k)
      status = tabi_results_effect(s->results, k, i, &s->effect[i * nparameter + k], err);
  }
  return status;
}

static tabi_status compare(tbi_sweep_summary *s, tabi_results *before, tabi_error *err) {
  size_t nmeasure = (size_t)tabi_study_nmeasure(s->study);
  s->was = calloc(nmeasure + 1, sizeof *s->was);
  s->p = calloc(nmeasure + 1, sizeof *s->p);
  tabi_status status = s->was && s->p ? TABI_OK : TABI_ERR_MEMORY;
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study) && status == TABI_OK; ++i) {
    status = tabi_results_summary(before, i, &s->was[i], err);
    if (status == TABI_OK) status = tabi_results_compare(before, s->results, i, &s->p[i], err);
  }
  return status;
}

bool tbi_sweep_summary_make(tbi_sweep_summary *summary, tabi_results *results, tabi_results *before,
                            const char *path) {
  const tabi_study *study = tabi_results_study(results);
  size_t nmeasure = (size_t)tabi_study_nmeasure(study);
  size_t nparameter = (size_t)tabi_study_nparameter(study);
  tabi_error err = {0};
  *summary = (tbi_sweep_summary){.results = results, .study = study, .path = path};
  summary->runs = tabi_results_count(results);
  summary->measure = calloc(nmeasure + 1, sizeof *summary->measure);
  summary->effect = calloc(nmeasure * nparameter + 1, sizeof *summary->effect);
  tabi_study_row row = {.measure = calloc(nmeasure + 1, sizeof *row.measure)};
  bool good = summary->measure && summary->effect && row.measure;
  if (!good) {
    (void)tbi_out_of_memory();
  } else if (!count_failed(summary, &row) || fill(summary, &err) != TABI_OK ||
             (before && compare(summary, before, &err) != TABI_OK)) {
    (void)tbi_print_error(&err);
    good = false;
  }
  free(row.measure);
  return good;
}

void tbi_sweep_summary_free(tbi_sweep_summary *summary) {
  free(summary->measure);
  free(summary->effect);
  free(summary->was);
  free(summary->p);
}

static bool is_changed(const tbi_sweep_summary *s, int32_t measure) {
  return s->p && s->p[measure] < 0.01;
}

bool tbi_sweep_summary_changed(const tbi_sweep_summary *s) {
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study); ++i) {
    if (is_changed(s, i)) return true;
  }
  return false;
}

/* -- text */

static void print_number(FILE *out, double value) {
  if (isnan(value)) {
    (void)fprintf(out, " %11s", "-");
  } else {
    (void)fprintf(out, " %11.5g", value);
  }
}

static void print_measure(const tbi_sweep_summary *s, int32_t i, FILE *out) {
  const tabi_measure_summary *m = &s->measure[i];
  (void)fprintf(out, "  %-16.16s %8" PRId64, tabi_study_measure_name(s->study, i), m->count);
  print_number(out, m->mean.value);
  print_number(out, m->mean.low);
  print_number(out, m->mean.high);
  if (tabi_study_measure_is_boolean(s->study, i)) {
    (void)fprintf(out, "   probability\n");
    return;
  }
  print_number(out, m->min);
  print_number(out, m->median);
  print_number(out, m->max);
  if (m->count > 0) (void)fprintf(out, "  %" PRId64 ", %" PRId64, m->min_run, m->max_run);
  (void)fputc('\n', out);
}

/* "52 %", or with Sobol' indices "0.31 +- 0.02, 0.56 +- 0.03" */
static void print_effect(const tabi_effect *e, FILE *out) {
  char text[64] = "-";
  if (!isnan(e->first.value)) {
    (void)snprintf(text, sizeof text, "%.2f +-%.2f, %.2f +-%.2f", e->first.value,
                   (e->first.high - e->first.low) / 2, e->total.value,
                   (e->total.high - e->total.low) / 2);
    (void)fprintf(out, " %26s", text);
    return;
  }
  if (!isnan(e->main)) (void)snprintf(text, sizeof text, "%.0f %%", 100 * fmax(0, e->main));
  (void)fprintf(out, " %12s", text);
}

static void print_effects(const tbi_sweep_summary *s, FILE *out) {
  int32_t nparameter = tabi_study_nparameter(s->study);
  int32_t nmeasure = tabi_study_nmeasure(s->study);
  bool indices = nmeasure > 0 && nparameter > 0 && !isnan(s->effect[0].first.value);
  (void)fprintf(out, "\n  %s\n  %-16s",
                indices ? "Sobol' indices, first order and total"
                        : "share of the variance that a parameter explains alone",
                "");
  for (int32_t i = 0; i < nmeasure; ++i)
    (void)fprintf(out, indices ? " %26.26s" : " %12.12s", tabi_study_measure_name(s->study, i));
  (void)fputc('\n', out);
  for (int32_t k = 0; k < nparameter; ++k) {
    (void)fprintf(out, "  %-16.16s", tabi_study_parameter_name(s->study, k));
    for (int32_t i = 0; i < nmeasure; ++i)
      print_effect(&s->effect[i * nparameter + k], out);
    (void)fputc('\n', out);
  }
}

static void print_changes(const tbi_sweep_summary *s, FILE *out) {
  (void)fprintf(out, "\n  %-16s %11s %11s %11s\n", "measure", "before", "now", "p");
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study); ++i) {
    (void)fprintf(out, "  %-16.16s %11.5g %11.5g %11.3g%s\n", tabi_study_measure_name(s->study, i),
                  s->was[i].mean.value, s->measure[i].mean.value, s->p[i],
                  is_changed(s, i) ? "  changed" : "");
  }
}

void tbi_sweep_summary_print(const tbi_sweep_summary *s, FILE *out) {
  (void)fprintf(out, "%" PRId64 " of %" PRId64 " runs in %s", s->runs, tabi_study_nrun(s->study),
                s->path);
  if (s->failed > 0) (void)fprintf(out, ", %" PRId64 " of them failed or diverged", s->failed);
  (void)fprintf(out, "\n\n  %-16s %8s %11s %11s %11s %11s %11s %11s  %s\n", "measure", "runs",
                "mean", "95 % from", "to", "min", "median", "max", "runs of min, max");
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study); ++i)
    print_measure(s, i, out);
  if (s->runs > 2) print_effects(s, out);
  if (s->p) print_changes(s, out);
}

/* -- JSON */

static json_t *json_interval(const tabi_interval *i) {
  return json_pack("{so so so}", "value", tbi_json_number(i->value), "low", tbi_json_number(i->low),
                   "high", tbi_json_number(i->high));
}

static json_t *json_effects(const tbi_sweep_summary *s, int32_t measure) {
  int32_t nparameter = tabi_study_nparameter(s->study);
  json_t *all = json_object();
  for (int32_t k = 0; k < nparameter; ++k) {
    const tabi_effect *e = &s->effect[measure * nparameter + k];
    json_t *one = json_pack("{so}", "main", tbi_json_number(e->main));
    if (!isnan(e->first.value)) {
      (void)json_object_set_new(one, "first", json_interval(&e->first));
      (void)json_object_set_new(one, "total", json_interval(&e->total));
    }
    (void)json_object_set_new(all, tabi_study_parameter_name(s->study, k), one);
  }
  return all;
}

static json_t *json_measure(const tbi_sweep_summary *s, int32_t i) {
  const tabi_measure_summary *m = &s->measure[i];
  json_t *all =
      json_pack("{so so so so so so so so sI sI sI so}", "mean", tbi_json_number(m->mean.value),
                "low", tbi_json_number(m->mean.low), "high", tbi_json_number(m->mean.high),
                "probability", json_boolean(tabi_study_measure_is_boolean(s->study, i)),
                "deviation", tbi_json_number(m->deviation), "min", tbi_json_number(m->min),
                "median", tbi_json_number(m->median), "max", tbi_json_number(m->max), "count",
                (json_int_t)m->count, "min_run", (json_int_t)m->min_run, "max_run",
                (json_int_t)m->max_run, "effects", json_effects(s, i));
  if (!s->p) return all;
  (void)json_object_set_new(all, "before", json_interval(&s->was[i].mean));
  (void)json_object_set_new(all, "p", tbi_json_number(s->p[i]));
  return all;
}

int tbi_sweep_summary_print_json(const tbi_sweep_summary *s, FILE *out) {
  json_t *measures = json_object();
  for (int32_t i = 0; i < tabi_study_nmeasure(s->study); ++i)
    (void)json_object_set_new(measures, tabi_study_measure_name(s->study, i), json_measure(s, i));
  return tbi_json_print(out, json_pack("{so sI sI sI so so}", "results", tbi_json_text(s->path),
                                       "runs", (json_int_t)s->runs, "planned",
                                       (json_int_t)tabi_study_nrun(s->study), "failed",
                                       (json_int_t)s->failed, "seconds",
                                       tbi_json_number(s->seconds), "measures", measures));
}

/* -- CSV */

static void put_value(FILE *out, double value) {
  if (!isnan(value)) (void)fprintf(out, ",%.17g", value);
  if (isnan(value)) (void)fputc(',', out);
}

/* in quotes, and its own twice */
static void put_text(FILE *out, const char *text) {
  (void)fputs(",\"", out);
  for (; *text; ++text) {
    if (*text == '"') (void)fputc('"', out);
    (void)fputc(*text, out);
  }
  (void)fputc('"', out);
}

static void put_head(FILE *out, const tabi_study *study) {
  (void)fputs("id,seed,status,hash,engine,version,seconds", out);
  for (int32_t i = 0; i < tabi_study_nparameter(study); ++i)
    (void)fprintf(out, ",p_%s", tabi_study_parameter_name(study, i));
  for (int32_t i = 0; i < tabi_study_nmeasure(study); ++i)
    (void)fprintf(out, ",m_%s", tabi_study_measure_name(study, i));
  (void)fputc('\n', out);
}

static void put_row(FILE *out, const tabi_study *study, const tabi_study_row *row) {
  (void)fprintf(out, "%" PRId64 ",%d,%s,%016" PRIx64 ",%s,%s,%.6f", row->run,
                tabi_study_seed(study, row->run), row->status, row->hash,
                tabi_engine_name(row->engine), row->version, row->seconds);
  for (int32_t i = 0; i < tabi_study_nparameter(study); ++i) {
    const char *choice = tabi_study_choice(study, row->run, i);
    if (choice) put_text(out, choice);
    if (!choice) put_value(out, tabi_study_value(study, row->run, i));
  }
  for (int32_t i = 0; i < tabi_study_nmeasure(study); ++i)
    put_value(out, row->measure[i]);
  (void)fputc('\n', out);
}

bool tbi_sweep_write_csv(tabi_results *results, const char *path) {
  const tabi_study *study = tabi_results_study(results);
  tbi_output output;
  tabi_study_row row = {.measure =
                            calloc((size_t)tabi_study_nmeasure(study) + 1, sizeof *row.measure)};
  if (!row.measure) return tbi_out_of_memory() == TBI_EXIT_OK;
  if (!tbi_output_begin(&output, path, true)) {
    free(row.measure);
    return false;
  }
  put_head(output.file, study);
  for (int64_t run = 0; run < tabi_study_nrun(study); ++run) {
    if (tabi_results_has(results, run) && tabi_results_get(results, run, &row))
      put_row(output.file, study, &row);
  }
  free(row.measure);
  return tbi_output_end(&output, true);
}
