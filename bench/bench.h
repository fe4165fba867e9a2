/* bench.h - `tabi bench`: speed and error on this machine. */
#ifndef TBI_BENCH_H
#define TBI_BENCH_H

/* What `tabi help bench` says below the usage line, options included. */
extern const char tbi_bench_text[];

/* The arguments after the word "bench"; returns the exit code of the command. */
int tbi_bench_run(int argc, char **argv);

#endif
