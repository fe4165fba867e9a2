/* middle.c - velocities that are solved for at the middle of the step: midpoint and rk4.
 *
 *   q_m = q + h/2 v:  kinematics, M and collision there only
 *   v+ by one solution there, bias forces at the mean of v and v+
 *   q+ = q_m + h/2 v+
 *
 * Contacts that last.  With J at the middle, u_b = J v is the velocity of a contact before the
 * solution and u_p the one that the last solution left, at the middle of the last step, for the
 * same v.  So (u_p + u_b)/2 is its velocity at the start of the step, and (u_p - u_b)/2 stands for
 * -h/2 dJ/dt v, moving points of contact included: a contact whose J v+ is that has velocity zero
 * at the end of the step.  It asks for d = (u_p - u_b)/2 - GAMMA (u_p + u_b)/2, in normal direction
 * together with a share of the gap, less what curved paths make of it at the middle.  Sticking:
 * Coulomb's law on u_t - d_t.  Sliding: on u_t + u_b,t, twice the mean velocity, so that friction
 * takes energy.  docs/integrators.md derives it. */
#include "base/assertion.h"
#include "world/world.h"

#define GAMMA 0.5 /* share of a velocity error that is taken back in a step */
#define KAPPA 0.2 /* of a gap */
/* h^2/8 g'' is what a curved path makes of a gap of zero at the middle.  More than 1/8 errs on the
 * side of loss: Euler's disk at a tilt of 0.1 has 1 + 1.2e-3 of its energy after 60 s at 1 ms with
 * 1/8, and 1 - 5e-4 with this, at errors of position that are three times as large. */
#define CURVED      0.3
#define FLAT_POINTS 3    /* points between two bodies that may contradict each other */
#define FLAT_SPEED  1e-3 /* m/s, below which they rest */

void tbi_middle_begin(tabi_world *w) {
  double *middle = w->free.q_middle;
  tabi_model_integrate(w->model, w->state.q, w->state.v, 0.5 * w->def.timestep, middle);
  tbi_kinematics(w->d, middle, w->state.v);
}

static v3 in_frame(const tbi_point *c, v3 x) {
  v4 u = v4_from(x);
  return v3_make(v4_dot(u, c->frame.x), v4_dot(u, c->frame.y), v4_dot(u, c->frame.z));
}

/* what the contact left in the last step if it pushed then, or NULL */
static const tbi_rolling *last_of(const tabi_world *w, const tbi_point *c) {
  int64_t at = tbi_world_find_warm(w, c->id);
  if (at < 0) return NULL;
  const tbi_rolling *last = &w->state.rolling[at];
  return v3_dot(last->normal, last->normal) > 0 ? last : NULL;
}

/* whether the step before has moved what a contact touches, without a jump */
static bool has_moved(const tabi_world *w, const tbi_point *c) {
  const int32_t port[2] = {c->port_a, c->port_b};
  for (int i = 0; i < 2; ++i) {
    if (port[i] == TABI_NONE) continue;
    if (w->floating.tree[w->setup.problem.port[port[i]].tree].extrapolated) return true;
  }
  return false;
}

/* A gap may close by the end of the step.  One that has closed before the middle stops there:
 * bodies move up to that impact with the old and then with the new velocity, or they would overlap.
 * Where a motion begins, gaps that curved paths open or close are not told from impacts. */
static void target_new(tabi_world *w, tbi_point *c, double remaining) {
  c->resting_target = c->gap > 0 ? -c->gap / remaining : 0;
  double start = c->gap - remaining * c->approach;
  if (c->gap < 0 && start > 0 && has_moved(w, c))
    tbi_world_note_impact(w, c, -start / (c->approach * w->def.timestep), false);
}

static double clamp(double x, double max) { return fmin(fmax(x, -max), max); }

static void stay_still(tabi_world *w, const tbi_point *c, double y, double z) {
  double *still = w->setup.still[c - w->setup.problem.point];
  still[0] = y;
  still[1] = z;
  if (y != 0 || z != 0) w->setup.problem.still = w->setup.still;
}

/* whether a contact slides: its velocity is more than what two steps may change */
static bool slides(v3 mean, v3 mean_before, const tbi_point *c, bool flat) {
  v3 change = v3_sub(mean, mean_before);
  v3 slip = in_frame(c, mean);
  double speed = sqrt(slip.y * slip.y + slip.z * slip.z);
  return speed > 2 * v3_norm(change) && (!flat || speed > FLAT_SPEED);
}

