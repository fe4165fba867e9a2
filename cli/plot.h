/* plot.h - the figure of `tabi run`: contact force, energy and certificate over time, as SVG. */
#ifndef TBI_PLOT_H
#define TBI_PLOT_H

#include "cli.h"

typedef struct tbi_plot {
  const char *path; /* NULL: there is no figure */
  FILE *script;     /* for gnuplot, with the numbers in it */
  const tabi_scene *scene;
  tabi_world *world;
  int64_t every; /* steps between two points */
} tbi_plot;

/* Looks for gnuplot first, so that a long run is not in vain; prints what is wrong. */
bool tbi_plot_open(tbi_plot *plot, const char *path, const tabi_scene *scene, tabi_world *world,
                   int64_t steps);
/* After every step. */
void tbi_plot_step(tbi_plot *plot);
/* Draws when all went well so far; prints what is wrong. */
bool tbi_plot_close(tbi_plot *plot, bool draw);

#endif
