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
 * depend on the order of points or on impulses of steps before.
 *
 * The rule comes last, when sweeps, Newton's method and exact have found some solution, and only
 * chooses another one: where it does not meet the law, or would add energy, theirs stays. */
#include "contact/load_sharing.h"

#include "base/assertion.h"
#include "contact/exact_island.h"
#include "problem/loops.h"

enum { MAX_COORDINATES = 96, BUDGET = 40 };

/* A body with six freedoms on three points, not on one line, knows their loads; one with fewer
 * freedoms those of one point. */
enum { FREE = 6, FREE_POINTS = 3, HELD_POINTS = 1 };

/* cone leaves islands of more clusters than that, which are heaps, to its sweeps */
enum { HEAP = 2 };

/* points of a problem, with so many more for each cluster, and of an island with MAX_COORDINATES */
enum { FIRST_POINTS = 32, CLUSTER_POINTS = 8, ISLAND_POINTS = 160 };

#define AT_CONE (1 - 1e-6) /* share of mu f_n from which a point is at its cone */
#define LOADED  1e-9       /* m/s, by which the impulse of a loaded point changes its velocity */
/* shares of the tolerance of cone: residual of the result, and of sweeps that count as solved */
#define RESULT 0.1
#define SOLVED 100

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* -- where load sharing is open */

static bool is_loaded(const tbi_point *c) { return c->mobility * c->impulse[0] > LOADED; }

static bool slides(const tbi_point *c) {
  double max = AT_CONE * c->friction * c->impulse[0];
  double square = c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2];
  return c->friction > 0 && square > max * max && is_loaded(c);
}

static void count_loaded(const tbi_problem *p, int32_t *loaded) {
  for (int32_t c = 0; c < p->model->ncluster; ++c)
    loaded[c] = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (!is_loaded(c)) continue;
    int32_t a = c->port_a == TABI_NONE ? TABI_NONE : p->port[c->port_a].cluster;
    int32_t b = c->port_b == TABI_NONE ? TABI_NONE : p->port[c->port_b].cluster;
    if (a != TABI_NONE) ++loaded[a];
    if (b != TABI_NONE && b != a) ++loaded[b];
  }
}

/* whether what a port belongs to stands on more points than it needs */
static bool is_redundant(const tbi_problem *p, const int32_t *loaded, int32_t port) {
  if (port == TABI_NONE) return true;
  int32_t cluster = p->port[port].cluster;
  bool free = tbi_cluster_dofs(p->model, cluster) == FREE && p->cluster_loops[cluster] == 0;
  return loaded[cluster] > (free ? FREE_POINTS : HELD_POINTS);
}

/* whether another share of a point's load would move something else */
static bool is_open(const tbi_problem *p, const int32_t *loaded, const tbi_point *c) {
  return slides(c) && is_redundant(p, loaded, c->port_a) && is_redundant(p, loaded, c->port_b);
}

bool tbi_load_may_be_open(const tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i)
    if (slides(&p->point[i])) return true;
  return false;
}

bool tbi_load_is_open(const tbi_problem *p, int32_t *loaded) {
  count_loaded(p, loaded);
  for (int32_t i = 0; i < p->npoint; ++i)
    if (is_open(p, loaded, &p->point[i])) return true;
  return false;
}

static bool is_island_open(const tbi_island *island, const int32_t *loaded) {
  for (int32_t i = 0; i < island->npoint; ++i)
    if (is_open(island->all->p, loaded, tbi_island_point(island, i))) return true;
  return false;
}

static bool is_small(const tbi_island *island) {
  const tbi_problem *p = island->all->p;
  int64_t coordinates = 0;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t cluster = island->cluster[c];
    coordinates += tbi_cluster_dofs(p->model, cluster) + p->cluster_loops[cluster];
  }
  return coordinates <= MAX_COORDINATES;
}

int64_t tbi_load_coordinates(const tabi_model *model) {
  return min64(model->nv + (int64_t)model->cluster_loop[model->ncluster], MAX_COORDINATES);
}

/* -- one island */

static void find_velocity(const tbi_delassus *w, const double *r, double *u) {
  w->multiply(w->self, r, u);
  for (int32_t k = 0; k < w->nunknown; ++k)
    u[k] += w->q[k];
}

