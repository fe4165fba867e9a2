/* compare_output.h - the files of `tabi compare`: curves of all runs in one figure, replays of all
 * in one page. */
#ifndef TBI_COMPARE_OUTPUT_H
#define TBI_COMPARE_OUTPUT_H

#include "compare/compare.h"
#include "plot/plot.h"
#include "replay.h"

typedef struct tbi_compare_output {
  const char *figure, *page; /* files; NULL: not wanted */
  tbi_plot *plot;
  tabi_signals *signals[TBI_MAX_RUNS];
  int number[TBI_MAX_RUNS]; /* of the runs in the figure */
  double *value;            /* of the signals of the present run */
  tbi_replay *replay[TBI_MAX_RUNS];
  bool first, live; /* of the present run: its start comes next; its replay is made on the way */
} tbi_compare_output;

/* Checks first what the files need, so that long runs are not in vain; without gnuplot there is a
 * warning and no figure.  Either path may be NULL. */
bool tbi_compare_output_prepare(tbi_compare_output *output, const char *figure, const char *page,
                                tabi_error *err);
/* Before the first sample of a run, after which its source must live as long as the output. */
bool tbi_compare_output_begin(tbi_compare_output *output, int32_t index, const tbi_run *run,
                              tabi_error *err);
bool tbi_compare_output_sample(tbi_compare_output *output, int32_t index, const tabi_sample *sample,
                               tabi_error *err);
/* Writes the files; prints what is wrong and returns the exit code. */
int tbi_compare_output_end(tbi_compare_output *output, const tbi_compared *compared);
void tbi_compare_output_free(tbi_compare_output *output);

#endif
