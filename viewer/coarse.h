/* coarse.h - meshes with fewer triangles, to be looked at from some way off. */
#ifndef TBI_VIEWER_COARSE_H
#define TBI_VIEWER_COARSE_H

#include "tabi/tabi.h"

/* Vertices and faces as in tabi_mesh_def; frees by tbi_coarse_free. */
typedef struct tbi_coarse {
  double *vertices;
  int32_t *faces;
  int32_t nvertex, nface;
} tbi_coarse;

/* A mesh of at most so many faces, or, when it cannot be had by any but the coarsest grid, a few
 * more.  False when there is no memory. */
bool tbi_coarse_make(const tabi_mesh_def *mesh, int32_t most, tbi_coarse *coarse);
void tbi_coarse_free(tbi_coarse *coarse); /* all zero is fine */

#endif
