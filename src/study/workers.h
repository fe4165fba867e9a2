/* workers.h - independent tasks on all processors. */
#ifndef TBI_WORKERS_H
#define TBI_WORKERS_H

#include "tabi/tabi.h"

typedef tabi_status tbi_task_fn(void *of, int64_t task, tabi_error *err);

/* How many threads: `jobs`, or one for each processor if that is 0. */
int32_t tbi_workers_count(int32_t jobs);
/* Does tasks 0 .. count - 1, in any order.  After the first error no further one begins. */
tabi_status tbi_workers_run(tbi_task_fn *task, void *of, int64_t count, int32_t jobs,
                            tabi_error *err);

#endif
