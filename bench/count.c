/* count.c - runs this program again under callgrind, once with one call and once with three.  The
 * difference is free of start-up, loading and first use, and the same on every run. */
#include "count.h"

#include "process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions of a whole run of `calls` calls; NAN if it did not work. */
static double count_run(const tbi_bench_options *options, const char *row, int32_t calls) {
  char self[4096], number[16], line[512];
  if (!tbi_process_self(self, sizeof self)) return nan("");
  (void)snprintf(number, sizeof number, "%d", (int)calls);
  const char *argv[] = {"valgrind",
                        "--tool=callgrind",
                        "--callgrind-out-file=/dev/null",
                        "--log-fd=1",
                        self,
                        "bench",
                        row,
                        "--calls",
                        number,
                        options->model ? "--model" : NULL,
                        options->model,
                        NULL};
  tbi_process process;
  if (!tbi_process_start(&process, argv)) return nan("");
  double count = nan("");
  while (fgets(line, sizeof line, process.from)) {
    const char *found = strstr(line, "Collected :");
    if (found) count = strtod(found + strlen("Collected :"), NULL);
  }
  if (!tbi_process_stop(&process)) return nan("");
  return count;
}

double tbi_count_row(const tbi_bench_options *options, const char *row) {
  double once = count_run(options, row, 1);
  if (isnan(once)) return once;
  return (count_run(options, row, 3) - once) / 2;
}
