/* p5_pictures.h - a motion under the published loop and under ours: a figure with a row of pictures
 * of each, and plots below. */
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

/* One of the paper's motions. */
typedef struct tbi_p5_motion {
  const char *const *columns; /* of its series */
  double spacing, height;     /* of its pictures */
  /* Runs trial->variant, takes the pictures, fills the series and judges it. */
  tabi_status (*run)(tbi_trial *trial, tbi_p5_pictures *pictures, tbi_series *series,
                     tabi_error *err);
  /* Writes the plots of $published and $ours, whose rows are means over so many samples. */
  void (*plot)(FILE *script);
  int32_t samples;
} tbi_p5_motion;

/* Both variants of a motion, with their series as CSV and the figure. */
tabi_status tbi_p5_run_motion(tbi_trial *trial, const tbi_p5_motion *motion, tabi_error *err);
/* The next picture of a row from the right side; x of the world comes to its middle. */
void tbi_p5_pictures_take(tbi_p5_pictures *p, tbi_variant variant, const tbi_simulation *sim,
                          double x);

#endif
