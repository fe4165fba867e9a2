/* rnea.c - inverse dynamics by the recursive Newton-Euler algorithm (Luh, Walker, Paul 1980; in
 * spatial form Featherstone 2008, section 5.3).
 *
 *   out:  a_i = a_p + drift_i + S_i qdd_i,   f_i = I_i a_i + v_i x* I_i v_i,   a_world = -gravity
 *   in:   tau_i = S_i . f_i (+ rotor),       f_p += f_i
 */
#include "dynamics/twist.h"

static inline sv force_on(const body_inertia *inertia, sv vel, sv acc) {
  sv momentum = inertia_mulv(inertia, vel);
  return sv_add(inertia_mulv(inertia, acc), sv_cross_force(vel, momentum));
}

static inline void force_bodies(tabi_dynamics *d, tabi_range bodies, const double *qdd) {
  const tabi_model *model = d->model;
  for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i) {
    const tbi_body *body = &model->body[i];
    const tbi_body_state *state = &d->body[i];
    sv a = sv_add(d->acc[body->parent], state->drift);
    if (qdd) {
      for (int32_t k = body->v; k < body->v + body->nv; ++k)
        a = sv_axpy(a, qdd[k], d->axis[k]);
    }
    d->acc[i] = a;
    d->force[i] = force_on(&state->inertia, state->vel, a);
  }
}

void tbi_rnea_forces(tabi_dynamics *d, v4 gravity, const double *qdd) {
  d->acc[TABI_WORLD] = (sv){v4_scale(-1, gravity), v4_zero()};
  for (int32_t r = 0; r < d->nbusy; ++r)
    force_bodies(d, d->busy[r], qdd);
}

void tbi_bias_accelerations(tabi_dynamics *d, v4 gravity) {
  d->acc[TABI_WORLD] = (sv){v4_scale(-1, gravity), v4_zero()};
  for (int32_t i = 0; i < d->model->nbody; ++i)
    d->acc[i] = sv_add(d->acc[d->model->body[i].parent], d->body[i].drift);
}

void tbi_rnea_forces_at(tabi_dynamics *d, v4 gravity, const double *v) {
  const tabi_model *model = d->model;
  d->acc[TABI_WORLD] = (sv){v4_scale(-1, gravity), v4_zero()};
  d->flow[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    int32_t parent = model->body[i].parent;
    sv drift;
    tbi_body_twist(d, i, v, &d->flow[parent], &d->flow[i], &drift);
    d->acc[i] = sv_add(d->acc[parent], drift);
    d->force[i] = force_on(&d->body[i].inertia, d->flow[i], d->acc[i]);
  }
}

void tbi_gather(tabi_dynamics *d, double *tau) {
  const tabi_model *model = d->model;
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    const tbi_body *body = &model->body[i];
    sv force = d->force[i];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      tau[k] = sv_dot(d->axis[k], force);
    d->force[body->parent] = sv_add(d->force[body->parent], force);
  }
}

void tbi_rnea(tabi_dynamics *d, const double *qdd, double *tau) {
  tbi_rnea_forces(d, v4_from(v3_load(d->model->gravity)), qdd);
  tbi_gather(d, tau);
  if (!qdd) return;
  for (int32_t k = 0; k < d->model->nv; ++k)
    tau[k] += d->model->dof_rotor[k] * qdd[k];
}
