/* series.h - numbers that an experiment logged, row by row. */
#ifndef TBI_SERIES_H
#define TBI_SERIES_H

#include "experiment.h"

#include <stdio.h>

enum { TBI_MAX_COLUMNS = 16 };

typedef struct tbi_series {
  int32_t ncolumn;
  const char *name[TBI_MAX_COLUMNS];
  int32_t nrow, capacity;
  double *value;
  bool no_memory;
} tbi_series;

/* Names in the order of the columns; the last is NULL.  They must outlive the series. */
void tbi_series_init(tbi_series *series, const char *const *names);
void tbi_series_free(tbi_series *series);
/* row[ncolumn] */
void tbi_series_add(tbi_series *series, const double *row);
double tbi_series_at(const tbi_series *series, int32_t row, int32_t column);

/* Every so many rows, with spaces between numbers, for gnuplot. */
void tbi_series_print(const tbi_series *series, int32_t every, FILE *to);
/* The trial's CSV file with an ending like ".csv". */
tabi_status tbi_series_write(const tbi_series *series, tbi_trial *trial, const char *ending,
                             tabi_error *err);

/* Says that a file could not be written. */
tabi_status tbi_cannot_write(const char *path, tabi_error *err);
tabi_status tbi_no_memory(tabi_error *err);

#endif
