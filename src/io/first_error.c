/* first_error.c - keeps the first error. */
#include "io/first_error.h"

#include "base/assertion.h"
#include "base/error.h"

bool tbi_fail_at(tbi_first_error *error, tabi_status status, tabi_place place, const char *format,
                 ...) {
  TBI_ASSERT(status != TABI_OK);
  if (!tbi_ok(error)) return false;
  va_list args;
  va_start(args, format);
  error->status = tbi_error_vset(error->err, status, place, format, args);
  va_end(args);
  return false;
}

bool tbi_fail_about(tbi_first_error *error, tabi_place place, const char *what, const char *format,
                    ...) {
  if (!tbi_ok(error)) return false;
  tabi_error reason;
  va_list args;
  va_start(args, format);
  (void)tbi_error_vset(&reason, TABI_ERR_PARSE, place, format, args);
  va_end(args);
  return tbi_fail_at(error, TABI_ERR_PARSE, place, "%s%s", what, reason.message);
}

bool tbi_fail_memory(tbi_first_error *error) {
  if (tbi_ok(error)) error->status = tbi_error_memory(error->err);
  return false;
}

bool tbi_fail_as(tbi_first_error *error, const tabi_error *other) {
  TBI_ASSERT(other->status != TABI_OK);
  if (!tbi_ok(error)) return false;
  if (error->err) *error->err = *other;
  error->status = other->status;
  return false;
}

bool tbi_take(tbi_first_error *error, tabi_status status) {
  TBI_ASSERT(tbi_ok(error));
  error->status = status;
  return status == TABI_OK;
}

bool tbi_take_builder(tbi_first_error *error, const tabi_builder *builder) {
  const tabi_error *first = tabi_builder_error(builder);
  if (first) return tbi_fail_as(error, first);
  return tbi_ok(error);
}
