/* cone.c - rigid contact with the true friction cone: projected Gauss-Seidel over contacts, each
 * solved exactly as a whole (friction/coulomb.c) instead of row by row as published (P4,
 * cone_paper.c).
 *
 * If all contacts stick, the step is solved directly (sticking.c).  Where sweeps converge slowly,
 * Newton's method takes over (newton_fallback.c), unless def->fallback forbids it.  Heaps are swept
 * in lanes (lanes.c) within a budget.  Where contacts slide, a rule decides how they share their
 * load (load_sharing.c).  Sweeps that ended early add no energy (energy_guard.c). */
#include "contact/cone.h"

#include "base/assertion.h"
#include "contact/energy_guard.h"
#include "contact/formulation.h"
#include "contact/lanes.h"
#include "contact/load_sharing.h"
#include "contact/newton_fallback.h"
#include "contact/sticking.h"
#include "friction/coulomb.h"
#include "problem/couples.h"
#include "problem/sweep.h"

#include <string.h>

enum { SPAN = 3 };         /* sweeps over which the rate of convergence is looked at, at most */
enum { FEW = 20 };         /* points up to which the fallback writes W out, and costs little */
enum { HEAP_BUDGET = 20 }; /* sweeps, if the def leaves it open */

/* the velocity response of a point to an impulse on it */
static v3 response_of(const tbi_point *c, v3 p) {
  return v3_make(c->w[0][0] * p.x + c->w[0][1] * p.y + c->w[0][2] * p.z,
                 c->w[1][0] * p.x + c->w[1][1] * p.y + c->w[1][2] * p.z,
                 c->w[2][0] * p.x + c->w[2][1] * p.y + c->w[2][2] * p.z);
}

static double largest(v3 u) { return tbi_max(fabs(u.x), tbi_max(fabs(u.y), fabs(u.z))); }

/* Solves one contact by Coulomb's law; returns the change of its velocity.  Most contacts stick,
 * and then one product is enough, which takes all of the velocity that is left. */
static double visit_point(tbi_visit *visit, tbi_point *c, const double *still) {
  if (c->immobile) return 0;
  v3 p = v3_load(c->impulse);
  v3 u = tbi_point_velocity(c, visit->a, visit->b);
  u.x -= c->target;
  if (still) u = v3_sub(u, v3_make(0, still[0], still[1]));
  v3 d = v3_neg(s3_mulv(s3_load(c->inverse), u));
  v3 stuck = v3_add(p, d);
  double max = c->friction * stuck.x;
  if (stuck.x >= 0 && stuck.y * stuck.y + stuck.z * stuck.z <= max * max) {
    tbi_visit_push(visit, c, d);
    return largest(u);
  }
  /* the velocity without this contact */
  v3 b = v3_sub(u, response_of(c, p));
  d = v3_neg(p);
  if (b.x < 0) d = v3_sub(tbi_coulomb((const double(*)[3])c->w, b, c->friction), p);
  if (d.x == 0 && d.y == 0 && d.z == 0) return 0;
  tbi_visit_push(visit, c, d);
  return largest(response_of(c, d));
}

double tbi_cone_visit(tbi_problem *p, const tbi_group *group) {
  TBI_ASSERT(group->first >= 0 && group->first + group->count <= p->npoint);
  double change = 0;
  tbi_visit visit = tbi_visit_begin(p, group);
  for (int32_t i = group->first; i < group->first + group->count; ++i)
    change = tbi_max(change, visit_point(&visit, &p->point[i], p->still ? p->still[i] : NULL));
  tbi_visit_end(p, group, &visit);
  return change;
}

double tbi_cone_sweep(tbi_problem *p) {
  double change = tbi_rows_sweep(p);
  for (int32_t g = 0; g < p->ngroup; ++g)
    change = tbi_max(change, tbi_cone_visit(p, &p->group[g]));
  return tbi_max(change, tbi_couples_sweep(p));
}

/* the share that a sweep leaves of a change at best, if several bodies of a robot are in contact */
#define BEST_RATE 1e-2

/* How many sweeps the rate of convergence is looked at, and how many such spans more are preferred
 * to the fallback; the rate that is assumed where there is none yet: 0 to wait for it. */
typedef struct patience {
  int32_t span, more;
  double first;
} patience;

/* whether an impulse at one body moves another that is in contact, too: sweeps are dear then */
static bool any_coupled(const tbi_problem *p) {
  for (int32_t c = 0; c < p->model->ncluster; ++c)
    if (p->cluster_ports[c] > 1) return true;
  return false;
}

static patience patience_of(const tbi_problem *p) {
  if (p->npoint > FEW) return (patience){SPAN, 7, 0};
  return (patience){1, 2, any_coupled(p) ? BEST_RATE : 0};
}

