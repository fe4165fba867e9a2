/* lanes.h - runs of a study in lanes of the vector unit, some at once.
 *
 * They share a batch, which is made of the scene of run 0: parameters may change what worlds of a
 * batch may differ in.  Each run has a scene of its own, whose controllers tell targets, and a
 * world that never steps: it is put into the state of the run where something looks at it. */
#ifndef TBI_STUDY_LANES_H
#define TBI_STUDY_LANES_H

#include "study/study.h"

typedef struct tbi_run_lanes tbi_run_lanes;

enum { TBI_LANES_RUNS = 32 }; /* at once */

/* NULL and why if runs of the study cannot be stepped in lanes; one thread at a time. */
tbi_run_lanes *tbi_run_lanes_create(const tabi_study *study, tabi_error *err);
void tbi_run_lanes_destroy(tbi_run_lanes *lanes); /* NULL is fine */
/* Does run[count] and fills row[count]; the log is that of the first. */
tabi_status tbi_run_lanes_do(tbi_run_lanes *lanes, const int64_t *run, int32_t count,
                             const char *log, tabi_study_row *row, tabi_error *err);

#endif
