/* error.c - fills tabi_error; the only formatter of "file:line: error: message". */
#include "base/error.h"

#include "base/assertion.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static void copy_cut(char *to, size_t size, const char *from) {
  size_t length = strlen(from);
  if (length >= size) length = size - 1;
  memcpy(to, from, length);
  to[length] = '\0';
}

void tbi_message_vformat(char *text, size_t size, const char *format, va_list args) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c ? uselocale(c) : (locale_t)0;
  (void)vsnprintf(text, size, format, args);
  if (c) {
    (void)uselocale(before);
    freelocale(c);
  }
}

void tbi_message_format(char *text, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tbi_message_vformat(text, size, format, args);
  va_end(args);
}

tabi_status tbi_error_vset(tabi_error *err, tabi_status status, tabi_place place,
                           const char *format, va_list args) {
  TBI_ASSERT(format);
  if (!err) return status;
  memset(err, 0, sizeof *err);
  err->status = status;
  err->severity = status == TABI_OK ? TABI_SEVERITY_WARNING : TABI_SEVERITY_ERROR;
  err->line = place.line;
  if (place.file) copy_cut(err->file, sizeof err->file, place.file);
  tbi_message_vformat(err->message, sizeof err->message, format, args);
  return status;
}

tabi_status tbi_error_set(tabi_error *err, tabi_status status, tabi_place place, const char *format,
                          ...) {
  va_list args;
  va_start(args, format);
  tbi_error_vset(err, status, place, format, args);
  va_end(args);
  return status;
}

void tbi_tell(tabi_warning_fn *warn, void *user, tabi_severity severity, tabi_place place,
              const char *format, ...) {
  if (!warn) return;
  tabi_error told;
  va_list args;
  va_start(args, format);
  (void)tbi_error_vset(&told, TABI_OK, place, format, args);
  va_end(args);
  told.severity = severity;
  warn(user, &told);
}

tabi_status tbi_error_memory(tabi_error *err) {
  return tbi_error_set(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
}

const char *tabi_status_text(tabi_status status) {
  static const char *const text[] = {
      [TABI_OK] = "no error",
      [TABI_ERR_ARGUMENT] = "a value is out of range",
      [TABI_ERR_MEMORY] = "out of memory",
      [TABI_ERR_FILE] = "a file cannot be opened or read",
      [TABI_ERR_PARSE] = "malformed text",
      [TABI_ERR_MODEL] = "an impossible model",
      [TABI_ERR_CAPACITY] = "more contacts than there is memory for",
      [TABI_ERR_DIVERGED] = "the motion diverged",
      [TABI_ERR_ENDED] = "the walk is over",
  };
  bool known = (unsigned)status < sizeof text / sizeof text[0];
  return known ? text[status] : "unknown status";
}

const char *tabi_severity_text(tabi_severity severity) {
  static const char *const text[] = {
      [TABI_SEVERITY_ERROR] = "error",
      [TABI_SEVERITY_WARNING] = "warning",
      [TABI_SEVERITY_NOTE] = "note",
  };
  bool known = (unsigned)severity < sizeof text / sizeof text[0];
  return known ? text[severity] : "unknown severity";
}

size_t tabi_error_text(const tabi_error *err, const char *word, char *text, size_t size) {
  TBI_ASSERT(err && word && (text || size == 0));
  int n;
  if (err->file[0] == '\0') {
    n = snprintf(text, size, "tabi: %s: %s", word, err->message);
  } else {
    int line = err->line > 0 ? err->line : 1;
    n = snprintf(text, size, "%s:%d: %s: %s", err->file, line, word, err->message);
  }
  return n > 0 ? (size_t)n : 0;
}
