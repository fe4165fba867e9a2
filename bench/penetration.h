/* penetration.h - penetration of the bodies of a scene, computed from their poses alone: the same
 * measure for all engines. */
#ifndef TBI_BENCH_PENETRATION_H
#define TBI_BENCH_PENETRATION_H

#include "neutral_scene.h"

/* A shape somewhere in the world. */
typedef struct tbi_solid {
  int32_t kind; /* tbi_neutral_shape_type */
  double pos[3], rot[3][3], size[3];
} tbi_solid;

/* The length of the shortest move that parts two shapes, m; 0 if they do not overlap. */
double tbi_penetration(const tbi_solid *a, const tbi_solid *b);

tbi_solid tbi_solid_at(const tbi_neutral_scene *neutral, int32_t shape,
                       const tbi_neutral_state *state);

/* All pairs that may touch: the deepest, and the sum of squares, m and m^2.  False: no memory. */
bool tbi_penetration_all(const tbi_neutral_scene *neutral, const tbi_neutral_state *state,
                         double *deepest, double *squares);

#endif
