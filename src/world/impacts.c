/* impacts.c - impacts one after another, earliest first, within a step (`impacts: sequential`).
 *
 * Between impacts bodies move under the forces of the step, so the twist of a body at the share t
 * of the step is
 *     v(t) = v + t (v_free - v) + responses to the impulses so far,
 * and gaps follow.  The contact that closes first, or all that close at the same time, rebound by
 * Newton's law for the speed with which they close then, with Coulomb's friction; and so on until
 * nothing closes any more faster than rest_speed.  A blow runs through balls that touch, as it does
 * in a cradle, and what is hit late in a step may still hit something else in it.
 *
 * The method then solves the rest of the step, in which nothing rebounds, on top of these impulses:
 * resting contacts, those without restitution, joint limits.  Positions move as if each impulse had
 * acted at its own time: on average over the step an impulse at t has made 1 - t of its change.
 *
 * No impact adds energy: where Newton's law with friction would, its rebound is reduced. */
#include "base/assertion.h"
#include "friction/coulomb.h"
#include "problem/sweep.h"
#include "world/world.h"

#include <string.h>

enum { SWEEPS = 200, EVENTS_PER_POINT = 16, REDUCTIONS = 10 };
#define SAME_TIME 1e-9  /* share of the step */
#define SETTLED   1e-14 /* change of velocity in a sweep, of the fastest approach */
#define NO_GAIN   1e-12 /* of the energy that an impact exchanges */

static sv twist_of(const tabi_world *w, int32_t port, double t) {
  const tbi_problem *p = &w->setup.problem;
  if (port == TABI_NONE) return sv_zero();
  sv before = w->d->body[p->port[port].body].vel;
  return sv_axpy(p->velocity[port], t, sv_sub(p->free[port], before));
}

/* m/s in the frame of the point, at a share of the step */
static v3 velocity_at(const tabi_world *w, const tbi_point *c, double t) {
  return tbi_point_velocity(c, twist_of(w, c->port_a, t), twist_of(w, c->port_b, t));
}

/* forces alone do not make an impact: what rests would rebound from its own weight */
static bool closes_fast(const tabi_world *w, const tbi_point *c) {
  return c->surface->restitution > 0 && !c->immobile &&
         velocity_at(w, c, 0).x < -c->surface->rest_speed;
}

/* the share of the step at which a contact closes from now on; above 1: it does not */
static double closing_time(const tabi_world *w, int32_t i, double now) {
  const tbi_point *c = &w->setup.problem.point[i];
  if (!closes_fast(w, c)) return 2;
  double h = w->def.timestep;
  double gap = w->impacts.gap[i];
  double u = velocity_at(w, c, now).x;
  if (u >= 0) return 2;
  if (gap <= 0) return now;
  double a = (velocity_at(w, c, 1).x - velocity_at(w, c, 0).x) / h;
  double root = u * u - 2 * a * gap;
  if (root < 0) return 2;
  return now + 2 * gap / (-u + sqrt(root)) / h;
}

static void advance_gaps(const tabi_world *w, double from, double to) {
  double middle = 0.5 * (from + to);
  for (int32_t i = 0; i < w->setup.problem.npoint; ++i)
    w->impacts.gap[i] +=
        (to - from) * w->def.timestep * velocity_at(w, &w->setup.problem.point[i], middle).x;
}

/* m/s by which the velocity of the point changes */
static double visit(tabi_world *w, int32_t i, double t, double target) {
  tbi_problem *p = &w->setup.problem;
  tbi_point *c = &p->point[i];
  const tbi_group group = {c->port_a, c->port_b, i, 1};
  v3 r = v3_load(c->impulse);
  v3 u = velocity_at(w, c, t);
  v3 b;
  double wr[3];
  for (int k = 0; k < 3; ++k)
    wr[k] = c->w[k][0] * r.x + c->w[k][1] * r.y + c->w[k][2] * r.z;
  b = v3_make(u.x - target - wr[0], u.y - wr[1], u.z - wr[2]);
  v3 wanted = b.x < 0 ? tbi_coulomb((const double(*)[3])c->w, b, c->friction) : v3_zero();
  v3 d = v3_sub(wanted, r);
  tbi_visit visit = tbi_visit_begin(p, &group);
  tbi_visit_push(&visit, c, d);
  tbi_visit_end(p, &group, &visit);
  return v3_norm(d) * c->mobility;
}

