/* names.c - linear probing on an FNV-1a hash. */
#include "base/names.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *name) {
  uint32_t h = 2166136261U;
  for (; *name; ++name)
    h = (h ^ (unsigned char)*name) * 16777619U;
  return h;
}

/* the slot of the name, or the empty one where it would go */
static tbi_name *slot_of(const tbi_names *names, const char *name) {
  uint32_t mask = (uint32_t)names->capacity - 1;
  TBI_CHECK_SLOW((names->capacity & (int32_t)mask) == 0 && names->count < names->capacity);
  uint32_t at = hash(name) & mask;
  while (names->slots[at].name && strcmp(names->slots[at].name, name) != 0)
    at = (at + 1) & mask;
  return &names->slots[at];
}

int32_t tbi_names_find(const tbi_names *names, const char *name) {
  TBI_ASSERT(name);
  if (names->count == 0) return -1;
  const tbi_name *slot = slot_of(names, name);
  return slot->name ? slot->index : -1;
}

static bool grow(tbi_names *names) {
  if (names->capacity > INT32_MAX / 4) return false;
  tbi_names bigger = {.capacity = names->capacity > 0 ? 2 * names->capacity : 32};
  bigger.slots = calloc((size_t)bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (int32_t i = 0; i < names->capacity; ++i) {
    if (names->slots[i].name) *slot_of(&bigger, names->slots[i].name) = names->slots[i];
  }
  bigger.count = names->count;
  free(names->slots);
  *names = bigger;
  return true;
}

bool tbi_names_add(tbi_names *names, const char *name, int32_t index) {
  if (2 * (names->count + 1) > names->capacity && !grow(names)) return false;
  tbi_name *slot = slot_of(names, name);
  TBI_ASSERT(!slot->name); /* names are unique */
  *slot = (tbi_name){name, index};
  ++names->count;
  return true;
}

void tbi_names_free(tbi_names *names) {
  free(names->slots);
  *names = (tbi_names){0};
}
