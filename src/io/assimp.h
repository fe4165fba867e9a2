/* assimp.h - mesh formats that the assimp library reads, when tabi was built with it. */
#ifndef TBI_ASSIMP_H
#define TBI_ASSIMP_H

#include "io/mesh.h"

/* Whether it was, and can read files with that extension, as "dae". */
bool tbi_assimp_reads(const char *extension);

/* Reads all triangles and polygons of a file in the frame of its root.  `name` is what messages
 * call the mesh, place is to blame.  The caller frees the mesh; on an error there is none. */
tabi_status tbi_assimp_read(const char *path, const char *name, tabi_place place, tbi_mesh *mesh,
                            tabi_error *err);

#endif
