/* snapshot.c - saving and restoring all that decides the next step, going on from another world,
 * and the hash of a state. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/memory.h"

#include <math.h>
#include <string.h>

void tbi_world_contact_arrays(const tabi_world *w, tbi_contact_array array[TBI_CONTACT_ARRAYS]) {
  array[0] = (tbi_contact_array){w->state.warm, sizeof *w->state.warm};
  array[1] = (tbi_contact_array){w->state.slipping, sizeof *w->state.slipping};
  array[2] = (tbi_contact_array){w->state.couple, w->has_couples ? sizeof *w->state.couple : 0};
  array[3] =
      (tbi_contact_array){w->state.rolling, tbi_world_is_middle(w) ? sizeof *w->state.rolling : 0};
  array[4] = (tbi_contact_array){w->state.contact, w->def.sleep ? sizeof *w->state.contact : 0};
}

size_t tbi_world_contact_size(const tabi_world *w) {
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(w, array);
  size_t size = 0;
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i)
    size += array[i].size;
  return size;
}

size_t tabi_world_snapshot_size(const tabi_world *world) {
  TBI_ASSERT(world);
  return world->state_size + (size_t)world->def.max_contacts * tbi_world_contact_size(world);
}

void tabi_world_save(const tabi_world *world, void *snapshot) {
  TBI_ASSERT(world && snapshot);
  char *at = snapshot;
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(world, array);
  memcpy(at, world->state.head, world->state_size);
  at += world->state_size;
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i) {
    size_t size = array[i].size * (size_t)world->state.head->nwarm;
    memcpy(at, array[i].at, size);
    at += size;
  }
  memset(at, 0, (size_t)((char *)snapshot + tabi_world_snapshot_size(world) - at));
}

tabi_status tabi_world_restore(tabi_world *world, const void *snapshot, size_t size) {
  TBI_ASSERT(world && snapshot);
  tbi_world_claim_workspace(world);
  if (!tbi_world_is_state(world, snapshot, size)) return TABI_ERR_ARGUMENT;
  tbi_world_head head;
  memcpy(&head, snapshot, sizeof head);
  tabi_status status = tbi_world_grow_to(world, head.nwarm, &world->error);
  if (status != TABI_OK) return status;
  const char *at = snapshot;
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(world, array);
  memcpy(world->state.head, at, world->state_size);
  at += world->state_size;
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i) {
    memcpy(array[i].at, at, array[i].size * (size_t)head.nwarm);
    at += array[i].size * (size_t)head.nwarm;
  }
  world->current = false;
  world->solution.ncontact = 0;
  tbi_sleep_refresh(world);
  if (tbi_world_has_gait(world)) tbi_world_refresh_gait(world);
  return TABI_OK;
}

/* bytes of the state without what only worlds with def.sleep have */
static size_t common_size(const tabi_world *w) {
  return (size_t)((char *)w->state.quiet - (char *)w->state.head);
}

/* Whether the states of two worlds have the same layout and meaning, warm starts apart. */
static bool same_form(const tabi_world *a, const tabi_world *b) {
  const tabi_model *one = a->model;
  const tabi_model *other = b->model;
  if (common_size(a) != common_size(b)) return false;
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

/* Contacts that there is no memory for are left out, where max_contacts was given. */
static void copy_contacts(tabi_world *world, const tabi_world *from) {
  tbi_contact_array to[TBI_CONTACT_ARRAYS];
  tbi_contact_array source[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(world, to);
  tbi_world_contact_arrays(from, source);
  int64_t *count = &world->state.head->nwarm;
  if (*count > world->def.max_contacts) *count = world->def.max_contacts;
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i) {
    size_t size = to[i].size * (size_t)*count;
    if (source[i].size > 0) {
      memcpy(to[i].at, source[i].at, size);
    } else {
      memset(to[i].at, 0, size);
    }
  }
}

static void copy_state(tabi_world *world, const tabi_world *from) {
  tbi_world_head own = *world->state.head;
  memcpy(world->state.head, from->state.head, common_size(world));
  world->state.head->state_size = own.state_size;
  world->state.head->contact_size = own.contact_size;
  copy_contacts(world, from);
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
  if (tbi_world_has_gait(world) != tbi_world_has_gait(from)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "a walk under contact method gait goes on under gait only");
  }
  if (!same_form(world, from)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "other bodies, joints or sensors than in the world to continue");
  }
  tabi_status grown =
      world->grows ? tbi_world_grow_to(world, from->state.head->nwarm, err) : TABI_OK;
  if (grown != TABI_OK) return grown;
  copy_state(world, from);
  tbi_world_forget_motion(world);
  tbi_sleep_forget(world);
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
