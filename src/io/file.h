/* file.h - a whole file in memory. */
#ifndef TBI_FILE_H
#define TBI_FILE_H

#include "tabi/tabi.h"

/* Reads a file of at most limit bytes into *bytes, which the caller frees and which ends with a
 * zero byte that *size does not count.  A regular file that is too long is refused before a byte
 * of it is read.  `blame` is the place to name in errors; {NULL, 0} blames the file itself. */
tabi_status tbi_file_read(const char *path, size_t limit, tabi_place blame, char **bytes,
                          size_t *size, tabi_error *err);

/* "cannot ACTION: reason", by the number that the system gave. */
tabi_status tbi_file_fail(tabi_error *err, tabi_place place, const char *action, int code);

/* Rounded up, so that a file just over a limit does not seem to be at it. */
size_t tbi_file_megabytes(size_t bytes);

#endif
