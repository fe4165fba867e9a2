/* run_plot.h - the figure of `tabi run`: an overview of its signals, or the gait. */
#ifndef TBI_RUN_PLOT_H
#define TBI_RUN_PLOT_H

#include "plot/plot.h"
#include "run/run_summary.h"

typedef struct tbi_run_plot {
  const char *path; /* NULL: there is no figure */
  const tbi_run_summary *summary;
  tbi_plot *plot; /* NULL: the plot of a gait */
  /* of a gait */
  FILE *script;  /* for gnuplot, with the numbers in it */
  int64_t every; /* steps between two points */
  bool begun;    /* it has one */
  double *torque;
} tbi_run_plot;

/* For a run of so many steps from the present time on.  Without gnuplot it warns, and there is no
 * figure.  Prints what is wrong. */
bool tbi_run_plot_open(tbi_run_plot *plot, const char *path, const tbi_run_summary *summary,
                       const tabi_signals *signals, int64_t steps);
/* At the start and after every step; the values of all signals. */
void tbi_run_plot_step(tbi_run_plot *plot, const double *value);
/* Draws when all went well so far; prints what is wrong. */
bool tbi_run_plot_close(tbi_run_plot *plot, bool draw);

#endif
