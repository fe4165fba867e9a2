/* exact_island.h - Coulomb's law to its residual, for one island of a step.  Its tolerance is
 * relative to the velocities that its contacts have to stop. */
#ifndef TBI_EXACT_ISLAND_H
#define TBI_EXACT_ISLAND_H

#include "contact/factored.h"
#include "contact/formulation.h"

typedef struct tbi_exact_memory {
  double *r, *u; /* impulses and velocities of one island */
  double *start; /* impulses from which sweeps go on if Newton's method fails */
  double *kept;  /* impulses before traces are dropped */
  void *newton;  /* memory of tbi_newton_solve */
} tbi_exact_memory;

/* Takes the memory for islands with at most that many points and rows. */
void tbi_exact_memory_place(tbi_layout *at, int64_t points, int64_t rows, tbi_exact_memory *memory);
/* m/s, the residual that an island may keep. */
double tbi_exact_tolerance(const tbi_island *island, const tabi_world_def *def);
/* Improves the impulses of an island's points and rows; the problem's velocities and sum must be up
 * to date with them.  Zero iterations: the impulses met the tolerance already. */
tbi_solution tbi_exact_island(const tbi_exact_memory *memory, const tbi_island *island,
                              const tabi_world_def *def);
/* An open contact may keep a trace of an impulse r, too small to matter in its residual, whose
 * friction does not oppose slip.  Such impulses are dropped if the residual allows it; u and kept
 * are scratch, as long as r. */
void tbi_island_drop_traces(const tbi_island *island, double tolerance, double *r, double *u,
                            double *kept);

#endif