static void target_lasting(tabi_world *w, tbi_point *c, const tbi_rolling *last, bool flat) {
  double h = w->def.timestep;
  v3 before = v3_make(c->approach, c->slip[0], c->slip[1]);
  v3 after = in_frame(c, last->velocity);
  v3 mean = v3_scale(0.5, v3_add(after, before));
  v3 shift = v3_axpy(v3_scale(0.5, v3_sub(after, before)), -GAMMA, mean);
  double curved = CURVED * h * (v3_dot(last->normal, last->velocity) - c->approach);
  double gap = c->gap + curved;
  if (flat) {
    if (v3_norm(shift) < FLAT_SPEED) shift = v3_zero();
    double allowed = w->def.allowed_depth;
    gap = gap > 0 ? fmax(gap - allowed, 0) : fmin(gap + allowed, 0);
  }
  v3 world_mean = v4_to(m4_combine(&c->frame, mean.x, mean.y, mean.z));
  bool sliding = slides(world_mean, c->deflection, c, flat);
  c->deflection = world_mean;
  c->resting_target = shift.x - clamp(KAPPA * gap / h, w->def.correction_speed);
  if (sliding) {
    stay_still(w, c, -before.y, -before.z);
  } else {
    stay_still(w, c, shift.y, shift.z);
  }
}

void tbi_middle_targets(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    for (int32_t i = group->first; i < group->first + group->count; ++i) {
      tbi_point *c = &p->point[i];
      bool rebounds = c->target != c->resting_target;
      const tbi_rolling *last = rebounds ? NULL : last_of(w, c);
      if (last) {
        target_lasting(w, c, last, group->count >= FLAT_POINTS);
      } else {
        target_new(w, c, p->remaining);
        stay_still(w, c, 0, 0);
        c->deflection = v4_to(m4_combine(&c->frame, c->approach, c->slip[0], c->slip[1]));
      }
      if (!rebounds) c->target = c->resting_target;
    }
  }
}

/* -- bias forces at the mean velocity */

static bool is_refreshed(const tabi_world *w, int32_t tree) {
  return !w->floating.tree[tree].spins && !tbi_tree_has_loops(w->model, tree);
}

/* v+ += M^-1 h (C(v^) - C((v + v+)/2)): of third order where v^ was extrapolated, so that contacts
 * need not be solved again */
void tbi_middle_refresh(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  if (w->def.integrator != TABI_MIDPOINT) return;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (!is_refreshed(w, model->body[model->dof_body[k]].tree)) continue;
    w->free.v_bias[k] = 0.5 * (w->state.v[k] + w->solution.v_new[k]);
  }
  tbi_rnea_forces_at(d, v4_from(v3_load(w->def.gravity)), w->free.v_bias);
  for (int32_t i = 0; i < model->nbody; ++i) {
    sv missed = sv_sub(w->free.bias[i], d->force[i]);
    d->flow[i] =
        is_refreshed(w, model->body[i].tree) ? sv_scale(w->def.timestep, missed) : sv_zero();
  }
  for (int32_t k = 0; k < model->nv; ++k)
    w->scratch.dofs[k] = 0;
  tbi_aba_solve_flow(d, w->scratch.dofs);
  for (int32_t k = 0; k < model->nv; ++k)
    w->solution.v_new[k] += w->scratch.dofs[k];
}

/* -- what the next step starts from */

static void mark_jump(tabi_world *w, int32_t port) {
  if (port != TABI_NONE) w->floating.tree[w->setup.problem.port[port].tree].jumps = true;
}

/* trees whose velocity has changed at once: new contacts push, joints hit their limits */
static void find_jumps(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->floating.tree[t].jumps = false;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    bool rebounds = c->target != c->resting_target;
    if (c->impulse[0] == 0 || (!rebounds && last_of(w, c))) continue;
    mark_jump(w, c->port_a);
    mark_jump(w, c->port_b);
  }
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    bool limit = row->id % TBI_ROW_KINDS != TBI_ROW_FRICTION;
    bool begins = row->impulse != 0 && w->state.row_impulse[row->id] == 0;
    if (limit && begins) w->floating.tree[model->body[model->dof_body[row->dof]].tree].jumps = true;
  }
}

void tbi_middle_keep(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  find_jumps(w);
  for (int32_t k = 0; k < model->nv; ++k) {
    bool jumps = w->floating.tree[model->body[model->dof_body[k]].tree].jumps;
    w->state.v_change[k] = jumps ? 0 : w->solution.v_new[k] - w->state.v[k];
  }
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    v3 u = tbi_point_velocity(c, a, b);
    v3 velocity = v4_to(m4_combine(&c->frame, u.x, u.y, u.z));
    v3 normal = c->impulse[0] > 0 ? v4_to(c->frame.x) : v3_zero();
    w->state.rolling[c->candidate] = (tbi_rolling){velocity, normal};
  }
}
