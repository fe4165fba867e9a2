/* trajectory.c - rows of numbers over time, linear in between.
 *
 * The rows are kept, or made from splines through few knots when they are asked for: a minute of a
 * walk in steps of 1 ms would take 60 000 rows of all joints. */
#include "control/trajectory.h"

#include "base/error.h"
#include "control/spline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* of the time between two rows */

struct tabi_trajectory {
  int32_t nrow, ncolumn;
  double per_second; /* rows, on average */
  double *time;      /* [nrow], or NULL: rows are `sample` apart */
  double *value;     /* [nrow x ncolumn], or the knots [nknot x ncolumn] */
  /* of splines: */
  int32_t nknot;
  double period, sample; /* s, between knots and between rows */
  double *second;        /* [nknot x ncolumn] second derivatives, see spline.h */
};

static tabi_status check_finite(int32_t nrow, int32_t ncolumn, const double *value,
                                tabi_error *err) {
  for (size_t i = 0; i < (size_t)nrow * (size_t)ncolumn; i++) {
    if (isfinite(value[i])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "trajectory: row %zu is not finite", i / (size_t)ncolumn + 1);
  }
  return TABI_OK;
}

static tabi_status check(int32_t nrow, int32_t ncolumn, const double *time, const double *value,
                         tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (nrow < 1 || ncolumn < 1) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "trajectory without rows or columns");
  }
  for (int32_t i = 0; i < nrow; i++) {
    if (isfinite(time[i]) && (i == 0 || time[i] > time[i - 1])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "trajectory: time of row %d does not rise", i + 1);
  }
  return check_finite(nrow, ncolumn, value, err);
}

tabi_trajectory *tabi_trajectory_create(int32_t nrow, int32_t ncolumn, const double *time,
                                        const double *value, tabi_error *err) {
  if (check(nrow, ncolumn, time, value, err) != TABI_OK) return NULL;
  size_t rows = (size_t)nrow;
  size_t count = rows * (size_t)ncolumn;
  tabi_trajectory *trajectory = calloc(1, sizeof *trajectory);
  double *memory = malloc((rows + count) * sizeof *memory);
  if (!trajectory || !memory) {
    free(trajectory);
    free(memory);
    (void)tbi_error_memory(err);
    return NULL;
  }
  double span = time[nrow - 1] - time[0];
  *trajectory = (tabi_trajectory){.nrow = nrow,
                                  .ncolumn = ncolumn,
                                  .per_second = span > 0 ? (nrow - 1) / span : 0,
                                  .time = memory,
                                  .value = memory + rows};
  memcpy(trajectory->time, time, rows * sizeof *time);
  memcpy(trajectory->value, value, count * sizeof *value);
  return trajectory;
}

tabi_trajectory *tbi_trajectory_along(const tbi_spline_def *def, tabi_error *err) {
  double rows = ceil((def->nknot - 1) * def->period / def->sample - 1e-9) + 1;
  if (!(rows < TBI_MAX_ROWS)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                        "walk: more than %d rows; take a larger sample", TBI_MAX_ROWS);
    return NULL;
  }
  if (check_finite(def->nknot, def->ncolumn, def->knot, err) != TABI_OK) return NULL;
  size_t knots = (size_t)def->nknot;
  size_t count = knots * (size_t)def->ncolumn;
  tabi_trajectory *trajectory = calloc(1, sizeof *trajectory);
  double *memory = malloc((2 * count + knots) * sizeof *memory);
  if (!trajectory || !memory) {
    free(trajectory);
    free(memory);
    (void)tbi_error_memory(err);
    return NULL;
  }
  *trajectory = (tabi_trajectory){.nrow = (int32_t)rows,
                                  .ncolumn = def->ncolumn,
                                  .per_second = 1 / def->sample,
                                  .value = memory,
                                  .nknot = def->nknot,
                                  .period = def->period,
                                  .sample = def->sample,
                                  .second = memory + count};
  memcpy(memory, def->knot, count * sizeof *memory);
  tbi_spline_fit(knots, (size_t)def->ncolumn, memory, memory + count, memory + 2 * count);
  return trajectory;
}

void tabi_trajectory_destroy(tabi_trajectory *trajectory) {
  if (!trajectory) return;
  free(trajectory->time ? trajectory->time : trajectory->value);
  free(trajectory);
}

static double row_time(const tabi_trajectory *trajectory, int32_t row) {
  return trajectory->time ? trajectory->time[row] : row * trajectory->sample;
}

int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory) { return trajectory->ncolumn; }

double tabi_trajectory_start(const tabi_trajectory *trajectory) { return row_time(trajectory, 0); }

double tabi_trajectory_end(const tabi_trajectory *trajectory) {
  return row_time(trajectory, trajectory->nrow - 1);
}

/* A time that rounding has put just before a row is on it, and has the slope behind it: in steps as
 * long as rows the slope would else jump to and fro, and joints with dampers shake. */
static bool reached(const tabi_trajectory *trajectory, int32_t row, double time) {
  double at = row_time(trajectory, row);
  double slack = row > 0 ? SLACK * (at - row_time(trajectory, row - 1)) : 0;
  return at <= time + slack;
}

static bool is_last_before(const tabi_trajectory *trajectory, int32_t row, double time) {
  return reached(trajectory, row, time) &&
         (row + 1 == trajectory->nrow || !reached(trajectory, row + 1, time));
}

/* The last row at or before a time, -1 before the first.  Where rows are even in time, the first
 * guess is right. */
static int32_t row_before(const tabi_trajectory *trajectory, double time) {
  int32_t low = -1;
  int32_t high = trajectory->nrow;
  double even = (time - row_time(trajectory, 0)) * trajectory->per_second;
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

/* A number of a row. */
typedef struct row_view {
  const double *value; /* the row */
  tbi_blend blend;     /* or, of splines, the point where it is */
} row_view;

static row_view view_row(const tabi_trajectory *trajectory, int32_t row) {
  if (trajectory->time)
    return (row_view){.value = trajectory->value + (size_t)row * (size_t)trajectory->ncolumn};
  double at = row_time(trajectory, row) / trajectory->period;
  return (row_view){.blend = tbi_spline_blend((size_t)trajectory->nknot, at)};
}

static double number(const tabi_trajectory *trajectory, const row_view *row, size_t column) {
  if (trajectory->time) return row->value[column];
  return tbi_spline_value(&row->blend, (size_t)trajectory->ncolumn, trajectory->value + column,
                          trajectory->second + column);
}

void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                            double *rate) {
  size_t n = (size_t)trajectory->ncolumn;
  int32_t before = row_before(trajectory, time);
  bool inside = before >= 0 && before < trajectory->nrow - 1;
  int32_t row = before < 0 ? 0 : before;
  row_view first = view_row(trajectory, row);
  row_view second = inside ? view_row(trajectory, row + 1) : first;
  double start = row_time(trajectory, row);
  double span = inside ? row_time(trajectory, row + 1) - start : 1;
  double along = inside ? (time - start) / span : 0;
  for (size_t i = 0; i < n; i++) {
    double a = number(trajectory, &first, i);
    double way = number(trajectory, &second, i) - a;
    if (value) value[i] = a + along * way;
    if (rate) rate[i] = way / span;
  }
}
