/* impulse.c - multi-point rigid collision with restitution (P5, Sugihara and Nakamura).
 *
 * Every contact is a set of points.  Active points prescribe velocities: the normal one rebounds
 * (the point's target), the tangential ones of a point that sticks are zero.  The impulses that
 * give them, M f = -q (17), follow by the pseudo-inverse of M (19), because with four points under
 * a sole M is singular: the load is spread with the least norm.  Then, one change at a time until
 * nothing is wrong:
 *
 *   a point that pulls                      is released, the worst first                     (24)
 *   a new point that would penetrate        becomes active
 *   a point that sticks beyond static mu    slides with kinetic mu, against the pull   (25), (26)
 *   a released point that would penetrate   becomes active again
 *
 * Points that slid before the step slide with kinetic mu against the slip.  Their friction follows
 * their normal impulse, which a small system of these normals alone takes into account, and turns
 * until it is against the slip after the step.
 *
 * Newton's restitution with friction may add energy.  If it would, all rebounds are reduced by one
 * factor, and if that is not enough friction by another.  Joint rows are points without tangents:
 * active, or at a bound.
 *
 * When the changes cycle, they start again with all points sticking, whatever their slip: friction
 * that opposes a slip may leave no solution, as Painleve's rod shows.  If that fails too, or an
 * island is too large for a dense matrix, the solver of exact takes over (impulse_fallback.c). */
#include "base/assertion.h"
#include "contact/impulse_work.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNKNOWNS 300 /* of one island; exact solves larger ones */
#define TURNS        6   /* of friction in one solution */
#define TIE          (1 - 1e-9)

static void take_memory(tbi_impulse_island *c, tbi_layout *at, int64_t max) {
  int64_t n = max < MAX_UNKNOWNS ? max : MAX_UNKNOWNS;
  c->part = tbi_layout_take(at, n, sizeof *c->part);
  c->fixed = tbi_layout_take(at, n, sizeof *c->fixed);
  c->sliding = tbi_layout_take(at, n, sizeof *c->sliding);
  c->m = tbi_layout_take(at, n * n, sizeof *c->m);
  c->a = tbi_layout_take(at, n * n, sizeof *c->a);
  c->q = tbi_layout_take(at, n, sizeof *c->q);
  c->f = tbi_layout_take(at, n, sizeof *c->f);
  c->u = tbi_layout_take(at, n, sizeof *c->u);
  c->x = tbi_layout_take(at, n, sizeof *c->x);
  c->last = tbi_layout_take(at, n, sizeof *c->last);
  c->root = tbi_layout_take(at, n, sizeof *c->root);
  c->kept = tbi_layout_take(at, n, sizeof *c->kept);
  c->pseudo.l = tbi_layout_take(at, (int64_t)tbi_pseudo_room(n), sizeof(double));
}

/* M by unit impulses */
static void begin(tbi_impulse_island *c, const tbi_island *island) {
  TBI_ASSERT(island->w.nunknown <= MAX_UNKNOWNS);
  const tbi_delassus *w = &island->w;
  c->island = island;
  c->n = w->nunknown;
  tbi_island_read(island, c->last);
  c->friction = 1;
  c->stops = false;
  memset(c->f, 0, sizeof *c->f * (size_t)c->n);
  for (int32_t j = 0; j < c->n; ++j) {
    c->f[j] = 1;
    w->multiply(w->self, c->f, c->u);
    c->f[j] = 0;
    for (int32_t i = 0; i < c->n; ++i)
      tbi_impulse_row(c, i)[j] = c->u[i];
  }
}

/* a row by where it was in the step before */
static tbi_part fixed_row(const tbi_law *law, double last) {
  bool active = last > law->lower && last < law->upper;
  return (tbi_part){.mode = active ? TBI_STICKS : TBI_BOUND,
                    .bound = last <= law->lower ? law->lower : law->upper};
}

void tbi_impulse_start(tbi_impulse_island *c, double rebound) {
  TBI_ASSERT(rebound >= 0 && rebound <= 1);
  const tbi_delassus *w = &c->island->w;
  memcpy(c->q, w->q, sizeof *c->q * (size_t)c->n);
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_point *point = tbi_impulse_point(c, i);
    int32_t at = w->law[i].at;
    if (point) {
      c->q[at] += (1 - rebound) * (point->target - point->resting_target);
      bool active = c->q[at] < -TBI_MIN_APPROACH || c->last[at] > 0;
      c->part[i] = active ? tbi_impulse_fixed_point(c, point) : (tbi_part){.mode = TBI_FREE};
    } else {
      c->part[i] = fixed_row(&w->law[i], c->last[at]);
    }
  }
}

