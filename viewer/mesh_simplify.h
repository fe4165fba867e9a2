/* mesh_simplify.h - meshes with fewer triangles, for display only. */
#ifndef TBI_VIEWER_MESH_SIMPLIFY_H
#define TBI_VIEWER_MESH_SIMPLIFY_H

#include "tabi/tabi.h"

/* All zero is an empty mesh. */
typedef struct tbi_simple_mesh {
  float *vertices;     /* m, nvertex x 3, each of them a vertex of the original */
  uint32_t *triangles; /* ntriangle x 3, counter-clockwise from outside */
  size_t nvertex, ntriangle;
  double error; /* m, about the farthest distance from the original surface */
} tbi_simple_mesh;

/* A mesh in single precision: vertices at one place become one, triangles without area vanish.
 * False when there is no memory. */
bool tbi_simple_mesh_create(tbi_simple_mesh *simple, const tabi_mesh_def *mesh);
void tbi_simple_mesh_destroy(tbi_simple_mesh *simple);

/* m, the longest edge of its bounding box. */
double tbi_simple_mesh_size(const tbi_simple_mesh *simple);

/* Collapses edges until so many triangles are left, or the next would move the surface by more than
 * `error` (m).  Topology may keep it from reaching either.  False when there is no memory. */
bool tbi_simple_mesh_reduce(tbi_simple_mesh *simple, size_t ntriangle, double error);
/* The same without regard to topology: vertices in cells of a grid become one. */
bool tbi_simple_mesh_reduce_roughly(tbi_simple_mesh *simple, size_t ntriangle);

/* Reduces meshes that have more than so many triangles together, all to the same error as far as
 * topology permits.  False when there is no memory. */
bool tbi_simple_meshes_fit(tbi_simple_mesh *mesh, size_t count, size_t ntriangle);

#endif
