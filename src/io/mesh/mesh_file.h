/* mesh_file.h - the bytes of mesh files: STL, binary or ASCII; Wavefront OBJ; PLY, binary or ASCII;
 * COLLADA (DAE); glTF 2.0, as JSON or binary; MSH of MuJoCo. */
#ifndef TBI_MESH_FILE_H
#define TBI_MESH_FILE_H

#include "io/mesh/mesh.h"

#define TBI_MESH_MAX_BYTES ((size_t)128 * 1024 * 1024)
#define TBI_MESH_MAX_FACES 2000000
/* of a file, before they are joined */
#define TBI_MESH_MAX_VERTICES 6000000

/* Equal vertices become one, polygons become fans of triangles, and faces without area are left
 * out.  `name` is what messages call the mesh, place is to blame in them.  The caller frees the
 * mesh; after an error there is none. */
typedef tabi_status tbi_mesh_parse_fn(const void *bytes, size_t size, const char *name,
                                      tabi_place place, tbi_mesh *mesh, tabi_error *err);
tbi_mesh_parse_fn tbi_stl_parse, tbi_obj_parse, tbi_ply_parse, tbi_dae_parse, tbi_msh_parse;

/* How to get a file that a mesh file names; the caller frees *bytes. */
typedef struct tbi_mesh_opener {
  tabi_status (*open)(void *user, const char *file, char **bytes, size_t *size, tabi_error *err);
  void *user; /* knows where to look */
} tbi_mesh_opener;

/* As above; opener NULL: buffers that are files of their own are not to be had. */
tabi_status tbi_gltf_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                           const tbi_mesh_opener *opener, tbi_mesh *mesh, tabi_error *err);

#endif
