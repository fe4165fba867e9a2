/* obj.h - Wavefront OBJ: the vertices and faces of it. */
#ifndef TBI_OBJ_H
#define TBI_OBJ_H

#include "io/mesh.h"

#define TBI_OBJ_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define TBI_OBJ_MAX_FACES 5000000

/* Reads the bytes of an OBJ file; polygons become fans of triangles, equal vertices one, and faces
 * without area are left out.  `name` is what messages call the mesh, place is to blame in them.
 * The caller frees the mesh; on an error there is none. */
tabi_status tbi_obj_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err);

#endif
