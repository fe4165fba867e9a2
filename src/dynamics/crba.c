/* crba.c - the mass matrix by the composite-rigid-body algorithm (Walker and Orin 1982).
 *
 * M_ij is zero unless one velocity is above the other in the tree, so row i holds only its
 * ancestors and itself.  They stand at the column of their depth, root first:
 *
 *     row of velocity i:  [ M_i,root ... M_i,parent(i)  M_ii | padding ]
 *                           depth 0 ...                depth(i)
 *
 * Along one path equal columns mean equal velocities, which is what makes ltdl.c free of indices.
 */
#include "dynamics/dynamics.h"

#include "base/assertion.h"

void tbi_compose(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  for (int32_t i = 0; i < model->nbody; ++i)
    d->composite[i] = d->body[i].inertia;
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    body_inertia *parent = &d->composite[model->body[i].parent];
    *parent = inertia_add(parent, &d->composite[i]);
  }
}

void tbi_crba(tabi_dynamics *d, const double *diagonal) {
  TBI_ASSERT(diagonal || d->model->nv == 0);
  const tabi_model *model = d->model;
  const sv *axis = d->axis;
  tbi_compose(d);
  /* leaves first, so that ltdl.c, which also starts there, does not wait for fresh stores */
  for (int32_t i = model->nv - 1; i >= 0; --i) {
    double *row = d->row + model->dof_row[i];
    const int32_t *path = model->dof_path + model->dof_row[i];
    int32_t depth = model->dof_depth[i];
    sv force = inertia_mulv(&d->composite[model->dof_body[i]], axis[i]);
    /* the padding takes part in ltdl.c: let it not grow from call to call */
    v4_save(v4_zero(), row + (depth & ~3));
    for (int32_t j = 0; j <= depth; ++j)
      row[j] = sv_dot(axis[path[j]], force);
    row[depth] += diagonal[i];
  }
}
