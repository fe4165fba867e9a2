/* sweep_slurm.h - a study as an array job of Slurm, and a job behind it that merges its parts. */
#ifndef TBI_SWEEP_SLURM_H
#define TBI_SWEEP_SLURM_H

#include "common/cli.h"

typedef struct tbi_slurm_jobs {
  const char *study, *out; /* paths */
  const char *engine;      /* by its name */
  int64_t runs;
  int64_t tasks;     /* of the array; 0: chosen here, within the limit of the cluster */
  long array, merge; /* numbers of the jobs, when they are submitted */
} tbi_slurm_jobs;

/* Submits both.  Parts and scripts are in the folder OUT.parts, which stays.  An exit code; an
 * error was printed. */
int tbi_slurm_submit(tbi_slurm_jobs *jobs);

#endif
