/* aba.c - the articulated-body algorithm (Featherstone 1983) as a factor and solves with it.
 *
 * The factor depends on the posture alone, so many right-hand sides can share it; velocities and
 * gravity enter as the forces of rnea.c on the right-hand side:  qdd = M^-1 (tau - J' force).
 *
 *   factor, leaf to root:  U_k = IA S_k,  D_k = S_k . U_k + rotor,  IA -= U_k U_k' / D_k
 *                          IA_p += IA
 *   solve, leaf to root:   e_k = rhs_k + S_k . f,   f -= U_k e_k / D_k,   f_p += f
 *          root to leaf:   x_k = (e_k - U_k . a) / D_k,   a += S_k x_k
 *
 * This is M = L'DL without writing L out (Rodriguez, Jain and Kreutz-Delgado 1992): the pass to the
 * root multiplies by L^-T, the pass back by L^-1, and D holds the D_k; all of it linear in the
 * number of joints.
 *
 * A joint with several velocities is a chain of joints with one each and nothing between.  A
 * velocity that is stuck has an infinite D_k: it stays as it is, e_k is what it has to bear. */
#include "dynamics/dynamics.h"

#include "base/assertion.h"

void tbi_articulate(const body_inertia *i, tbi_articulated *to) {
  double m = i->mass;
  double x = v4_x(i->h);
  double y = v4_y(i->h);
  double z = v4_z(i->h);
  to->lin_lin = (m4){v4_make(m, 0, 0), v4_make(0, m, 0), v4_make(0, 0, m)};
  to->ang_lin = (m4){v4_make(0, z, -y), v4_make(-z, 0, x), v4_make(y, -x, 0)};
  to->lin_ang = (m4){v4_make(0, -z, y), v4_make(z, 0, -x), v4_make(-y, x, 0)};
  to->ang_ang = i->moment;
}

/* take one velocity out: a - U U' / D */
static inline void eliminate(tbi_articulated *a, sv U, double D_inv) {
  sv UD = sv_scale(D_inv, U);
  a->lin_lin = m4_less_product(&a->lin_lin, UD.lin, U.lin);
  a->ang_lin = m4_less_product(&a->ang_lin, UD.ang, U.lin);
  a->lin_ang = m4_less_product(&a->lin_ang, UD.lin, U.ang);
  a->ang_ang = m4_less_product(&a->ang_ang, UD.ang, U.ang);
}

static m4 plus_less_product(const m4 *to, const m4 *a, v4 u, v4 w) {
  m4 more = m4_less_product(a, u, w);
  return m4_add(to, &more);
}

/* the same for the last velocity of a joint, and what is left goes to the parent */
static inline void add_to_parent(const tbi_articulated *a, sv U, double D_inv,
                                 tbi_articulated *to) {
  sv UD = sv_scale(D_inv, U);
  to->lin_lin = plus_less_product(&to->lin_lin, &a->lin_lin, UD.lin, U.lin);
  to->ang_lin = plus_less_product(&to->ang_lin, &a->ang_lin, UD.ang, U.lin);
  to->lin_ang = plus_less_product(&to->lin_ang, &a->lin_ang, UD.lin, U.ang);
  to->ang_ang = plus_less_product(&to->ang_ang, &a->ang_ang, UD.ang, U.ang);
}

static sv force_of(const tbi_articulated *a, sv s) {
  return (sv){v4_add(m4_mulv(&a->lin_lin, s.lin), m4_mulv(&a->lin_ang, s.ang)),
              v4_add(m4_mulv(&a->ang_lin, s.lin), m4_mulv(&a->ang_ang, s.ang))};
}

/* Whether a lone body's motion and turn do not feel each other: its joint and its centre of mass
 * are in the tree's origin. */
static bool is_decoupled(const tabi_dynamics *d, int32_t i) {
  const tbi_body_state *body = &d->body[i];
  v4 off = v4_add(v4_abs(body->pos), v4_abs(body->inertia.h));
  return tbi_is_lone(d->model, i) && v4_all_le(off, v4_zero());
}

/* its three translations or turns: the numbers are those of the six together, without their zeros
 */
