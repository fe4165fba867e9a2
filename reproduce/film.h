/* film.h - a figure with pictures of what moves in a row, and a plot below. */
#ifndef TBI_FILM_H
#define TBI_FILM_H

#include "figure.h"
#include "simulation.h"

enum { TBI_FILM_PICTURES = 16 };

typedef struct tbi_film {
  tbi_figure figure;
  double spacing, height; /* m, from picture to picture and of each */
  int32_t taken;
  double time[TBI_FILM_PICTURES]; /* s */
  int object;                     /* number of the next one, for gnuplot */
} tbi_film;

tabi_status tbi_film_open(tbi_film *film, tbi_trial *trial, double spacing, double height,
                          tabi_error *err);
/* A picture from the right side; x of the world comes to its middle. */
void tbi_film_take(tbi_film *film, const tbi_simulation *sim, double x);
/* `plot` is gnuplot's, about $run. */
tabi_status tbi_film_close(tbi_film *film, const tbi_series *run, const char *plot,
                           tabi_error *err);

#endif
