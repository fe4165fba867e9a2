/* assertion.c - where a failed assertion ends.  The handler is the one global of the library, and
 * the default handler the one place that writes to a stream: the program is about to stop.
 *
 * It is part of libtabi only: libtabi-io, which has its own copy of the rest of base, calls it
 * there, so that one handler hears of both. */
#include "base/assertion.h"

#include "tabi/tabi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(const tabi_assert_handler *) current; /* NULL: the default */

const tabi_assert_handler *tabi_set_assert_handler(const tabi_assert_handler *handler) {
  return atomic_exchange(&current, handler);
}

void tabi_assert_fail(const char *condition, const char *file, int line) {
  const tabi_assert_handler *handler = atomic_load(&current);
  if (handler && handler->failed) {
    handler->failed(handler->user, condition, file, line);
  } else {
    (void)fprintf(stderr, "%s:%d: tabi: assertion failed: %s\n", file, line, condition);
  }
  abort();
}