/* all contacts of one time together, with a share of their rebounds; J that it adds */
static double strike(tabi_world *w, double t, double share, int32_t count) {
  tbi_problem *p = &w->setup.problem;
  const int32_t *at = w->impacts.struck;
  double fastest = 0;
  for (int32_t k = 0; k < count; ++k) {
    tbi_point *c = &p->point[at[k]];
    memset(c->impulse, 0, sizeof c->impulse);
    w->impacts.approach[k] = velocity_at(w, c, t);
    fastest = tbi_max(fastest, -w->impacts.approach[k].x);
  }
  double change = HUGE_VAL;
  for (int sweep = 0; sweep < SWEEPS && change > SETTLED * fastest; ++sweep) {
    change = 0;
    for (int32_t k = 0; k < count; ++k) {
      double e = p->point[at[k]].surface->restitution;
      double target = -share * e * w->impacts.approach[k].x;
      change = tbi_max(change, visit(w, at[k], t, target));
    }
    if (count == 1) break;
  }
  double gain = 0;
  for (int32_t k = 0; k < count; ++k) {
    const tbi_point *c = &p->point[at[k]];
    v3 mean = v3_scale(0.5, v3_add(w->impacts.approach[k], velocity_at(w, c, t)));
    gain += v3_dot(v3_load(c->impulse), mean) - NO_GAIN * c->impulse[0] * fastest;
  }
  return gain;
}

/* false: rebounds had to be reduced */
static bool strike_without_gain(tabi_world *w, double t, int32_t count) {
  tbi_problem *p = &w->setup.problem;
  size_t bytes = sizeof *p->velocity * (size_t)p->nport;
  memcpy(w->impacts.velocity, p->velocity, bytes);
  memcpy(w->impacts.kept, p->received, bytes);
  double share = 1;
  for (int reduced = 0; strike(w, t, share, count) > 0; ++reduced) {
    share = reduced < REDUCTIONS ? 0.5 * share : 0;
    memcpy(p->velocity, w->impacts.velocity, bytes);
    memcpy(p->received, w->impacts.kept, bytes);
    if (reduced <= REDUCTIONS) continue;
    (void)strike(w, t, 0, count); /* rounding is left */
    break;
  }
  for (int32_t k = 0; k < count; ++k) {
    int32_t i = w->impacts.struck[k];
    v3 impulse = v3_load(p->point[i].impulse);
    w->impacts.impulse[i] = v3_add(w->impacts.impulse[i], impulse);
    w->impacts.early[i] = v3_axpy(w->impacts.early[i], t, impulse);
  }
  return share == 1;
}

/* the contacts that close next, into impacts.struck; their time, above 1 if there are none */
static double find_next(tabi_world *w, double now, int32_t *count) {
  const tbi_problem *p = &w->setup.problem;
  double first = 2;
  *count = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    w->impacts.time[i] = closing_time(w, i, now);
    first = tbi_min(first, w->impacts.time[i]);
  }
  for (int32_t i = 0; i < p->npoint && first <= 1; ++i)
    if (w->impacts.time[i] <= first + SAME_TIME) w->impacts.struck[(*count)++] = i;
  return first;
}

static void begin(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  tbi_problem_respond(p);
  for (int32_t k = 0; k < p->nport; ++k) {
    p->velocity[k] = w->d->body[p->port[k].body].vel;
    p->received[k] = sv_zero();
  }
  for (int32_t i = 0; i < p->npoint; ++i) {
    w->impacts.warm[i] = v3_load(p->point[i].impulse);
    w->impacts.gap[i] = p->point[i].gap;
    w->impacts.impulse[i] = w->impacts.early[i] = v3_zero();
  }
}

static bool is_struck(const tabi_world *w, int32_t port) {
  if (port == TABI_NONE) return false;
  const tbi_problem *p = &w->setup.problem;
  sv change = sv_sub(p->velocity[port], w->d->body[p->port[port].body].vel);
  return sv_dot(change, change) > 0;
}

