/* assertion.c - where a failed assertion ends: the one place of the library that writes to a
 * stream, because the program is about to stop. */
#include "base/assertion.h"

#include <stdio.h>

#ifndef TABI_NO_ASSERT
void tbi_assert_failed(const char *condition, const char *file, int line) {
  (void)fprintf(stderr, "%s:%d: tabi: assertion failed: %s\n", file, line, condition);
  abort();
}
#endif
