/* extent.h - the bounding box of a model in its initial posture. */
#ifndef TBI_EXTENT_H
#define TBI_EXTENT_H

#include "common/cli.h"

typedef struct tbi_extent {
  double lower[3], upper[3]; /* m, world axes */
  bool empty;                /* no shape has an extent */
} tbi_extent;

/* The axis-aligned bounding box of all shapes but planes. */
tbi_extent tbi_extent_of(const tabi_model *model, const tabi_dynamics *dynamics);
/* Of one shape. */
tbi_extent tbi_extent_of_shape(const tabi_dynamics *dynamics, int32_t shape);

#endif
