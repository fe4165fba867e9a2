/* error.h - filling a tabi_error, and telling of what is none. */
#ifndef TBI_ERROR_H
#define TBI_ERROR_H

#include "tabi/tabi.h"

#include <stdarg.h>

/* snprintf for messages: numbers with a point, whatever locale the caller works in. */
void tbi_message_format(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tbi_message_vformat(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Fills err (may be NULL), whose severity is that of an error, of a warning for TABI_OK, and
 * returns status, so that a caller can write `return tbi_error_set(err, TABI_ERR_PARSE, place,
 * "...", ...)`. */
tabi_status tbi_error_set(tabi_error *err, tabi_status status, tabi_place place, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
tabi_status tbi_error_vset(tabi_error *err, tabi_status status, tabi_place place,
                           const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* Tells a warning function (NULL: nobody) what a call could live with. */
void tbi_tell(tabi_warning_fn *warn, void *user, tabi_severity severity, tabi_place place,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "out of memory", without a place. */
tabi_status tbi_error_memory(tabi_error *err);

#endif
