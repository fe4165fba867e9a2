/* half_solve.h - columns along one path of a tree, in the coordinates in which M is the unit
 * matrix.
 *
 * Y = D^-1/2 L^-T x is not zero only from a velocity to the root, where x is not. */
#ifndef TBI_HALF_SOLVE_H
#define TBI_HALF_SOLVE_H

#include "dynamics/dynamics.h"

/* the velocities on a path, padded to whole vectors */
static inline int32_t tbi_path_stride(const tabi_model *model, int32_t dof) {
  return (model->dof_depth[dof] + 4) / 4 * 4;
}

/* the last velocity on a body's path */
static inline int32_t tbi_last_dof(const tbi_body *body) { return body->v + body->nv - 1; }

/* to -= a * from over the first n numbers, and no further than a whole vector */
static inline void tbi_path_subtract(double *to, double a, const double *from, int32_t n) {
  for (int32_t j = 0; j < n; j += 4)
    v4_save(v4_axpy(v4_load(to + j), -a, v4_load(from + j)), to + j);
}

/* What has been finished is moved out of the way, to y, because the steps work on whole vectors and
 * spoil what lies behind. */
static inline void tbi_half_solve(const tabi_dynamics *d, const double *pivot_root, int32_t dof,
                                  double *x, double *y) {
  const tabi_model *model = d->model;
  int32_t depth = model->dof_depth[dof];
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k], --depth) {
    y[depth] = x[depth] * pivot_root[k];
    tbi_path_subtract(x, x[depth], d->row + model->dof_row[k], depth);
  }
}

/* Six columns at once, a twist for every velocity; in place. */
static inline void tbi_half_solve_twists(const tabi_dynamics *d, const double *pivot_root,
                                         int32_t dof, sv *y) {
  const tabi_model *model = d->model;
  int32_t depth = model->dof_depth[dof];
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k], --depth) {
    const double *row = d->row + model->dof_row[k];
    sv value = y[depth];
    if (pivot_root[k] == 0) { /* held: the row is zero */
      y[depth] = sv_zero();
      continue;
    }
    for (int32_t j = 0; j < depth; ++j)
      y[j] = sv_axpy(y[j], -row[j], value);
    y[depth] = sv_scale(pivot_root[k], value);
  }
}

#endif
