/* report.c - see report.h. */
#include "io/report.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void tell(const tabi_load_def *def, tabi_severity severity, tabi_place place,
                 const char *format, va_list args) {
  if (!def->warn) return;
  tabi_error told;
  (void)tbi_error_vset(&told, TABI_OK, place, format, args);
  told.severity = severity;
  def->warn(def->warn_user, &told);
}

void tbi_note(const tabi_load_def *def, tabi_place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(def, TABI_SEVERITY_NOTE, place, format, args);
  va_end(args);
}

void tbi_warn(const tabi_load_def *def, tabi_place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(def, TABI_SEVERITY_WARNING, place, format, args);
  va_end(args);
}

static void tell_repair(const tabi_load_def *def, tabi_place place, const tbi_repair *repair,
                        const char *fault) {
  if (!def->warn) return;
  char size[40] = "";
  if (repair->size > 0) tbi_message_format(size, sizeof size, " (changed by %.2g)", repair->size);
  tabi_error told;
  (void)tbi_error_set(&told, TABI_OK, place, "%s: %s, %s%s", repair->item, fault, repair->what,
                      size);
  told.severity = TABI_SEVERITY_WARNING;
  (void)snprintf(told.repair.item, sizeof told.repair.item, "%s", repair->item);
  (void)snprintf(told.repair.what, sizeof told.repair.what, "%s", repair->what);
  told.repair.size = repair->size;
  def->warn(def->warn_user, &told);
}

bool tbi_repaired(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                  tbi_repair repair, const char *format, ...) {
  if (!tbi_ok(error)) return false;
  char fault[300];
  va_list args;
  va_start(args, format);
  tbi_message_vformat(fault, sizeof fault, format, args);
  va_end(args);
  if (def->strict) {
    return tbi_fail_at(error, TABI_ERR_MODEL, place, "%s: %s (if not strict: %s)", repair.item,
                       fault, repair.what);
  }
  tell_repair(def, place, &repair, fault);
  return true;
}
