/* text.c - the pool is a list of chunks, each twice the size of the one before. */
#include "base/text.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK 4096

struct tbi_text_chunk {
  tbi_text_chunk *older;
  size_t used, capacity;
  char bytes[];
};

static tbi_text_chunk *chunk_with_room(tbi_text_pool *pool, size_t size) {
  tbi_text_chunk *newest = pool->newest;
  if (newest && newest->capacity - newest->used >= size) return newest;
  size_t capacity = newest ? 2 * newest->capacity : FIRST_CHUNK;
  if (capacity < size) capacity = size;
  tbi_text_chunk *chunk = malloc(sizeof *chunk + capacity);
  if (!chunk) return NULL;
  *chunk = (tbi_text_chunk){.older = newest, .capacity = capacity};
  pool->newest = chunk;
  return chunk;
}

const char *tbi_text_add(tbi_text_pool *pool, const char *string) {
  TBI_ASSERT(string);
  size_t size = strlen(string) + 1;
  tbi_text_chunk *chunk = chunk_with_room(pool, size);
  if (!chunk) return NULL;
  char *at = chunk->bytes + chunk->used;
  memcpy(at, string, size);
  chunk->used += size;
  return at;
}

void tbi_text_free(tbi_text_pool *pool) {
  while (pool->newest) {
    tbi_text_chunk *older = pool->newest->older;
    free(pool->newest);
    pool->newest = older;
  }
}

char *tbi_text_join(const char *first, const char *second) {
  size_t length = strlen(first);
  size_t more = strlen(second);
  char *both = malloc(length + more + 1);
  if (!both) return NULL;
  memcpy(both, first, length + 1);
  memcpy(both + length, second, more + 1);
  return both;
}

size_t tbi_text_size(const tbi_text_pool *pool) {
  size_t size = 0;
  for (const tbi_text_chunk *chunk = pool->newest; chunk; chunk = chunk->older)
    size += chunk->used;
  return size;
}

void tbi_text_copy(const tbi_text_pool *pool, char *to) {
  for (const tbi_text_chunk *chunk = pool->newest; chunk; chunk = chunk->older) {
    memcpy(to, chunk->bytes, chunk->used);
    to += chunk->used;
  }
}

const char *tbi_text_moved(const tbi_text_pool *pool, const char *string, const char *copy) {
  if (!string) return NULL;
  size_t before = 0;
  const tbi_text_chunk *chunk = pool->newest;
  while (chunk && (string < chunk->bytes || string >= chunk->bytes + chunk->used)) {
    before += chunk->used;
    chunk = chunk->older;
  }
  TBI_ASSERT(chunk);
  return copy + before + (size_t)(string - chunk->bytes);
}

void tbi_text_hide_controls(char *string, char by) {
  for (unsigned char *c = (unsigned char *)string; *c; ++c) {
    if (*c < ' ' || *c == 0x7f) *c = (unsigned char)by;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) c[0] = c[1] = (unsigned char)by;
  }
}
