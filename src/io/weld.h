/* weld.h - loose triangles to a mesh: corners at one place become one vertex.
 *
 *   tbi_weld_begin, tbi_weld_face for every triangle, tbi_weld_finish */
#ifndef TBI_WELD_H
#define TBI_WELD_H

#include "io/first_error.h"
#include "io/mesh.h"

/* Corners so far, and the slots by which equal ones are found: index + 1, 0 if empty. */
typedef struct tbi_weld {
  tbi_mesh *mesh;
  uint32_t *slots;
  uint32_t mask;
} tbi_weld;

/* Room for at most nface faces, > 0, in a mesh that the caller frees; false: out of memory. */
bool tbi_weld_begin(tbi_weld *w, tbi_mesh *mesh, size_t nface);
/* Three corners, which must be finite; a face with two of them at one place is left out. */
void tbi_weld_face(tbi_weld *w, const double corners[9]);
/* Ends the work, also after a begin that failed.  A mesh without faces is an error; after any error
 * the mesh is freed. */
tabi_status tbi_weld_finish(tbi_weld *w, tbi_first_error *error, const char *name,
                            tabi_place place);

#endif
