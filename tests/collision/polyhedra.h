/* polyhedra.h - how far convex polyhedra are apart, by trying all that can part them. */
#ifndef TEST_POLYHEDRA_H
#define TEST_POLYHEDRA_H

#include "collision/solids.h"

#define POLYHEDRON_ROOM 128

/* A box or mesh in the world; normals of all triangles, and their edges as pairs of corners. */
typedef struct polyhedron {
  v3 corner[POLYHEDRON_ROOM], normal[POLYHEDRON_ROOM];
  int32_t face[POLYHEDRON_ROOM][3], edge[2 * POLYHEDRON_ROOM][2];
  int32_t ncorner, nface, nedge;
} polyhedron;

polyhedron polyhedron_of(const tbi_solid *solid);
/* The largest gap along any direction, which is normal: distance of nearest corners, edges and
 * triangles, or minus the least that parts them, which is along a face's normal or square to an
 * edge of each. */
double polyhedra_separation(const polyhedron *a, const polyhedron *b, v3 *normal);

#endif
