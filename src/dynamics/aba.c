/* aba.c - the articulated-body algorithm (Featherstone 1983) as a factor and a solve with it.
 *
 * The factor depends on the posture alone, so many right-hand sides can share it; velocities and
 * gravity enter as the bias of rnea.c on the right-hand side:  qdd = M^-1 (tau - bias).
 *
 *   factor, leaf to root:  U_k = IA S_k,  d_k = S_k . U_k + rotor,  IA -= U_k U_k' / d_k
 *                          IA_p += IA
 *   solve, leaf to root:   e_k = rhs_k - S_k . p,   p += U_k e_k / d_k,   p_p += p
 *          root to leaf:   x_k = (e_k - U_k . a) / d_k,   a += S_k x_k
 *
 * A joint with several velocities is a chain of joints with one each and nothing between. */
#include "dynamics/dynamics.h"

static void expand(const body_inertia *i, tbi_articulated *a) {
  double m = i->mass;
  v3 h = i->h;
  s3 j = i->moment;
  *a = (tbi_articulated){
      {{m, 0, 0, 0, h.z, -h.y},
       {0, m, 0, -h.z, 0, h.x},
       {0, 0, m, h.y, -h.x, 0},
       {0, -h.z, h.y, j.xx, j.xy, j.xz},
       {h.z, 0, -h.x, j.xy, j.yy, j.yz},
       {-h.y, h.x, 0, j.xz, j.yz, j.zz}}
  };
}

static void mul(const tbi_articulated *a, const sv *x, double out[8]) {
  const double s[6] = {x->lin.x, x->lin.y, x->lin.z, x->ang.x, x->ang.y, x->ang.z};
  for (int i = 0; i < 8; ++i)
    out[i] = a->column[0][i] * s[0];
  for (int j = 1; j < 6; ++j) {
    for (int i = 0; i < 8; ++i)
      out[i] += a->column[j][i] * s[j];
  }
}

/* a -= u u' / d */
static void downdate(tbi_articulated *a, const double u[8], double inverse) {
  for (int j = 0; j < 6; ++j) {
    double s = u[j] * inverse;
    for (int i = 0; i < 8; ++i)
      a->column[j][i] -= s * u[i];
  }
}

static void add(tbi_articulated *a, const tbi_articulated *b) {
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 8; ++i)
      a->column[j][i] += b->column[j][i];
  }
}

void tbi_aba_factor(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  for (int32_t i = 0; i < model->nbody; ++i)
    expand(&d->body[i].inertia, &d->articulated[i]);
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    tbi_articulated *own = &d->articulated[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      double u[8];
      mul(own, &d->axis[k], u);
      d->reach[k] = (sv){v3_load(u), v3_load(u + 3)};
      d->stiff[k] = 1 / (sv_dot(d->axis[k], d->reach[k]) + model->dof_rotor[k]);
      downdate(own, u, d->stiff[k]);
    }
    if (body->parent != TABI_WORLD) add(&d->articulated[body->parent], own);
  }
}

void tbi_aba_solve(tabi_dynamics *d, const double *rhs, double *x) {
  const tabi_model *model = d->model;
  for (int32_t i = 0; i < model->nbody; ++i)
    d->force[i] = sv_zero();
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    sv p = d->force[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      x[k] = (rhs[k] - sv_dot(d->axis[k], p)) * d->stiff[k];
      p = sv_axpy(p, x[k], d->reach[k]);
    }
    if (body->parent != TABI_WORLD) d->force[body->parent] = sv_add(d->force[body->parent], p);
  }
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    sv a = body->parent == TABI_WORLD ? sv_zero() : d->acc[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      x[k] -= sv_dot(d->reach[k], a) * d->stiff[k];
      a = sv_axpy(a, x[k], d->axis[k]);
    }
    d->acc[i] = a;
  }
}

void tbi_forward_aba(tabi_dynamics *d, const double *tau, double *qdd) {
  tbi_rnea(d, NULL, d->rhs);
  for (int32_t i = 0; i < d->model->nv; ++i)
    d->rhs[i] = (tau ? tau[i] : 0) - d->rhs[i];
  tbi_aba_factor(d);
  tbi_aba_solve(d, d->rhs, qdd);
}
