/* trajectory.c - rows of numbers over time, linear in between.
 *
 * The rows are kept, or made from splines through few knots when they are asked for: a minute of a
 * walk in steps of 1 ms would take 60 000 rows of all joints.  Of splines only columns that change
 * are kept. */
#include "control/trajectory.h"

#include "base/error.h"
#include "control/spline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* of the time between two rows */

enum { PART = 48 }; /* columns that are computed at once */

struct tabi_trajectory {
  int32_t nrow, ncolumn;
  double per_second; /* rows, on average */
  double *time;      /* [nrow], or NULL: rows are `sample` apart */
  double *value;     /* [nrow x ncolumn], or the knots [nknot x nmove] */
  /* of splines: */
  int32_t nknot, nmove;
  double period, sample; /* s, between knots and between rows */
  double *second;        /* [nknot x nmove] second derivatives, see spline.h */
  double *still;         /* [ncolumn] where columns begin, and those that do not change stay */
  int32_t *column;       /* [nmove] those that do */
};

static tabi_status check_finite(int32_t nrow, int32_t ncolumn, const double *value,
                                tabi_error *err) {
  for (size_t i = 0; i < (size_t)nrow * (size_t)ncolumn; ++i) {
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
  for (int32_t i = 0; i < nrow; ++i) {
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

/* Which columns of the knots change; false when memory ran out. */
static bool find_changes(tabi_trajectory *trajectory, const tbi_spline_def *def) {
  size_t n = (size_t)def->ncolumn;
  trajectory->still = malloc(n * sizeof *trajectory->still);
  trajectory->column = malloc(n * sizeof *trajectory->column);
  if (!trajectory->still || !trajectory->column) return false;
  memcpy(trajectory->still, def->knot, n * sizeof *trajectory->still);
  for (size_t i = 0; i < n; ++i) {
    size_t k = 1;
    while (k < (size_t)def->nknot && def->knot[k * n + i] == def->knot[i])
      k++;
    if (k < (size_t)def->nknot) trajectory->column[trajectory->nmove++] = (int32_t)i;
  }
  return true;
}

static bool keep_knots(tabi_trajectory *trajectory, const tbi_spline_def *def) {
  size_t knots = (size_t)def->nknot;
  size_t moves = (size_t)trajectory->nmove;
  double *memory = malloc((2 * moves + 1) * knots * sizeof *memory);
  if (!memory) return false;
  trajectory->value = memory;
  trajectory->second = memory + knots * moves;
  for (size_t k = 0; k < knots; ++k) {
    for (size_t i = 0; i < moves; ++i)
      memory[k * moves + i] = def->knot[k * (size_t)def->ncolumn + (size_t)trajectory->column[i]];
  }
  tbi_spline_fit(knots, moves, trajectory->value, trajectory->second, memory + 2 * knots * moves);
  return true;
}

tabi_trajectory *tbi_trajectory_along(const tbi_spline_def *def, tabi_error *err) {
  double rows = ceil((def->nknot - 1) * def->period / def->sample - 1e-9) + 1;
  if (!(rows < TBI_MAX_ROWS)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                        "walk: more than %d rows; take a larger sample", TBI_MAX_ROWS);
    return NULL;
  }
  if (check_finite(def->nknot, def->ncolumn, def->knot, err) != TABI_OK) return NULL;
  tabi_trajectory *trajectory = calloc(1, sizeof *trajectory);
  if (trajectory) {
    *trajectory = (tabi_trajectory){.nrow = (int32_t)rows,
                                    .ncolumn = def->ncolumn,
                                    .per_second = 1 / def->sample,
                                    .nknot = def->nknot,
                                    .period = def->period,
                                    .sample = def->sample};
    if (find_changes(trajectory, def) && keep_knots(trajectory, def)) return trajectory;
  }
  tabi_trajectory_destroy(trajectory);
  (void)tbi_error_memory(err);
  return NULL;
}

void tabi_trajectory_destroy(tabi_trajectory *trajectory) {
  if (!trajectory) return;
  free(trajectory->time ? trajectory->time : trajectory->value);
  free(trajectory->still);
  free(trajectory->column);
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

/* Some of the columns that change, at a row. */
static void fill_part(const tabi_trajectory *trajectory, int32_t row, size_t from, size_t count,
                      double *restrict part) {
  if (trajectory->time) {
    size_t n = (size_t)trajectory->ncolumn;
    memcpy(part, trajectory->value + (size_t)row * n + from, count * sizeof *part);
    return;
  }
  double at = row_time(trajectory, row) / trajectory->period;
  const tbi_blend blend = tbi_spline_blend((size_t)trajectory->nknot, at);
  const double *value = trajectory->value + from;
  const double *second = trajectory->second + from;
  for (size_t i = 0; i < count; ++i)
    part[i] = tbi_spline_value(&blend, (size_t)trajectory->nmove, value + i, second + i);
}

/* Columns to where they belong. */
static void put_part(const tabi_trajectory *trajectory, size_t from, size_t count,
                     const double *part, double *to) {
  for (size_t i = 0; i < count && trajectory->column; ++i)
    to[trajectory->column[from + i]] = part[i];
  if (!trajectory->column) memcpy(to + from, part, count * sizeof *part);
}

/* A time between two rows: the first, and where it is from there to the next. */
typedef struct between {
  int32_t row;
  bool inside; /* there is a next one */
  double span; /* s, between them */
  double along;
} between;

static between find(const tabi_trajectory *trajectory, double time) {
  int32_t before = row_before(trajectory, time);
  between at = {.row = before < 0 ? 0 : before, .span = 1};
  at.inside = before >= 0 && before < trajectory->nrow - 1;
  if (!at.inside) return at;
  double start = row_time(trajectory, at.row);
  at.span = row_time(trajectory, at.row + 1) - start;
  at.along = (time - start) / at.span;
  /* on the row, but for rounding: then the next one is not needed for the value */
  if (fabs(at.along) <= SLACK) at.along = 0;
  return at;
}

void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                            double *rate) {
  size_t n = (size_t)trajectory->ncolumn;
  between at = find(trajectory, time);
  bool goes_on = at.inside && (rate || at.along != 0);
  if (trajectory->column) {
    if (value) memcpy(value, trajectory->still, n * sizeof *value);
    if (rate) memset(rate, 0, n * sizeof *rate);
    n = (size_t)trajectory->nmove;
  }
  for (size_t from = 0; from < n; from += PART) {
    double here[PART];
    double slope[PART] = {0};
    size_t count = n - from < PART ? n - from : PART;
    fill_part(trajectory, at.row, from, count, here);
    if (goes_on) {
      fill_part(trajectory, at.row + 1, from, count, slope);
      for (size_t i = 0; i < count; ++i) {
        double way = slope[i] - here[i];
        here[i] += at.along * way;
        slope[i] = way / at.span;
      }
    }
    if (value) put_part(trajectory, from, count, here, value);
    if (rate) put_part(trajectory, from, count, slope, rate);
  }
}
