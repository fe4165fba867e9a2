/* memory_error.h - errors that the viewer finds itself. */
#ifndef TBI_VIEWER_MEMORY_ERROR_H
#define TBI_VIEWER_MEMORY_ERROR_H

#include "tabi/tabi.h"

static inline tabi_status tbi_memory_error(tabi_error *err) {
  if (err) *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return TABI_ERR_MEMORY;
}

#endif
