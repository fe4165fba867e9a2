/* report.h - what a reader tells beside errors: notes, warnings and repairs.
 *
 *   note      of no consequence for the motion: a colour, a camera, a solver's setting
 *   warning   the robot behaves otherwise than its author may expect
 *   repair    a warning: something impossible was changed, as little as needed, so that the file
 *             can be used; an error where the caller asked for strictness */
#ifndef TBI_REPORT_H
#define TBI_REPORT_H

#include "io/first_error.h"
#include "tabi/tabi_io.h"

void tbi_note(const tabi_load_def *def, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tbi_warn(const tabi_load_def *def, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What is repaired, and how it is told. */
typedef struct tbi_repair {
  const char *item; /* "link 'foot'" */
  const char *what; /* "limits swapped": how the fault was repaired */
  double size;      /* as in tabi_repair */
} tbi_repair;

/* "item: fault, what (changed by 2e-3)"; false after an error: under def->strict the fault is one.
 * The fault is given by the format. */
bool tbi_repaired(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                  tbi_repair repair, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
