/* penalty_loops.c - joints that close loops in the assembly (P2, Yamane and Nakamura).
 *
 * A joint between two links of what is assembled already closes a loop.  Its constrained directions
 * C have  P = Lambda_aa + Lambda_bb - Lambda_ab - Lambda_ba  and  Gamma = C'PC, and their impulses
 * bring its rates u to their targets:
 *
 *     impulse = Gamma^+ (target - u),     W = -C Gamma^+ C'
 *
 * All loops are taken together, after the joints of the trees and before the contacts.  Lambda of
 * every link then is  Lambda + X W X', X being the motion of the link per impulse of the loops; X
 * and the joint velocities with it come from one disassembly for each of the impulses.  Redundant
 * directions (planar mechanisms have some) get the impulses of least norm; where targets contradict
 * each other they are met in the sense of least squares.  Springs have their compliance on the
 * diagonal of Gamma.  The cost is linear in the links, and quadratic in the loops. */
#include "contact/penalty_loops.h"

#include "base/assertion.h"
#include "math/linalg.h"
#include "problem/loop_basis.h"

#include <string.h>

#define ROUNDING 1e-12 /* of the largest mobility of all directions */
#define IMMOBILE 1e-10 /* share of its response that loops must leave of a point or row */

void tbi_penalty_loops_place(tbi_layout *at, const tabi_model *model, tbi_penalty_loops *l) {
  int64_t n = model->cluster_loop[model->ncluster];
  if (n > TBI_PENALTY_MAX_LOOPS) n = 0;
  l->room = tbi_layout_take(at, (int64_t)tbi_pseudo_room(n), sizeof *l->room);
  l->gamma = tbi_layout_take(at, n * n, sizeof *l->gamma);
  l->column = tbi_layout_take(at, n * model->nv, sizeof *l->column);
  l->twist = tbi_layout_take(at, n * model->nbody, sizeof *l->twist);
  l->impulse = tbi_layout_take(at, n, sizeof *l->impulse);
  l->x = tbi_layout_take(at, n, sizeof *l->x);
  l->rate = tbi_layout_take(at, 3 * n, sizeof *l->rate);
}

static double *column_of(const tbi_penalty_loops *l, int32_t t) {
  return l->column + (ptrdiff_t)t * l->d->model->nv;
}

static sv *twist_of(const tbi_penalty_loops *l, int32_t t) {
  return l->twist + (ptrdiff_t)t * l->d->model->nbody;
}

/* the twists of bodies by joint velocities */
static void spread(const tabi_dynamics *d, const double *v, sv *twist) {
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    const tbi_body *body = &d->model->body[i];
    twist[i] = body->parent == TABI_WORLD ? sv_zero() : twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      twist[i] = sv_axpy(twist[i], v[k], d->axis[k]);
  }
}

/* the rate of a loop under joint velocities and their twists */
static double rate_of(const tbi_loop *loop, const double *v, const sv *twist) {
  double rate = 0;
  if (loop->body_b != TABI_WORLD) rate += sv_dot(loop->wrench_b, twist[loop->body_b]);
  if (loop->body_a != TABI_WORLD) rate -= sv_dot(loop->wrench_a, twist[loop->body_a]);
  TBI_ASSERT(loop->tendon[0].count == 0); /* penalty_step.c leaves these to others */
  if (loop->dof != TABI_NONE) rate += v[loop->dof];
  if (loop->leader != TABI_NONE) rate -= loop->slope * v[loop->leader];
  return rate;
}

static void load_body(tabi_dynamics *d, int32_t body, double share, sv wrench) {
  if (body == TABI_WORLD) return;
  tbi_ada_body *ada = &d->ada[body];
  wrench.ang = v4_sub(wrench.ang, v4_cross(ada->at, wrench.lin));
  tbi_sv_store(sv_axpy(tbi_sv_load(ada->force), share, wrench), ada->force);
}

