/* fuzz_stl.c - any bytes as an STL file; what is accepted must be a mesh. */
#include "io/mesh_file.h"
#include "robot.h"

#include <math.h>
#include <stdlib.h>

static void check(const tbi_mesh *mesh) {
  if (mesh->nface < 1 || mesh->nvertex < 3) abort();
  for (size_t i = 0; i < 3 * (size_t)mesh->nface; ++i) {
    if (mesh->faces[i] < 0 || mesh->faces[i] >= mesh->nvertex) abort();
  }
  for (size_t i = 0; i < 3 * (size_t)mesh->nvertex; ++i) {
    if (!isfinite(mesh->vertices[i])) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  tbi_solid solid;
  const tabi_place place = {"x.stl", 1};
  if (tbi_stl_parse(data, size, "x.stl", place, &mesh, NULL) != TABI_OK) return 0;
  check(&mesh);
  (void)tbi_mesh_solid(&mesh, "x.stl", place, &solid, NULL);
  tbi_mesh_free(&mesh);
  return 0;
}
