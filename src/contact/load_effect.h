/* load_effect.h - how much the motion depends on the way in which contacts share their load. */
#ifndef TBI_LOAD_EFFECT_H
#define TBI_LOAD_EFFECT_H

#include "contact/factored.h"

typedef struct tbi_load_memory {
  double *basis, *friction; /* [coordinates][coordinates] */
  double *effect;           /* [TBI_LOAD_EFFECTS][coordinates] */
  double *direction, *own;  /* [coordinates] */
  double *share;            /* of each vector of the basis: [coordinates] */
} tbi_load_memory;

/* redundant points of an island; with more, loads are taken as open */
enum { TBI_LOAD_EFFECTS = 32 };

void tbi_load_memory_place(tbi_layout *at, int64_t coordinates, tbi_load_memory *memory);
/* m/s: to first order, the largest change of velocity by other shares of the loads, under impulses
 * of the problem that obey the law to `solved` (m/s) at velocities u of the island's laws, less
 * their targets.  0: the loads are known.  Overwrites the island's scratch. */
double tbi_load_effect(const tbi_load_memory *memory, const tbi_island *island, const double *u,
                       double solved);

#endif
