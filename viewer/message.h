/* message.h - bytes for browsers: pages, pictures, texts.  A message is immutable and counts its
 * references, which several threads may hold. */
#ifndef TBI_VIEWER_MESSAGE_H
#define TBI_VIEWER_MESSAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct tbi_message {
  atomic_int holders;
  size_t size;
  char bytes[];
} tbi_message;

/* Held once; to be filled by its maker.  NULL: out of memory. */
static inline tbi_message *tbi_message_create(size_t size) {
  tbi_message *message = malloc(sizeof *message + size);
  if (!message) return NULL;
  atomic_init(&message->holders, 1);
  message->size = size;
  return message;
}

static inline tbi_message *tbi_message_of(const void *bytes, size_t size) {
  tbi_message *message = tbi_message_create(size);
  if (message && size > 0) memcpy(message->bytes, bytes, size);
  return message;
}

/* Both take NULL. */
static inline tbi_message *tbi_message_hold(tbi_message *message) {
  if (message) atomic_fetch_add(&message->holders, 1);
  return message;
}
static inline void tbi_message_drop(tbi_message *message) {
  if (message && atomic_fetch_sub(&message->holders, 1) == 1) free(message);
}

#endif
