/* picture_strip.h - a figure with pictures of what moves in a row, and a plot below. */
#ifndef TBI_PICTURE_STRIP_H
#define TBI_PICTURE_STRIP_H

#include "figure.h"
#include "simulation.h"

enum { TBI_MAX_PICTURES = 16 };

typedef struct tbi_picture_strip {
  tbi_figure figure;
  double spacing, height; /* m, from picture to picture and of each */
  int32_t taken;
  double time[TBI_MAX_PICTURES]; /* s */
  int object;                    /* number of the next one, for gnuplot */
} tbi_picture_strip;

tabi_status tbi_picture_strip_open(tbi_picture_strip *strip, tbi_trial *trial, double spacing,
                                   double height, tabi_error *err);
/* A picture from the right side; x of the world comes to its middle. */
void tbi_picture_strip_take(tbi_picture_strip *strip, const tbi_simulation *sim, double x);
/* `plot` is gnuplot's, about $run. */
tabi_status tbi_picture_strip_close(tbi_picture_strip *strip, const tbi_series *run,
                                    const char *plot, tabi_error *err);

#endif
