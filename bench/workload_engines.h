/* workload_engines.h - the workload "engines": tabi and others in the same scenes. */
#ifndef TBI_BENCH_WORKLOAD_ENGINES_H
#define TBI_BENCH_WORKLOAD_ENGINES_H

#include "options.h"
#include "report.h"

void tbi_bench_engines_list(tbi_bench_visit *visit, void *user);
int tbi_bench_engines(const tbi_bench_options *options, tbi_report *report);

#endif
