/* depth_correction.c - what overlaps parts only as fast as its mechanism can.
 *
 * Points that overlap ask for a velocity c that parts them.  A lone body gives it by an impulse of
 * its mass times c at most, and no part of it moves much faster.  A mechanism in a singular posture
 * (a straight chain between a fixed base and the floor, a toggle) can hardly move that way: it
 * would take impulses of many times its mass, and would throw other links.
 *
 * So each step is looked at in which contacts of a mechanism take back depth and add energy, or
 * take large impulses.  The same step solved without correction tells what the correction does: by
 * it no body may gain more than FAST c (root mean square over its mass), and no two bodies may
 * exchange more than HEAVY times the mass of their mechanism times c.  Where they do, the
 * corrections of that mechanism are reduced and the step is solved again.  The rest of the law
 * stays: nothing comes closer.
 *
 * The more a mechanism amplifies, the gentler: where links would become n times too fast, the share
 * 1/n^2 of the correction is left, so that they get c/n in each of the steps that it takes.  Where
 * much work has found no solution with correction, there is none in this step: shares of it would
 * cost as much each, and the velocities that they are taken from would mean nothing. */
#include "base/assertion.h"
#include "problem/sweep.h"
#include "world/active_set/active_set.h"

#include <math.h>
#include <string.h>

#define FAST  2.0
#define HEAVY 10.0
enum { REDUCTIONS = 3, MUCH_WORK = 500 }; /* MUCH_WORK: iterations of one solution */

/* -- what is corrected */

/* a free body in no connection */
static bool is_lone(const tabi_model *model, const tbi_port *port) {
  int32_t body = port->body;
  return model->body[body].parent == TABI_WORLD && model->body[body].nv == 6 &&
         tbi_cluster_dofs(model, port->cluster) == 6;
}

/* the mechanism at one side of a contact, or NULL */
static tbi_correction *mechanism_at(const tabi_world *w, int32_t port) {
  const tbi_problem *p = &w->setup.problem;
  if (port == TABI_NONE || is_lone(w->model, &p->port[port])) return NULL;
  return &w->correction.cluster[p->port[port].cluster];
}

/* m/s, of depth alone */
static double correction_of(const tbi_point *c) {
  return c->target == c->resting_target ? tbi_max(c->target, 0) : 0;
}

static bool any_correction(const tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (!(c->impulse[0] > 0) || !(correction_of(c) > 0)) continue;
    if (mechanism_at(w, c->port_a) || mechanism_at(w, c->port_b)) return true;
  }
  return false;
}

/* m/s, by which the contact changes its normal velocity */
static double change_of(const tbi_problem *p, const tbi_point *c) {
  sv a = c->port_a == TABI_NONE ? sv_zero() : p->free[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : p->free[c->port_b];
  return fabs(c->target - tbi_point_velocity(c, a, b).x);
}

static void note_point(const tabi_world *w, const tbi_point *c, int32_t port) {
  tbi_correction *at = mechanism_at(w, port);
  if (!at) return;
  at->wanted = tbi_max(at->wanted, correction_of(c));
  at->asked = tbi_max(at->asked, change_of(&w->setup.problem, c));
}

static void find_wanted(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  memset(w->correction.cluster, 0, sizeof *w->correction.cluster * (size_t)model->ncluster);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    w->correction.target[i] = c->target;
    if (!(c->impulse[0] > 0)) continue;
    note_point(w, c, c->port_a);
    note_point(w, c, c->port_b);
  }
  for (int32_t i = 0; i < model->nbody; ++i)
    w->correction.cluster[model->tree_cluster[model->body[i].tree]].mass +=
        w->d->body[i].inertia.mass;
}

/* -- what it does */

/* the fastest body of every mechanism if contacts and rows add problem.before to the motion */
static void find_speeds(tabi_world *w) {
  const tabi_model *model = w->model;
  double *x = w->scratch.dofs;
  if (!w->setup.sweeps_loops) tbi_loops_project(&w->setup.loops, w->setup.problem.before);
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] = w->setup.problem.before[k] * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, x);
  for (int32_t k = 0; k < model->ncluster; ++k)
    w->correction.cluster[k].speed = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    tbi_correction *at = &w->correction.cluster[model->tree_cluster[model->body[i].tree]];
    const body_inertia *inertia = &w->d->body[i].inertia;
    if (!(at->wanted > 0) || !(inertia->mass > 0)) continue;
    sv twist = w->d->flow[i];
    double square = sv_dot(twist, inertia_mulv(inertia, twist)) / inertia->mass;
    if (!(square <= at->speed * at->speed)) at->speed = sqrt(square);
  }
}

/* the largest impulse of each mechanism with another body */
static void find_impulses(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t k = 0; k < w->model->ncluster; ++k)
    w->correction.cluster[k].impulse = 0;
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    tbi_correction *at[2] = {mechanism_at(w, group->port_a), mechanism_at(w, group->port_b)};
    double sum = 0;
    for (int32_t i = group->first; i < group->first + group->count; ++i)
      sum += p->point[i].impulse[0];
    for (int side = 0; side < 2; ++side)
      if (at[side] && !(sum <= at[side]->impulse)) at[side]->impulse = sum;
  }
}

