/* series.c - see series.h. */
#include "series.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

tabi_status tbi_cannot_write(const char *path, tabi_error *err) {
  *err = (tabi_error){.status = TABI_ERR_FILE, .line = 1};
  (void)snprintf(err->file, sizeof err->file, "%s", path);
  (void)snprintf(err->message, sizeof err->message,
                 "cannot be written: %s; choose another folder with --out", strerror(errno));
  return err->status;
}

tabi_status tbi_no_memory(tabi_error *err) {
  *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return err->status;
}

void tbi_series_init(tbi_series *series, const char *const *names) {
  *series = (tbi_series){0};
  while (names[series->ncolumn]) {
    assert(series->ncolumn < TBI_MAX_COLUMNS);
    series->name[series->ncolumn] = names[series->ncolumn];
    ++series->ncolumn;
  }
}

void tbi_series_free(tbi_series *series) {
  free(series->value);
  series->value = NULL;
  series->nrow = series->capacity = 0;
}

void tbi_series_add(tbi_series *series, const double *row) {
  size_t width = (size_t)series->ncolumn;
  if (series->nrow == series->capacity) {
    int32_t capacity = series->capacity ? 2 * series->capacity : 256;
    double *value = realloc(series->value, sizeof *value * width * (size_t)capacity);
    if (!value) {
      series->no_memory = true;
      return;
    }
    series->value = value;
    series->capacity = capacity;
  }
  memcpy(series->value + width * (size_t)series->nrow++, row, sizeof *row * width);
}

double tbi_series_at(const tbi_series *series, int32_t row, int32_t column) {
  assert(row >= 0 && row < series->nrow && column >= 0 && column < series->ncolumn);
  return series->value[(size_t)series->ncolumn * (size_t)row + (size_t)column];
}

static void print_row(const tbi_series *series, int32_t row, char between, FILE *to) {
  for (int32_t c = 0; c < series->ncolumn; ++c) {
    if (c > 0) (void)fputc(between, to);
    (void)fprintf(to, "%.9g", tbi_series_at(series, row, c));
  }
  (void)fputc('\n', to);
}

void tbi_series_print(const tbi_series *series, int32_t every, FILE *to) {
  for (int32_t r = 0; r < series->nrow; r += every)
    print_row(series, r, ' ', to);
}

tabi_status tbi_series_write(const tbi_series *series, tbi_trial *trial, const char *ending,
                             tabi_error *err) {
  if (series->no_memory) return tbi_no_memory(err);
  const char *path = tbi_trial_file(trial, ending);
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return tbi_cannot_write(path ? path : ending, err);
  for (int32_t c = 0; c < series->ncolumn; ++c)
    (void)fprintf(file, "%s%s", c > 0 ? "," : "", series->name[c]);
  (void)fputc('\n', file);
  for (int32_t r = 0; r < series->nrow; ++r)
    print_row(series, r, ',', file);
  bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad) return tbi_cannot_write(path, err);
  return TABI_OK;
}
