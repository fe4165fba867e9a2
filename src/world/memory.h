/* memory.h - the memory of worlds and workspaces. */
#ifndef TBI_WORLD_MEMORY_H
#define TBI_WORLD_MEMORY_H

#include "world/world.h"

struct tabi_workspace {
  size_t size; /* bytes */
  char *bytes;
  const tabi_world *last; /* the world that used it last */
};

/* Checks a def, and fills in what it leaves to the method and the integrator (world.c). */
tabi_status tbi_world_def_check(const tabi_model *model, const tabi_world_def *def,
                                tabi_error *err);
void tbi_world_def_complete(tabi_world_def *def);

/* Place the arrays of a world, and of the workspace of its steps; without memory they count. */
void tbi_world_place(tbi_layout *at, tabi_world *w);
void tbi_world_place_workspace(tbi_layout *at, tabi_world *w);
/* A world with all arrays in place and zero, or NULL and err. */
tabi_world *tbi_world_alloc(const tabi_model *model, const tabi_world_def *def, tabi_error *err);

#endif