/* Whether sweeps that changed velocities by so much, the latest first, would still change them by
 * more than the tolerance after so many further spans. */
static bool is_slow(const double *change, int32_t sweeps, double tolerance, patience most) {
  double rate = sweeps > most.span ? change[0] / change[most.span] : most.first;
  double then = change[0];
  for (int32_t i = 0; i < most.more; ++i)
    then *= rate;
  return !(then <= tolerance);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  bool newton = def->fallback == TABI_FALLBACK_NEWTON;
  tbi_layout lanes = {0};
  tbi_lanes_place(&lanes, model, def, &(tbi_lanes){0});
  size_t most = larger(tbi_sticking_memsize(model, def), lanes.used);
  most = larger(most, newton ? tbi_newton_fallback_memsize(model, def) : 0);
  most = larger(most, tbi_share_loads_memsize(model, def));
  return larger(most, tbi_energy_guard_memsize(model));
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* Whether nothing in contact moves faster than gravity would make it within the step. */
static bool is_near_rest(const tbi_problem *p, const tabi_world_def *def) {
  double speed = def->timestep * v3_norm(v3_load(def->gravity));
  bool near = true;
  for (int32_t k = 0; k < p->nport; ++k)
    near = near && v4_dot(p->velocity[k].lin, p->velocity[k].lin) <= speed * speed;
  return near;
}

/* Many bodies in contact: sweeps in lanes, as many as the budget allows; heaps go on in the steps
 * to come, but when they have all but stopped, they come to rest now: what is missing would keep
 * them creeping.  False: there are too few. */
static bool solve_heaps(tbi_problem *p, const tabi_world_def *def, void *scratch,
                        tbi_solution *solution) {
  tbi_lanes lanes;
  tbi_layout at = {scratch, 0};
  tbi_lanes_place(&at, p->model, def, &lanes);
  if (!tbi_lanes_begin(&lanes, p)) return false;
  bool newton = def->fallback == TABI_FALLBACK_NEWTON;
  bool open = def->budget == 0 && def->tolerance > 0;
  int32_t budget = open ? HEAP_BUDGET : def->budget > 0 ? def->budget : def->iterations;
  budget = smaller(def->iterations, budget);
  tbi_lanes_limits limits = {.tolerance = def->tolerance,
                             .sweeps = budget,
                             .alone = newton || def->budget > 0 ? budget : def->iterations};
  solution->iterations = tbi_lanes_solve(&lanes, limits, &solution->converged);
  int32_t left = def->iterations - solution->iterations;
  if (!solution->converged && open && left > 0 && is_near_rest(p, def)) {
    limits.sweeps = limits.alone = left;
    solution->iterations += tbi_lanes_solve(&lanes, limits, &solution->converged);
  }
  if (newton && !solution->converged) (void)tbi_newton_fallback(p, def, true, scratch, solution);
  return true;
}

static void solve_few(tbi_problem *p, const tabi_world_def *def, void *scratch,
                      tbi_solution *solution) {
  bool may_fall_back = def->fallback == TABI_FALLBACK_NEWTON;
  int32_t max = def->budget > 0 ? smaller(def->iterations, def->budget) : def->iterations;
  double change[SPAN + 1] = {0};
  patience most = patience_of(p);
  while (solution->iterations < max && !solution->converged) {
    memmove(change + 1, change, SPAN * sizeof *change);
    change[0] = tbi_cone_sweep(p);
    ++solution->iterations;
    solution->converged = tbi_is_settled(change[0], solution->iterations, def->tolerance);
    if (!may_fall_back || solution->converged) continue;
    if (!is_slow(change, solution->iterations, def->tolerance, most)) continue;
    if (tbi_newton_fallback(p, def, false, scratch, solution)) break;
    may_fall_back = false;
  }
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  tbi_solution solution = {.converged = false};
  bool heaps = solve_heaps(p, def, scratch, &solution);
  if (!heaps) solve_few(p, def, scratch, &solution);
  if (def->tolerance > 0 && (solution.converged || def->budget == 0))
    tbi_share_loads(p, def, scratch, &solution);
  bool early = !solution.converged && (heaps || def->budget > 0);
  if (early && tbi_energy_guard(p, scratch)) solution.energy_limited = true;
  return solution;
}

const tbi_formulation tbi_cone = {
    .info = {.name = "cone",
             .summary = "Gauss-Seidel over contacts with the true friction cone",
             .method = TABI_CONTACT_CONE,
             .published = TABI_CONTACT_CONE_PAPER,
             .rebounds = true,
             .sweeps = true,
             .newton = true,
             .couples = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .predicts_joints = true,
    .limits_rebounds = true,
    .middle = true,
    .memsize = memsize,
    .solve = solve,
    .solve_direct = tbi_sticking_solve,
};
