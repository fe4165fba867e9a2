/* mesh_simplify.h - mesh simplification: fewer triangles, for display only. */
#ifndef TBI_VIEWER_MESH_SIMPLIFY_H
#define TBI_VIEWER_MESH_SIMPLIFY_H

#include "tabi/tabi.h"

/* Vertices and faces as in tabi_mesh_def; freed by tbi_simple_mesh_free. */
typedef struct tbi_simple_mesh {
  double *vertices;
  int32_t *faces;
  int32_t nvertex, nface;
} tbi_simple_mesh;

/* A mesh of at most so many faces, or, when it cannot be had by any but the coarsest grid, a few
 * more.  False when there is no memory. */
bool tbi_mesh_simplify(const tabi_mesh_def *mesh, int32_t max_faces, tbi_simple_mesh *simple);
void tbi_simple_mesh_free(tbi_simple_mesh *simple); /* all zero is fine */

#endif
