/* fuzz_obj.c - any bytes as an OBJ file and as a grid of heights; what is accepted must be a mesh.
 */
#include "io/mesh/heightfield.h"
#include "mesh.h"
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  const tabi_place place = {"x", 1};
  const tbi_heightfield field = {.height = 1};
  if (tbi_obj_parse(data, size, "x", place, &mesh, NULL) == TABI_OK) fuzz_mesh(&mesh);
  if (tbi_heightfield_parse(data, size, &field, "x", place, &mesh, NULL) == TABI_OK)
    fuzz_mesh(&mesh);
  return 0;
}
