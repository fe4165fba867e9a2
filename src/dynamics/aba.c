/* aba.c - the articulated-body algorithm (Featherstone 1983) as a factor and solves with it.
 *
 * The factor depends on the posture alone, so many right-hand sides can share it; velocities and
 * gravity enter as the forces of rnea.c on the right-hand side:  qdd = M^-1 (tau - J' force).
 *
 *   factor, leaf to root:  U_k = IA S_k,  d_k = S_k . U_k + rotor,  IA -= U_k U_k' / d_k
 *                          IA_p += IA
 *   solve, leaf to root:   e_k = rhs_k + S_k . f,   f -= U_k e_k / d_k,   f_p += f
 *          root to leaf:   x_k = (e_k - U_k . a) / d_k,   a += S_k x_k
 *
 * This is M = L'DL without writing L out (Rodriguez, Jain and Kreutz-Delgado 1992): the way to the
 * root multiplies by L^-T, the way back by L^-1, and D holds the d_k; all of it linear in the
 * number of joints.
 *
 * A joint with several velocities is a chain of joints with one each and nothing between.  A
 * velocity that is held has an infinite d_k: it stays as it is, e_k is what it has to bear. */
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

/* take one velocity out: a - U U'/d; returns 1/d */
static double eliminate(tbi_articulated *a, sv s, sv u, double rotor) {
  double give = 1 / (sv_dot(s, u) + rotor);
  sv u_d = sv_scale(give, u);
  a->lin_lin = less_product(&a->lin_lin, u_d.lin, u.lin);
  a->ang_lin = less_product(&a->ang_lin, u_d.ang, u.lin);
  a->lin_ang = less_product(&a->lin_ang, u_d.lin, u.ang);
  a->ang_ang = less_product(&a->ang_ang, u_d.ang, u.ang);
  return give;
}

static sv force_of(const tbi_articulated *a, sv s) {
  return (sv){v4_add(m4_mulv(&a->lin_lin, s.lin), m4_mulv(&a->lin_ang, s.ang)),
              v4_add(m4_mulv(&a->ang_lin, s.lin), m4_mulv(&a->ang_ang, s.ang))};
}

static void add(tbi_articulated *a, const tbi_articulated *b) {
  a->lin_lin = m4_add(&a->lin_lin, &b->lin_lin);
  a->ang_lin = m4_add(&a->ang_lin, &b->ang_lin);
  a->lin_ang = m4_add(&a->lin_ang, &b->lin_ang);
  a->ang_ang = m4_add(&a->ang_ang, &b->ang_ang);
}

void tbi_aba_factor(tabi_dynamics *d, const double *diagonal, const bool *held) {
  const tabi_model *model = d->model;
  for (int32_t i = 0; i < model->nbody; ++i)
    d->articulated[i] = tbi_articulated_of(&d->body[i].inertia);
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    tbi_articulated own = d->articulated[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      sv u = force_of(&own, d->axis[k]);
      d->reach[k] = u;
      d->give[k] = held && held[k] ? 0 : eliminate(&own, d->axis[k], u, diagonal[k]);
    }
    if (body->parent != TABI_WORLD) add(&d->articulated[body->parent], &own);
  }
}

void tbi_aba_gather(tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    sv f = d->flow[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      x[k] += sv_dot(d->axis[k], f);
      f = sv_axpy(f, -d->give[k] * x[k], d->reach[k]);
    }
    d->flow[body->parent] = sv_add(d->flow[body->parent], f);
  }
}

void tbi_aba_solve_lower(tabi_dynamics *d, double *x) {
  const tabi_model *model = d->model;
  d->flow[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    sv a = d->flow[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      x[k] -= sv_dot(d->reach[k], a) * d->give[k];
      a = sv_axpy(a, x[k], d->axis[k]);
    }
    d->flow[i] = a;
  }
}

void tbi_aba_solve_flow(tabi_dynamics *d, double *x) {
  tbi_aba_gather(d, x);
  for (int32_t k = 0; k < d->model->nv; ++k)
    x[k] *= d->give[k];
  tbi_aba_solve_lower(d, x);
}

void tbi_aba_solve(tabi_dynamics *d, double *x) {
  for (int32_t i = 0; i < d->model->nbody; ++i)
    d->flow[i] = sv_zero();
  tbi_aba_solve_flow(d, x);
}

void tbi_forward_aba(tabi_dynamics *d, const double *tau, double *qdd) {
  const tabi_model *model = d->model;
  tbi_rnea_forces(d, v4_from(v3_load(model->gravity)), NULL);
  for (int32_t i = 0; i < model->nbody; ++i)
    d->flow[i] = sv_scale(-1, d->force[i]);
  for (int32_t k = 0; k < model->nv; ++k)
    qdd[k] = tau ? tau[k] : 0;
  tbi_aba_factor(d, model->dof_rotor, NULL);
  tbi_aba_solve_flow(d, qdd);
}
