/* snapshot.c - saving and restoring all that decides the next step, going on from another world,
 * and the hash of a state. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

size_t tabi_world_snapshot_size(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->state_size;
}

void tabi_world_save(const tabi_world *world, void *snapshot) {
  TBI_ASSERT(world && snapshot);
  memcpy(snapshot, world->state.head, world->state_size);
}

tabi_status tabi_world_restore(tabi_world *world, const void *snapshot, size_t size) {
  TBI_ASSERT(world && snapshot);
  tbi_world_claim_workspace(world);
  if (size != world->state_size || !tbi_world_is_state(world, snapshot)) return TABI_ERR_ARGUMENT;
  memcpy(world->state.head, snapshot, size);
  world->current = false;
  world->solution.ncontact = 0;
  if (tbi_world_has_gait(world)) tbi_world_refresh_gait(world);
  return TABI_OK;
}

/* Whether the states of two worlds have the same layout and meaning, warm starts apart. */
static bool same_form(const tabi_world *a, const tabi_world *b) {
  const tabi_model *one = a->model;
  const tabi_model *other = b->model;
  if (one->nq != other->nq || one->nv != other->nv || one->njoint != other->njoint ||
      one->nbody != other->nbody || one->nactuator != other->nactuator ||
      one->nlink != other->nlink || one->nsensor != other->nsensor) {
    return false;
  }
  for (int32_t i = 0; i < one->njoint; ++i) {
    if (one->joint[i].type != other->joint[i].type) return false;
  }
  for (int32_t i = 0; i < one->nsensor; ++i) {
    if (one->sensor[i].type != other->sensor[i].type) return false;
    if (a->sensors.line_length[i] != b->sensors.line_length[i]) return false;
  }
  return true;
}

static ptrdiff_t offset_in(const tabi_world *world, const void *piece) {
  return (const char *)piece - (const char *)world->state.head;
}

static void copy_couples(tabi_world *world, const tabi_world *from) {
  size_t size = sizeof *world->state.couple * (size_t)world->state.head->nwarm;
  if (!world->has_couples) return;
  if (from->has_couples) {
    memcpy(world->state.couple, from->state.couple, size);
  } else {
    memset(world->state.couple, 0, size);
  }
}

/* Only the capacity for warm starts, in the middle, may differ. */
static void copy_state(tabi_world *world, const tabi_world *from) {
  tabi_world_def def = world->def;
  memcpy(world->state.head, from->state.head, (size_t)offset_in(from, from->state.warm));
  if (world->state.head->nwarm > def.max_contacts) world->state.head->nwarm = def.max_contacts;
  memcpy(world->state.warm, from->state.warm,
         sizeof *from->state.warm * (size_t)world->state.head->nwarm);
  memcpy(world->state.slipping, from->state.slipping,
         sizeof *from->state.slipping * (size_t)world->state.head->nwarm);
  copy_couples(world, from);
  memcpy(world->state.row_impulse, from->state.row_impulse,
         world->state_size - (size_t)offset_in(world, world->state.row_impulse));
}

/* Delayed readings are one time step apart, so they cannot go on under another one. */
static bool has_delays(const tabi_world *world) {
  for (int32_t i = 0; i < world->model->nsensor; ++i) {
    if (world->sensors.line_length[i] > 1) return true;
  }
  return false;
}

/* Scales the step count and the impulses, which are forces times the step. */
static void change_timestep(tabi_world *world, double from) {
  double ratio = world->def.timestep / from;
  world->state.head->steps = llround((double)world->state.head->steps / ratio);
  for (int64_t i = 0; i < world->state.head->nwarm; ++i)
    world->state.warm[i].impulse = v3_scale(ratio, world->state.warm[i].impulse);
  for (int64_t i = 0; world->has_couples && i < world->state.head->nwarm; ++i)
    world->state.couple[i].impulse = v3_scale(ratio, world->state.couple[i].impulse);
  for (int64_t i = 0; i < (int64_t)world->model->nv * TBI_ROW_KINDS; ++i)
    world->state.row_impulse[i] *= ratio;
}

tabi_status tabi_world_continue(tabi_world *world, const tabi_world *from, tabi_error *err) {
  TBI_ASSERT(world && from && world != from);
  const tabi_place nowhere = {NULL, 0};
  bool other_step = world->def.timestep != from->def.timestep;
  if (other_step && (tbi_world_has_gait(world) || has_delays(world) || has_delays(from))) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "the time step is %g s, in the world to continue %g s, and %s",
                         world->def.timestep, from->def.timestep,
                         tbi_world_has_gait(world) ? "a walk under gait keeps its own"
                                                   : "sensors with a delay count in steps");
  }
  if (!same_form(world, from)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "other bodies, joints or sensors than in the world to continue");
  }
  if (tbi_world_has_gait(world) != tbi_world_has_gait(from)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "a walk under contact method gait goes on under gait only");
  }
  copy_state(world, from);
  tbi_world_forget_motion(world);
  if (other_step) change_timestep(world, from->def.timestep);
  world->current = false;
  world->solution.ncontact = 0;
  if (tbi_world_has_gait(world)) tbi_world_refresh_gait(world);
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
  TBI_ASSERT(world);
  uint64_t hash = 0xcbf29ce484222325U;
  hash = hash_bytes(hash, world->state.q, sizeof *world->state.q * (size_t)world->model->nq);
  hash = hash_bytes(hash, world->state.v, sizeof *world->state.v * (size_t)world->model->nv);
  return hash_bytes(hash, &world->state.head->steps, sizeof world->state.head->steps);
}
