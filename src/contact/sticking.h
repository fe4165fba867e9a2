/* sticking.h - direct solve of contacts that all stick. */
#ifndef TBI_STICKING_H
#define TBI_STICKING_H

#include "problem/problem.h"

size_t tbi_sticking_memsize(const tabi_model *model, const tabi_world_def *def);
/* Finds the impulses of all points and rows, if every body in contact sticks to the world.  False:
 * some contact does not stick, or the problem is too large; then impulses of points are as they
 * were, those of rows may have changed.  Velocities and sums of the problem are up to date before
 * and after. */
bool tbi_sticking_solve(tbi_problem *p, const tabi_world_def *def, void *scratch);

#endif
