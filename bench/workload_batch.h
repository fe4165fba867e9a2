/* workload_batch.h - the workload "batch": many worlds of one robot, in lanes and on threads. */
#ifndef TBI_BENCH_WORKLOAD_BATCH_H
#define TBI_BENCH_WORKLOAD_BATCH_H

#include "options.h"
#include "report.h"

void tbi_bench_batch_list(tbi_bench_visit *visit, void *user);
int tbi_bench_batch(const tbi_bench_options *options, tbi_report *report);

#endif
