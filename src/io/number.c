/* number.c - numbers of robot files: decimal, finite, with a point, whatever the locale says.
 *
 * The grammar is checked by hand, so that nan, inf and hexadecimal never reach strtod, which is
 * then called under the C locale of the calling thread.  Most numbers do not need it: up to 15
 * digits times a power of ten up to 22 are two exact doubles, and their product or quotient is
 * rounded once, as strtod rounds. */
#include "io/number.h"

#include "base/assertion.h"
#include "io/xml.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SHOWN   40  /* characters of a bad number in a message */
#define MAX_LITERAL 400 /* longer numbers are refused: no file means them */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t token_length(const char *text) {
  size_t n = 0;
  while (text[n] != '\0' && !is_space(text[n]))
    ++n;
  return n;
}

static const char *skip_space(const char *text) {
  while (is_space(*text))
    ++text;
  return text;
}

static size_t digits(const char *text, size_t n) {
  size_t k = 0;
  while (k < n && is_digit(text[k]))
    ++k;
  return k;
}

/* How many leading characters form a decimal number; 0 if none do. */
static size_t literal_length(const char *text, size_t n) {
  size_t k = 0;
  if (k < n && (text[k] == '+' || text[k] == '-')) ++k;
  size_t whole = digits(text + k, n - k);
  k += whole;
  size_t part = 0;
  if (k < n && text[k] == '.') {
    part = digits(text + k + 1, n - k - 1);
    if (whole + part > 0) k += 1 + part;
  }
  if (whole + part == 0) return 0;
  // an exponent counts only with digits
  if (k < n && (text[k] == 'e' || text[k] == 'E')) {
    size_t sign = k + 1 < n && (text[k + 1] == '+' || text[k + 1] == '-') ? 1 : 0;
    size_t power = digits(text + k + 1 + sign, n - k - 1 - sign);
    if (power > 0) k += 1 + sign + power;
  }
  return k;
}

static bool is_not_finite(const char *text, size_t n) {
  if (n > 0 && (text[0] == '+' || text[0] == '-')) {
    ++text;
    --n;
  }
  return (n >= 3 && strncasecmp(text, "nan", 3) == 0) ||
         (n == 3 && strncasecmp(text, "inf", 3) == 0) ||
         (n == 8 && strncasecmp(text, "infinity", 8) == 0);
}

/* The cure for a number with commas in it; "" if there are none. */
static const char *comma_hint(const char *text, size_t n) {
  size_t commas = 0;
  for (size_t i = 0; i < n; ++i)
    commas += text[i] == ',';
  if (commas == 0) return "";
  bool separates = commas > 1 || text[0] == ',' || text[n - 1] == ',';
  return separates ? " (separate numbers by spaces)" : " (use a point)";
}

/* What strtod would give, where that is easy; false elsewhere. */
static bool convert_short(const char *text, size_t n, double *value) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  uint64_t whole = 0;
  int count = 0;
  int exponent = 0;
  bool point = false;
  bool minus = text[0] == '-';
  size_t k = minus || text[0] == '+' ? 1 : 0;
  for (; k < n && (is_digit(text[k]) || text[k] == '.'); ++k) {
    if (text[k] == '.') {
      point = true;
      continue;
    }
    whole = 10 * whole + (uint64_t)(text[k] - '0');
    if (whole > 0 && ++count > 15) return false;
    exponent -= point;
  }
  if (k < n) {
    bool down = text[++k] == '-';
    int given = 0;
    if (text[k] == '-' || text[k] == '+') ++k;
    for (; k < n && given < 1000; ++k)
      given = 10 * given + (text[k] - '0');
    exponent += down ? -given : given;
  }
  if (exponent < -22 || exponent > 22) return false;
  double size = (double)whole;
  size = exponent < 0 ? size / power[-exponent] : size * power[exponent];
  *value = minus ? -size : size;
  return true;
}

static double convert(const char *text, size_t n) {
  double value = 0;
  if (convert_short(text, n, &value)) return value;
  char literal[MAX_LITERAL + 1];
  memcpy(literal, text, n);
  literal[n] = '\0';
  // the C locale always exists, and no other is touched
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  TBI_ASSERT(c);
  locale_t before = uselocale(c);
  value = strtod(literal, NULL);
  (void)uselocale(before);
  freelocale(c);
  return value;
}

bool tbi_number_read(const char *text, size_t n, double *value) {
  TBI_ASSERT(text || n == 0);
  if (is_not_finite(text, n)) {
    *value = NAN;
    return true;
  }
  if (n == 0 || n > MAX_LITERAL || literal_length(text, n) != n) return false;
  *value = convert(text, n);
  return true;
}

/* What is wrong with a token that is no number. */
static bool fail_token(tbi_first_error *error, const char *text, size_t n, tabi_place place,
                       const char *what) {
  int shown = (int)(n < MAX_SHOWN ? n : MAX_SHOWN);
  size_t used = literal_length(text, n);
  const char *hint = comma_hint(text, n);
  if (used == 0 || used == n || hint[0] != '\0') {
    return tbi_fail_at(error, TABI_ERR_PARSE, place, "%s '%.*s' is not a number%s", what, shown,
                       text, hint);
  }
  int left = (int)(n - used < MAX_SHOWN ? n - used : MAX_SHOWN);
  return tbi_fail_at(error, TABI_ERR_PARSE, place, "%s '%.*s': unexpected '%.*s' after number",
                     what, shown, text, left, text + used);
}

static bool read_token(tbi_first_error *error, const char *text, size_t n, tabi_place place,
                       const char *what, double *value) {
  if (!tbi_number_read(text, n, value)) return fail_token(error, text, n, place, what);
  if (isfinite(*value)) return true;
  int shown = (int)(n < MAX_SHOWN ? n : MAX_SHOWN);
  return tbi_fail_at(error, TABI_ERR_PARSE, place, "%s '%.*s' is not a finite number", what, shown,
                     text);
}

bool tbi_xml_number(tbi_first_error *error, const char *text, tabi_place place, const char *what,
                    double *value) {
  double numbers[1] = {0};
  int32_t count = tbi_xml_numbers(error, text, place, what, numbers, 1);
  if (count == 0) tbi_fail_at(error, TABI_ERR_PARSE, place, "%s '' is not a number", what);
  if (tbi_ok(error)) *value = numbers[0];
  return tbi_ok(error);
}

int32_t tbi_xml_numbers(tbi_first_error *error, const char *text, tabi_place place,
                        const char *what, double *values, int32_t max) {
  TBI_ASSERT(text && max >= 0);
  int32_t count = 0;
  for (text = skip_space(text); *text != '\0' && tbi_ok(error); text = skip_space(text)) {
    size_t n = token_length(text);
    if (count == max) {
      int shown = (int)(n < MAX_SHOWN ? n : MAX_SHOWN);
      (void)tbi_fail_at(error, TABI_ERR_PARSE, place, "%s: unexpected '%.*s' after %s", what, shown,
                        text, max == 1 ? "the number" : "the last number");
    } else if (read_token(error, text, n, place, what, &values[count])) {
      ++count;
    }
    text += n;
  }
  return count;
}
