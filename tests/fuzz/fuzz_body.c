/* fuzz_body.c - any text as a body of Choreonoid. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  fuzz_robot(data, size, "/nonexistent/x.body");
  return 0;
}
