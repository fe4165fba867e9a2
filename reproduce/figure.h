/* figure.h - the figure of an experiment: a script for gnuplot with the numbers in it. */
#ifndef TBI_FIGURE_H
#define TBI_FIGURE_H

#include "series.h"

typedef struct tbi_figure {
  tbi_trial *trial;
  FILE *script; /* write commands to it */
} tbi_figure;

/* An empty figure of so many pixels, in the style that all of them share. */
tabi_status tbi_figure_open(tbi_figure *figure, tbi_trial *trial, int width, int height,
                            tabi_error *err);
/* A block of data called $name, with at most about 1000 rows. */
void tbi_figure_data(tbi_figure *figure, const char *name, const tbi_series *series);
/* Draws the trial's file with an ending like ".svg".  Without gnuplot there is no figure, which the
 * trial notes. */
tabi_status tbi_figure_close(tbi_figure *figure, const char *ending, tabi_error *err);
/* Forgets it, when an experiment cannot be finished. */
void tbi_figure_drop(tbi_figure *figure);

#endif