/* velocities and twists by a unit impulse of a loop */
static void fill_column(const tbi_penalty_loops *l, int32_t t) {
  tabi_dynamics *d = l->d;
  const tbi_loop *loop = &l->loops->loop[t];
  double *column = column_of(l, t);
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    memset(d->ada[i].force, 0, sizeof d->ada[i].force);
    memset(d->ada[i].drift, 0, sizeof d->ada[i].drift);
  }
  load_body(d, loop->body_b, 1, loop->wrench_b);
  load_body(d, loop->body_a, -1, loop->wrench_a);
  memset(column, 0, sizeof *column * (size_t)d->model->nv);
  if (loop->dof != TABI_NONE) column[loop->dof] += 1;
  if (loop->leader != TABI_NONE) column[loop->leader] -= loop->slope;
  tbi_ada_solve(d, column, column);
  spread(d, column, twist_of(l, t));
}

/* directions that nothing can move in (across a plane mechanism, say) are rounding */
static void leave_out_immobile(const tbi_penalty_loops *l) {
  ptrdiff_t n = l->loops->count;
  double longest = 0;
  for (ptrdiff_t t = 0; t < n; ++t)
    longest = tbi_max(longest, l->gamma[t * n + t]);
  for (ptrdiff_t t = 0; t < n; ++t) {
    if (l->gamma[t * n + t] > ROUNDING * longest) continue;
    for (ptrdiff_t s = 0; s < n; ++s)
      l->gamma[t * n + s] = l->gamma[s * n + t] = 0;
  }
}

/* which directions depend on others, and how many do not in each cluster */
static void note_rank(const tbi_penalty_loops *l) {
  const tbi_loops *loops = l->loops;
  for (int32_t c = 0; c < loops->model->ncluster; ++c)
    loops->rank[c] = 0;
  for (int32_t t = 0; t < loops->count; ++t)
    loops->loop[t].redundant = true;
  for (int32_t k = 0; k < l->pseudo.rank; ++k) {
    tbi_loop *loop = &loops->loop[l->pseudo.pivot[k]];
    loop->redundant = false;
    ++loops->rank[loop->cluster];
  }
}

void tbi_penalty_loops_make(tbi_penalty_loops *l) {
  const tbi_loops *loops = l->loops;
  TBI_ASSERT(loops->count <= TBI_PENALTY_MAX_LOOPS);
  ptrdiff_t n = loops->count;
  for (int32_t t = 0; t < n; ++t)
    fill_column(l, t);
  for (int32_t s = 0; s < n; ++s) {
    for (int32_t t = 0; t <= s; ++t)
      l->gamma[s * n + t] = l->gamma[t * n + s] =
          rate_of(&loops->loop[s], column_of(l, t), twist_of(l, t));
  }
  for (int32_t t = 0; t < n; ++t) {
    tbi_loop *loop = &loops->loop[t];
    tbi_loop_give_way(loop, loops->timestep, l->gamma[t * n + t]);
    l->gamma[t * n + t] += loop->compliance;
  }
  leave_out_immobile(l);
  l->pseudo = tbi_pseudo_make(loops->count, l->room);
  tbi_pseudo_factor(&l->pseudo, l->gamma, 0, tbi_basis_min_new_share(loops->loop, loops->count));
  note_rank(l);
}

void tbi_penalty_loops_close(tbi_penalty_loops *l, double *change) {
  const tbi_loops *loops = l->loops;
  ptrdiff_t n = loops->count;
  sv *twist = l->d->acc;
  spread(l->d, change, twist);
  for (int32_t t = 0; t < n; ++t) {
    const tbi_loop *loop = &loops->loop[t];
    l->x[t] = l->impulse[t] = loop->target - loop->velocity - rate_of(loop, change, twist);
  }
  tbi_pseudo_solve(&l->pseudo, l->impulse);
  for (int32_t t = 0; t < n; ++t) {
    tbi_loop *loop = &loops->loop[t];
    const double *column = column_of(l, t);
    for (int32_t k = 0; k < l->d->model->nv; ++k)
      change[k] += l->impulse[t] * column[k];
    loop->impulse = l->impulse[t];
    loop->missed = l->x[t] - tbi_dot(l->gamma + t * n, l->impulse, n);
    if (loop->open) loop->missed += loop->compliance * l->impulse[t];
  }
  memset(l->impulse, 0, sizeof *l->impulse * (size_t)n); /* from here on: since then */
}

