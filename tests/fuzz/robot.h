/* robot.h - what the targets for robot files share. */
#ifndef TABI_FUZZ_ROBOT_H
#define TABI_FUZZ_ROBOT_H

#include <stddef.h>
#include <stdint.h>

/* Called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT: its name, not ours

/* Loads the text as if it were a file in a folder that does not exist, so that nothing is opened;
 * builds the model and computes with it if that goes well. */
void fuzz_robot(const uint8_t *data, size_t size, const char *path);

#endif