static inline void factor_half(tabi_dynamics *d, int32_t first, m4 inertia, bool turns,
                               const double *diagonal, const bool *stuck) {
  for (int32_t k = first + 2; k >= first; --k) {
    v4 axis = turns ? d->axis[k].ang : d->axis[k].lin;
    v4 u = m4_mulv(&inertia, axis);
    double D_inv = stuck && stuck[k] ? 0 : 1 / (v4_dot(axis, u) + diagonal[k]);
    d->U[k] = turns ? (sv){v4_zero(), u} : (sv){u, v4_zero()};
    d->D_inv[k] = D_inv;
    inertia = m4_less_product(&inertia, v4_scale(D_inv, u), u);
  }
}

static inline void factor_decoupled(tabi_dynamics *d, int32_t i, const double *diagonal,
                                    const bool *stuck) {
  int32_t first = d->model->body[i].v;
  double m = d->body[i].inertia.mass;
  m4 mass = {v4_make(m, 0, 0), v4_make(0, m, 0), v4_make(0, 0, m)};
  factor_half(d, first + 3, d->body[i].inertia.moment, true, diagonal, stuck);
  factor_half(d, first, mass, false, diagonal, stuck);
}

static inline void factor_bodies(tabi_dynamics *d, tabi_range bodies, const double *diagonal,
                                 const bool *stuck) {
  const tabi_model *model = d->model;
  int32_t end = bodies.first + bodies.count;
  for (int32_t i = bodies.first; i < end; ++i)
    if (!is_decoupled(d, i)) tbi_articulate(&d->body[i].inertia, &d->articulated[i]);
  for (int32_t i = end - 1; i >= bodies.first; --i) {
    const tbi_body *body = &model->body[i];
    tbi_articulated *own = &d->articulated[i];
    if (is_decoupled(d, i)) {
      factor_decoupled(d, i, diagonal, stuck);
      continue;
    }
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      sv U = force_of(own, d->axis[k]);
      double D_inv = stuck && stuck[k] ? 0 : 1 / (sv_dot(d->axis[k], U) + diagonal[k]);
      /* negative or infinite only where masses differ by more digits than a double has; steps check
       */
      d->U[k] = U;
      d->D_inv[k] = D_inv;
      if (k > body->v) {
        eliminate(own, U, D_inv);
      } else if (body->parent != TABI_WORLD) {
        add_to_parent(own, U, D_inv, &d->articulated[body->parent]);
      }
    }
  }
}

void tbi_aba_factor(tabi_dynamics *d, const double *diagonal, const bool *stuck) {
  TBI_ASSERT(diagonal || d->model->nv == 0);
  for (int32_t r = 0; r < d->nbusy; ++r)
    factor_bodies(d, d->busy[r], diagonal, stuck);
}

static inline void gather_bodies(tabi_dynamics *d, tabi_range bodies, double *x) {
  const tabi_model *model = d->model;
  for (int32_t i = bodies.first + bodies.count - 1; i >= bodies.first; --i) {
    const tbi_body *body = &model->body[i];
    sv f = d->flow[i];
    for (int32_t k = body->v + body->nv - 1; k >= body->v; --k) {
      x[k] += sv_dot(d->axis[k], f);
      f = sv_axpy(f, -d->D_inv[k] * x[k], d->U[k]);
    }
    d->flow[body->parent] = sv_add(d->flow[body->parent], f);
  }
}

void tbi_aba_gather(tabi_dynamics *d, double *x) {
  for (int32_t r = 0; r < d->nbusy; ++r)
    gather_bodies(d, d->busy[r], x);
}

static inline void solve_bodies(tabi_dynamics *d, tabi_range bodies, double *x) {
  const tabi_model *model = d->model;
  for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i) {
    const tbi_body *body = &model->body[i];
    sv a = d->flow[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      x[k] -= sv_dot(d->U[k], a) * d->D_inv[k];
      a = sv_axpy(a, x[k], d->axis[k]);
    }
    d->flow[i] = a;
  }
}

void tbi_aba_solve_lower(tabi_dynamics *d, double *x) {
  d->flow[TABI_WORLD] = sv_zero();
  for (int32_t r = 0; r < d->nbusy; ++r)
    solve_bodies(d, d->busy[r], x);
}

void tbi_aba_solve_flow(tabi_dynamics *d, double *x) {
  tbi_aba_gather(d, x);
  for (int32_t k = 0; k < d->model->nv; ++k)
    x[k] *= d->D_inv[k];
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
