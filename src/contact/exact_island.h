/* exact_island.h - Coulomb's law to its residual, for one island of a step.  Its tolerance is
 * relative to the velocities that its contacts have to stop. */
#ifndef TBI_EXACT_ISLAND_H
#define TBI_EXACT_ISLAND_H

#include "contact/factored.h"
#include "contact/formulation.h"
#include "contact/small_island.h"

typedef struct tbi_exact_memory {
  double *r, *u; /* impulses and velocities of one island */
  double *start; /* impulses from which sweeps go on if Newton's method fails */
  double *kept;  /* impulses before traces are dropped */
  void *newton;  /* memory of tbi_newton_solve */
  tbi_small_island small;
} tbi_exact_memory;

/* Takes the memory for islands with at most that many points and rows. */
void tbi_exact_memory_place(tbi_layout *at, int64_t points, int64_t rows, tbi_exact_memory *memory);
/* Improves the impulses of an island's points and rows; the problem's velocities and sum must be up
 * to date with them.  Zero iterations: the impulses met the tolerance already. */
tbi_solution tbi_exact_island(const tbi_exact_memory *memory, const tbi_island *island,
                              const tabi_world_def *def);

#endif
