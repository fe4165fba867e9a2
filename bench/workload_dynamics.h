/* workload_dynamics.h - the workload "dynamics": rigid-body algorithms on a robot, chains and
 * trees. */
#ifndef TBI_BENCH_WORKLOAD_DYNAMICS_H
#define TBI_BENCH_WORKLOAD_DYNAMICS_H

#include "options.h"
#include "report.h"

/* Calls `visit` with the name of every row. */
void tbi_bench_dynamics_list(tbi_bench_visit *visit, void *user);

/* Measures the rows asked for, and prints them unless all goes into one object; returns an exit
 * code. */
int tbi_bench_dynamics(const tbi_bench_options *options, tbi_report *report);

#endif
