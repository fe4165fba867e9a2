/* p5_pictures.h - a figure with two rows of pictures, of the published loop and of ours, and plots
 * below. */
#ifndef TBI_P5_PICTURES_H
#define TBI_P5_PICTURES_H

#include "figure.h"
#include "p5.h"

enum { TBI_P5_MAX_PICTURES = 12 };

typedef struct tbi_p5_pictures {
  tbi_figure figure;
  double spacing, height; /* m, from picture to picture and of each */
  int32_t taken[TBI_VARIANTS];
  double time[TBI_P5_MAX_PICTURES]; /* s, of both rows */
  int object;                       /* number of the next one, for gnuplot */
} tbi_p5_pictures;

tabi_status tbi_p5_pictures_open(tbi_p5_pictures *p, tbi_trial *trial, double spacing,
                                 double height, tabi_error *err);
/* The next picture of a row from the right side; x of the world comes to its middle. */
void tbi_p5_pictures_take(tbi_p5_pictures *p, tbi_variant variant, const tbi_simulation *sim,
                          double x);
/* Draws the rows; what the script plots then comes below, at "origin 0,0", with "size 1,0.42". */
void tbi_p5_pictures_draw(tbi_p5_pictures *p);
/* A block of data called $name: means of so many rows each, since blows last for one. */
void tbi_p5_mean_data(tbi_figure *figure, const char *name, const tbi_series *series, int32_t rows);

#endif
