/* sweep.c - all runs of a study, on all processors.
 *
 * Threads take the next run from a counter under one lock, and write its row under the same: runs
 * take milliseconds at least. */
#include "base/assertion.h"
#include "base/error.h"
#include "study/lanes.h"
#include "study/results.h"
#include "study/study.h"
#include "study/workers.h"

#include <pthread.h>
#include <stdlib.h>

#define STOP_EVERY 100 /* runs between two looks at the rule `stop` */

typedef struct sweep {
  const tabi_study *study;
  tabi_results *results;
  tabi_sweep_def def;
  pthread_mutex_t lock; /* of all below, and of results */
  int64_t next, end, done, total;
  bool stopped;
  tabi_error failed; /* the first */
} sweep;

tabi_sweep_def tabi_sweep_def_default(void) {
  return (tabi_sweep_def){.def_size = sizeof(tabi_sweep_def), .shards = 1};
}

/* The next run of the shard that is not done; -1: none is left, or the sweep ends. */
static int64_t take_run(sweep *s) {
  (void)pthread_mutex_lock(&s->lock);
  int64_t run = -1;
  for (; run < 0 && !s->stopped && s->next < s->end; s->next += s->def.shards) {
    if (!tabi_results_has(s->results, s->next)) run = s->next;
  }
  (void)pthread_mutex_unlock(&s->lock);
  return run;
}

/* status: of the run; err is about it. */
static void finish_run(sweep *s, const tabi_study_row *row, tabi_status status,
                       const tabi_error *err) {
  (void)pthread_mutex_lock(&s->lock);
  tabi_error failed = *err;
  if (status == TABI_OK) status = tabi_results_add(s->results, row, &failed);
  ++s->done;
  if (status != TABI_OK && s->failed.status == TABI_OK) s->failed = failed;
  if (s->def.progress && !s->def.progress(s->def.progress_user, s->done, s->total))
    s->stopped = true;
  if (s->failed.status != TABI_OK) s->stopped = true;
  (void)pthread_mutex_unlock(&s->lock);
}

static void work_in_worlds(sweep *s, tabi_study_row *row) {
  for (int64_t run = take_run(s); run >= 0; run = take_run(s)) {
    tabi_error err = {0};
    row->engine = TABI_ENGINE_WORLD;
    tabi_status status = tabi_study_run(s->study, run, NULL, row, &err);
    finish_run(s, row, status, &err);
  }
}

/* As many runs at once as there are, up to TBI_LANES_RUNS. */
static void work_in_lanes(sweep *s, tabi_study_row *row) {
  tabi_error err = {0};
  tbi_run_lanes *lanes = tbi_run_lanes_create(s->study, &err);
  if (!lanes) finish_run(s, row, err.status, &err);
  for (int32_t count = TBI_LANES_RUNS; lanes && count > 0;) {
    int64_t run[TBI_LANES_RUNS];
    count = 0;
    while (count < TBI_LANES_RUNS && (run[count] = take_run(s)) >= 0)
      ++count;
    tabi_status status = tbi_run_lanes_do(lanes, run, count, NULL, row, &err);
    for (int32_t i = 0; i < count; ++i)
      finish_run(s, &row[i], status, &err);
  }
  tbi_run_lanes_destroy(lanes);
}

static void *work(void *of) {
  sweep *s = of;
  tabi_error err = {0};
  size_t width = (size_t)tabi_study_nmeasure(s->study);
  double *measure = calloc(TBI_LANES_RUNS * width + 1, sizeof *measure);
  tabi_study_row row[TBI_LANES_RUNS] = {0};
  for (int i = 0; measure && i < TBI_LANES_RUNS; ++i)
    row[i].measure = measure + (size_t)i * width;
  if (!measure) {
    finish_run(s, row, tbi_error_memory(&err), &err);
  } else if (s->def.engine == TABI_ENGINE_BATCH) {
    work_in_lanes(s, row);
  } else {
    work_in_worlds(s, row);
  }
  free(measure);
  return NULL;
}

/* This thread works, too: a sweep with one job starts none. */
static void work_together(sweep *s) {
  int32_t others = tbi_workers_count(s->def.jobs) - 1;
  pthread_t *thread = calloc((size_t)others + 1, sizeof *thread);
  int32_t started = 0;
  while (thread && started < others && pthread_create(&thread[started], NULL, work, s) == 0)
    ++started;
  (void)work(s);
  for (int32_t i = 0; i < started; ++i)
    (void)pthread_join(thread[i], NULL);
  free(thread);
}

static int64_t count_left(const sweep *s) {
  int64_t left = 0;
  for (int64_t run = s->def.shard; run < tabi_study_nrun(s->study); run += s->def.shards)
    left += !tabi_results_has(s->results, run);
  return left;
}

static bool is_known(sweep *s) {
  tabi_measure_summary summary;
  const tbi_stop *stop = &s->study->stop;
  if (tabi_results_summary(s->results, stop->measure, &summary, &s->failed) != TABI_OK) return true;
  return summary.count > 0 && summary.mean.high - summary.mean.low <= stop->width;
}

/* Nobody begins a run behind the next look at the rule, so that all rows before it are there. */
static void work_in_parts(sweep *s) {
  const int64_t runs = tabi_study_nrun(s->study);
  const int64_t part = tabi_study_may_stop(s->study) ? STOP_EVERY : runs;
  for (s->end = 0; s->end < runs && !s->stopped;) {
    s->end = s->end + part < runs ? s->end + part : runs;
    work_together(s);
    if (part < runs && !s->stopped && is_known(s)) return;
  }
}

tabi_status tabi_sweep(const tabi_study *study, tabi_results *results, const tabi_sweep_def *def,
                       tabi_error *err) {
  TBI_ASSERT(study && results && (!def || def->def_size == sizeof *def));
  sweep s = {.study = study, .results = results, .def = def ? *def : tabi_sweep_def_default()};
  if (s.def.shards < 1 || s.def.shard < 0 || s.def.shard >= s.def.shards) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "shard must be in [0, shards)");
  }
  if (s.def.shards > 1 && tabi_study_may_stop(study)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){study->path, 1},
                         "a study with `stop` runs in one sweep; remove stop to use shards");
  }
  tabi_status changed = tbi_results_check_model(results, err);
  if (changed != TABI_OK) return changed;
  if (s.def.engine == TABI_ENGINE_OF_STUDY) s.def.engine = study->engine;
  s.next = s.def.shard;
  s.total = count_left(&s);
  if (pthread_mutex_init(&s.lock, NULL) != 0) return tbi_error_memory(err);
  work_in_parts(&s);
  (void)pthread_mutex_destroy(&s.lock);
  if (err && s.failed.status != TABI_OK) *err = s.failed;
  return s.failed.status;
}
