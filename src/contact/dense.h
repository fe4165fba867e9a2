/* dense.h - the papers' storage: K = J M^-1 J' in full, for their timing figures. */
#ifndef TBI_DENSE_H
#define TBI_DENSE_H

#include "contact/pgs.h"

size_t tbi_dense_memsize(size_t unknowns, const tabi_model *model);

/* As tbi_pgs_solve, in the memory pgs->dense; with test forces K comes from forward dynamics. */
tbi_solution tbi_dense_solve(tbi_pgs *pgs, tbi_problem *problem, const tabi_world_def *def,
                             bool test_forces);

#endif
