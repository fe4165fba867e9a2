/* mesh.h - triangle meshes named by robot files.
 *
 * One tbi_meshes serves one robot file: it finds and reads, keeps what it has added to the
 * builder by file and scale, and reports missing meshes once instead of a hundred times. */
#ifndef TBI_MESH_H
#define TBI_MESH_H

#include "tabi/tabi_io.h"

/* All zero is an empty mesh. */
typedef struct tbi_mesh {
  double *vertices; /* m, nvertex x 3, no two equal */
  int32_t *faces;   /* nface x 3, counter-clockwise from outside */
  int32_t nvertex, nface;
} tbi_mesh;

void tbi_mesh_free(tbi_mesh *mesh);
/* Stretches a mesh; a mirroring scale turns its faces over. */
void tbi_mesh_scale(tbi_mesh *mesh, const double scale[3]);

/* A closed mesh as a solid of density 1. */
typedef struct tbi_solid {
  double volume;     /* m^3, > 0 */
  double com[3];     /* m */
  double inertia[6]; /* m^5 about the com: xx yy zz xy xz yz */
} tbi_solid;

/* Fails on a mesh without volume; `name` is the mesh's in the message. */
tabi_status tbi_mesh_solid(const tbi_mesh *mesh, const char *name, tabi_place place,
                           tbi_solid *solid, tabi_error *err);

/* The convex hull of a mesh.  For one without volume def hears a warning, and the hull is empty.
 * The caller frees it. */
tabi_status tbi_mesh_hull(const tbi_mesh *mesh, const char *name, tabi_place place,
                          const tabi_load_def *def, tbi_mesh *hull, tabi_error *err);

typedef struct tbi_meshes tbi_meshes;

/* model_path is the robot file; it, the builder and def must outlive the result. */
tbi_meshes *tbi_meshes_create(tabi_builder *builder, const char *model_path,
                              const tabi_load_def *def); /* NULL: out of memory */
void tbi_meshes_destroy(tbi_meshes *meshes);             /* NULL is fine */

/* Reads a mesh file as it is.  Where a mesh is missing and def lets it pass, the result is TABI_OK
 * and an empty mesh.  The caller frees the mesh. */
tabi_status tbi_meshes_read(tbi_meshes *meshes, const char *file, tabi_place place, tbi_mesh *mesh,
                            tabi_error *err);
/* The same for a height field, as triangles. */
struct tbi_heightfield;
struct tbi_heights;
/* The numbers alone; mujoco: in the format of MuJoCo, if it is no picture.  None where the file is
 * missing and def lets it pass. */
tabi_status tbi_meshes_read_grid(tbi_meshes *meshes, const char *file, bool mujoco,
                                 tabi_place place, struct tbi_heights *heights, tabi_error *err);
tabi_status tbi_meshes_read_heights(tbi_meshes *meshes, const char *file,
                                    const struct tbi_heightfield *field, tabi_place place,
                                    tbi_mesh *mesh, tabi_error *err);
/* Reads, scales and adds a mesh to the builder, or finds it there.  *index is TABI_NONE for a
 * missing mesh that def lets pass. */
tabi_status tbi_meshes_add(tbi_meshes *meshes, const char *file, const double scale[3],
                           tabi_place place, int32_t *index, tabi_error *err);
/* The same for the convex hull of the mesh, which is what collides.  *index is TABI_NONE, after a
 * warning, for a mesh without volume too. */
tabi_status tbi_meshes_add_hull(tbi_meshes *meshes, const char *file, const double scale[3],
                                tabi_place place, int32_t *index, tabi_error *err);
/* Warns of all missing meshes after the first, which was reported when it was met. */
void tbi_meshes_report_missing(const tbi_meshes *meshes);

#endif
