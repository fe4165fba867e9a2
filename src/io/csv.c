/* csv.c - reads a trajectory: names, then rows of numbers, each checked with its line. */
#include "io/csv.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 4096

/* The state of the reader. */
typedef struct reading {
  tbi_csv *csv;
  const char *path;
  tbi_first_error *error;
  char *remainder; /* what is not read yet; NULL: nothing */
  int32_t line;    /* of the last line taken */
  double rate;     /* rows per second; 0: the first column is the time */
  double *time, *value;
  int32_t nrow, time_capacity, value_capacity;
} reading;

static tabi_place here(const reading *r) { return (tabi_place){r->path, r->line}; }

/* The next line, without its end; NULL after the last. */
static char *next_line(reading *r) {
  char *line = r->remainder;
  if (!line || line[0] == '\0') return NULL;
  char *end = strchr(line, '\n');
  r->remainder = end ? end + 1 : NULL;
  if (end) *end = '\0';
  size_t length = strlen(line);
  if (length > 0 && line[length - 1] == '\r') line[length - 1] = '\0';
  ++r->line;
  return line;
}

/* The next value of a line, without spaces around it; NULL after the last. */
static char *next_cell(char **line) {
  char *cell = *line;
  if (!cell) return NULL;
  char *comma = strchr(cell, ',');
  if (comma) *comma = '\0';
  *line = comma ? comma + 1 : NULL;
  cell += strspn(cell, " \t");
  size_t length = strlen(cell);
  while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '\t'))
    cell[--length] = '\0';
  return cell;
}

/* "# rate 500" */
static bool read_rate(reading *r, const char *line) {
  const char *text = line + 1 + strspn(line + 1, " \t");
  if (strncmp(text, "rate", 4) != 0) return true;
  text += 4 + strspn(text + 4, " :=\t");
  if (tbi_number_read(text, strlen(text), &r->rate) && isfinite(r->rate) && r->rate > 0) {
    return true;
  }
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "rate '%.40s' is not a number > 0", text);
}

static bool read_names(reading *r, char *line) {
  tbi_csv *csv = r->csv;
  csv->names = calloc(MAX_COLUMNS, sizeof *csv->names);
  if (!csv->names) return tbi_fail_memory(r->error);
  char *cell = NULL;
  for (int32_t i = 0; (cell = next_cell(&line)); ++i) {
    if (i == 0 && r->rate == 0) {
      if (strcmp(cell, "time") == 0) continue;
      return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r),
                         "the first column is '%.40s', expected 'time', or a line '# rate 500' "
                         "before the names",
                         cell);
    }
    if (csv->ncolumn == MAX_COLUMNS) {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "more than %d columns", MAX_COLUMNS);
    }
    csv->names[csv->ncolumn++] = cell;
  }
  if (csv->ncolumn > 0) return true;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "no columns but the time");
}

static bool make_room(reading *r) {
  int32_t ncolumn = r->csv->ncolumn;
  void *time = r->time;
  void *value = r->value;
  bool room = r->nrow < INT32_MAX / (ncolumn + 1) &&
              tbi_array_reserve(&time, &r->time_capacity, r->nrow, 1, sizeof *r->time);
  r->time = time;
  room = room && tbi_array_reserve(&value, &r->value_capacity, r->nrow * ncolumn, ncolumn,
                                   sizeof *r->value);
  r->value = value;
  return room || tbi_fail_memory(r->error);
}

static bool read_cell(const reading *r, const char *cell, double *value) {
  if (tbi_number_read(cell, strlen(cell), value) && isfinite(*value)) return true;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "'%.40s' is not a finite number", cell);
}

static bool read_row(reading *r, char *line) {
  if (!make_room(r)) return false;
  TBI_ASSERT(r->time && r->value);
  int32_t timed = r->rate == 0 ? 1 : 0;
  int32_t wanted = r->csv->ncolumn + timed;
  double *values = r->value + (size_t)r->nrow * (size_t)r->csv->ncolumn;
  r->time[r->nrow] = timed ? 0 : r->nrow / r->rate;
  int32_t count = 0;
  for (char *cell = next_cell(&line); cell; cell = next_cell(&line), ++count) {
    if (count >= wanted) continue;
    double *to = count < timed ? &r->time[r->nrow] : &values[count - timed];
    if (!read_cell(r, cell, to)) return false;
  }
  if (count != wanted) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "row has %d values, expected %d", count,
                       wanted);
  }
  if (r->nrow > 0 && !(r->time[r->nrow] > r->time[r->nrow - 1])) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "time %g does not rise",
                       r->time[r->nrow]);
  }
  ++r->nrow;
  return true;
}

static void read_table(reading *r) {
  for (char *line = next_line(r); line && tbi_ok(r->error); line = next_line(r)) {
    if (line[0] == '\0') continue;
    if (line[0] == '#') {
      read_rate(r, line);
    } else if (r->csv->names) {
      read_row(r, line);
    } else {
      read_names(r, line);
    }
  }
  if (r->nrow == 0)
    tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){r->path, 1}, "no rows of numbers");
  if (!tbi_ok(r->error)) return;
  tabi_error *err = r->error->err;
  r->csv->trajectory = tabi_trajectory_create(r->nrow, r->csv->ncolumn, r->time, r->value, err);
  if (!r->csv->trajectory) tbi_take(r->error, TABI_ERR_MEMORY);
}

tabi_status tbi_csv_read(const char *path, tabi_place blame, tbi_csv *csv, tabi_error *err) {
  TBI_ASSERT(path && csv);
  size_t size = 0;
  *csv = (tbi_csv){0};
  tabi_status status = tbi_file_read(path, TBI_CSV_MAX_BYTES, blame, &csv->text, &size, err);
  if (status != TABI_OK) return status;
  if (strlen(csv->text) != size) {
    return tbi_error_set(err, TABI_ERR_PARSE, (tabi_place){path, 1}, "not a text file");
  }
  tbi_first_error error = {.err = err};
  reading r = {.csv = csv, .path = path, .error = &error, .remainder = csv->text};
  read_table(&r);
  csv->time = r.time;
  csv->value = r.value;
  csv->nrow = r.nrow;
  return error.status;
}

void tbi_csv_free(tbi_csv *csv) {
  tabi_trajectory_destroy(csv->trajectory);
  free(csv->names);
  free(csv->time);
  free(csv->value);
  free(csv->text);
  *csv = (tbi_csv){0};
}
