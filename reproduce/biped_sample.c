/* biped_sample.c - see biped_sample.h. */
#include "biped_sample.h"

#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* -- running */

/* A walk to be made: which one, and how it went. */
typedef struct job {
  tbi_biped_sample *sample;
  int32_t index;
  tabi_status status;
  tabi_error error;
} job;

static void do_job(void *user, int32_t index) {
  job *j = (job *)user + index;
  j->status = tbi_biped_walk_run(&j->sample->walk[j->index], &j->sample->def, j->index + 1, NULL,
                                 NULL, &j->error);
}

static bool make_walks(tbi_biped_sample *sample, int32_t count) {
  bool good = true;
  for (int32_t i = 0; i < count; ++i) {
    if (sample[i].nwalk == 0) continue;
    sample[i].walk = calloc((size_t)sample[i].nwalk, sizeof *sample[i].walk);
    good = good && sample[i].walk;
  }
  return good;
}

static void list_jobs(tbi_biped_sample *sample, int32_t count, job *jobs) {
  for (int32_t i = 0; i < count; ++i)
    for (int32_t k = 0; k < sample[i].nwalk; ++k)
      *jobs++ = (job){.sample = &sample[i], .index = k};
}

/* The first failure in the order of the list, whichever happened first. */
static tabi_status first_failure(const job *jobs, int32_t count, tabi_error *err) {
  for (int32_t i = 0; i < count; ++i) {
    if (jobs[i].status == TABI_OK) continue;
    *err = jobs[i].error;
    return jobs[i].status;
  }
  return TABI_OK;
}

tabi_status tbi_biped_samples_run(tbi_biped_sample *sample, int32_t count, int32_t threads,
                                  tabi_error *err) {
  int32_t total = 0;
  for (int32_t i = 0; i < count; ++i)
    total += sample[i].nwalk;
  job *jobs = calloc((size_t)total + 1, sizeof *jobs);
  tabi_status status = TABI_OK;
  if (make_walks(sample, count) && jobs) {
    list_jobs(sample, count, jobs);
    tbi_parallel(total, threads, do_job, jobs);
    status = first_failure(jobs, total, err);
  } else {
    status = tbi_no_memory(err);
  }
  free(jobs);
  return status;
}

void tbi_biped_samples_free(tbi_biped_sample *sample, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    free(sample[i].walk);
    sample[i].walk = NULL;
  }
}

/* -- statistics */

double tbi_biped_share_of_steps(const tbi_biped_sample *sample, int32_t low, int32_t high) {
  int32_t count = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i)
    count += sample->walk[i].nstep >= low && sample->walk[i].nstep <= high;
  return 100.0 * count / sample->nwalk;
}

double tbi_biped_share_of_outcome(const tbi_biped_sample *sample, tabi_gait_outcome outcome) {
  int32_t count = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i)
    count += sample->walk[i].outcome == outcome;
  return 100.0 * count / sample->nwalk;
}

double tbi_biped_share_that_shrinks(const tbi_biped_sample *sample, double trend) {
  int32_t count = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i)
    count += tbi_biped_trend(&sample->walk[i]) <= trend;
  return 100.0 * count / sample->nwalk;
}

double tbi_biped_share_that_slips_on(const tbi_biped_sample *sample) {
  int32_t count = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i)
    count += sample->walk[i].slips_on;
  return 100.0 * count / sample->nwalk;
}

double tbi_biped_pull(const tbi_biped_sample *sample, double *largest) {
  double sum = 0, most = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i) {
    if (sample->walk[i].time == 0) continue; // over at once
    double share = 100 * sample->walk[i].pulled / sample->walk[i].time;
    sum += share;
    most = fmax(most, share);
  }
  if (largest) *largest = most;
  return sum / sample->nwalk;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Between neighbours in proportion; sorts what it is given. */
static double quantile(double *value, int32_t count, double share) {
  if (count == 0) return (double)NAN;
  qsort(value, (size_t)count, sizeof *value, compare);
  double at = share * (count - 1);
  int32_t low = (int32_t)at;
  int32_t high = low + 1 < count ? low + 1 : low;
  return value[low] + (at - low) * (value[high] - value[low]);
}

/* Of all walks that make the step; NULL without memory. */
static double *gather(const tbi_biped_sample *sample, tbi_biped_quantity quantity, int32_t step,
                      int32_t *count) {
  double *value = calloc((size_t)sample->nwalk, sizeof *value);
  *count = 0;
  for (int32_t i = 0; value && i < sample->nwalk; ++i)
    if (step < sample->walk[i].nstep) value[(*count)++] = sample->walk[i].step[step][quantity];
  return value;
}

double tbi_biped_quantile(const tbi_biped_sample *sample, tbi_biped_quantity quantity, int32_t step,
                          double share) {
  int32_t count = 0;
  double *value = gather(sample, quantity, step, &count);
  double result = quantile(value, count, share);
  free(value);
  return result;
}

double tbi_biped_mean(const tbi_biped_sample *sample, tbi_biped_quantity quantity, int32_t step) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i) {
    if (step >= sample->walk[i].nstep) continue;
    sum += sample->walk[i].step[step][quantity];
    ++count;
  }
  return count > 0 ? sum / count : (double)NAN;
}

bool tbi_biped_falls(const tbi_biped_sample *sample, tbi_biped_quantity quantity) {
  int32_t count = tbi_biped_common_steps(sample);
  for (int32_t i = 1; i < count; ++i)
    if (!(tbi_biped_mean(sample, quantity, i) < tbi_biped_mean(sample, quantity, i - 1)))
      return false;
  return count > 1;
}

double tbi_biped_median_steps(const tbi_biped_sample *sample) {
  double *value = calloc((size_t)sample->nwalk, sizeof *value);
  for (int32_t i = 0; value && i < sample->nwalk; ++i)
    value[i] = sample->walk[i].nstep;
  double result = quantile(value, value ? sample->nwalk : 0, 0.5);
  free(value);
  return result;
}

double tbi_biped_mean_steps(const tbi_biped_sample *sample) {
  double sum = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i)
    sum += sample->walk[i].nstep;
  return sum / sample->nwalk;
}

void tbi_biped_range_of_steps(const tbi_biped_sample *sample, int32_t *least, int32_t *most) {
  *least = TBI_BIPED_STEPS;
  *most = 0;
  for (int32_t i = 0; i < sample->nwalk; ++i) {
    int32_t nstep = sample->walk[i].nstep;
    if (nstep < *least) *least = nstep;
    if (nstep > *most) *most = nstep;
  }
}

int32_t tbi_biped_common_steps(const tbi_biped_sample *sample) {
  int32_t step = 0;
  while (step < TBI_BIPED_STEPS &&
         tbi_biped_share_of_steps(sample, step + 1, TBI_BIPED_STEPS) >= 50)
    ++step;
  return step;
}
