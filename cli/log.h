/* log.h - the CSV file of `tabi run`: one row every so many steps. */
#ifndef TBI_LOG_H
#define TBI_LOG_H

#include "cli.h"

typedef struct tbi_log {
  FILE *file; /* NULL: there is no log */
  const char *path;
  const tabi_scene *scene;
  tabi_world *world;
  double *torque; /* [nv], of a walk */
} tbi_log;

/* Opens the file and writes the names of the columns; path NULL makes no log.  Prints what is
 * wrong and returns false. */
bool tbi_log_open(tbi_log *log, const char *path, const tabi_scene *scene, tabi_world *world);
/* After every step. */
void tbi_log_step(tbi_log *log);
/* Prints what went wrong in writing and returns false. */
bool tbi_log_close(tbi_log *log);

#endif
