/* sweep_summary.h - what the results of a study tell, as a table, as JSON and as CSV. */
#ifndef TBI_SWEEP_SUMMARY_H
#define TBI_SWEEP_SUMMARY_H

#include "common/cli.h"
#include "tabi/tabi_study.h"

typedef struct tbi_sweep_summary {
  tabi_results *results;
  const tabi_study *study;
  const char *path;              /* of the results */
  double seconds;                /* of wall time that the sweep took */
  int64_t runs, failed;          /* runs that are there; of them those that are not "ok" */
  tabi_measure_summary *measure; /* [nmeasure] */
  tabi_effect *effect;           /* [nmeasure][nparameter] */
  tabi_measure_summary *was;     /* [nmeasure], of another version, or NULL */
  double *p;                     /* [nmeasure], that both have one distribution, likewise */
} tbi_sweep_summary;

/* Reads all rows; before: those of another version, or NULL.  False after an error was printed. */
bool tbi_sweep_summary_make(tbi_sweep_summary *summary, tabi_results *results, tabi_results *before,
                            const char *path);
void tbi_sweep_summary_free(tbi_sweep_summary *summary);
/* Whether a measure is another one than before (p < 0.01). */
bool tbi_sweep_summary_changed(const tbi_sweep_summary *summary);

void tbi_sweep_summary_print(const tbi_sweep_summary *summary, FILE *out);
int tbi_sweep_summary_print_json(const tbi_sweep_summary *summary, FILE *out);
/* Every row; false after an error was printed. */
bool tbi_sweep_write_csv(tabi_results *results, const char *path);

#endif
