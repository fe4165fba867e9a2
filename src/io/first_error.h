/* first_error.h - the error of a reader: the first one stays.
 *
 * The parts of a reader share one tbi_first_error.  After an error, functions that take it do
 * nothing, leave their results as they are and return false, so that a sequence of them needs one
 * test at its end:
 *
 *   tbi_first_error error = {.err = err};
 *   read_head(&error, ...);
 *   read_body(&error, ...);
 *   return error.status; */
#ifndef TBI_FIRST_ERROR_H
#define TBI_FIRST_ERROR_H

#include "tabi/tabi.h"

typedef struct tbi_first_error {
  tabi_error *err;    /* filled by the first error; may be NULL */
  tabi_status status; /* TABI_OK: no error so far */
} tbi_first_error;

static inline bool tbi_ok(const tbi_first_error *error) { return error->status == TABI_OK; }

/* Keep an error, if it is the first; always false. */
bool tbi_fail_at(tbi_first_error *error, tabi_status status, tabi_place place, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
bool tbi_fail_memory(tbi_first_error *error);
bool tbi_fail_as(tbi_first_error *error, const tabi_error *other);

/* An error of the text: TABI_ERR_PARSE, and `what` before the message, as "body 'box': ". */
bool tbi_fail_about(tbi_first_error *error, tabi_place place, const char *what, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* Takes over the status of a call that filled error->err; true for TABI_OK.  Such a call must not
 * be made after an error. */
bool tbi_take(tbi_first_error *error, tabi_status status);
/* Takes over the builder's error, if it has one; true if there is none at all. */
bool tbi_take_builder(tbi_first_error *error, const tabi_builder *builder);

#endif
