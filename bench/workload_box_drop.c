/* workload_box_drop.c - the workload "drop".
 *
 * Every method finds its last good step on the grid, the largest before its first failure.  Whole
 * drops with that step are then measured, those of all methods alternating. */
#include "workload_box_drop.h"

#include "box_drop.h"
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_NAME = 48 };

typedef struct job {
  const tbi_drop_method *method;
  double step, depth; /* of the last good step */
  tabi_world *world;
  void *start; /* snapshot */
  size_t size;
  tbi_drop_outcome outcome[TBI_DROP_STEPS];
  int32_t steps; /* of a whole drop */
} job;

static void row_name(char name[ROW_NAME], int32_t m) {
  (void)snprintf(name, ROW_NAME, "drop/%s", tbi_drop_methods[m].name);
}

static bool wants_row(const tbi_bench_options *options, int32_t m) {
  char name[ROW_NAME];
  row_name(name, m);
  return tbi_bench_wants(options, name);
}

void tbi_bench_drop_list(tbi_bench_visit *visit, void *user) {
  for (int32_t m = 0; m < TBI_DROP_METHODS; ++m) {
    char name[ROW_NAME];
    row_name(name, m);
    visit(user, name);
  }
}

static void find_step(job *j, const tabi_model *model) {
  bool failed = false;
  for (int i = 0; i < TBI_DROP_STEPS; ++i) {
    double depth = 0;
    j->outcome[i] = tbi_drop_run(model, j->method, tbi_drop_grid[i], &depth);
    failed = failed || j->outcome[i] != TBI_DROP_GOOD;
    if (failed) continue;
    j->step = tbi_drop_grid[i];
    j->depth = depth;
  }
}

/* false: no memory, or not even the smallest step is good */
static bool open_job(job *j, const tabi_model *model) {
  find_step(j, model);
  if (j->step == 0) return false;
  j->steps = (int32_t)lround(tbi_drop_duration / j->step);
  j->world = tbi_drop_open(model, j->method, j->step);
  if (!j->world) return false;
  j->size = tabi_world_snapshot_size(j->world);
  j->start = malloc(j->size);
  if (j->start) tabi_world_save(j->world, j->start);
  return j->start != NULL;
}

static void close_job(job *j) {
  tabi_world_destroy(j->world);
  free(j->start);
}

static double run_drops(void *self, int32_t calls) {
  job *j = self;
  double seconds = 0;
  for (; calls > 0; --calls) {
    (void)tabi_world_restore(j->world, j->start, j->size);
    double start = tbi_measure_clock();
    for (int32_t i = 0; i < j->steps; ++i)
      if (tabi_world_step_or_grow(j->world, NULL) != TABI_OK) return nan("");
    seconds += tbi_measure_clock() - start;
  }
  return seconds;
}

static void print_head(void) {
  (void)printf("%-11s", "method");
  for (int i = 0; i < TBI_DROP_STEPS; ++i)
    (void)printf("%5.3g", 1e3 * tbi_drop_grid[i]);
  (void)printf(" ms   last    us/step  ms per simulated s  depth mm\n");
}

static void print_job(const job *j, double seconds) {
  static const char mark[] = {[TBI_DROP_GOOD] = 'o',
                              [TBI_DROP_UNNATURAL] = '~',
                              [TBI_DROP_DIVERGED] = 'x',
                              [TBI_DROP_FAILED] = '?'};
  (void)printf("%-11s", j->method->name);
  for (int i = 0; i < TBI_DROP_STEPS; ++i)
    (void)printf("%5c", mark[j->outcome[i]]);
  (void)printf("    %6.3g %10.3f %19.3f %9.2f\n", 1e3 * j->step, 1e6 * seconds / j->steps,
               1e3 * seconds / tbi_drop_duration, 1e3 * j->depth);
}

static bool add_row(const job *j, int32_t m, const tbi_subject *subject, tbi_report *report) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return false;
  row_name(row->name, m);
  row->subject = "drop";
  row->function = j->method->name;
  row->links = 1;
  row->dof = 6;
  row->us = 1e6 * subject->best / j->steps;
  row->us_median = 1e6 * subject->median / j->steps;
  row->step = j->step;
  row->depth = j->depth;
  return true;
}

static bool measure(const tbi_bench_options *options, job *jobs, const int32_t *which,
                    int32_t count, tbi_report *report) {
  tbi_subject subjects[TBI_DROP_METHODS];
  for (int32_t i = 0; i < count; ++i)
    subjects[i] = (tbi_subject){.run = run_drops, .self = &jobs[i]};
  if (options->calls > 0) {
    for (int32_t i = 0; i < count; ++i)
      (void)run_drops(&jobs[i], options->calls);
    return true;
  }
  tbi_measure_time(subjects, count);
  if (!options->json) print_head();
  bool ok = true;
  for (int32_t i = 0; i < count && ok; ++i) {
    ok = add_row(&jobs[i], which[i], &subjects[i], report);
    if (!options->json) print_job(&jobs[i], subjects[i].best);
  }
  if (!options->json) (void)printf("o good, ~ finished but unnatural, x diverged\n");
  return ok;
}

int tbi_bench_drop(const tbi_bench_options *options, tbi_report *report) {
  job jobs[TBI_DROP_METHODS] = {0};
  int32_t which[TBI_DROP_METHODS], count = 0;
  for (int32_t m = 0; m < TBI_DROP_METHODS; ++m)
    if (wants_row(options, m)) which[count++] = m;
  if (count == 0) return TBI_BENCH_OK;
  tbi_bench_progress(options, "drop");
  tabi_error err = {0};
  tabi_model *model = tbi_drop_model(&err);
  if (!model) return tbi_bench_fail(&err);
  bool ok = true;
  for (int32_t i = 0; i < count && ok; ++i) {
    jobs[i].method = &tbi_drop_methods[which[i]];
    ok = open_job(&jobs[i], model);
  }
  ok = ok && measure(options, jobs, which, count, report);
  for (int32_t i = 0; i < count; ++i)
    close_job(&jobs[i]);
  tabi_model_destroy(model);
  if (ok) return TBI_BENCH_OK;
  err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "the box drop: out of memory"};
  return tbi_bench_fail(&err);
}