static bool is_heavy(const tbi_correction *at) {
  return at && at->wanted > 0 && !(at->impulse <= HEAVY * at->mass * at->asked);
}

/* Whether the solution has nothing that only a correction could have done, at little cost: impulses
 * are moderate, and contacts take energy or no body gains more than the contacts themselves. */
static bool is_moderate(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  double fall = w->def.timestep * v3_norm(v3_load(w->def.gravity));
  find_impulses(w);
  for (int32_t k = 0; k < w->model->ncluster; ++k) {
    if (is_heavy(&w->correction.cluster[k])) return false;
  }
  double work = 0;
  for (int32_t k = 0; k < p->nport; ++k)
    work += sv_dot(p->received[k], sv_add(p->free[k], p->velocity[k]));
  if (work <= 0) return true;
  tbi_problem_sum(p);
  memcpy(p->before, p->sum, sizeof *p->sum * (size_t)p->nsum);
  find_speeds(w);
  for (int32_t k = 0; k < w->model->ncluster; ++k) {
    const tbi_correction *at = &w->correction.cluster[k];
    if (at->wanted > 0 && !(at->speed <= FAST * tbi_min(at->wanted + fall, at->asked)))
      return false;
  }
  return true;
}

/* -- how much of it is left */

/* The next solution starts where the step before has ended, for the last one may be far off; under
 * large impulses from none, since those that only stress a mechanism would stay for ever. */
static void start_again(const tabi_world *w, tbi_point *c) {
  bool heavy = is_heavy(mechanism_at(w, c->port_a)) || is_heavy(mechanism_at(w, c->port_b));
  int64_t at = heavy ? -1 : tbi_world_find_warm(w, c->id);
  v4 warm = v4_from(at < 0 ? v3_zero() : v3_scale(w->def.warm_start, w->state.warm[at].impulse));
  c->impulse[0] = v4_dot(warm, c->frame.x);
  c->impulse[1] = v4_dot(warm, c->frame.y);
  c->impulse[2] = v4_dot(warm, c->frame.z);
}

static void set_targets(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    const tbi_correction *at[2] = {mechanism_at(w, c->port_a), mechanism_at(w, c->port_b)};
    double share = 1;
    for (int side = 0; side < 2; ++side)
      if (at[side] && at[side]->wanted > 0) share = tbi_min(share, at[side]->share);
    start_again(w, c);
    bool corrects = c->target == c->resting_target && w->correction.target[i] > 0;
    if (corrects) c->target = c->resting_target = share * w->correction.target[i];
  }
}

static void solve_again(tabi_world *w, tbi_solution *solution) {
  set_targets(w);
  tbi_solution again = tbi_solve_contacts(w);
  again.iterations += solution->iterations;
  again.fallback = again.fallback || solution->fallback;
  again.too_large = again.too_large || solution->too_large;
  *solution = again;
  tbi_problem_sum(&w->setup.problem);
}

/* the share of its correction that a mechanism can give, from what the present share does */
static double share_of(const tbi_correction *at) {
  double fast = at->speed / (FAST * at->wanted);
  double heavy = at->impulse / (HEAVY * at->mass * at->asked);
  double share = tbi_min(1, tbi_min(1 / (fast * fast), 1 / heavy));
  return share >= 0 ? share : 0;
}

/* Compares with the solution without correction, whose sum stands where the new velocity will be;
 * whether some share is reduced */
static bool find_shares(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  bool reduced = false;
  for (int32_t k = 0; k < w->model->nv; ++k)
    p->before[k] = p->sum[k] - w->solution.v_new[k];
  find_speeds(w);
  find_impulses(w);
  for (int32_t k = 0; k < w->model->ncluster; ++k) {
    tbi_correction *at = &w->correction.cluster[k];
    if (!(at->wanted > 0)) continue;
    double share = share_of(at);
    reduced = reduced || share < 1;
    at->share *= share;
  }
  return reduced;
}

static void set_shares(tabi_world *w, double share) {
  for (int32_t k = 0; k < w->model->ncluster; ++k)
    w->correction.cluster[k].share = share;
}

static bool has_failed(const tbi_solution *s) {
  return !s->converged && s->iterations >= MUCH_WORK;
}

void tbi_limit_depth_correction(tabi_world *w, tbi_solution *solution) {
  const tbi_problem *p = &w->setup.problem;
  if (w->method->info.compliant || w->method->as_published || !any_correction(w)) return;
  find_wanted(w);
  if (is_moderate(w)) return;
  bool failed = has_failed(solution);
  /* without correction, and with all of it */
  set_shares(w, 0);
  solve_again(w, solution);
  if (failed) return;
  memcpy(w->solution.v_new, p->sum, sizeof *p->sum * (size_t)w->model->nv);
  set_shares(w, 1);
  solve_again(w, solution);
  for (int i = 0; i < REDUCTIONS && find_shares(w); ++i)
    solve_again(w, solution);
}
