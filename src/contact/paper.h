/* paper.h - the cone's solver row by row, as published. */
#ifndef TBI_PAPER_H
#define TBI_PAPER_H

#include "contact/formulation.h"

/* As the functions of a formulation. */
size_t tbi_paper_memsize(const tabi_model *model, const tabi_world_def *def);
tbi_solution tbi_paper_solve(tbi_problem *problem, const tabi_world_def *def, void *scratch);

#endif
