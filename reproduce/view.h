/* view.h - what moves in a world, as a camera far away sees it: filled outlines for gnuplot. */
#ifndef TBI_VIEW_H
#define TBI_VIEW_H

#include "experiment.h"

#include <stdio.h>

typedef struct tbi_view {
  double right[3], up[3]; /* of the picture, in the world; unit vectors */
  double shift[2];        /* m, added in the picture */
  bool lines;             /* outlines alone */
  bool by_body;           /* every body has a colour of its own, whatever its shapes say */
} tbi_view;

/* From the right side, x to the right, and from ahead, y to the left. */
extern const tbi_view tbi_view_side, tbi_view_front;

/* Objects numbered from `first` for the next plot; returns the first number that is free.  Nearer
 * shapes hide those behind.  Allocates; what there is no memory for is not drawn. */
int tbi_view_draw(const tbi_view *view, tabi_world *world, int first, FILE *script);

#endif
