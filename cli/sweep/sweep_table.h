/* sweep_table.h - the rows of a study in memory, column by column. */
#ifndef TBI_SWEEP_TABLE_H
#define TBI_SWEEP_TABLE_H

#include "common/cli.h"
#include "tabi/tabi_study.h"

typedef struct tbi_sweep_table {
  const tabi_study *study;
  int64_t count;   /* of rows */
  int64_t *run;    /* [count], in their order */
  double **x, **y; /* [nparameter][count], [nmeasure][count]; NAN: none */
} tbi_sweep_table;

/* False: out of memory. */
bool tbi_sweep_table_read(tbi_sweep_table *table, tabi_results *results);
void tbi_sweep_table_free(tbi_sweep_table *table);

#endif
