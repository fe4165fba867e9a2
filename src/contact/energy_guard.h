/* energy_guard.h - sweeps that ended early must not add energy. */
#ifndef TBI_ENERGY_GUARD_H
#define TBI_ENERGY_GUARD_H

#include "base/layout.h"
#include "problem/problem.h"

size_t tbi_energy_guard_memsize(const tabi_model *model);
/* Impulses of islands whose work is positive, beyond that of depth corrections, are reduced, all of
 * an island by the same factor, to those that take the most energy.  They stay in their cones.
 * Returns whether there were any; velocities and sum are then made anew. */
bool tbi_energy_guard(tbi_problem *p, void *scratch);

#endif
