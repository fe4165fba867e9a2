/* cmd_bench.c - `tabi bench`: speed and error, measured by the library in bench/. */
#include "bench.h"
#include "common/cli.h"

const tbi_command tbi_cmd_bench = {
    .name = "bench",
    .usage = "bench [--list | NAME ...] [--peers] [--json]",
    .summary = "measure speed and accuracy on this machine, also of other engines",
    .text = tbi_bench_text,
    .run_raw = tbi_bench_run,
};
