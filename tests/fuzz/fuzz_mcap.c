/* fuzz_mcap.c - any bytes as an MCAP file, from which columns of each kind of message are read. */
#include "sweep/recording_mcap.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const char *const name[] = {"/signals/arm/j/q", "/joint_states:j.position",
                                     "/arm/sensor/ft:torque.y",
                                     "/arm/sensor/gyro:linear_acceleration.z"};
  for (size_t i = 0; i < sizeof name / sizeof *name; ++i) {
    tabi_column column;
    const char *wrong = tbi_recording_mcap(bytes, size, name[i], &column);
    if (!wrong && column.count > 0 && !(column.time && column.value)) abort();
    free(column.time);
    free(column.value);
  }
  return 0;
}
