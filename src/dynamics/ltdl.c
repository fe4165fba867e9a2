/* ltdl.c - M = L'DL without fill-in along the branches of the tree (Featherstone 2005), on the
 * rows of crba.c.  L is unit lower triangular and replaces the ancestors' part of each row; 1 / D
 * is kept in d->pivot. */
#include "dynamics/dynamics.h"

#include "base/assertion.h"

/* to -= a * from over n entries and on to the end of the last group of four: rows are padded, and
 * a fixed count of four makes vector code without loose ends */
static inline void subtract(double *restrict to, double a, const double *restrict from, int32_t n) {
  for (int32_t j = 0; j < n; j += 4) {
    v4_save(v4_axpy(v4_load(to + j), -a, v4_load(from + j)), to + j);
  }
}

void tbi_ltdl_factor(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  /* copies, because the compiler must expect the stores below to change what d points to */
  const int64_t *start = model->dof_row;
  double *rows = d->row;
  for (int32_t k = model->nv - 1; k >= 0; --k) {
    double *row = rows + start[k];
    const int32_t *path = model->dof_path + start[k];
    int32_t depth = model->dof_depth[k];
    double pivot = 1 / row[depth];
    TBI_CHECK_SLOW(path[depth] == k);
    d->pivot[k] = pivot;
    /* take k out of the rows of its ancestors */
    for (int32_t j = depth - 1; j >= 0; --j) {
      subtract(rows + start[path[j]], row[j] * pivot, row, j + 1);
    }
    for (int32_t j = 0; j < depth; j += 4)
      v4_save(v4_scale(pivot, v4_load(row + j)), row + j);
  }
}

static void solve_transposed(const tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  for (int32_t k = model->nv - 1; k >= 0; --k) {
    const double *row = d->row + model->dof_row[k];
    const int32_t *path = model->dof_path + model->dof_row[k];
    double value = x[k];
    for (int32_t j = 0; j < model->dof_depth[k]; ++j)
      x[path[j]] -= row[j] * value;
  }
}

static void solve_lower(const tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  for (int32_t k = 0; k < model->nv; ++k) {
    int64_t start = model->dof_row[k];
    x[k] -= tbi_path_dot(model->dof_path + start, d->row + start, model->dof_depth[k], x);
  }
}

void tbi_ltdl_solve(const tabi_dynamics *d, double *x) {
  solve_transposed(d, x);
  for (int32_t k = 0; k < d->model->nv; ++k)
    x[k] *= d->pivot[k];
  solve_lower(d, x);
}

void tbi_forward_ltdl(tabi_dynamics *d, const double *tau, double *qdd) {
  tbi_rnea(d, NULL, d->rhs);
  for (int32_t i = 0; i < d->model->nv; ++i)
    qdd[i] = (tau ? tau[i] : 0) - d->rhs[i];
  tbi_crba(d, d->model->dof_rotor);
  tbi_ltdl_factor(d);
  tbi_ltdl_solve(d, qdd);
}
