/* fuzz_dae.c - any bytes as a COLLADA file; what is accepted must be a mesh. */
#include "mesh.h"
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_mesh mesh;
  const tabi_place place = {"x.dae", 1};
  if (tbi_dae_parse(data, size, "x.dae", place, &mesh, NULL) == TABI_OK) fuzz_mesh(&mesh);
  return 0;
}
