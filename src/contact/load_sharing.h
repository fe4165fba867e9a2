/* load_sharing.h - a rule that knows no order, for islands whose load sharing is not unique. */
#ifndef TBI_LOAD_SHARING_H
#define TBI_LOAD_SHARING_H

#include "contact/factored.h"
#include "contact/formulation.h"

/* Whether motion depends on how the points of an island share its load, and the island is small
 * enough for the rule; r: its impulses, by law.  tolerance: m/s, changes of a point's own velocity
 * below which it carries nothing. */
bool tbi_load_is_open(const tbi_island *island, const double *r, double tolerance);

/* Replaces r, a solution, by the one in which points share their load like equal springs.  False:
 * it was not found, and r is as it was.  matrix: W of the island; memory of tbi_newton_refine. */
bool tbi_load_share(const tbi_delassus *matrix, double tolerance, double *r, void *memory,
                    int32_t *factorisations);

/* The rule for all islands of a problem that sweeps have solved, for cone.  Adds what that took to
 * the solution. */
size_t tbi_share_loads_memsize(const tabi_model *model, const tabi_world_def *def);
void tbi_share_loads(tbi_problem *p, const tabi_world_def *def, void *scratch,
                     tbi_solution *solution);

#endif
