/* fuzz_sdf.c - any text as an SDF file, and as a scene if it holds a world. */
#include "robot.h"

#include "tabi/tabi_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  fuzz_robot(data, size, "/nonexistent/x.sdf");
  tabi_error error = {0};
  tabi_scene_destroy(
      tabi_scene_load_text((const char *)data, size, "/nonexistent/x.sdf", NULL, &error));
  return 0;
}
