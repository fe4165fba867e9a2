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

tbi_articulated tbi_articulated_of(const body_inertia *i) {
  double m = i->mass;
  double x = v4_x(i->h);
  double y = v4_y(i->h);
  double z = v4_z(i->h);
  return (tbi_articulated){
      .lin_lin = {v4_make(m, 0,  0),  v4_make(0,  m, 0),  v4_make(0,  0,  m)},
      .ang_lin = {v4_make(0, z,  -y), v4_make(-z, 0, x),  v4_make(y,  -x, 0)},
      .lin_ang = {v4_make(0, -z, y),  v4_make(z,  0, -x), v4_make(-y, x,  0)},
      .ang_ang = i->moment,
  };
}

/* a - u w' */
static m4 less_product(const m4 *a, v4 u, v4 w) {
  return (m4){v4_axpy(a->x, -v4_x(w), u), v4_axpy(a->y, -v4_y(w), u), v4_axpy(a->z, -v4_z(w), u)};
}

/* take one velocity out: U, 1/d, and a - U U'/d */
static void eliminate(tbi_articulated *a, sv s, double rotor, sv *reach, double *inverse) {
  sv u = {v4_add(m4_mulv(&a->lin_lin, s.lin), m4_mulv(&a->lin_ang, s.ang)),
          v4_add(m4_mulv(&a->ang_lin, s.lin), m4_mulv(&a->ang_ang, s.ang))};
  *reach = u;
  *inverse = 1 / (sv_dot(s, u) + rotor);
  sv u_d = sv_scale(*inverse, u);
  a->lin_lin = less_product(&a->lin_lin, u_d.lin, u.lin);
  a->ang_lin = less_product(&a->ang_lin, u_d.ang, u.lin);
  a->lin_ang = less_product(&a->lin_ang, u_d.lin, u.ang);
  a->ang_ang = less_product(&a->ang_ang, u_d.ang, u.ang);
}

static void add(tbi_articulated *a, const tbi_articulated *b) {
  a->lin_lin = m4_add(&a->lin_lin, &b->lin_lin);
  a->ang_lin = m4_add(&a->ang_lin, &b->ang_lin);
  a->lin_ang = m4_add(&a->lin_ang, &b->lin_ang);
  a->ang_ang = m4_add(&a->ang_ang, &b->ang_ang);
}

void tbi_aba_factor(tabi_dynamics *d) {
  const tabi_model *model = d->model;
  for (int32_t i = 0; i < model->nbody; ++i)
    d->articulated[i] = tbi_articulated_of(&d->body[i].inertia);
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    tbi_articulated *own = &d->articulated[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      eliminate(own, d->axis[k], model->dof_rotor[k], &d->reach[k], &d->stiff[k]);
    }
    add(&d->articulated[body->parent], own);
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
    d->force[body->parent] = sv_add(d->force[body->parent], p);
  }
  d->acc[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    sv a = d->acc[body->parent];
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