/* what was struck and is still apart at the end of the step needs no target: it had its velocity
 * for a part of the step only */
static void relax_targets(tabi_world *w) {
  for (int32_t i = 0; i < w->setup.problem.npoint; ++i) {
    tbi_point *c = &w->setup.problem.point[i];
    bool struck = is_struck(w, c->port_a) || is_struck(w, c->port_b);
    if (struck && w->impacts.gap[i] > 0)
      c->resting_target = tbi_min(c->resting_target, velocity_at(w, c, 1).x);
    c->target = c->resting_target;
    v3_store(w->impacts.warm[i], c->impulse);
  }
}

/* the impulses become part of the motion on top of which the method solves */
static void shift_problem(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  memset(w->impacts.sum, 0, sizeof *w->impacts.sum * (size_t)p->nsum);
  for (int32_t k = 0; k < p->nport; ++k) {
    sv before = w->d->body[p->port[k].body].vel;
    w->impacts.received[k] = p->received[k];
    p->free[k] = sv_add(p->free[k], sv_sub(p->velocity[k], before));
    tbi_port_push(p, k, p->received[k], w->impacts.sum);
  }
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].base += tbi_row_response(p, &p->row[i], w->impacts.sum);
}

/* the velocity that impulses add, less for the part of the step before each of them */
static void find_early_velocity(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  double *x = w->impacts.v_early;
  double *sum = w->impacts.early_sum;
  memset(sum, 0, sizeof *sum * (size_t)p->nsum);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v3 early = w->impacts.early[i];
    if (early.x == 0 && early.y == 0 && early.z == 0) continue;
    tbi_sides on = tbi_point_wrenches(c, m4_mulv3(&c->frame, early));
    if (c->port_a != TABI_NONE) tbi_port_push(p, c->port_a, on.a, sum);
    if (c->port_b != TABI_NONE) tbi_port_push(p, c->port_b, on.b, sum);
  }
  for (int32_t k = 0; k < w->model->nv; ++k)
    x[k] = sum[k] * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, x);
}

bool tbi_world_impacts(tabi_world *w, bool *energy_limited) {
  const tbi_problem *p = &w->setup.problem;
  w->impacts.any = *energy_limited = false;
  for (int32_t i = 0; i < p->npoint && w->impacts.sequential; ++i) {
    const tbi_point *c = &p->point[i];
    w->impacts.any |= c->surface->restitution > 0 && c->approach < -c->surface->rest_speed;
  }
  if (!w->impacts.any) return false;
  begin(w);
  double now = 0;
  for (int32_t event = 0; event < EVENTS_PER_POINT * p->npoint; ++event) {
    int32_t count;
    double next = find_next(w, now, &count);
    if (next > 1) break;
    advance_gaps(w, now, next);
    now = next;
    *energy_limited |= !strike_without_gain(w, now, count);
  }
  advance_gaps(w, now, 1);
  relax_targets(w);
  shift_problem(w);
  return true;
}

/* the inverse of shift_problem */
static void shift_problem_back(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  for (int32_t k = 0; k < p->nport; ++k)
    p->free[k] = sv_sub(p->free[k], tbi_port_response(p, k, w->impacts.sum));
  for (int32_t i = 0; i < p->nrow; ++i)
    p->row[i].base -= tbi_row_response(p, &p->row[i], w->impacts.sum);
}

void tbi_world_add_impacts(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  TBI_ASSERT(w->impacts.any);
  shift_problem_back(w);
  for (int32_t k = 0; k < p->nport; ++k) {
    p->received[k] = sv_add(p->received[k], w->impacts.received[k]);
    p->summed[k] = p->received[k];
  }
  for (int32_t k = 0; k < p->nsum; ++k)
    p->sum[k] += w->impacts.sum[k];
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    v3_store(v3_add(v3_load(c->impulse), w->impacts.impulse[i]), c->impulse);
  }
  /* under loop constraints impulses act over the whole step */
  if (w->constants.nloop == 0) {
    find_early_velocity(w);
  } else {
    memset(w->impacts.v_early, 0, sizeof *w->impacts.v_early * (size_t)w->model->nv);
  }
}
