/* viewer_error.h - errors that the viewer finds itself. */
#ifndef TBI_VIEWER_ERROR_H
#define TBI_VIEWER_ERROR_H

#include "tabi/tabi.h"

#include <stdio.h>

static inline tabi_status tbi_memory_error(tabi_error *err) {
  if (err) *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return TABI_ERR_MEMORY;
}

static inline tabi_status tbi_argument_error(tabi_error *err, const char *message) {
  if (!err) return TABI_ERR_ARGUMENT;
  *err = (tabi_error){.status = TABI_ERR_ARGUMENT};
  (void)snprintf(err->message, sizeof err->message, "%s", message);
  return TABI_ERR_ARGUMENT;
}

#endif
