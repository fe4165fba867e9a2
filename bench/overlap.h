/* overlap.h - how deep bodies of a scene stand in each other, found from their poses alone: the
 * same judge for all engines, whatever they say of themselves. */
#ifndef TBI_BENCH_OVERLAP_H
#define TBI_BENCH_OVERLAP_H

#include "plain.h"

/* A shape somewhere in the world. */
typedef struct tbi_solid {
  int32_t kind; /* tbi_plain_kind */
  double pos[3], rot[3][3], size[3];
} tbi_solid;

/* The length of the shortest move that parts two shapes, m; 0 if they do not overlap. */
double tbi_overlap(const tbi_solid *a, const tbi_solid *b);

tbi_solid tbi_solid_at(const tbi_plain *plain, int32_t shape, const tbi_plain_state *state);

/* All pairs that may touch: the deepest, and the sum of squares, m and m^2.  False: no memory. */
bool tbi_overlap_all(const tbi_plain *plain, const tbi_plain_state *state, double *deepest,
                     double *squares);

#endif
