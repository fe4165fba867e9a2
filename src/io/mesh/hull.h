/* hull.h - convex hulls. */
#ifndef TBI_HULL_H
#define TBI_HULL_H

#include "io/mesh/mesh.h"

/* The hull of npoint x 3 coordinates in m: corners that are points of the input, and triangles
 * counter-clockwise from outside.  Points that have no volume between them are TABI_ERR_MODEL;
 * `name` is what messages call them, place is to blame.  The caller frees the hull; on an error
 * there is none. */
tabi_status tbi_hull_mesh(const double *points, int32_t npoint, const char *name, tabi_place place,
                          tbi_mesh *hull, tabi_error *err);

#endif
