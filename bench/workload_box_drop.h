/* workload_box_drop.h - the workload "drop": P2's table of a falling box. */
#ifndef TBI_BENCH_WORKLOAD_BOX_DROP_H
#define TBI_BENCH_WORKLOAD_BOX_DROP_H

#include "options.h"
#include "report.h"

void tbi_bench_drop_list(tbi_bench_visit *visit, void *user);
int tbi_bench_drop(const tbi_bench_options *options, tbi_report *report);

#endif
