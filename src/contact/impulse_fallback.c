/* impulse_fallback.c - the rebounds and friction of `impulse` by the solver of `exact`, whose
 * matrix is never formed.
 *
 * Coulomb's law at the end of the step dissipates energy where nothing rebounds, so there is a
 * share of the rebounds that adds none.  Rebounds may also contradict each other, as those of a
 * body that is caught between two others: then nothing in the island rebounds.  If there is no
 * solution even so, which friction between bodies inside each other can bring about, sweeps of cone
 * stop as much as they can, and the solution says that it has not converged. */
#include "contact/impulse_work.h"

#include <string.h>

enum { HALVINGS = 30 };

void tbi_impulse_exact_place(tbi_layout *at, int64_t points, int64_t rows, tbi_impulse_exact *e) {
  tbi_exact_memory_place(at, points, rows, &e->memory);
  e->target = tbi_layout_take(at, points, sizeof *e->target);
}

static tbi_point *point_at(const tbi_island *island, int32_t i) {
  return &island->all->p->point[island->law_point[i]];
}

/* whether anything rebounds */
static bool keep_targets(const tbi_impulse_exact *e, const tbi_island *island) {
  bool rebounds = false;
  for (int32_t i = 0; i < island->npoint; ++i) {
    const tbi_point *point = point_at(island, i);
    e->target[i] = point->target;
    rebounds = rebounds || point->target != point->resting_target;
  }
  return rebounds;
}

/* a share of all rebounds, in the points' targets and in q */
static void set_rebounds(const tbi_impulse_exact *e, const tbi_island *island, double share) {
  tbi_factored *all = island->all;
  double *q = all->q + (island->w.q - all->q);
  for (int32_t i = 0; i < island->npoint; ++i) {
    tbi_point *point = point_at(island, i);
    double target = point->resting_target + share * (e->target[i] - point->resting_target);
    if (!point->immobile) q[island->w.law[i].at] += point->target - target;
    point->target = target;
  }
}

/* a sweep brings the velocities up to date with the impulses */
static tbi_solution attempt(const tbi_impulse_exact *e, const tbi_island *island,
                            const tabi_world_def *def) {
  tbi_island_read(island, e->memory.r);
  island->w.sweep(island->w.self, e->memory.r);
  tbi_problem_sum(island->all->p);
  tbi_solution own = tbi_exact_island(&e->memory, island, def);
  ++own.iterations;
  return own;
}

static bool adds_energy(const tbi_impulse_exact *e, const tbi_island *island) {
  const tbi_delassus *w = &island->w;
  tbi_island_read(island, e->memory.r);
  w->multiply(w->self, e->memory.r, e->memory.u);
  for (int32_t i = 0; i < w->nunknown; ++i)
    e->memory.u[i] += w->q[i];
  return tbi_island_gain(island, e->memory.r, w->q, e->memory.u) > TBI_NO_GAIN * w->nlaw;
}

/* the largest share of rebounds that adds no energy */
static double find_share(const tbi_impulse_exact *e, const tbi_island *island,
                         const tabi_world_def *def, int32_t *iterations) {
  double low = 0;
  double high = 1;
  for (int k = 0; k < HALVINGS; ++k) {
    double middle = 0.5 * (low + high);
    set_rebounds(e, island, middle);
    tbi_solution own = attempt(e, island, def);
    *iterations += own.iterations;
    if (own.converged && !adds_energy(e, island)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* from zero impulses: those that the solver has left may have grown without bounds */
static int32_t sweep(const tbi_impulse_exact *e, const tbi_island *island,
                     const tabi_world_def *def) {
  const tbi_delassus *w = &island->w;
  memset(e->memory.r, 0, sizeof *e->memory.r * (size_t)w->nunknown);
  for (int32_t i = 0; i < def->iterations; ++i)
    w->sweep(w->self, e->memory.r);
  return def->iterations;
}

/* the last attempt has as many iterations as exact: problems of 80 unknowns have needed 520 */
static tbi_solution persist(const tbi_impulse_exact *e, const tbi_island *island,
                            const tabi_world_def *def, tbi_solution so_far) {
  tabi_world_def more = *def;
  if (so_far.converged || more.iterations >= tbi_exact.iterations) return so_far;
  more.iterations = tbi_exact.iterations;
  tbi_solution own = attempt(e, island, &more);
  own.iterations += so_far.iterations;
  return own;
}

/* to the tolerance of exact where that of the def is wider: Newton's last iteration gives it, and
 * joints that creep by what is left would keep it from step to step */
static tabi_world_def sharper(const tabi_world_def *def) {
  tabi_world_def own = *def;
  own.tolerance = tbi_min(def->tolerance, tbi_exact.tolerance);
  return own;
}

tbi_solution tbi_impulse_fall_back(const tbi_impulse_exact *e, const tbi_island *island,
                                   const tabi_world_def *given) {
  const tabi_world_def own_def = sharper(given);
  const tabi_world_def *def = &own_def;
  tbi_solution all = attempt(e, island, def);
  if (all.converged && !adds_energy(e, island)) return all;
  bool rebounds = keep_targets(e, island);
  double share = rebounds && all.converged ? find_share(e, island, def, &all.iterations) : 0;
  set_rebounds(e, island, share);
  tbi_solution own = attempt(e, island, def);
  if (share > 0 && (!own.converged || adds_energy(e, island))) {
    /* the law has several solutions, and this is not the one that the search had found */
    all.iterations += own.iterations;
    set_rebounds(e, island, 0);
    own = attempt(e, island, def);
  }
  own = persist(e, island, def, own);
  all.iterations += own.iterations;
  all.converged = own.converged;
  all.energy_limited = true;
  if (!own.converged) all.iterations += sweep(e, island, def);
  return all;
}
