/* trajectory.c - rows of numbers over time, linear in between. */
#include "base/error.h"
#include "tabi/tabi_control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* of the time between two rows */

struct tabi_trajectory {
  int32_t nrow, ncolumn;
  double per_second; /* rows, on average */
  double *time;      /* [nrow] */
  double *value;     /* [nrow x ncolumn] */
};

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
  for (size_t i = 0; i < (size_t)nrow * (size_t)ncolumn; i++) {
    if (isfinite(value[i])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "trajectory: row %zu is not finite",
                         i / (size_t)ncolumn + 1);
  }
  return TABI_OK;
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
  *trajectory =
      (tabi_trajectory){nrow, ncolumn, span > 0 ? (nrow - 1) / span : 0, memory, memory + rows};
  memcpy(trajectory->time, time, rows * sizeof *time);
  memcpy(trajectory->value, value, count * sizeof *value);
  return trajectory;
}

void tabi_trajectory_destroy(tabi_trajectory *trajectory) {
  if (!trajectory) return;
  free(trajectory->time);
  free(trajectory);
}

int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory) { return trajectory->ncolumn; }

double tabi_trajectory_start(const tabi_trajectory *trajectory) { return trajectory->time[0]; }

double tabi_trajectory_end(const tabi_trajectory *trajectory) {
  return trajectory->time[trajectory->nrow - 1];
}

/* A time that rounding has put just before a row is on it, and has the slope behind it: in steps as
 * long as rows the slope would else jump to and fro, and joints with dampers shake. */
static bool reached(const tabi_trajectory *trajectory, int32_t row, double time) {
  double at = trajectory->time[row];
  double slack = row > 0 ? SLACK * (at - trajectory->time[row - 1]) : 0;
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
  double even = (time - trajectory->time[0]) * trajectory->per_second;
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

void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                            double *rate) {
  size_t n = (size_t)trajectory->ncolumn;
  int32_t before = row_before(trajectory, time);
  bool inside = before >= 0 && before < trajectory->nrow - 1;
  int32_t row = before < 0 ? 0 : before;
  const double *a = trajectory->value + (size_t)row * n;
  const double *b = inside ? a + n : a;
  double span = inside ? trajectory->time[row + 1] - trajectory->time[row] : 1;
  double along = inside ? (time - trajectory->time[row]) / span : 0;
  for (size_t i = 0; i < n; i++) {
    if (value) value[i] = a[i] + along * (b[i] - a[i]);
    if (rate) rate[i] = (b[i] - a[i]) / span;
  }
}