/* ---- what comes after */

/* rates of a loop per impulse at a point, along its axes */
static v3 rates_by_point(const tbi_penalty_loops *l, const tbi_problem *p, const tbi_point *c,
                         int32_t t) {
  const sv *twist = twist_of(l, t);
  sv a = c->port_a == TABI_NONE ? sv_zero() : twist[p->port[c->port_a].body];
  sv b = c->port_b == TABI_NONE ? sv_zero() : twist[p->port[c->port_b].body];
  return tbi_point_velocity(c, a, b);
}

/* the same of all loops, one axis after another, into l->rate */
static void fill_rates(const tbi_penalty_loops *l, const tbi_problem *p, const tbi_point *c) {
  ptrdiff_t n = l->loops->count;
  for (int32_t t = 0; t < n; ++t) {
    v3 rate = rates_by_point(l, p, c, t);
    l->rate[t] = rate.x;
    l->rate[n + t] = rate.y;
    l->rate[2 * n + t] = rate.z;
  }
}

void tbi_penalty_loops_brace_point(tbi_penalty_loops *l, const tbi_problem *p, tbi_point *c) {
  ptrdiff_t n = l->loops->count;
  double loose = c->w[0][0];
  fill_rates(l, p, c);
  for (int j = 0; j < 3; ++j) {
    memcpy(l->x, l->rate + j * n, sizeof *l->x * (size_t)n);
    tbi_pseudo_solve(&l->pseudo, l->x);
    for (int i = 0; i < 3; ++i)
      c->w[i][j] -= tbi_dot(l->rate + i * n, l->x, n);
  }
  c->immobile = c->w[0][0] <= IMMOBILE * loose;
}

v3 tbi_penalty_loops_point_velocity(const tbi_penalty_loops *l, const tbi_problem *p,
                                    const tbi_point *c) {
  v3 u = v3_zero();
  for (int32_t t = 0; t < l->loops->count; ++t)
    u = v3_axpy(u, l->impulse[t], rates_by_point(l, p, c, t));
  return u;
}

/* the rates that the loops would get in x they do not get */
static void answer(tbi_penalty_loops *l) {
  tbi_pseudo_solve(&l->pseudo, l->x);
  for (int32_t t = 0; t < l->loops->count; ++t)
    l->impulse[t] -= l->x[t];
}

void tbi_penalty_loops_push_point(tbi_penalty_loops *l, const tbi_problem *p, const tbi_point *c) {
  v3 r = v3_load(c->impulse);
  for (int32_t t = 0; t < l->loops->count; ++t)
    l->x[t] = v3_dot(rates_by_point(l, p, c, t), r);
  answer(l);
}

double tbi_penalty_loops_brace_row(tbi_penalty_loops *l, int32_t dof, double response) {
  double left = response;
  for (int32_t t = 0; t < l->loops->count; ++t)
    l->x[t] = l->rate[t] = column_of(l, t)[dof];
  tbi_pseudo_solve(&l->pseudo, l->x);
  left -= tbi_dot(l->rate, l->x, l->loops->count);
  return left > IMMOBILE * response ? left : 0;
}

double tbi_penalty_loops_row_velocity(const tbi_penalty_loops *l, int32_t dof) {
  double u = 0;
  for (int32_t t = 0; t < l->loops->count; ++t)
    u += l->impulse[t] * column_of(l, t)[dof];
  return u;
}

void tbi_penalty_loops_push_row(tbi_penalty_loops *l, int32_t dof, double impulse) {
  for (int32_t t = 0; t < l->loops->count; ++t)
    l->x[t] = impulse * column_of(l, t)[dof];
  answer(l);
}
