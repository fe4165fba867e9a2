/* file.h - any bytes as a file, for readers that take a path. */
#ifndef TABI_FUZZ_FILE_H
#define TABI_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT: its name, not ours

/* Writes a file into a folder of this process and returns its path, which stays until the next
 * call.  The folder is removed at the end. */
const char *fuzz_file(const char *name, const void *data, size_t size);

#endif
