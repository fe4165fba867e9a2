/* fault.h - errors that the viewer finds itself. */
#ifndef TBI_VIEWER_FAULT_H
#define TBI_VIEWER_FAULT_H

#include "tabi/tabi.h"

static inline tabi_status tbi_no_memory(tabi_error *err) {
  if (err) *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return TABI_ERR_MEMORY;
}

#endif
