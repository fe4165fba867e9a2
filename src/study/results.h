/* results.h - an open file of results. */
#ifndef TBI_RESULTS_H
#define TBI_RESULTS_H

#include "study/study.h"

#include <sqlite3.h>

struct tabi_results {
  sqlite3 *db;
  char *path;
  const tabi_study *study;
  tabi_study *own;      /* the same, if it was read from the file; else NULL */
  sqlite3_stmt *insert; /* id, status, hash, seconds, measures, the rest */
  sqlite3_stmt *select; /* status, hash, seconds, measures of an id */
  uint8_t *done;        /* a bit for each run */
  int64_t count;        /* of runs that are done */
};

/* What SQLite says of the last call. */
tabi_status tbi_results_fail(const tabi_results *results, tabi_error *err);
/* Whether its runs are of the robots that the study has now. */
tabi_status tbi_results_check_model(const tabi_results *results, tabi_error *err);
/* Runs that have a measure, in their order, and its values: both the caller's to free.  NULL after
 * an error. */
double *tbi_results_measure(tabi_results *results, int32_t measure, int64_t **run, int64_t *count,
                            tabi_error *err);

#endif
