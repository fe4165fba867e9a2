/* must_fail.h - calls that must fail an assertion.
 *
 *   must_fail_begin();
 *   MUST_FAIL(tabi_walk_duration(NULL));
 *   must_fail_end(); */
#ifndef TEST_MUST_FAIL_H
#define TEST_MUST_FAIL_H

#include "support/near.h"

#include "tabi/tabi.h"

#include <setjmp.h>

static jmp_buf must_fail_back;

static inline void must_fail_leave(void *user, const char *condition, const char *file,
                                   int32_t line) {
  (void)user, (void)condition, (void)file, (void)line;
  longjmp(must_fail_back, 1);
}

static inline void must_fail_begin(void) {
  static const tabi_assert_handler leaving = {must_fail_leave, NULL};
  (void)tabi_set_assert_handler(&leaving);
}

static inline void must_fail_end(void) { (void)tabi_set_assert_handler(NULL); }

#define MUST_FAIL(call)                \
  do {                                 \
    if (setjmp(must_fail_back)) break; \
    (void)(call);                      \
    fail_msg("passed: " #call);        \
  } while (0)

#endif
