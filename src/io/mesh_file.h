/* mesh_file.h - the bytes of mesh files: STL, binary or ASCII, and Wavefront OBJ. */
#ifndef TBI_MESH_FILE_H
#define TBI_MESH_FILE_H

#include "io/mesh.h"

#define TBI_MESH_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define TBI_MESH_MAX_FACES 5000000

/* Equal vertices become one, polygons become fans of triangles, and faces without area are left
 * out.  `name` is what messages call the mesh, place is to blame in them.  The caller frees the
 * mesh; after an error there is none. */
typedef tabi_status tbi_mesh_parse_fn(const void *bytes, size_t size, const char *name,
                                      tabi_place place, tbi_mesh *mesh, tabi_error *err);
tbi_mesh_parse_fn tbi_stl_parse, tbi_obj_parse;

#endif
