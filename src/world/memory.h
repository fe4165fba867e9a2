/* memory.h - the memory of worlds and workspaces. */
#ifndef TBI_WORLD_MEMORY_H
#define TBI_WORLD_MEMORY_H

#include "world/world.h"

/* Kinematics and collision are made for one model at a time, that of the first world while there
 * are worlds of it; worlds of other models have their own. */
struct tabi_workspace {
  size_t size; /* bytes */
  char *bytes;
  const tabi_world *last; /* the world that used it last */
  void *made;             /* memory of dynamics and collision */
  size_t made_size;       /* bytes */
  const tabi_model *model;
  int32_t users;           /* worlds of this model that share them */
  const tabi_world *posed; /* whose state they are at */
};

/* Checks a def, and fills in what it leaves to the method and the integrator (world.c). */
tabi_status tbi_world_def_check(const tabi_model *model, const tabi_world_def *def,
                                tabi_error *err);
void tbi_world_def_complete(tabi_world_def *def);

/* A world with all arrays in place and zero, or NULL and err. */
tabi_world *tbi_world_alloc(const tabi_model *model, const tabi_world_def *def, tabi_error *err);
/* Whether dynamics and collision of a world that shares them are made already; it has joined the
 * others from then on, until it leaves. */
bool tbi_world_joins(tabi_world *w);
void tbi_world_leave(const tabi_world *w);
/* Another capacity; the state stays.  On an error everything does. */
tabi_status tbi_world_resize(tabi_world *w, int32_t contacts, int64_t blocks, tabi_error *err);

/* capacity.c: points that a world has memory for at first. */
int32_t tbi_world_default_contacts(const tabi_model *model);
/* Memory for at least so many contacts, if the world may grow so far. */
tabi_status tbi_world_grow_to(tabi_world *w, int64_t contacts, tabi_error *err);

#endif
