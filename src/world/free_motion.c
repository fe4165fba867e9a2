/* free_motion.c - the impulses of all forces but constraints, and the motion under them. */
#include "base/assertion.h"
#include "world/active_set/active_set.h"

#define GYRO_STEPS 8

/* The couple that makes the gyroscopic moment of a lone free body implicit.  Explicit, it feeds
 * energy in; w' of  I (w' - w) + h w' x I w' = 0  (about the centre, by Newton) never does. */
static v3 gyro_couple(s3 i, v3 w, double h) {
  v3 next = w;
  for (int step = 0; step < GYRO_STEPS; ++step) {
    v3 l = s3_mulv(i, next);
    v3 f = v3_axpy(s3_mulv(i, v3_sub(next, w)), h, v3_cross(next, l));
    if (v3_norm(f) <= 1e-15 * v3_norm(l)) break;
    /* derivative: I + h ([w'] I - [I w']), column by column */
    v3 column[3];
    const v3 unit[3] = {
        {1, 0, 0},
        {0, 1, 0},
        {0, 0, 1}
    };
    for (int k = 0; k < 3; ++k) {
      v3 ik = s3_mulv(i, unit[k]);
      column[k] = v3_axpy(ik, h, v3_add(v3_cross(next, ik), v3_cross(unit[k], l)));
    }
    next = v3_sub(next, v3_solve(column, f));
  }
  return v3_sub(v3_cross(w, s3_mulv(i, w)), v3_cross(next, s3_mulv(i, next)));
}

/* whether a body is a free tree of its own */
static bool is_lone(const tabi_model *model, int32_t i) {
  const tbi_body *body = &model->body[i];
  if (body->type != TABI_JOINT_FREE || body->parent != TABI_WORLD) return false;
  return i + 1 == model->nbody || model->body[i + 1].tree != body->tree;
}

/* external wrenches, explicit springs and implicit gyroscopic couples, with the sign of rnea.c:
 * what a body needs from its joint */
static void apply_wrenches(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  for (int32_t i = 0; w->state.head->external && i < model->nbody; ++i) {
    d->force[i] = sv_sub(d->force[i], w->state.external[i]);
  }
  tbi_world_pull_springs(w);
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (w->def.integrator != TABI_SEMI_IMPLICIT || !is_lone(model, i)) continue;
    m3 rot = m4_to(&d->body[i].rot);
    s3 moment = s3_rotate(&rot, model->body[i].inertia);
    v3 couple = gyro_couple(moment, v4_to(d->body[i].vel.ang), w->def.timestep);
    d->force[i].ang = v4_sub(d->force[i].ang, v4_from(couple));
  }
}

void tbi_world_free_velocity(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->free.v_free[k] = w->free.z[k] * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, w->free.v_free);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->free.v_free[k] += w->state.v[k];
}

void tbi_world_impulse(tabi_world *w) {
  double h = w->def.timestep;
  tbi_rnea_forces(w->d, v4_from(v3_load(w->def.gravity)), NULL);
  apply_wrenches(w);
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->forces.body_impulse[i] = sv_scale(-h, w->d->force[i]);
  tbi_world_add_jumps(w, 1, w->forces.body_impulse);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->forces.joint_impulse[k] = h * (w->forces.passive[k] + w->forces.drive[k]);
}

void tbi_world_free_motion(tabi_world *w) {
  TBI_ASSERT(w->d->model == w->model);
  tabi_dynamics *d = w->d;
  tbi_aba_factor(d, w->forces.diagonal, w->active_set.stuck);
  for (int32_t i = 0; i < w->model->nbody; ++i)
    d->flow[i] = w->forces.body_impulse[i];
  if (w->active_set.stops) tbi_stop_stuck_joints(w);
  tbi_aba_gather(d, w->free.u);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    double root = sqrt(d->D_inv[k]);
    w->setup.pivot_root[k] = root;
    w->free.z[k] = w->free.u[k] * root;
  }
}
