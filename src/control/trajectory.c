/* trajectory.c - samples over time, linear in between.
 *
 * The samples are stored, or computed on demand from splines through few knots: a minute of a walk
 * in steps of 1 ms would take 60 000 samples of all joints.  Of splines only columns that vary are
 * stored. */
#include "control/trajectory.h"

#include "base/assertion.h"
#include "base/error.h"
#include "control/spline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* share of the time between two samples */

enum { CHUNK = 48 }; /* columns computed at once */

struct tabi_trajectory {
  int32_t nsample, ncolumn;
  double per_second; /* samples, on average */
  double *time;      /* [nsample], or NULL: samples are sample_period apart */
  double *value;     /* [nsample x ncolumn], or the knots [nknot x nvarying] */
  /* of splines: */
  int32_t nknot, nvarying;
  double period, sample_period; /* s, between knots and between samples */
  double *second;               /* [nknot x nvarying] second derivatives, see spline.h */
  double *constant;             /* [ncolumn] first values, which columns that do not vary keep */
  int32_t *column;              /* [nvarying] columns that vary */
};

static tabi_status check_finite(int32_t nsample, int32_t ncolumn, const double *value,
                                tabi_error *err) {
  for (size_t i = 0; i < (size_t)nsample * (size_t)ncolumn; ++i) {
    if (isfinite(value[i])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "trajectory: sample %zu is not finite", i / (size_t)ncolumn + 1);
  }
  return TABI_OK;
}

static tabi_status check(int32_t nsample, int32_t ncolumn, const double *time, const double *value,
                         tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (nsample < 1 || ncolumn < 1) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "trajectory without samples or columns");
  }
  for (int32_t i = 0; i < nsample; ++i) {
    if (isfinite(time[i]) && (i == 0 || time[i] > time[i - 1])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "trajectory: time of sample %d does not rise", i + 1);
  }
  return check_finite(nsample, ncolumn, value, err);
}

tabi_trajectory *tabi_trajectory_create(int32_t nsample, int32_t ncolumn, const double *time,
                                        const double *value, tabi_error *err) {
  TBI_ASSERT((nsample < 1 || time) && (nsample < 1 || ncolumn < 1 || value));
  if (check(nsample, ncolumn, time, value, err) != TABI_OK) return NULL;
  size_t samples = (size_t)nsample;
  size_t count = samples * (size_t)ncolumn;
  tabi_trajectory *trajectory = calloc(1, sizeof *trajectory);
  double *memory = malloc((samples + count) * sizeof *memory);
  if (!trajectory || !memory) {
    free(trajectory);
    free(memory);
    (void)tbi_error_memory(err);
    return NULL;
  }
  double span = time[nsample - 1] - time[0];
  *trajectory = (tabi_trajectory){.nsample = nsample,
                                  .ncolumn = ncolumn,
                                  .per_second = span > 0 ? (nsample - 1) / span : 0,
                                  .time = memory,
                                  .value = memory + samples};
  memcpy(trajectory->time, time, samples * sizeof *time);
  memcpy(trajectory->value, value, count * sizeof *value);
  return trajectory;
}

/* Which columns of the knots vary; false: no memory. */
static bool find_varying(tabi_trajectory *trajectory, const tbi_spline_def *def) {
  size_t n = (size_t)def->ncolumn;
  trajectory->constant = malloc(n * sizeof *trajectory->constant);
  trajectory->column = malloc(n * sizeof *trajectory->column);
  if (!trajectory->constant || !trajectory->column) return false;
  memcpy(trajectory->constant, def->knot, n * sizeof *trajectory->constant);
  for (size_t i = 0; i < n; ++i) {
    size_t k = 1;
    while (k < (size_t)def->nknot && def->knot[k * n + i] == def->knot[i])
      k++;
    if (k < (size_t)def->nknot) trajectory->column[trajectory->nvarying++] = (int32_t)i;
  }
  return true;
}

static bool keep_knots(tabi_trajectory *trajectory, const tbi_spline_def *def) {
  size_t knots = (size_t)def->nknot;
  size_t varying = (size_t)trajectory->nvarying;
  double *memory = malloc((2 * varying + 1) * knots * sizeof *memory);
  if (!memory) return false;
  trajectory->value = memory;
  trajectory->second = memory + knots * varying;
  for (size_t k = 0; k < knots; ++k) {
    for (size_t i = 0; i < varying; ++i)
      memory[k * varying + i] = def->knot[k * (size_t)def->ncolumn + (size_t)trajectory->column[i]];
  }
  tbi_spline_fit(knots, varying, trajectory->value, trajectory->second,
                 memory + 2 * knots * varying);
  return true;
}

tabi_trajectory *tbi_trajectory_along(const tbi_spline_def *def, tabi_error *err) {
  TBI_ASSERT(def->nknot >= 2 && def->ncolumn >= 1 && def->knot);
  TBI_ASSERT(def->period > 0 && def->sample_period > 0);
  double samples = ceil((def->nknot - 1) * def->period / def->sample_period - 1e-9) + 1;
  if (!(samples < TBI_TRAJECTORY_MAX_SAMPLES)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                        "walk: more than %d samples; take a longer sample_period",
                        TBI_TRAJECTORY_MAX_SAMPLES);
    return NULL;
  }
  if (check_finite(def->nknot, def->ncolumn, def->knot, err) != TABI_OK) return NULL;
  tabi_trajectory *trajectory = calloc(1, sizeof *trajectory);
  if (trajectory) {
    *trajectory = (tabi_trajectory){.nsample = (int32_t)samples,
                                    .ncolumn = def->ncolumn,
                                    .per_second = 1 / def->sample_period,
                                    .nknot = def->nknot,
                                    .period = def->period,
                                    .sample_period = def->sample_period};
    if (find_varying(trajectory, def) && keep_knots(trajectory, def)) return trajectory;
  }
  tabi_trajectory_destroy(trajectory);
  (void)tbi_error_memory(err);
  return NULL;
}