/* m/s, by which an active point pulls, or a row is beyond a bound */
static double pull_of(const tbi_impulse_island *c, int32_t i) {
  const tbi_law *law = &c->island->w.law[i];
  double f = c->f[law->at];
  if (c->part[i].mode != TBI_STICKS && c->part[i].mode != TBI_SLIDES) return 0;
  double beyond = tbi_impulse_point(c, i) ? -f : tbi_max(law->lower - f, f - law->upper);
  return beyond * law->mobility;
}

/* m/s, by which a free point penetrates, or a row leaves its bound */
static double approach_of(const tbi_impulse_island *c, int32_t i) {
  const tbi_part *p = &c->part[i];
  if (p->mode != TBI_FREE && p->mode != TBI_BOUND) return 0;
  double u = c->u[c->island->w.law[i].at];
  bool at_upper = p->mode == TBI_BOUND && p->bound == c->island->w.law[i].upper;
  return at_upper ? u : -u;
}

/* likewise, of points that were not released before */
static double first_approach_of(const tbi_impulse_island *c, int32_t i) {
  bool released = c->part[i].mode == TBI_BOUND || c->part[i].let_go;
  return released ? 0 : approach_of(c, i);
}

/* Points that are as bad as the worst, up to this share, change together: neither rounding nor an
 * order shall tell symmetric ones apart.  But where that made the changes cycle, rounding may. */
static double tie(const tbi_impulse_island *c) { return c->stops ? 1 : TIE; }

typedef double measure(const tbi_impulse_island *c, int32_t i);

/* how bad the worst is; 0: it can be neglected */
static double find_worst(const tbi_impulse_island *c, measure *of) {
  double max = 0;
  for (int32_t i = 0; i < c->island->w.nlaw; ++i)
    max = tbi_max(max, of(c, i));
  return max > TBI_MIN_APPROACH ? max : 0;
}

/* release the points that pull most, or put the rows farthest beyond a bound there */
static bool release(tbi_impulse_island *c) {
  double worst = find_worst(c, pull_of);
  for (int32_t i = 0; worst > 0 && i < c->island->w.nlaw; ++i) {
    const tbi_law *law = &c->island->w.law[i];
    if (pull_of(c, i) < tie(c) * worst) continue;
    if (tbi_impulse_point(c, i)) {
      c->part[i] = (tbi_part){.mode = TBI_FREE, .let_go = true};
    } else {
      c->part[i] = (tbi_part){.mode = TBI_BOUND,
                              .bound = c->f[law->at] < law->lower ? law->lower : law->upper};
    }
  }
  return worst > 0;
}

/* what would penetrate becomes active, the worst first: points that were not released before, or
 * all */
static bool admit(tbi_impulse_island *c, bool all) {
  measure *of = all ? approach_of : first_approach_of;
  double worst = find_worst(c, of);
  for (int32_t i = 0; worst > 0 && i < c->island->w.nlaw; ++i) {
    if (of(c, i) < tie(c) * worst) continue;
    const tbi_point *point = tbi_impulse_point(c, i);
    bool was_let_go = c->part[i].let_go;
    c->part[i] = point ? tbi_impulse_fixed_point(c, point) : (tbi_part){.mode = TBI_STICKS};
    if (point && was_let_go) tbi_impulse_slide_in(c, i);
  }
  return worst > 0;
}

/* Free points that neither separate nor penetrate become active and share the load.  Otherwise, in
 * a stack of boxes, only as many points of each box would become active, one by one, as fix it. */
static bool share_load(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  bool more = false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    tbi_part *p = &c->part[i];
    if (!tbi_impulse_point(c, i) || p->mode != TBI_FREE || p->let_go ||
        tbi_impulse_point(c, i)->immobile)
      continue;
    if (c->u[w->law[i].at] > TBI_MIN_APPROACH) continue;
    *p = tbi_impulse_fixed_point(c, tbi_impulse_point(c, i));
    more = true;
  }
  return more;
}

