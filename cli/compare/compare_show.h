/* compare_show.h - runs to look at: curves of all in one figure, and replays of all in one page. */
#ifndef TBI_COMPARE_SHOW_H
#define TBI_COMPARE_SHOW_H

#include "compare/compare.h"
#include "plot/plot.h"
#include "replay.h"

typedef struct tbi_show {
  const char *figure, *page; /* files; NULL: not wanted */
  tbi_plot *plot;
  tabi_signals *signals[TBI_MAX_RUNS];
  int number[TBI_MAX_RUNS]; /* of the runs in the figure */
  double *value;            /* of the signals of the present run */
  tbi_replay *replay[TBI_MAX_RUNS];
  bool first, live; /* of the present run: its start comes next; its replay is made on the way */
} tbi_show;

/* Looks for what is needed first, so that long runs are not in vain; without gnuplot there is a
 * warning and no figure.  Either path may be NULL. */
bool tbi_show_want(tbi_show *show, const char *figure, const char *page, tabi_error *err);
/* Before the first sample of a run, after which its source must live as long as the show. */
bool tbi_show_begin(tbi_show *show, int32_t index, const tbi_run *run, tabi_error *err);
bool tbi_show_sample(tbi_show *show, int32_t index, const tabi_sample *sample, tabi_error *err);
/* Writes the files; prints what is wrong and returns the exit code. */
int tbi_show_end(tbi_show *show, const tbi_compared *compared);
void tbi_show_free(tbi_show *show);

#endif
