/* cone_paper.c - `cone-paper`: the extended projected Gauss-Seidel method as published (P4, Nakaoka
 * et al., section 4.2).
 *
 *   repeat:  for contacts     f_z = max(0, f_z - (u_z - target) / k_zz)
 *            for joint rows   f = f - (u - target) / k, within the bounds
 *            for connections  the same without bounds: loop constraints are rows here
 *            for contacts     f_x, f_y = f - u / k each by its own row, then both
 *                             times mu f_z / |(f_x, f_y)| if they leave the cone       (20), (21)
 *
 * f_y answers f_x before both are scaled, so that friction depends on the order of the rows: a box
 * slides up to 60 % too far, and 6 degrees off (reproduce/p4_anisotropy.c).  cone.c solves the
 * contact as a whole.
 *
 * The sweeps are those of pgs.c, on ports or on the paper's dense matrix (def->cone.storage). */
#include "contact/pgs.h"

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  return tbi_pgs_memsize(model, def, def->cone.storage);
}

static tbi_solution solve(tbi_problem *problem, const tabi_world_def *def, void *scratch) {
  tbi_pgs pgs = tbi_pgs_make(problem, scratch);
  for (int32_t i = 0; i < problem->npoint; ++i) {
    tbi_unknown *x = tbi_pgs_add_tangents(&pgs, problem, i, 1, 0);
    x[0].disk = true;
    x[0].upper = problem->point[i].friction;
  }
  return tbi_pgs_solve(&pgs, problem, def, def->cone.storage);
}

const tbi_formulation tbi_cone_paper = {
    .info = {.name = "cone-paper",
             .summary = "extended projected Gauss-Seidel, row by row, as published (P4)",
             .method = TABI_CONTACT_CONE,
             .published = TABI_NONE,
             .rebounds = true,
             .sweeps = true,
             .dense_storage = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .as_published = true,
    .sweeps_loops = true,
    .memsize = memsize,
    .solve = solve,
};
