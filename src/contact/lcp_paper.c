/* lcp_paper.c - `lcp-paper`: the LCP method as published (P1, Nakaoka et al.).
 *
 * The law is that of lcp.c, sections 1.2 to 1.4.  What differs:
 *   dry friction of joints is always a row among the unknowns, never predicted (world/active_set);
 *   the matrix may be the paper's, dense, with one column for each unknown (def->lcp.storage,
 *   dense.c): the cost of a sweep is then the square of the number of unknowns. */
#include "contact/lcp.h"

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  return tbi_pgs_memsize(model, def, def->lcp.storage);
}

static tbi_solution solve(tbi_problem *problem, const tabi_world_def *def, void *scratch) {
  tbi_pgs pgs = tbi_lcp_make(problem, def, scratch);
  return tbi_pgs_solve(&pgs, problem, def, def->lcp.storage);
}

const tbi_formulation tbi_lcp_paper = {
    .info = {.name = "lcp-paper",
             .summary = "the LCP with joint rows and, on demand, the dense matrix of P1",
             .method = TABI_CONTACT_LCP,
             .published = TABI_NONE,
             .rebounds = true,
             .sweeps = true,
             .dense_storage = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .as_published = true,
    .random_axes = true,
    .memsize = memsize,
    .solve = solve,
};
