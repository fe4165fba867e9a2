/* outline.h - filled outlines of the moving bodies of a world, in orthographic projection, for
 * gnuplot. */
#ifndef TBI_OUTLINE_H
#define TBI_OUTLINE_H

#include "experiment.h"

#include <stdio.h>

typedef struct tbi_camera {
  double right[3], up[3]; /* of the picture, in the world; unit vectors */
  double shift[2];        /* m, added in the picture */
  bool lines;             /* outlines alone */
  bool by_body;           /* every body has a colour of its own, whatever its shapes say */
} tbi_camera;

/* From the right side, x to the right, and from ahead, y to the left. */
extern const tbi_camera tbi_camera_side, tbi_camera_front;

/* Objects numbered from `first` for the next plot; returns the first number that is free.  Nearer
 * shapes hide those behind.  Allocates; what there is no memory for is not drawn. */
int tbi_outline_draw(const tbi_camera *camera, tabi_world *world, int first, FILE *script);

#endif
