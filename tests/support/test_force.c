/* test_force.c - see test_force.h.
 *
 * In changes only, so that no acceleration of the free motion has to be taken off: up from each
 * loaded body to the root, e_k = -S_k . p, p += U_k e_k / d_k; then down over all bodies,
 * x_k = (e_k - U_k . a) / d_k, a += S_k x_k; and every constraint reads its bodies. */
#include "support/test_force.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

/* a force on a body, felt by the velocities on its path to the root: x_k += e_k / d_k */
static void send_up(const tabi_dynamics *d, int32_t body, int32_t last, sv p, double *x) {
  const tabi_model *model = d->model;
  while (body != TABI_WORLD) {
    const tbi_body *b = &model->body[body];
    for (int32_t k = last >= 0 ? last : b->v + b->nv - 1; k >= b->v; --k) {
      double e = -sv_dot(d->axis[k], p) * d->stiff[k];
      x[k] += e;
      p = sv_axpy(p, e, d->reach[k]);
    }
    body = b->parent;
    last = -1;
  }
}

static void load_body(const tabi_dynamics *d, int32_t body, v3 point, v3 f, double *x) {
  if (body == TABI_WORLD) return;
  v4 arm = v4_from(v3_sub(point, tbi_tree_origin(d, body)));
  v4 force = v4_from(f);
  sv p = {v4_scale(-1, force), v4_scale(-1, v4_cross(arm, force))};
  send_up(d, body, -1, p, x);
}

/* a force on one velocity acts below its own elimination: it starts there */
static void load_dof(const tabi_dynamics *d, int32_t dof, double f, double *x) {
  const tabi_model *model = d->model;
  double e = f * d->stiff[dof];
  x[dof] += e;
  sv p = sv_scale(e, d->reach[dof]);
  int32_t body = model->dof_body[dof];
  if (dof > model->body[body].v) {
    send_up(d, body, dof - 1, p, x);
  } else {
    send_up(d, model->body[body].parent, -1, p, x);
  }
}

static void send_down(tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  d->acc[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *b = &model->body[i];
    sv a = d->acc[b->parent];
    for (int32_t k = b->v; k < b->v + b->nv; ++k) {
      x[k] -= sv_dot(d->reach[k], a) * d->stiff[k];
      a = sv_axpy(a, x[k], d->axis[k]);
    }
    d->acc[i] = a;
  }
}

static double read_body(const tabi_dynamics *d, int32_t body, const test_force *f) {
  if (body == TABI_WORLD) return 0.0;
  v4 arm = v4_from(v3_sub(f->point, tbi_tree_origin(d, body)));
  return v4_dot(v4_from(f->axis), sv_at(d->acc[body], arm));
}

static double read_force(const tabi_dynamics *d, const test_force *f, const double *x) {
  if (f->dof < 0) return read_body(d, f->b, f) - read_body(d, f->a, f);
  return x[f->dof] - (f->leader == TABI_NONE ? 0.0 : f->slope * x[f->leader]);
}

void test_force_matrix(tabi_dynamics *d, const test_force *force, int32_t count, double *A) {
  size_t nv = (size_t)d->model->nv;
  double *x = calloc(nv + 1, sizeof *x);
  assert_non_null(x);
  tbi_aba_factor(d);
  for (int32_t j = 0; j < count; ++j) {
    const test_force *f = &force[j];
    memset(x, 0, nv * sizeof *x);
    if (f->dof >= 0) {
      load_dof(d, f->dof, 1.0, x);
      if (f->leader != TABI_NONE) load_dof(d, f->leader, -f->slope, x);
    } else {
      load_body(d, f->b, f->point, f->axis, x);
      load_body(d, f->a, f->point, v3_neg(f->axis), x);
    }
    send_down(d, x);
    for (int32_t i = 0; i < count; ++i)
      A[i * count + j] = read_force(d, &force[i], x);
  }
  free(x);
}

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
