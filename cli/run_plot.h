/* run_plot.h - the figure of `tabi run`, as SVG: contact force, energy and certificate over time,
 * or what a walk is about. */
#ifndef TBI_RUN_PLOT_H
#define TBI_RUN_PLOT_H

#include "tally.h"

typedef struct tbi_run_plot {
  const char *path; /* NULL: there is no figure */
  FILE *script;     /* for gnuplot, with the numbers in it */
  const tbi_tally *tally;
  int64_t every;  /* steps between two points */
  double *torque; /* [nv], of a walk */
} tbi_run_plot;

/* Looks for gnuplot first, so that a long run is not in vain; prints what is wrong. */
bool tbi_run_plot_open(tbi_run_plot *plot, const char *path, const tbi_tally *tally, int64_t steps);
/* After every step. */
void tbi_run_plot_step(tbi_run_plot *plot);
/* Draws when all went well so far; prints what is wrong. */
bool tbi_run_plot_close(tbi_run_plot *plot, bool draw);

#endif
