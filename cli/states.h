/* states.h - the binary log of `tabi run`: every position and velocity, exactly.  docs/log.md says
 * how it is laid out. */
#ifndef TBI_STATES_H
#define TBI_STATES_H

#include "cli.h"

typedef struct tbi_states {
  FILE *file; /* NULL: there is no log */
  const char *path;
  tabi_world *world;
  int32_t every; /* steps between two frames */
  char *frame;   /* one frame, and its size */
  size_t size;
} tbi_states;

/* Opens the file and writes its head and the start; path NULL makes no log.  Prints what is wrong
 * and returns false. */
bool tbi_states_open(tbi_states *states, const char *path, const tabi_scene *scene,
                     tabi_world *world);
/* After every step. */
void tbi_states_step(tbi_states *states);
/* Prints what went wrong in writing and returns false. */
bool tbi_states_close(tbi_states *states);

#endif