int32_t tbi_island_share_load(const tbi_sharing_memory *memory, const tbi_island *island,
                              double tolerance, double solved) {
  /* equal springs say nothing of couples */
  if (island->ncouple > 0) return 0;
  if (!is_island_open(island, memory->loaded) || !is_small(island)) return 0;
  tbi_island_read(island, memory->r);
  find_velocity(&island->w, memory->r, memory->u);
  if (tbi_newton_residual(&island->w, memory->r, memory->u) > solved) return 0;
  if (tbi_load_effect(&memory->load, island, memory->u, solved) <= tolerance) return 0;
  bool small = memory->small && tbi_small_island_make(memory->small, island);
  const tbi_delassus *w = small ? &memory->small->w : &island->w;
  tbi_newton_result result = tbi_newton_share_load(w, tolerance, BUDGET, memory->r, memory->newton);
  if (!result.converged) return 0;
  tbi_island_drop_traces(island, tolerance, memory->r, memory->u, memory->kept);
  find_velocity(w, memory->r, memory->u);
  if (tbi_island_adds_energy(island, memory->r, memory->u)) return 0;
  tbi_island_write(island, memory->r);
  return result.factorisations;
}

/* -- the islands of cone */

typedef struct work {
  tbi_factored f;
  tbi_small_island small;
  int64_t points, rows, island_points, island_rows; /* capacity */
  tbi_sharing_memory memory;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  to->points = min64(def->max_contacts, FIRST_POINTS + CLUSTER_POINTS * (int64_t)model->ncluster);
  to->rows = model->nv;
  to->island_points = min64(to->points, ISLAND_POINTS);
  to->island_rows = min64(to->rows, MAX_COORDINATES);
  int64_t unknowns = 3 * to->island_points + to->island_rows;
  to->memory.loaded = tbi_layout_take(&at, model->ncluster, sizeof *to->memory.loaded);
  tbi_factored_place_islands(&at, model, to->points, to->rows, &to->f);
  to->memory.r = tbi_layout_take(&at, unknowns, sizeof *to->memory.r);
  /* islands are solved one after another, by one kind of Newton steps or the other; what
   * is not used during Newton's method shares its memory */
  tbi_layout load = at;
  tbi_load_memory_place(&load, tbi_load_coordinates(model), &to->memory.load);
  tbi_layout small = at;
  tbi_small_island_place(&small, &to->small);
  to->memory.small = &to->small;
  tbi_factored_place_newton(&at, model, to->island_points, to->island_rows, MAX_COORDINATES,
                            &to->f);
  if (small.used > at.used) at = small;
  if (load.used > at.used) at = load;
  tbi_layout beside = at;
  to->memory.u = tbi_layout_take(&beside, unknowns, sizeof *to->memory.u);
  to->memory.kept = tbi_layout_take(&beside, unknowns, sizeof *to->memory.kept);
  size_t newton =
      tbi_newton_refine_memsize((int32_t)(to->island_points + to->island_rows), (int32_t)unknowns);
  to->memory.newton = tbi_layout_take(&at, (int64_t)newton, 1);
  return beside.used > at.used ? beside.used : at.used;
}

size_t tbi_share_loads_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

static bool fits(const work *w, const tbi_island *island) {
  return island->ncluster <= HEAP && island->npoint <= w->island_points &&
         island->nrow <= w->island_rows;
}

void tbi_share_loads(tbi_problem *p, const tabi_world_def *def, void *scratch,
                     tbi_solution *solution) {
  TBI_ASSERT(def->tolerance > 0);
  if (!tbi_load_may_be_open(p) || !tbi_load_is_open(p, scratch)) return;
  work w;
  (void)place(&w, scratch, p->model, def); /* begins with what tbi_load_is_open has found */
  if (p->npoint + p->ncouple > w.points || p->nrow > w.rows) return;
  tbi_factored_find_islands(&w.f, p);
  int32_t most = 0;
  for (int32_t i = 0; i < w.f.nisland; ++i) {
    const tbi_island *island = &w.f.island[i];
    if (!fits(&w, island)) continue;
    tbi_factored_write_laws(&w.f, island);
    w.f.in_arena = NULL; /* small islands use its memory */
    int32_t steps =
        tbi_island_share_load(&w.memory, island, RESULT * def->tolerance, SOLVED * def->tolerance);
    most = steps > most ? steps : most;
  }
  if (most > 0) tbi_problem_start(p);
  solution->iterations += most;
}
