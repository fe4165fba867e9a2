/* fuzz_urdf.c - any text as a URDF file. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  fuzz_robot(data, size, "/nonexistent/x.urdf");
  return 0;
}
