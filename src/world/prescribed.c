/* prescribed.c - joints that move as told, whatever pushes: turntables, lifts, belts.
 *
 * Their velocity at the end of the step is known, so they are taken out of M: D is infinite
 * (aba.c), and their ports answer no impulse.  The step takes them as if they had that velocity
 * from its start on, so that contacts, loop constraints and every integrator see it without
 * knowing; what the jump P of their velocity does to the joints that hang from them is the impulse
 * -M P, body by body  -I (sum of S_k P_k).
 *
 * A joint that moves in place keeps its position: the surface of a belt moves, its shape does not.
 *
 * The impulse that such a motion takes is found afterwards by inverse dynamics; along the velocity
 * it is work of an actuator. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/world.h"

#include <string.h>

static bool is_speed(double v) { return fabs(v) <= TBI_MAX_SPEED; }

void tabi_world_set_motion(tabi_world *world, int32_t joint, const tabi_motion *motion) {
  TBI_ASSERT(world && joint >= 0 && joint < world->model->njoint);
  TBI_ASSERT(!motion || !tbi_world_has_gait(world));
  tabi_range dofs = tabi_model_joint_v(world->model, joint);
  for (int32_t i = 0; i < dofs.count; ++i) {
    int32_t k = dofs.first + i;
    world->state.told[k] = motion != NULL;
    world->state.in_place[k] = motion && motion->in_place;
    world->state.told_v[k] = motion ? motion->v[i] : 0;
  }
  bool any = false;
  for (int32_t k = 0; k < world->model->nv; ++k)
    any = any || world->state.told[k];
  world->state.head->prescribes = any;
}

/* Told velocities and those before the step change places; whether any of them differ. */
static bool swap_velocities(tabi_world *w) {
  bool differ = false;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (!w->state.told[k]) continue;
    double v = w->state.v[k];
    differ = differ || v != w->state.told_v[k];
    w->state.v[k] = w->state.told_v[k];
    w->state.told_v[k] = v;
  }
  return differ;
}

tabi_status tbi_world_prescribe(tabi_world *w) {
  w->prescribed.work = 0;
  if (!w->state.head->prescribes) return TABI_OK;
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (is_speed(w->state.told_v[k])) continue;
    const tabi_joint_def *joint = &model->joint[model->body[model->dof_body[k]].joint];
    return tbi_error_set(
        &w->error, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
        "step %lld: motion of joint '%s': %g is no velocity; the state is unchanged",
        (long long)w->state.head->steps, joint->name ? joint->name : "(unnamed)",
        w->state.told_v[k]);
  }
  w->prescribed.jumps = swap_velocities(w);
  if (w->prescribed.jumps) w->current = false;
  return TABI_OK;
}

void tbi_world_end_prescription(tabi_world *w) {
  if (w->state.head->prescribes) (void)swap_velocities(w);
}

/* of the velocity that a told joint gets in this step, between the two calls above */
static double jump_of(const tabi_world *w, int32_t dof) {
  return w->state.told[dof] ? w->state.v[dof] - w->state.told_v[dof] : 0;
}

void tbi_world_add_jumps(tabi_world *w, double share, sv *impulse) {
  if (!w->state.head->prescribes || !w->prescribed.jumps) return;
  sv *twist = w->d->flow; /* of the jumps; free until the factor is used */
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      twist[i] = sv_axpy(twist[i], jump_of(w, k), w->d->axis[k]);
    impulse[i] = sv_axpy(impulse[i], -share, inertia_mulv(&w->d->body[i].inertia, twist[i]));
  }
}

/* whether no impulse moves a body */
static bool is_told(const tabi_world *w, int32_t body) {
  if (body == TABI_WORLD) return true;
  const tbi_body *b = &w->model->body[body];
  for (int32_t k = b->v + b->nv - 1; k >= 0; k = w->model->dof_parent[k]) {
    if (!w->state.told[k]) return false;
  }
  return true;
}

int32_t tbi_world_drop_told_pairs(const tabi_world *w, tbi_candidate *list, int32_t count) {
  if (!w->state.head->prescribes) return count;
  int32_t kept = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (is_told(w, w->constants.shape_body[list[i].shape_a]) &&
        is_told(w, w->constants.shape_body[list[i].shape_b]))
      continue;
    list[kept++] = list[i];
  }
  return kept;
}

void tbi_world_keep_in_place(tabi_world *w) {
  if (!w->state.head->prescribes) return;
  for (int32_t i = 0; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    if (!w->state.in_place[body->v]) continue;
    size_t nq = (size_t)tbi_joint_nq(body->type);
    memcpy(w->solution.q_new + body->q, w->state.q + body->q, nq * sizeof *w->state.q);
    memset(w->solution.v_move + body->v, 0, (size_t)body->nv * sizeof *w->solution.v_move);
  }
}

/* -- work */

/* the impulse that each body needs from its joint, into d->force, contacts and loops apart */
static void find_needs(tabi_world *w) {
  tabi_dynamics *d = w->d;
  sv *twist = d->flow; /* change of it */
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      twist[i] = sv_axpy(twist[i], w->solution.v_new[k] - w->state.v[k], d->axis[k]);
    d->force[i] = sv_sub(inertia_mulv(&d->body[i].inertia, twist[i]), w->forces.body_impulse[i]);
  }
}

static void subtract_constraints(tabi_world *w, double *at_joints) {
  sv *need = w->d->force;
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->nport; ++i)
    need[p->port[i].body] = sv_sub(need[p->port[i].body], p->received[i]);
  tbi_loops_push(&w->setup.loops, -1, need, at_joints);
}

/* J, twice the kinetic energy of the jumps alone, P' M P */
static double energy_of_jumps(tabi_world *w) {
  sv *twist = w->d->flow;
  double energy = 0;
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      double jump = jump_of(w, k);
      twist[i] = sv_axpy(twist[i], jump, w->d->axis[k]);
      energy += w->model->dof_rotor[k] * jump * jump;
    }
    energy += sv_dot(twist[i], inertia_mulv(&w->d->body[i].inertia, twist[i]));
  }
  return energy;
}

void tbi_world_prescribed_work(tabi_world *w) {
  if (!w->state.head->prescribes) return;
  const tabi_model *model = w->model;
  double *impulse = w->scratch.dofs;
  double *apart = w->free.u; /* what acts at joints, not on bodies; the free motion is done with */
  for (int32_t k = 0; k < model->nv; ++k)
    apart[k] = model->dof_rotor[k] * jump_of(w, k) - w->forces.joint_impulse[k];
  find_needs(w);
  subtract_constraints(w, apart);
  tbi_gather(w->d, impulse);
  double work = 0;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (w->state.told[k]) work += (impulse[k] + apart[k]) * w->state.v[k];
  }
  /* the jump itself begins at the old velocity */
  w->prescribed.work = work - (w->prescribed.jumps ? 0.5 * energy_of_jumps(w) : 0);
}
