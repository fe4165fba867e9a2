/* half_solve.h - columns along one path of a tree, in the coordinates in which M is the unit
 * matrix.
 *
 * Y = D^-1/2 L^-T J' of a wrench f on a body is not zero only on the path from the body to the
 * root. Along it, as in aba.c, every joint takes its share: e_k = S_k . f,  f -= U_k e_k / d_k, Y_k
 * = e_k / sqrt d_k The number of a velocity is stored at its depth. */
#ifndef TBI_HALF_SOLVE_H
#define TBI_HALF_SOLVE_H

#include "dynamics/dynamics.h"

/* the last velocity on a body's path */
static inline int32_t tbi_last_dof(const tbi_body *body) { return body->v + body->nv - 1; }

/* Y of a wrench on the body that `dof` moves; TABI_NONE: the path is empty */
static inline void tbi_half_solve_wrench(const tabi_dynamics *d, const double *root, int32_t dof,
                                         sv f, double *y) {
  const tabi_model *model = d->model;
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k]) {
    double e = sv_dot(d->axis[k], f);
    f = sv_axpy(f, -d->D_inv[k] * e, d->U[k]);
    y[model->dof_depth[k]] = root[k] * e;
  }
}

/* Y of a unit force at a joint */
static inline void tbi_half_solve_joint(const tabi_dynamics *d, const double *root, int32_t dof,
                                        double *y) {
  y[d->model->dof_depth[dof]] = root[dof];
  tbi_half_solve_wrench(d, root, d->model->dof_parent[dof], sv_scale(-d->D_inv[dof], d->U[dof]), y);
}

/* Y of six unit wrenches at once: a twist for every velocity.  pass[i] has the i-th components of
 * what is left of the six. */
static inline void tbi_half_solve_twists(const tabi_dynamics *d, const double *root, int32_t dof,
                                         sv *y) {
  const tabi_model *model = d->model;
  sv pass[6] = {
      {v4_make(1, 0,         0), v4_zero()},
      {v4_make(0, 1,         0), v4_zero()},
      {v4_make(0, 0,         1), v4_zero()},
      {v4_zero(), v4_make(1, 0,  0)       },
      {v4_zero(), v4_make(0, 1,  0)       },
      {v4_zero(), v4_make(0, 0,  1)       }
  };
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k]) {
    sv e = sv_combine(pass, d->axis[k]);
    sv u = sv_scale(-d->D_inv[k], d->U[k]);
    y[model->dof_depth[k]] = sv_scale(root[k], e);
    pass[0] = sv_axpy(pass[0], v4_x(u.lin), e);
    pass[1] = sv_axpy(pass[1], v4_y(u.lin), e);
    pass[2] = sv_axpy(pass[2], v4_z(u.lin), e);
    pass[3] = sv_axpy(pass[3], v4_x(u.ang), e);
    pass[4] = sv_axpy(pass[4], v4_y(u.ang), e);
    pass[5] = sv_axpy(pass[5], v4_z(u.ang), e);
  }
}

#endif
