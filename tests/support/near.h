/* near.h - comparing doubles in cmocka tests, with 17 digits in the message.
 *
 *   assert_near(a, b, tol)           |a - b| <= tol
 *   assert_near_rel(a, b, tol)       |a - b| <= tol * max(|a|, |b|, 1)
 *   assert_near_n(a, b, n, tol)      the same as assert_near_rel for arrays, measured against
 *                                    the largest entry of both; names the worst entry
 *
 * NaN is never near anything.  Includes cmocka.h and what that needs. */
#ifndef TABI_TESTS_NEAR_H
#define TABI_TESTS_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* in lower case like their kin in cmocka */
/* NOLINTBEGIN(readability-identifier-naming) */
#define assert_near(a, b, tol)      near_check((a), (b), (tol), #a, #b, __FILE__, __LINE__)
#define assert_near_rel(a, b, tol)  near_check_rel((a), (b), (tol), #a, #b, __FILE__, __LINE__)
#define assert_near_n(a, b, n, tol) near_check_n((a), (b), (n), (tol), #a, __FILE__, __LINE__)
/* NOLINTEND(readability-identifier-naming) */

static inline bool near_is(double a, double b, double tol) {
  /* without the test, an infinite a would make a relative tolerance infinite too */
  if (!isfinite(a) || !isfinite(b)) return a == b;
  return fabs(a - b) <= tol;
}

static inline void near_check(double a, double b, double tol, const char *a_text,
                              const char *b_text, const char *file, int line) {
  if (near_is(a, b, tol)) return;
  print_error("%s = %.17g\n%s = %.17g\ndifference %.3g, allowed %.3g\n", a_text, a, b_text, b,
              a - b, tol);
  _fail(file, line);
}

static inline void near_check_rel(double a, double b, double tol, const char *a_text,
                                  const char *b_text, const char *file, int line) {
  near_check(a, b, tol * fmax(fmax(fabs(a), fabs(b)), 1.0), a_text, b_text, file, line);
}

static inline void near_check_n(const double *a, const double *b, size_t n, double tol,
                                const char *text, const char *file, int line) {
  double scale = 1.0;
  for (size_t i = 0; i < n; ++i)
    scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
  size_t worst = 0;
  for (size_t i = 0; i < n; ++i) {
    if (near_is(a[i], b[i], tol * scale)) continue;
    if (near_is(a[worst], b[worst], tol * scale) || fabs(a[i] - b[i]) > fabs(a[worst] - b[worst])) {
      worst = i;
    }
  }
  if (n == 0 || near_is(a[worst], b[worst], tol * scale)) return;
  print_error("%s[%zu] = %.17g, expected %.17g\ndifference %.3g, allowed %.3g\n", text, worst,
              a[worst], b[worst], a[worst] - b[worst], tol * scale);
  _fail(file, line);
}

#endif
