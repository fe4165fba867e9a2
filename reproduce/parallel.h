/* parallel.h - independent pieces of work on all processors. */
#ifndef TBI_PARALLEL_H
#define TBI_PARALLEL_H

#include <stdint.h>

typedef void tbi_parallel_work(void *user, int32_t index);

/* Calls work(user, i) once for every i < count, in any order and at the same time: calls must not
 * share what they write.  threads 0: one for each processor of this process. */
void tbi_parallel(int32_t count, int32_t threads, tbi_parallel_work *work, void *user);

#endif
