/* count.h - instructions where the processor does not count them: valgrind does. */
#ifndef TBI_BENCH_COUNT_H
#define TBI_BENCH_COUNT_H

#include "options.h"

/* Instructions for one call of a row, or NAN without valgrind. */
double tbi_count_row(const tbi_bench_options *options, const char *row);

#endif
