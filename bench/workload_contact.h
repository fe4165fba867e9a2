/* workload_contact.h - the workload "contact": whole steps of worlds at rest. */
#ifndef TBI_BENCH_WORKLOAD_CONTACT_H
#define TBI_BENCH_WORKLOAD_CONTACT_H

#include "options.h"
#include "report.h"

/* Calls `visit` with the name of every row. */
void tbi_bench_contact_list(tbi_bench_visit *visit, void *user);

/* Measures the rows asked for, and prints them unless all goes into one object; returns an exit
 * code. */
int tbi_bench_contact(const tbi_bench_options *options, tbi_report *report);

#endif
