/* snapshot.c - saving and restoring all that decides the next step, and the hash of a state. */
#include "world/world.h"

#include <string.h>

size_t tabi_world_snapshot_size(const tabi_world *world) { return world->state_size; }

void tabi_world_save(const tabi_world *world, void *snapshot) {
  memcpy(snapshot, world->head, world->state_size);
}

tabi_status tabi_world_restore(tabi_world *world, const void *snapshot, size_t size) {
  if (size != world->state_size) return TABI_ERR_ARGUMENT;
  memcpy(world->head, snapshot, size);
  world->current = false;
  world->ncontact = 0;
  if (tbi_world_walks(world)) tbi_world_refresh_walk(world);
  return TABI_OK;
}

/* FNV-1a over the bytes */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ at[i]) * 0x100000001b3U;
  return hash;
}

uint64_t tabi_world_hash(const tabi_world *world) {
  uint64_t hash = 0xcbf29ce484222325U;
  hash = hash_bytes(hash, world->q, sizeof *world->q * (size_t)world->model->nq);
  hash = hash_bytes(hash, world->v, sizeof *world->v * (size_t)world->model->nv);
  return hash_bytes(hash, &world->head->steps, sizeof world->head->steps);
}
