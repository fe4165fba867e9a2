/* hull_cache.h - convex hulls kept between runs, in the user's cache folder.
 *
 * An entry is a file named after the points it belongs to: which of them are corners of the hull,
 * and its faces.  The points themselves come from the mesh, so that a hull has the same bits with
 * and without the cache.  A folder that cannot be written, an entry that is damaged or belongs to
 * another version are no errors: the hull is computed. */
#ifndef TBI_HULL_CACHE_H
#define TBI_HULL_CACHE_H

#include "io/mesh/mesh.h"

/* Fills *hull, which the caller frees, from the cache; false: it is not there. */
bool tbi_hull_cache_get(const double *points, int32_t npoint, tbi_mesh *hull);
/* Keeps a hull; corner[nvertex] are the points that its vertices are. */
void tbi_hull_cache_put(const double *points, int32_t npoint, const tbi_mesh *hull,
                        const int32_t *corner);

#endif
