/* exact_island.h - Coulomb's law to its residual, for one island of a step.  Its tolerance is
 * relative to what its contacts have to stop. */
#ifndef TBI_EXACT_ISLAND_H
#define TBI_EXACT_ISLAND_H

#include "contact/factored.h"
#include "contact/formulation.h"

typedef struct tbi_exact_memory {
  double *r, *u, *start, *kept; /* of one island */
  void *rest;                   /* of tbi_newton_solve */
} tbi_exact_memory;

/* Takes the memory for islands with at most that many points and rows. */
void tbi_exact_memory_place(tbi_layout *at, int64_t points, int64_t rows, tbi_exact_memory *room);
/* Improves the impulses of an island's points and rows, with which the problem's velocities and
 * sum must be in step.  No iterations: they were good as they stood. */
tbi_solution tbi_exact_island(const tbi_exact_memory *room, const tbi_island *island,
                              const tabi_world_def *def);

#endif
