/* assertion.h - two tiers: TBI_ASSERT for bugs of callers and our own, TBI_CHECK_SLOW for
 * invariants that cost more than the code they guard (Debug only).
 *
 * TBI_ASSERT is compiled in unless TABI_NO_ASSERT is defined, as the native preset does. */
#ifndef TBI_ASSERTION_H
#define TBI_ASSERTION_H

#include <stdlib.h>

#ifdef TABI_NO_ASSERT
#define TBI_ASSERT(condition) ((void)0)
#else
_Noreturn void tbi_assert_failed(const char *condition, const char *file, int line);
#define TBI_ASSERT(condition) \
  ((condition) ? (void)0 : tbi_assert_failed(#condition, __FILE__, __LINE__))
#endif

#ifdef TABI_SLOW_CHECKS
#define TBI_CHECK_SLOW(condition) TBI_ASSERT(condition)
#else
#define TBI_CHECK_SLOW(condition) ((void)0)
#endif

#endif
