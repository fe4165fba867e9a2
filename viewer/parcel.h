/* parcel.h - bytes that several threads hold and nobody changes: pictures, stages, messages. */
#ifndef TBI_VIEWER_PARCEL_H
#define TBI_VIEWER_PARCEL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct tbi_parcel {
  atomic_int holders;
  size_t size;
  char bytes[];
} tbi_parcel;

/* Held once; to be filled by its maker.  NULL: out of memory. */
static inline tbi_parcel *tbi_parcel_create(size_t size) {
  tbi_parcel *parcel = malloc(sizeof *parcel + size);
  if (!parcel) return NULL;
  atomic_init(&parcel->holders, 1);
  parcel->size = size;
  return parcel;
}

static inline tbi_parcel *tbi_parcel_of(const void *bytes, size_t size) {
  tbi_parcel *parcel = tbi_parcel_create(size);
  if (parcel && size > 0) memcpy(parcel->bytes, bytes, size);
  return parcel;
}

/* Both take NULL. */
static inline tbi_parcel *tbi_parcel_hold(tbi_parcel *parcel) {
  if (parcel) atomic_fetch_add(&parcel->holders, 1);
  return parcel;
}
static inline void tbi_parcel_drop(tbi_parcel *parcel) {
  if (parcel && atomic_fetch_sub(&parcel->holders, 1) == 1) free(parcel);
}

#endif
