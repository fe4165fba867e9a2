/* export_csv.c - a table: time and signals, a row for each sample.  Names stand in the first line,
 * without units, since that is what readers take for names.  Numbers have as many digits as bring
 * back the same number; what is none is left empty. */
#include "common/csv.h"
#include "export/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv {
  tbi_export export;
  char *row;
  size_t used;
} csv;

enum { NUMBER = 32 }; /* bytes of the longest number, with its comma */

static void put_number(csv *c, double value) {
  if (!isfinite(value)) return;
  char *at = c->row + c->used;
  if (value == 0 && !signbit(value)) {
    *at = '0';
    ++c->used;
    return;
  }
  int size = snprintf(at, NUMBER, "%.15g", value);
  if (strtod(at, NULL) != value) size = snprintf(at, NUMBER, "%.17g", value);
  c->used += (size_t)size;
}

static void put_name(tbi_output *output, const char *name) {
  char quoted[TBI_CSV_NAME];
  const char *text = tbi_csv_name(name, quoted);
  tbi_output_put(output, text, strlen(text));
}

static void *open_csv(const tbi_export *export) {
  csv *c = calloc(1, sizeof *c);
  char *row = malloc(NUMBER * ((size_t) export->nchosen + 2));
  if (!c || !row) {
    free(c);
    free(row);
    (void)tbi_out_of_memory();
    return NULL;
  }
  *c = (csv){.export = *export, .row = row};
  put_name(export->output, "time");
  for (int32_t i = 0; i < export->nchosen; ++i) {
    tbi_output_put(export->output, ",", 1);
    put_name(export->output, tabi_signals_get(export->signals, export->chosen[i]).name);
  }
  tbi_output_put(export->output, "\n", 1);
  return c;
}

static bool write_sample(void *writer, const tabi_sample *sample, const double *value) {
  csv *c = writer;
  c->used = 0;
  put_number(c, sample->time);
  for (int32_t i = 0; i < c->export.nchosen; ++i) {
    c->row[c->used++] = ',';
    put_number(c, value[c->export.chosen[i]]);
  }
  c->row[c->used++] = '\n';
  tbi_output_put(c->export.output, c->row, c->used);
  return !c->export.output->error;
}

static bool finish(void *writer) {
  (void)writer;
  return true;
}

static void close_csv(void *writer) {
  csv *c = writer;
  free(c->row);
  free(c);
}

const tbi_export_format tbi_export_csv = {
    .name = "csv",
    .endings = {".csv", NULL},
    .signals = "*",
    .stream = true,
    .open = open_csv,
    .sample = write_sample,
    .finish = finish,
    .close = close_csv,
};
