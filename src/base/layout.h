/* layout.h - arrays one after another in a block of memory that somebody else owns. */
#ifndef TBI_LAYOUT_H
#define TBI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Hands out pieces of the block at base, each on a cache line; without a block it only adds up what
 * they take, so that the same function counts and places. */
typedef struct tbi_layout {
  char *base;
  size_t used;
} tbi_layout;

static inline void *tbi_layout_take(tbi_layout *at, int64_t count, size_t size) {
  void *piece = at->base ? at->base + at->used : NULL;
  at->used += ((size_t)count * size + 63) / 64 * 64;
  return piece;
}

#endif
