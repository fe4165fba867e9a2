/* workload_turn.h - the workload "turn": many worlds of one thread, one step each in turn. */
#ifndef TBI_BENCH_WORKLOAD_TURN_H
#define TBI_BENCH_WORKLOAD_TURN_H

#include "options.h"
#include "report.h"

void tbi_bench_turn_list(tbi_bench_visit *visit, void *user);
int tbi_bench_turn(const tbi_bench_options *options, tbi_report *report);

#endif
