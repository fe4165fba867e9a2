/* mesh.c - see mesh.h. */
#include "mesh.h"

#include <math.h>
#include <stdlib.h>

void fuzz_mesh(tbi_mesh *mesh) {
  tbi_solid solid;
  if (mesh->nface < 1 || mesh->nvertex < 3) abort();
  for (size_t i = 0; i < 3 * (size_t)mesh->nface; ++i) {
    if (mesh->faces[i] < 0 || mesh->faces[i] >= mesh->nvertex) abort();
  }
  for (size_t i = 0; i < 3 * (size_t)mesh->nvertex; ++i) {
    if (!isfinite(mesh->vertices[i])) abort();
  }
  (void)tbi_mesh_solid(mesh, "x", (tabi_place){"x", 1}, &solid, NULL);
  tbi_mesh_free(mesh);
}
