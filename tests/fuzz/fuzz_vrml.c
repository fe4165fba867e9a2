/* fuzz_vrml.c - any text as a robot in VRML. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  fuzz_robot(data, size, "/nonexistent/x.wrl");
  return 0;
}
