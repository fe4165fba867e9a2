#include "base/array.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_LINE ((size_t)64)

bool tbi_array_reserve(void **items, int32_t *capacity, int32_t count, int32_t more, size_t size) {
  TBI_ASSERT(items && capacity && count >= 0 && more >= 0 && size > 0);
  int64_t need = (int64_t)count + more;
  if (need <= *capacity) return true;
  int64_t room = *capacity > 0 ? 2 * (int64_t)*capacity : 16;
  if (room < need) room = need;
  if (room > INT32_MAX || (uint64_t)room > SIZE_MAX / size) return false;
  void *moved = realloc(*items, (size_t)room * size);
  if (!moved) return false;
  *items = moved;
  *capacity = (int32_t)room;
  return true;
}

void *tbi_block_alloc(size_t size) {
  size_t whole = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  if (whole < size) return NULL;
  void *block = aligned_alloc(CACHE_LINE, whole > 0 ? whole : CACHE_LINE);
  if (block) memset(block, 0, whole);
  return block;
}
