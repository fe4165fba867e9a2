/* ltdl.c - M = L'DL without fill-in along the branches of the tree (Featherstone 2005), on the
 * rows of crba.c.  L is unit lower triangular and replaces the ancestors' part of each row; 1 / D
 * is kept in d->pivot. */
#include "dynamics/dynamics.h"

void tbi_ltdl_factor(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  for (int32_t k = model->nv - 1; k >= 0; --k) {
    double *row = d->row + model->dof_row[k];
    int32_t depth = model->dof_depth[k];
    double pivot = 1 / row[depth];
    d->pivot[k] = pivot;
    /* take k out of the rows of its ancestors */
    int32_t column = depth - 1;
    for (int32_t i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i], --column) {
      double *above = d->row + model->dof_row[i];
      double a = row[column] * pivot;
      for (int32_t j = 0; j <= column; ++j)
        above[j] -= a * row[j];
    }
    for (int32_t j = 0; j < depth; ++j)
      row[j] *= pivot;
  }
}

void tbi_ltdl_solve(const tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  /* x = L'^-1 x */
  for (int32_t k = model->nv - 1; k >= 0; --k) {
    const double *row = d->row + model->dof_row[k];
    int32_t column = model->dof_depth[k] - 1;
    for (int32_t i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i], --column) {
      x[i] -= row[column] * x[k];
    }
  }
  /* x = L^-1 D^-1 x */
  for (int32_t k = 0; k < model->nv; ++k) {
    const double *row = d->row + model->dof_row[k];
    int32_t column = model->dof_depth[k] - 1;
    double sum = x[k] * d->pivot[k];
    for (int32_t i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i], --column) {
      sum -= row[column] * x[i];
    }
    x[k] = sum;
  }
}

void tbi_forward_ltdl(tabi_dynamics *d, const double *tau, double *qdd) {
  tbi_rnea(d, NULL, d->rhs);
  for (int32_t i = 0; i < d->model->nv; ++i)
    qdd[i] = (tau ? tau[i] : 0) - d->rhs[i];
  tbi_crba(d);
  tbi_ltdl_factor(d);
  tbi_ltdl_solve(d, qdd);
}
