/* weld.h - loose triangles to a mesh: corners at one place become one vertex.
 *
 *   tbi_weld_begin, tbi_weld_face for every triangle, tbi_weld_finish */
#ifndef TBI_WELD_H
#define TBI_WELD_H

#include "io/first_error.h"
#include "io/mesh/mesh.h"

/* Corners so far, and the slots by which equal ones are found: index + 1, 0 if empty. */
typedef struct tbi_weld {
  tbi_mesh *mesh;
  uint32_t *slots;
  uint32_t mask;
  int32_t cap_vertex, cap_face;
  bool no_memory, too_many;
} tbi_weld;

/* Room for about nface faces in a mesh that the caller frees; it grows as needed. */
void tbi_weld_begin(tbi_weld *w, tbi_mesh *mesh, size_t nface);
/* Three corners, which must be finite; a face with two of them at one place is left out.  False:
 * out of memory or above TBI_MESH_MAX_FACES, which tbi_weld_finish reports. */
bool tbi_weld_face(tbi_weld *w, const double corners[9]);
/* Ends the work.  A mesh without faces is an error; after any error the mesh is freed. */
tabi_status tbi_weld_finish(tbi_weld *w, tbi_first_error *error, const char *name,
                            tabi_place place);

#endif
