/* sweep_table.c - rows read once, for charts that look at them many times. */
#include "sweep/sweep_table.h"

#include <stdlib.h>

static double **columns(int32_t count, int64_t rows) {
  double **column = calloc((size_t)count + 1, sizeof *column);
  for (int32_t i = 0; column && i < count; ++i) {
    column[i] = calloc((size_t)rows + 1, sizeof **column);
    if (column[i]) continue;
    while (i-- > 0)
      free(column[i]);
    free(column);
    return NULL;
  }
  return column;
}

static void free_columns(double **column, int32_t count) {
  for (int32_t i = 0; column && i < count; ++i)
    free(column[i]);
  free(column);
}

static void take_row(tbi_sweep_table *t, const tabi_study_row *row) {
  t->run[t->count] = row->run;
  for (int32_t i = 0; i < tabi_study_nparameter(t->study); ++i)
    t->x[i][t->count] = tabi_study_value(t->study, row->run, i);
  for (int32_t i = 0; i < tabi_study_nmeasure(t->study); ++i)
    t->y[i][t->count] = row->measure[i];
  ++t->count;
}

bool tbi_sweep_table_read(tbi_sweep_table *table, tabi_results *results) {
  const tabi_study *study = tabi_results_study(results);
  int64_t rows = tabi_results_count(results);
  tabi_study_row row = {.measure =
                            calloc((size_t)tabi_study_nmeasure(study) + 1, sizeof *row.measure)};
  *table = (tbi_sweep_table){.study = study};
  table->run = calloc((size_t)rows + 1, sizeof *table->run);
  table->x = columns(tabi_study_nparameter(study), rows);
  table->y = columns(tabi_study_nmeasure(study), rows);
  bool memory = row.measure && table->run && table->x && table->y;
  for (int64_t run = 0; memory && run < tabi_study_nrun(study) && table->count < rows; ++run) {
    if (tabi_results_has(results, run) && tabi_results_get(results, run, &row))
      take_row(table, &row);
  }
  free(row.measure);
  if (!memory) tbi_sweep_table_free(table);
  return memory;
}

void tbi_sweep_table_free(tbi_sweep_table *table) {
  free(table->run);
  if (table->study) {
    free_columns(table->x, tabi_study_nparameter(table->study));
    free_columns(table->y, tabi_study_nmeasure(table->study));
  }
  *table = (tbi_sweep_table){0};
}