int32_t tbi_impulse_settle(tbi_impulse_island *c, double rebound, double friction) {
  TBI_ASSERT(friction >= 0 && friction <= 1);
  int32_t max = 2 * c->island->w.nlaw + 8 + TURNS;
  int32_t turns = TURNS;
  c->friction = friction;
  c->missed = false;
  tbi_impulse_start(c, rebound);
  for (int32_t pass = 1; pass <= max; ++pass) {
    if (!tbi_impulse_solve_fixed(c)) return -pass;
    if (release(c)) continue;
    tbi_impulse_follow(c);
    tbi_impulse_multiply(c);
    tbi_impulse_share_friction(c);
    /* slip is declared among all points that push; released ones come back after it, lest it cycle
     */
    if (admit(c, false) || tbi_impulse_change_friction(c)) continue;
    if (admit(c, true) || share_load(c)) continue;
    if (turns-- > 0 && tbi_impulse_turn_friction(c)) continue;
    c->missed = tbi_impulse_misses(c);
    return c->missed ? -pass : pass;
  }
  return -max;
}

typedef struct work {
  tbi_factored factored;
  tbi_impulse_island island_work;
  tbi_impulse_exact exact;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = def->max_contacts;
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place(&at, model, points, rows, &to->factored);
  take_memory(&to->island_work, &at, 3 * points + rows);
  tbi_impulse_exact_place(&at, points, rows, &to->exact);
  return at.used;
}

size_t tbi_impulse_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* pulls below TBI_MIN_APPROACH, which release() has left */
static void drop_pulls(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (tbi_impulse_point(c, i) && c->f[w->law[i].at] < 0)
      memset(c->f + w->law[i].at, 0, 3 * sizeof *c->f);
  }
}

/* points that slide in this step do so with kinetic friction, also where they broke away in it */
static void keep_modes(const tbi_impulse_island *c) {
  const tbi_island *island = c->island;
  for (int32_t i = 0; i < island->npoint; ++i) {
    tbi_point *point = &island->all->p->point[island->law_point[i]];
    if (c->part[i].mode == TBI_SLIDES) point->friction = tbi_impulse_kinetic(c, point);
  }
}

/* the number of passes, negative if they cycle; rebounds and friction are reduced where they would
 * add energy */
static int32_t settle_without_gain(tbi_impulse_island *c) {
  int32_t passes = tbi_impulse_settle(c, 1, 1);
  int32_t cycled = passes < 0 && !c->missed ? -passes : 0;
  if (cycled > 0) {
    c->stops = true;
    passes = tbi_impulse_settle(c, 1, 1);
  }
  if (passes > 0 &&
      tbi_island_gain(c->island, c->f, c->q, c->u) > TBI_NO_GAIN * c->island->w.nlaw) {
    passes = tbi_impulse_limit_energy(c);
    c->energy_limited = true;
  }
  if (passes > 0) keep_modes(c);
  return passes > 0 ? passes + cycled : passes - cycled;
}

static int32_t solve_island(tbi_impulse_island *c, const tbi_island *island,
                            tbi_impulse_passes *passes) {
  c->energy_limited = false;
  if (island->w.nunknown > MAX_UNKNOWNS) return -1;
  begin(c, island);
  int32_t made = passes(c);
  if (made <= 0) return made;
  drop_pulls(c);
  tbi_island_write(island, c->f);
  return made;
}

tbi_solution tbi_impulse_solve(tbi_problem *p, const tabi_world_def *def, void *scratch,
                               tbi_impulse_passes *passes) {
  work w;
  (void)place(&w, scratch, p->model, def);
  tbi_factored_begin(&w.factored, p);
  tbi_solution all = {.converged = true};
  for (int32_t i = 0; i < w.factored.nisland; ++i) {
    const tbi_island *island = &w.factored.island[i];
    int32_t made = solve_island(&w.island_work, island, passes);
    tbi_solution own = {.converged = true};
    if (made <= 0) own = tbi_impulse_fall_back(&w.exact, island, def);
    own.iterations += abs(made);
    all.converged = all.converged && own.converged;
    all.energy_limited = all.energy_limited || own.energy_limited || w.island_work.energy_limited;
    if (own.iterations > all.iterations) all.iterations = own.iterations;
  }
  tbi_problem_start(p);
  return all;
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  return tbi_impulse_solve(p, def, scratch, settle_without_gain);
}

const tbi_formulation tbi_impulse = {
    .info = {.name = "impulse",
             .summary = "restitution at all points at once, by pseudo-inverse and exclusion",
             .method = TABI_CONTACT_IMPULSE,
             .published = TABI_CONTACT_IMPULSE_PAPER,
             .rebounds = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .predicts_joints = true,
    .memsize = tbi_impulse_memsize,
    .solve = solve,
};
