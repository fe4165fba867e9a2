/* sticking.h - direct solve of contacts that all stick. */
#ifndef TBI_STICKING_H
#define TBI_STICKING_H

#include "problem/problem.h"

size_t tbi_sticking_memsize(const tabi_model *model, const tabi_world_def *def);
/* The impulses of all points and rows, if every touched body stands still on the world.  False: it
 * is not so, or it would take long to see; then impulses of points are as they were, those of rows
 * perhaps better.  Velocities and sums of the problem are right before and after. */
bool tbi_sticking_solve(tbi_problem *p, const tabi_world_def *def, void *scratch);

#endif
