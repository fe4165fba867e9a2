/* walk_pushes.h - many pushes of one walk: each begins from a snapshot of it. */
#ifndef TBI_WALK_PUSHES_H
#define TBI_WALK_PUSHES_H

#include "common/cli.h"

#include "tabi/tabi_control.h"

#define TBI_PUSH_TIME 0.1 /* s */

typedef struct tbi_walk_push {
  double impulse, angle, start; /* N s, rad from the front, s */
  bool survived;
} tbi_walk_push;

typedef struct tbi_walk_pushes {
  tbi_walk_push *push; /* to be freed */
  int32_t count;
} tbi_walk_pushes;

/* "10,90,2": N s, degrees from the front and s. */
bool tbi_walk_push_read(const char *text, tbi_walk_push *push);
/* One on each line of a file; false after the reason was printed, with the exit code. */
bool tbi_walk_pushes_load(tbi_walk_pushes *pushes, const char *path, int *code);
/* Where pushes act on the waist, in the axes of its link: the height of a chest. */
void tbi_walk_chest(const tabi_biped *biped, double com_height, double at[3]);
/* Walks once, and again from the start of every push on; survived: up ten step times later.  An
 * exit code. */
int tbi_walk_pushes_run(const tbi_walk_pushes *pushes, tabi_scene *scene, const tabi_biped *biped);

#endif
