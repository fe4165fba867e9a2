/* stand.h - bodies that stand still, solved for at once. */
#ifndef TBI_STAND_H
#define TBI_STAND_H

#include "problem/problem.h"

size_t tbi_stand_memsize(const tabi_model *model, const tabi_world_def *def);
/* The impulses of all points and rows, if every touched body stands still on the world.  False: it
 * is not so, or it would take long to see; then impulses of points are as they were, those of rows
 * perhaps better.  Velocities and sums of the problem are right before and after. */
bool tbi_stand(tbi_problem *p, const tabi_world_def *def, void *scratch);

#endif
