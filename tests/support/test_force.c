/* test_force.c - see test_force.h. */
#include "support/test_force.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

/* a link of the body; its points move as the body's do */
static int32_t link_of(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < model->nlink; ++i) {
    if (tabi_model_link_body(model, i) == body) return i;
  }
  fail_msg("body %d has no link", (int)body);
  return TABI_NONE;
}

static void add_body(const tabi_dynamics *d, int32_t body, const test_force *f, double sign,
                     double *row) {
  if (body == TABI_WORLD) return;
  size_t nv = (size_t)d->model->nv;
  double *jacobian = calloc(3 * nv, sizeof *jacobian);
  double point[3];
  v3_store(f->point, point);
  tabi_dynamics_point_jacobian(d, link_of(d->model, body), point, jacobian);
  for (size_t k = 0; k < nv; ++k) {
    v3 column = {jacobian[k], jacobian[nv + k], jacobian[2 * nv + k]};
    row[k] += sign * v3_dot(f->axis, column);
  }
  free(jacobian);
}

void test_force_jacobian(tabi_dynamics *d, const test_force *force, int32_t count, double *J) {
  size_t nv = (size_t)d->model->nv;
  memset(J, 0, sizeof *J * (size_t)count * nv);
  for (int32_t i = 0; i < count; ++i) {
    const test_force *f = &force[i];
    double *row = J + (size_t)i * nv;
    if (f->dof >= 0) {
      row[f->dof] = 1.0;
      if (f->leader != TABI_NONE) row[f->leader] -= f->slope;
    } else {
      add_body(d, f->b, f, 1.0, row);
      add_body(d, f->a, f, -1.0, row);
    }
  }
}

void test_force_matrix(tabi_dynamics *d, const test_force *force, int32_t count, double *A) {
  size_t nv = (size_t)d->model->nv;
  double *J = calloc((size_t)count * nv + 1, sizeof *J);
  double *x = calloc(nv + 1, sizeof *x);
  assert_non_null(J);
  assert_non_null(x);
  test_force_jacobian(d, force, count, J);
  tbi_crba(d, d->model->dof_rotor);
  tbi_ltdl_factor(d);
  for (int32_t j = 0; j < count; ++j) {
    memcpy(x, J + (size_t)j * nv, nv * sizeof *x);
    tbi_ltdl_solve(d, x);
    for (int32_t i = 0; i < count; ++i) {
      double sum = 0.0;
      for (size_t k = 0; k < nv; ++k)
        sum += J[(size_t)i * nv + k] * x[k];
      A[i * count + j] = sum;
    }
  }
  free(x);
  free(J);
}
