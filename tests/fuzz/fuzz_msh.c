/* fuzz_msh.c - any bytes as an MSH file; what is accepted must be a mesh. */
#include "mesh.h"
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  const tabi_place place = {"x.msh", 1};
  if (tbi_msh_parse(data, size, "x.msh", place, &mesh, NULL) == TABI_OK) fuzz_mesh(&mesh);
  return 0;
}
