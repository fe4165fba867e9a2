/* load_sharing.c - how contacts share a load that rigid bodies leave open.
 *
 * Four points under a box, or two boxes welded together, carry their load in many ways that all
 * obey Coulomb's law.  While all points stick or are open the motion is the same for all of them.
 * But friction of a point that slides is proportional to its load and points against its own slip,
 * so then the motion depends on it.  The rule is that of a bed of equal springs: with w the mean
 * mobility of the island's points,
 *
 *   r_0 = 0,   r_k+1 solves Coulomb's law with  u + del w (r - r_k)  instead of u,
 *
 * which ends at a solution of the law itself (friction/coulomb_newton_proximal.c).  It does not
 * depend on the order of points or on impulses of steps before. */
#include "contact/load_sharing.h"

#include "base/assertion.h"
#include "contact/small_island.h"
#include "problem/loops.h"

enum { MAX_COORDINATES = 96, BUDGET = 40 };

/* a body on so many points, not all on one line, knows their loads */
enum { UNIQUE_POINTS = 3 };

/* cone leaves islands of more clusters than that, which are heaps, to its sweeps */
enum { HEAP = 2 };

/* points of a problem, with so many more for each cluster, and of an island with MAX_COORDINATES */
enum { FIRST_POINTS = 32, CLUSTER_POINTS = 8, ISLAND_POINTS = 160 };

/* share of mu f_n from which a point is at its cone */
#define AT_CONE (1 - 1e-6)
/* shares of the tolerance of cone: residual of the result, and of sweeps that count as solved */
#define RESULT 0.1
#define SOLVED 100

static bool is_small(const tbi_island *island) {
  const tbi_problem *p = island->all->p;
  int64_t coordinates = 0;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t cluster = island->cluster[c];
    coordinates += tbi_cluster_dofs(p->model, cluster) + p->cluster_loops[cluster];
  }
  return coordinates <= MAX_COORDINATES;
}

static bool is_at_cone(const tbi_law *law, const double *r, double tolerance) {
  if (law->size != 3 || law->friction <= 0 || law->mobility * r[0] <= tolerance) return false;
  double max = AT_CONE * law->friction * r[0];
  return r[1] * r[1] + r[2] * r[2] > max * max;
}

static bool is_in(const tbi_problem *p, int32_t port, int32_t cluster) {
  return port != TABI_NONE && p->port[port].cluster == cluster;
}

/* loaded points of a cluster */
static int32_t count_loaded(const tbi_island *island, const double *r, int32_t cluster,
                            double tolerance) {
  const tbi_problem *p = island->all->p;
  int32_t count = 0;
  for (int32_t i = 0; i < island->npoint; ++i) {
    const tbi_point *c = tbi_island_point(island, i);
    if (!is_in(p, c->port_a, cluster) && !is_in(p, c->port_b, cluster)) continue;
    count += island->w.law[i].mobility * r[island->w.law[i].at] > tolerance ? 1 : 0;
  }
  return count;
}

bool tbi_load_is_open(const tbi_island *island, const double *r, double tolerance) {
  if (island->npoint <= UNIQUE_POINTS) return false;
  bool slides = false;
  for (int32_t i = 0; i < island->npoint && !slides; ++i)
    slides = is_at_cone(&island->w.law[i], r + island->w.law[i].at, tolerance);
  if (!slides || !is_small(island)) return false;
  for (int32_t c = 0; c < island->ncluster; ++c)
    if (count_loaded(island, r, island->cluster[c], tolerance) > UNIQUE_POINTS) return true;
  return false;
}

bool tbi_load_share(const tbi_delassus *matrix, double tolerance, double *r, void *memory,
                    int32_t *factorisations) {
  tbi_newton_result result = tbi_newton_share_load(matrix, tolerance, BUDGET, r, memory);
  *factorisations += result.factorisations;
  return result.converged;
}

/* -- all islands of a problem */

typedef struct work {
  tbi_factored f;
  tbi_small_island small;
  int64_t points, rows, island_points, island_rows; /* capacity */
  double *r, *u;                                    /* impulses and velocities of an island */
  void *newton;
} work;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  to->points = min64(def->max_contacts, FIRST_POINTS + CLUSTER_POINTS * (int64_t)model->ncluster);
  to->rows = model->nv;
  to->island_points = min64(to->points, ISLAND_POINTS);
  to->island_rows = min64(to->rows, MAX_COORDINATES);
  int64_t unknowns = 3 * to->points + to->rows;
  tbi_factored_place_islands(&at, model, to->points, to->rows, &to->f);
  to->r = tbi_layout_take(&at, unknowns, sizeof *to->r);
  to->u = tbi_layout_take(&at, unknowns, sizeof *to->u);
  /* islands are solved one after another, by one kind of Newton steps or the other */
  tbi_layout small = at;
  tbi_small_island_place(&small, &to->small);
  tbi_factored_place_newton(&at, model, to->island_points, to->island_rows, MAX_COORDINATES,
                            &to->f);
  if (small.used > at.used) at = small;
  size_t newton = tbi_newton_refine_memsize((int32_t)(to->island_points + to->island_rows),
                                            (int32_t)(3 * to->island_points + to->island_rows));
  to->newton = tbi_layout_take(&at, (int64_t)newton, 1);
  return at.used;
}

size_t tbi_share_loads_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* as is_at_cone(), without laws: most problems have no such point, and end here */
static bool may_be_open(const tbi_problem *p, double tolerance) {
  for (int32_t i = 0; i < p->npoint && p->npoint > UNIQUE_POINTS; ++i) {
    const tbi_point *c = &p->point[i];
    tbi_law law = {.size = 3, .mobility = c->mobility, .friction = c->friction};
    if (is_at_cone(&law, c->impulse, tolerance)) return true;
  }
  return false;
}

/* whether the impulses of an island were replaced */
static bool share_island(work *w, const tbi_island *island, double tolerance, int32_t *steps) {
  tbi_island_read(island, w->r);
  if (island->ncluster > HEAP || !tbi_load_is_open(island, w->r, tolerance)) return false;
  if (island->npoint > w->island_points || island->nrow > w->island_rows) return false;
  tbi_island_velocity(island, w->u);
  if (tbi_newton_residual(&island->w, w->r, w->u) > SOLVED * tolerance) return false;
  bool small = tbi_small_island_make(&w->small, island);
  const tbi_delassus *matrix = small ? &w->small.w : &island->w;
  if (!tbi_load_share(matrix, RESULT * tolerance, w->r, w->newton, steps)) return false;
  tbi_island_write(island, w->r);
  return true;
}

void tbi_share_loads(tbi_problem *p, const tabi_world_def *def, void *scratch,
                     tbi_solution *solution) {
  TBI_ASSERT(def->tolerance > 0);
  if (!may_be_open(p, def->tolerance)) return;
  work w;
  (void)place(&w, scratch, p->model, def);
  if (p->npoint > w.points || p->nrow > w.rows) return;
  tbi_problem_sum(p);
  tbi_factored_begin(&w.f, p);
  bool changed = false;
  int32_t max = 0;
  for (int32_t i = 0; i < w.f.nisland; ++i) {
    int32_t steps = 0;
    changed = share_island(&w, &w.f.island[i], def->tolerance, &steps) || changed;
    if (steps > max) max = steps;
  }
  if (changed) tbi_problem_start(p);
  solution->iterations += max;
}
