/* paper.c - the extended projected Gauss-Seidel method as published (Nakaoka et al., section 4.2).
 *
 *   repeat:  for contacts     f_z = max(0, f_z - (u_z - target) / k_zz)
 *            for joint rows   f = f - (u - target) / k, within the bounds
 *            for contacts     f_x, f_y = f - u / k each by its own row, then both
 *                             times mu f_z / |(f_x, f_y)| if they leave the cone       (20), (21)
 *
 * f_y sees f_x before it is scaled, which turns friction slightly with the order of the rows, and
 * scaling is not the exact answer of a slipping contact: cone.c mends both. */
#include "contact/paper.h"

#include "contact/pgs.h"

size_t tbi_paper_memsize(const tabi_model *model, const tabi_world_def *def) {
  return def->paper || def->dense ? tbi_pgs_memsize(model, def) : 0;
}

tbi_solution tbi_paper_solve(tbi_problem *problem, const tabi_world_def *def, void *scratch) {
  tbi_pgs pgs = tbi_pgs_make(problem, scratch);
  for (int32_t i = 0; i < problem->npoint; ++i) {
    tbi_unknown *x = tbi_pgs_add_tangents(&pgs, problem, i, 1, 0);
    x[0].disk = true;
    x[0].upper = problem->point[i].friction;
  }
  return tbi_pgs_solve(&pgs, problem, def);
}
