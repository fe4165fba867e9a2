/* fuzz_heights.c - any bytes as heights: text, picture, or MuJoCo's format; what is accepted must
 * be a mesh. */
#include "io/mesh/heightfield.h"
#include "robot.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  const tabi_place place = {"x", 1};
  const tbi_heightfield field = {
      .size = {1, 1},
      .height = 1,
  };
  for (int i = 0; i < 2; ++i) {
    tbi_heights heights;
    tabi_status status = i == 0 ? tbi_heights_read(data, size, "x", place, &heights, NULL)
                                : tbi_heights_read_mujoco(data, size, "x", place, &heights, NULL);
    tbi_mesh mesh;
    if (status == TABI_OK && tbi_heights_mesh(&heights, &field, &mesh, NULL) == TABI_OK)
      tbi_mesh_free(&mesh);
    free(heights.heights);
  }
  return 0;
}
