/* lcp.h - the unknowns of the LCP, for lcp.c and lcp_paper.c. */
#ifndef TBI_LCP_H
#define TBI_LCP_H

#include "contact/pgs.h"

/* The list of unknowns of a problem with the bounds of lcp.c's law. */
tbi_pgs tbi_lcp_make(const tbi_problem *problem, const tabi_world_def *def, void *scratch);

#endif
