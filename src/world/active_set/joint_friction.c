/* joint_friction.c - dry friction of joints without rows, predicted and verified.
 *
 * From step to step most joints go on as they were: those that stuck stick, those that slipped
 * slip.  A joint that is predicted to stick is taken out of M; one that is predicted to slip feels
 * a known impulse.  Neither is an unknown then.  When all else is solved for, the prediction is
 * verified: a joint that sticks needs an impulse within its bounds, one that slips must not have
 * turned round.  Joints that fail get rows, and the step is solved again. */
#include "base/assertion.h"
#include "problem/half_solve.h"
#include "world/active_set/active_set.h"

#include <math.h>
#include <string.h>

/* Joints are predicted where that is likely to be right: a wrong prediction costs a solution. */
enum {
  MAX_ATTEMPTS = 3, /* after which all joints with friction get rows */
  ROW_STEPS = 16,   /* for which a joint keeps its row after a prediction has failed */
};
#define FIRM 0.98 /* share of its bound up to which a joint is predicted to stick on */
#define SLOW 1e-4 /* m/s or rad/s: what slips slower may stop */

static double bound_of(const tabi_world *w, int32_t dof) {
  return w->model->dof_friction[dof] * w->def.timestep;
}

/* Whether no limit pushes the joint, so that it may stay where it is. */
static bool may_stay(const tabi_world *w, int32_t dof) {
  double q = w->state.q[w->model->dof_q[dof]];
  double beyond = tbi_max(w->model->dof_lower[dof] - q, q - w->model->dof_upper[dof]);
  return w->def.correction * beyond <= w->def.tolerance * w->def.timestep &&
         w->state.row_impulse[tbi_row_id(dof, TBI_ROW_LOWER)] == 0 &&
         w->state.row_impulse[tbi_row_id(dof, TBI_ROW_UPPER)] == 0;
}

static tbi_joint_friction predict(const tabi_world *w, int32_t dof) {
  double bound = bound_of(w, dof);
  double last = w->state.row_impulse[tbi_row_id(dof, TBI_ROW_FRICTION)];
  double v = w->state.v[dof];
  if (w->state.row_steps[dof] > 0) return TBI_FRICTION_ROW;
  if (fabs(v) <= w->def.tolerance) {
    return fabs(last) < FIRM * bound && may_stay(w, dof) ? TBI_FRICTION_STICKS : TBI_FRICTION_ROW;
  }
  return fabs(last) == bound && last * v < 0 && fabs(v) > SLOW ? TBI_FRICTION_SLIPS
                                                               : TBI_FRICTION_ROW;
}

/* Joints that loop constraints act on would leave these too few degrees of freedom if they stuck.
 * Forces that rk4 holds over the step take back what loops miss, by joints that are not stuck. */
static bool is_predictable(const tabi_world *w, int32_t dof) {
  if (w->constants.nloop > 0 && (w->constants.looped[dof] || tbi_world_is_explicit(w)))
    return false;
  return w->method->predicts_joints;
}

void tbi_predict_joint_friction(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    w->active_set.friction[k] = TBI_FRICTION_NONE;
    if (w->model->dof_q[k] == TABI_NONE || w->model->dof_friction[k] <= 0 || w->state.told[k])
      continue;
    w->active_set.friction[k] = (uint8_t)(is_predictable(w, k) ? predict(w, k) : TBI_FRICTION_ROW);
  }
}

void tbi_apply_joint_friction(tabi_world *w) {
  w->active_set.stops = false;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    bool sticks = w->active_set.friction[k] == TBI_FRICTION_STICKS;
    w->active_set.stuck[k] = sticks || w->state.told[k] || tbi_dof_sleeps(w, k);
    if (sticks && w->state.v[k] != 0) w->active_set.stops = true;
    w->active_set.friction_impulse[k] = 0;
    if (w->active_set.friction[k] == TBI_FRICTION_SLIPS)
      w->active_set.friction_impulse[k] = copysign(bound_of(w, k), -w->state.v[k]);
    w->free.u[k] = w->forces.joint_impulse[k] + w->active_set.friction_impulse[k];
  }
}

void tbi_stop_stuck_joints(tabi_world *w) {
  const tabi_model *model = w->model;
  sv *twist = w->d->force; /* forces.body_impulse has what was in it */
  twist[TABI_WORLD] = sv_zero();
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    twist[i] = twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      if (w->active_set.friction[k] == TBI_FRICTION_STICKS)
        twist[i] = sv_axpy(twist[i], w->state.v[k], w->d->axis[k]);
    w->d->flow[i] = sv_add(w->d->flow[i], inertia_mulv(&w->d->body[i].inertia, twist[i]));
  }
}

/* the stuck joint nearest to the root on the path of a velocity, or TABI_NONE */
static int32_t last_stuck(const tabi_world *w, int32_t dof) {
  int32_t last = TABI_NONE;
  for (int32_t k = dof; k >= 0; k = w->model->dof_parent[k])
    if (w->active_set.stuck[k]) last = k;
  return last;
}

/* The reaction pass: a wrench on the body that `dof` moves, handed on towards the root as
 * elimination does it, loads every stuck joint on its path. */
