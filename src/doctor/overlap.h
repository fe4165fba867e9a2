/* overlap.h - links that are inside each other in the initial state. */
#ifndef TBI_OVERLAP_H
#define TBI_OVERLAP_H

#include "tabi/tabi.h"

/* Two shapes of two links, the deepest of all such pairs of these links. */
typedef struct tbi_overlap {
  int32_t shape_a, shape_b;
  double depth;       /* m */
  int32_t connection; /* that joins their bodies, or TABI_NONE */
} tbi_overlap;

/* Pairs of links that overlap by more than `depth` in the initial state of the model and are not
 * excluded from contact, the deepest first.  Writes at most max of them and sets *count to their
 * full number.  TABI_ERR_CAPACITY, TABI_ERR_MEMORY, or TABI_ERR_MODEL with the reason in *err. */
tabi_status tbi_overlaps_find(const tabi_model *model, double depth, tbi_overlap *overlap,
                              int32_t max, int32_t *count, tabi_error *err);
/* Likewise the pairs of links that connections join, at q[nq], whether these let them collide or
 * not. */
tabi_status tbi_overlaps_find_joined(const tabi_model *model, const double *q, double depth,
                                     tbi_overlap *overlap, int32_t max, int32_t *count,
                                     tabi_error *err);

#endif
