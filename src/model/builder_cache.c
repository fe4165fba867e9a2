/* builder_cache.c - what was added to builders, by a name of the caller's.
 *
 * Entries stay until the end, so that a thread may use one while others are added.  Where each name
 * is another one, the first MAX_ENTRIES are kept for nothing. */
#include "model/builder_addition.h"

#include "base/assertion.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 32 };

typedef struct entry {
  char *name;
  tbi_addition *addition;
} entry;

struct tabi_builder_cache {
  pthread_mutex_t lock; /* of what follows */
  int32_t count;
  entry entry[MAX_ENTRIES];
};

tabi_builder_cache *tabi_builder_cache_create(void) {
  tabi_builder_cache *cache = calloc(1, sizeof *cache);
  if (!cache || pthread_mutex_init(&cache->lock, NULL) == 0) return cache;
  free(cache);
  return NULL;
}

void tabi_builder_cache_destroy(tabi_builder_cache *cache) {
  if (!cache) return;
  for (int32_t i = 0; i < cache->count; ++i) {
    free(cache->entry[i].name);
    tbi_addition_destroy(cache->entry[i].addition);
  }
  (void)pthread_mutex_destroy(&cache->lock);
  free(cache);
}

static const tbi_addition *find(tabi_builder_cache *cache, const tabi_builder *builder,
                                const char *name) {
  const tbi_addition *found = NULL;
  (void)pthread_mutex_lock(&cache->lock);
  for (int32_t i = 0; i < cache->count && !found; ++i) {
    if (strcmp(cache->entry[i].name, name) == 0 &&
        tbi_addition_fits(cache->entry[i].addition, builder))
      found = cache->entry[i].addition;
  }
  (void)pthread_mutex_unlock(&cache->lock);
  return found;
}

bool tabi_builder_recall(tabi_builder *builder, tabi_builder_cache *cache, const char *name) {
  TBI_ASSERT(builder && cache && name);
  if (builder->error.status != TABI_OK) return false;
  const tbi_addition *known = find(cache, builder, name);
  if (!known) {
    builder->mark = tbi_builder_mark_now(builder);
    return false;
  }
  (void)tbi_addition_add(known, builder); /* an error stays in the builder */
  return true;
}

static bool is_full(tabi_builder_cache *cache) {
  (void)pthread_mutex_lock(&cache->lock);
  bool full = cache->count == MAX_ENTRIES;
  (void)pthread_mutex_unlock(&cache->lock);
  return full;
}

static bool put(tabi_builder_cache *cache, entry added) {
  (void)pthread_mutex_lock(&cache->lock);
  bool kept = cache->count < MAX_ENTRIES;
  if (kept) cache->entry[cache->count++] = added;
  (void)pthread_mutex_unlock(&cache->lock);
  return kept;
}

tabi_status tabi_builder_keep(const tabi_builder *builder, tabi_builder_cache *cache,
                              const char *name, tabi_error *err) {
  TBI_ASSERT(builder && cache && name);
  if (builder->error.status != TABI_OK || is_full(cache)) return TABI_OK;
  char *copy = tbi_text_join("", name);
  tbi_addition *addition = copy ? tbi_addition_create(builder, &builder->mark) : NULL;
  if (addition && put(cache, (entry){copy, addition})) return TABI_OK;
  tabi_status status = addition ? TABI_OK : tbi_error_memory(err);
  free(copy);
  tbi_addition_destroy(addition);
  return status;
}
