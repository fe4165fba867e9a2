/* options.h - what the command line of `tabi bench` asked for. */
#ifndef TBI_BENCH_OPTIONS_H
#define TBI_BENCH_OPTIONS_H

#include "tabi/tabi.h"

/* Exit codes of the command. */
enum { TBI_BENCH_OK = 0, TBI_BENCH_INTERNAL = 1, TBI_BENCH_USAGE = 2, TBI_BENCH_INPUT = 3 };

typedef struct tbi_bench_options {
  bool list, json, peers, count;
  int32_t calls; /* 0: measure; else make exactly so many calls of each row, for profilers */
  int32_t worlds, threads; /* of the workload batch; 0: its own */
  const char *model;       /* NULL: the shipped robot */
  int32_t nname;
  char **names; /* "dynamics", "dynamics/chain100" or "dynamics/chain100/aba"; none: everything */
} tbi_bench_options;

/* Calls `visit` with the name of a row. */
typedef void tbi_bench_visit(void *user, const char *row);

/* Whether a row was asked for.  A name asks for itself and all rows below it. */
bool tbi_bench_wants(const tbi_bench_options *options, const char *row);

/* Where a shipped file is, "models/humanoid36.urdf": installed beside the command, or in the
 * sources it was built from; and the robot of most rows. */
void tbi_bench_shipped_file(const char *name, char *path, size_t size);
void tbi_bench_shipped_robot(char *path, size_t size);

/* A word on a terminal about what is measured, where no table shows it. */
void tbi_bench_progress(const tbi_bench_options *options, const char *what);

/* Prints an error; returns the exit code. */
int tbi_bench_fail(const tabi_error *err);

#endif