void tabi_trajectory_destroy(tabi_trajectory *trajectory) {
  if (!trajectory) return;
  free(trajectory->time ? trajectory->time : trajectory->value);
  free(trajectory->constant);
  free(trajectory->column);
  free(trajectory);
}

static double sample_time(const tabi_trajectory *trajectory, int32_t sample) {
  TBI_ASSERT(sample >= 0 && sample < trajectory->nsample);
  return trajectory->time ? trajectory->time[sample] : sample * trajectory->sample_period;
}

int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory) {
  TBI_ASSERT(trajectory);
  return trajectory->ncolumn;
}

double tabi_trajectory_start(const tabi_trajectory *trajectory) {
  TBI_ASSERT(trajectory);
  return sample_time(trajectory, 0);
}

double tabi_trajectory_end(const tabi_trajectory *trajectory) {
  TBI_ASSERT(trajectory);
  return sample_time(trajectory, trajectory->nsample - 1);
}

/* A time that rounding has put just before a sample counts as on it, and has the slope behind it.
 * Else, in time steps of one sample, the slope would alternate and joints with dampers shake. */
static bool reached(const tabi_trajectory *trajectory, int32_t sample, double time) {
  double at = sample_time(trajectory, sample);
  double slack = sample > 0 ? SLACK * (at - sample_time(trajectory, sample - 1)) : 0;
  return at <= time + slack;
}

static bool is_last_before(const tabi_trajectory *trajectory, int32_t sample, double time) {
  return reached(trajectory, sample, time) &&
         (sample + 1 == trajectory->nsample || !reached(trajectory, sample + 1, time));
}

/* The last sample at or before a time, -1 before the first.  If samples are equidistant, the first
 * guess is right. */
static int32_t sample_before(const tabi_trajectory *trajectory, double time) {
  int32_t low = -1;
  int32_t high = trajectory->nsample;
  double even = (time - sample_time(trajectory, 0)) * trajectory->per_second;
  int32_t guess = (int32_t)fmin(fmax(even + SLACK, 0), high - 1);
  if (is_last_before(trajectory, guess, time)) return guess;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (reached(trajectory, middle, time)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Some of the columns that vary, at a sample. */
static void fill_chunk(const tabi_trajectory *trajectory, int32_t sample, size_t from, size_t count,
                       double *restrict chunk) {
  if (trajectory->time) {
    size_t n = (size_t)trajectory->ncolumn;
    memcpy(chunk, trajectory->value + (size_t)sample * n + from, count * sizeof *chunk);
    return;
  }
  double at = sample_time(trajectory, sample) / trajectory->period;
  const tbi_blend blend = tbi_spline_blend((size_t)trajectory->nknot, at);
  const double *value = trajectory->value + from;
  const double *second = trajectory->second + from;
  for (size_t i = 0; i < count; ++i)
    chunk[i] = tbi_spline_value(&blend, (size_t)trajectory->nvarying, value + i, second + i);
}

/* Writes a chunk to its columns. */
static void scatter_chunk(const tabi_trajectory *trajectory, size_t from, size_t count,
                          const double *chunk, double *to) {
  for (size_t i = 0; i < count && trajectory->column; ++i)
    to[trajectory->column[from + i]] = chunk[i];
  if (!trajectory->column) memcpy(to + from, chunk, count * sizeof *chunk);
}

/* A time between two samples: the first, and the share of the way to the next. */
typedef struct between {
  int32_t sample;
  bool inside; /* there is a next one */
  double span; /* s, between them */
  double along;
} between;

static between find(const tabi_trajectory *trajectory, double time) {
  int32_t before = sample_before(trajectory, time);
  between at = {.sample = before < 0 ? 0 : before, .span = 1};
  at.inside = before >= 0 && before < trajectory->nsample - 1;
  if (!at.inside) return at;
  double start = sample_time(trajectory, at.sample);
  at.span = sample_time(trajectory, at.sample + 1) - start;
  at.along = (time - start) / at.span;
  /* on the sample, but for rounding: the next one is not needed for the value */
  if (fabs(at.along) <= SLACK) at.along = 0;
  return at;
}

void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                            double *rate) {
  TBI_ASSERT(trajectory);
  size_t n = (size_t)trajectory->ncolumn;
  between at = find(trajectory, time);
  bool interpolates = at.inside && (rate || at.along != 0);
  if (trajectory->column) {
    if (value) memcpy(value, trajectory->constant, n * sizeof *value);
    if (rate) memset(rate, 0, n * sizeof *rate);
    n = (size_t)trajectory->nvarying;
  }
  for (size_t from = 0; from < n; from += CHUNK) {
    double here[CHUNK];
    double slope[CHUNK] = {0};
    size_t count = n - from < CHUNK ? n - from : CHUNK;
    fill_chunk(trajectory, at.sample, from, count, here);
    if (interpolates) {
      fill_chunk(trajectory, at.sample + 1, from, count, slope);
      for (size_t i = 0; i < count; ++i) {
        double rise = slope[i] - here[i];
        here[i] += at.along * rise;
        slope[i] = rise / at.span;
      }
    }
    if (value) scatter_chunk(trajectory, from, count, here, value);
    if (rate) scatter_chunk(trajectory, from, count, slope, rate);
  }
}