static void add_load(const tabi_world *w, int32_t dof, sv wrench, double *load) {
  const tabi_dynamics *d = w->d;
  int32_t last = last_stuck(w, dof);
  for (int32_t k = dof; last != TABI_NONE && k >= last; k = w->model->dof_parent[k]) {
    double e = sv_dot(d->axis[k], wrench);
    load[k] += e;
    wrench = sv_axpy(wrench, -d->D_inv[k] * e, d->U[k]);
  }
}

/* the same for an impulse at a joint that is not stuck */
static void add_joint_load(const tabi_world *w, int32_t dof, double impulse, double *load) {
  const tabi_dynamics *d = w->d;
  add_load(w, w->model->dof_parent[dof], sv_scale(-d->D_inv[dof] * impulse, d->U[dof]), load);
}

static void add_body_load(const tabi_world *w, int32_t body, sv wrench, double *load) {
  if (body != TABI_WORLD) add_load(w, tbi_last_dof(&w->model->body[body]), wrench, load);
}

static void add_tendon_load(const tabi_world *w, const tbi_arms *arms, double impulse,
                            double *load) {
  for (int32_t i = 0; i < arms->count; ++i)
    add_joint_load(w, arms->dof[i], arms->share * arms->arm[i] * impulse, load);
}

static void add_loop_load(const tabi_world *w, const tbi_loop *loop, double *load) {
  if (loop->dof != TABI_NONE) add_joint_load(w, loop->dof, loop->impulse, load);
  if (loop->leader != TABI_NONE)
    add_joint_load(w, loop->leader, -loop->slope * loop->impulse, load);
  add_tendon_load(w, &loop->tendon[0], loop->impulse, load);
  add_tendon_load(w, &loop->tendon[1], loop->impulse, load);
  add_body_load(w, loop->body_b, sv_scale(loop->impulse, loop->wrench_b), load);
  add_body_load(w, loop->body_a, sv_scale(-loop->impulse, loop->wrench_a), load);
}

/* The impulse of a stuck joint balances its load (free.u, contacts, rows and loops) and supplies U'
 * a, a being the change of its parent's twist: d->flow still has these from tbi_aba_solve_lower. */
static void find_reactions(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  const tabi_model *model = w->model;
  const tabi_dynamics *d = w->d;
  double *load = w->scratch.dofs;
  memcpy(load, w->free.u, sizeof *load * (size_t)model->nv);
  for (int32_t i = 0; i < p->nport; ++i)
    add_load(w, p->port[i].dof, p->received[i], load);
  for (int32_t i = 0; i < p->nrow; ++i)
    add_joint_load(w, p->row[i].dof, p->row[i].impulse, load);
  for (int32_t i = 0; i < w->setup.loops.count; ++i)
    add_loop_load(w, &w->setup.loops.loop[i], load);
  for (int32_t k = 0; k < model->nv; ++k) {
    if (w->active_set.friction[k] != TBI_FRICTION_STICKS) continue;
    sv parent = d->flow[model->body[model->dof_body[k]].parent];
    w->active_set.friction_impulse[k] = sv_dot(d->U[k], parent) - load[k];
  }
}

/* A point that cannot move while joints are stuck might move if they were not. */
static bool is_jammed(const tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    if (p->point[i].immobile) return true;
  }
  return false;
}

static bool is_predicted(tbi_joint_friction friction) {
  return friction == TBI_FRICTION_STICKS || friction == TBI_FRICTION_SLIPS;
}

static void make_all_rows(tabi_world *w) {
  uint8_t *friction = w->active_set.friction;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (is_predicted(friction[k])) friction[k] = TBI_FRICTION_ROW;
  }
}

static bool any(const tabi_world *w, tbi_joint_friction friction) {
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if ((tbi_joint_friction)w->active_set.friction[k] == friction) return true;
  }
  return false;
}

static bool agrees(const tabi_world *w, int32_t dof) {
  double impulse = w->active_set.friction_impulse[dof];
  switch ((tbi_joint_friction)w->active_set.friction[dof]) {
  case TBI_FRICTION_SLIPS:
    return impulse * w->solution.v_new[dof] < 0;
  case TBI_FRICTION_STICKS:
    return fabs(impulse) <= bound_of(w, dof);
  default:
    return true;
  }
}

bool tbi_verify_joint_friction(tabi_world *w, int attempt) {
  bool sticks = any(w, TBI_FRICTION_STICKS);
  if (!sticks && !any(w, TBI_FRICTION_SLIPS)) return true;
  if (sticks && is_jammed(w)) {
    make_all_rows(w);
    return false;
  }
  if (sticks) find_reactions(w);
  bool verified = true;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (agrees(w, k)) continue;
    w->active_set.friction[k] = TBI_FRICTION_FAILED;
    verified = false;
  }
  for (int32_t k = 0; verified && k < w->model->nv; ++k) {
    if (w->active_set.friction[k] == TBI_FRICTION_STICKS) w->solution.v_new[k] = 0;
  }
  if (!verified && attempt >= MAX_ATTEMPTS) make_all_rows(w);
  return verified;
}

void tbi_keep_joint_friction(tabi_world *w) {
  uint8_t *row_steps = w->state.row_steps;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (is_predicted((tbi_joint_friction)w->active_set.friction[k]))
      w->state.row_impulse[tbi_row_id(k, TBI_ROW_FRICTION)] = w->active_set.friction_impulse[k];
    if (w->active_set.friction[k] == TBI_FRICTION_FAILED) {
      row_steps[k] = ROW_STEPS;
    } else if (row_steps[k] > 0) {
      --row_steps[k];
    }
  }
}
