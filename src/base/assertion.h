/* assertion.h - two tiers: TBI_ASSERT for bugs of callers and our own, TBI_CHECK_SLOW for
 * invariants that cost more than the code they guard (Debug only).
 *
 * TBI_ASSERT is compiled in unless TABI_NO_ASSERT is defined, as the native preset does. */
#ifndef TBI_ASSERTION_H
#define TBI_ASSERTION_H

#include "tabi/tabi_export.h"

/* Calls the handler of tabi_set_assert_handler, then aborts.  Exported for libtabi-io, not for
 * programs. */
TABI_API _Noreturn void tabi_assert_fail(const char *condition, const char *file, int line);

#ifdef TABI_NO_ASSERT
#define TBI_ASSERT(condition) ((void)(0 && (condition))) /* compiled, never evaluated */
#else
#define TBI_ASSERT(condition) \
  ((condition) ? (void)0 : tabi_assert_fail(#condition, __FILE__, __LINE__))
#endif

#ifdef TABI_SLOW_CHECKS
#define TBI_CHECK_SLOW(condition) TBI_ASSERT(condition)
#else
#define TBI_CHECK_SLOW(condition) ((void)(0 && (condition)))
#endif

#endif
