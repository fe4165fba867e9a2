/* fuzz_obj.c - any bytes as an OBJ file and as a grid of heights; what is accepted must be a mesh.
 */
#include "io/heightfield.h"
#include "io/mesh_file.h"
#include "robot.h"

#include <math.h>
#include <stdlib.h>

static void check(tbi_mesh *mesh) {
  if (mesh->nface < 1 || mesh->nvertex < 3) abort();
  for (size_t i = 0; i < 3 * (size_t)mesh->nface; ++i) {
    if (mesh->faces[i] < 0 || mesh->faces[i] >= mesh->nvertex) abort();
  }
  for (size_t i = 0; i < 3 * (size_t)mesh->nvertex; ++i) {
    if (!isfinite(mesh->vertices[i])) abort();
  }
  tbi_mesh_free(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  const tabi_place place = {"x", 1};
  const tbi_heightfield field = {.height = 1};
  if (tbi_obj_parse(data, size, "x", place, &mesh, NULL) == TABI_OK) check(&mesh);
  if (tbi_heightfield_parse(data, size, &field, "x", place, &mesh, NULL) == TABI_OK) check(&mesh);
  return 0;
}
