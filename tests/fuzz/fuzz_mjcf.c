/* fuzz_mjcf.c - any text as a MJCF file. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  fuzz_robot(data, size, "/nonexistent/x.xml");
  return 0;
}
