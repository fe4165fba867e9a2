/* probe.h - how far this machine lets threads scale at all: arithmetic without memory. */
#ifndef TBI_BENCH_PROBE_H
#define TBI_BENCH_PROBE_H

#include <stdint.h>

/* s of the clock in which so many threads multiply and add, each as much; NAN: there are no
 * threads. */
double tbi_bench_probe(int32_t threads);

#endif
