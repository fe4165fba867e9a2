/* csv_log.h - the CSV file of `tabi run`: one row every `log.every` steps. */
#ifndef TBI_CSV_LOG_H
#define TBI_CSV_LOG_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

typedef struct tbi_csv_log {
  FILE *file; /* NULL: no file is wanted */
  const char *path;
  const tabi_scene *scene;
  tabi_world *world;
  const tabi_signals *signals;
  int32_t *column; /* signals in the order of columns */
  int32_t ncolumn, capacity;
  int32_t ahead; /* columns before those of the gait */
  bool no_memory;
  double *torque; /* [nv], of the gait */
} tbi_csv_log;

/* Opens the file and writes the names of the columns; path NULL: no file.  Prints what is
 * wrong and returns false. */
bool tbi_csv_log_open(tbi_csv_log *log, const char *path, const tabi_scene *scene,
                      tabi_world *world, const tabi_signals *signals);
/* Whether the world is at a step that has a row. */
bool tbi_csv_log_due(const tbi_csv_log *log);
/* A row of the values of all signals. */
void tbi_csv_log_row(tbi_csv_log *log, const double *value);
/* Prints what went wrong in writing and returns false. */
bool tbi_csv_log_close(tbi_csv_log *log);

#endif
