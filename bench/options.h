/* options.h - what the command line of `tabi bench` asked for. */
#ifndef TBI_BENCH_OPTIONS_H
#define TBI_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes of the command. */
enum { TBI_BENCH_OK = 0, TBI_BENCH_INTERNAL = 1, TBI_BENCH_USAGE = 2, TBI_BENCH_INPUT = 3 };

typedef struct tbi_bench_options {
  bool list, json, peers, count;
  int32_t calls;     /* 0: measure; else make exactly so many calls of each row, for profilers */
  const char *model; /* NULL: the shipped robot */
  int32_t nname;
  char **names; /* "dynamics", "dynamics/chain100" or "dynamics/chain100/aba"; none: everything */
} tbi_bench_options;

/* Whether a row was asked for.  A name asks for itself and all rows below it. */
bool tbi_bench_wants(const tbi_bench_options *options, const char *row);

#endif
