/* newton_fallback.c - the fallback of cone where sweeps converge slowly, island by island.
 *
 *   small islands   a few steps of Newton's method; most need three or four
 *   larger ones     likewise, if they are close already: a heap that has come to rest
 *   what is left    sweeps of these islands alone, as many as a step without Newton had left
 *   jams            what is still far from the law, or adds energy: the method exact, from there
 *
 * From afar Newton's method seldom converges for a large heap in a few steps, which are expensive
 * there.  The better impulses of each stage stay. */
#include "contact/newton_fallback.h"

#include "base/assertion.h"
#include "contact/exact_island.h"
#include "contact/small_island.h"
#include "problem/loops.h"

enum {
  SMALL = 192, /* coordinates of an island */
  LARGE = 600, /* more than that, and it is swept only */
  SMALL_STEPS = 8,
  SMALL_SWEEPS = 30, /* where W is written out */
  LARGE_STEPS = 3,
  SWEEPS_PER_STEP = 10, /* the cost of a Newton step, in sweeps */
  PAIR = 2,             /* clusters of an island that is no heap */
};
/* Capacity: points of a problem, with so many more for each cluster; points of an island for
 * Newton. One row for each velocity is enough: few joints are at a limit and have friction too. */
enum { FIRST_POINTS = 32, CLUSTER_POINTS = 8, NEWTON_POINTS = 512 };

/* share of the tolerance (which bounds the change in a sweep) that a residual may have: errors of
 * the same sign in every step would add up to a creep */
#define SHARE 0.1
#define NEAR  1e-5 /* m/s, residual from which Newton's method is tried in larger islands */
#define JAM   1e-4 /* m/s, residual above which an island is jammed */

typedef struct progress {
  bool converged;
  int32_t steps; /* of Newton, then with sweeps and what exact took */
} progress;

typedef struct work {
  tbi_factored f;
  tbi_small_island small;
  int64_t points, rows, newton_points, newton_rows; /* capacity; points with their couples */
  double *r, *u;                                    /* impulses and velocities of an island */
  double *kept;                                     /* impulses before its sweeps */
  progress *progress;                               /* by island */
  void *newton;                                     /* memory of tbi_newton_refine */
  bool budgeted;                                    /* heaps have had the sweeps of this step */
  tbi_layout rest; /* from here to `size` bytes is the memory of exact */
  size_t size;
} work;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Islands are solved one after another, so the two kinds of Newton steps (small_island.c and
 * factored_newton.c) share their memory; u and kept, which are not used during Newton's method,
 * share that of tbi_newton_refine, as does the memory of exact, which is enough for islands of
 * about two thirds of the points that Newton's method may have. */
static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  to->points = min64(def->max_contacts, FIRST_POINTS + CLUSTER_POINTS * (int64_t)model->ncluster);
  to->points = tbi_point_laws(model, to->points);
  to->rows = model->nv;
  to->newton_points = min64(to->points, NEWTON_POINTS);
  to->newton_rows = min64(to->rows, LARGE);
  int64_t unknowns = 3 * to->points + to->rows;
  tbi_factored_place_islands(&at, model, to->points, to->rows, &to->f);
  to->progress = tbi_layout_take(&at, model->ncluster, sizeof *to->progress);
  to->r = tbi_layout_take(&at, unknowns, sizeof *to->r);
  tbi_layout small = at;
  tbi_small_island_place(&small, &to->small);
  tbi_factored_place_newton(&at, model, to->newton_points, to->newton_rows, LARGE, &to->f);
  if (small.used > at.used) at = small;
  tbi_layout beside = at;
  to->u = tbi_layout_take(&beside, unknowns, sizeof *to->u);
  to->kept = tbi_layout_take(&beside, unknowns, sizeof *to->kept);
  to->rest = at;
  size_t newton = tbi_newton_refine_memsize((int32_t)(to->newton_points + to->newton_rows),
                                            (int32_t)(3 * to->newton_points + to->newton_rows));
  to->newton = tbi_layout_take(&at, (int64_t)newton, 1);
  to->size = beside.used > at.used ? beside.used : at.used;
  return to->size;
}

size_t tbi_newton_fallback_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* coordinates of an island, or more than LARGE if there is no memory for it */
static int64_t size_of(const work *w, const tbi_island *island) {
  const tbi_problem *p = w->f.p;
  if (island->npoint + island->ncouple > w->newton_points || island->nrow > w->newton_rows)
    return LARGE + 1;
  int64_t coordinates = 0;
  for (int32_t c = 0; c < island->ncluster; ++c) {
    int32_t cluster = island->cluster[c];
    coordinates += tbi_cluster_dofs(p->model, cluster) + p->cluster_loops[cluster];
  }
  return coordinates;
}

/* many bodies that touch each other: their sweeps ran in lanes, and go on in the steps to come */
static bool is_heap(const work *w, const tbi_island *island) {
  bool heap = w->budgeted && island->ncluster > PAIR && island->nrow == 0;
  for (int32_t c = 0; heap && c < island->ncluster; ++c)
    heap = w->f.p->cluster_ports[island->cluster[c]] == 1;
  return heap;
}

/* how many steps of Newton an island is worth, within so many sweeps */
static int32_t steps_for(const work *w, const tbi_island *island, double residual, int32_t sweeps) {
  int64_t coordinates = size_of(w, island);
  int32_t most = sweeps / SWEEPS_PER_STEP;
  if (coordinates <= SMALL) return most < SMALL_STEPS ? most : SMALL_STEPS;
  if (coordinates > LARGE || residual > NEAR) return 0;
  return most < LARGE_STEPS ? most : LARGE_STEPS;
}

/* the residual of the present impulses, which are copied to r */
static double measure(const work *w, const tbi_island *island, double *r) {
  if (island->nrow > 0) tbi_island_sum(island);
  tbi_island_read(island, r);
  tbi_island_velocity(island, w->u);
  return tbi_newton_residual(&island->w, r, w->u);
}

/* Newton's method where steps_for() allows it; brings the ports up to date */
static void apply_newton(work *w, double tolerance, int32_t sweeps) {
  bool changed = false;
  for (int32_t i = 0; i < w->f.nisland; ++i) {
    const tbi_island *island = &w->f.island[i];
    w->progress[i] = (progress){0};
    if (is_heap(w, island)) continue;
    tbi_factored_write_laws(&w->f, island);
    double residual = measure(w, island, w->r);
    w->progress[i].converged = residual <= SHARE * tolerance;
    if (w->progress[i].converged) continue;
    int32_t max_steps = steps_for(w, island, residual, sweeps);
    if (max_steps == 0) continue;
    bool small = tbi_small_island_make(&w->small, island);
    const tbi_delassus *matrix = small ? &w->small.w : &island->w;
    tbi_newton_effort most = {small ? SMALL_SWEEPS : 0, max_steps, small ? tolerance : 0};
    tbi_newton_result result = tbi_newton_refine(matrix, SHARE * tolerance, most, w->r, w->newton);
    if (result.converged) tbi_island_drop_traces(island, SHARE * tolerance, w->r, w->u, w->kept);
    tbi_island_write(island, w->r);
    w->progress[i] = (progress){.converged = result.converged, .steps = result.factorisations};
    changed = true;
  }
  if (changed) tbi_problem_start(w->f.p);
}

/* At most so many sweeps of a small island, on its W, which is written out again; *behind: ports
 * are not up to date. */
static tbi_solution sweep_small(work *w, const tbi_island *island, double tolerance, int32_t sweeps,
                                bool *behind) {
  tbi_island_read(island, w->r);
  tbi_newton_effort most = {.sweeps = sweeps};
  tbi_newton_result result = tbi_newton_refine(&w->small.w, tolerance, most, w->r, w->newton);
  tbi_island_write(island, w->r);
  *behind = true;
  return (tbi_solution){.iterations = result.sweeps, .converged = result.converged};
}

/* At most so many sweeps of an island.  If the residual has grown, the impulses before are restored
 * and *behind is set: velocities are then not up to date. */
static tbi_solution sweep_on(const work *w, const tbi_island *island, double tolerance,
                             int32_t sweeps, bool *behind) {
  tbi_solution solution = {0};
  double before = measure(w, island, w->kept);
  while (solution.iterations < sweeps && !solution.converged) {
    solution.converged = tbi_island_sweep(island) <= tolerance;
    ++solution.iterations;
  }
  if (solution.converged || measure(w, island, w->r) <= before) return solution;
  tbi_island_write(island, w->kept);
  *behind = true;
  return solution;
}

/* memory for exact; false: it does not suffice */
static bool place_exact(const work *w, const tbi_island *island, tbi_exact_memory *exact) {
  tbi_layout at = w->rest;
  tbi_exact_memory_place(&at, island->npoint + island->ncouple, island->nrow, exact);
  return at.used <= w->size && size_of(w, island) <= LARGE;
}

/* far from the law, or with impulses that add energy */
static bool is_jammed(const work *w, const tbi_island *island) {
  if (measure(w, island, w->r) > JAM) return true;
  return tbi_island_gain(island, w->r, island->w.q, w->u) > 0;
}

/* Islands that all stages before have left jammed, by exact; velocities must be up to date and are
 * so afterwards. */
static void solve_jams(work *w, const tabi_world_def *def, int32_t sweeps, tbi_solution *solution) {
  tbi_exact_memory memory;
  tabi_world_def exact = *def;
  exact.tolerance = tbi_exact.tolerance;
  bool changed = false;
  solution->converged = true;
  for (int32_t i = 0; i < w->f.nisland; ++i) {
    const tbi_island *island = &w->f.island[i];
    progress *own = &w->progress[i];
    int32_t left = sweeps / SWEEPS_PER_STEP - own->steps;
    exact.iterations = left < tbi_exact.iterations ? left : tbi_exact.iterations;
    bool bounded = left <= 0 || is_heap(w, island);
    bool jammed = !own->converged && !bounded && is_jammed(w, island);
    if (jammed && !place_exact(w, island, &memory)) {
      solution->too_large = true;
    } else if (jammed) {
      tbi_island_sum(island);
      w->f.in_arena = NULL; /* and write W over it again */
      tbi_island written = *island;
      if (tbi_small_island_make(&w->small, island)) written.w = w->small.w;
      tbi_solution solved = tbi_exact_island(&memory, &written, &exact);
      own->converged = solved.converged;
      own->steps += solved.iterations;
      changed = true;
    }
    solution->converged = solution->converged && own->converged;
  }
  if (changed) tbi_problem_start(w->f.p);
}

/* sweeps of the islands that Newton's method has left */
static void sweep_rest(work *w, double tolerance, int32_t sweeps) {
  bool behind = false;
  for (int32_t i = 0; i < w->f.nisland; ++i) {
    progress *own = &w->progress[i];
    if (own->converged || is_heap(w, &w->f.island[i])) continue;
    const tbi_island *island = &w->f.island[i];
    int32_t left = sweeps - SWEEPS_PER_STEP * own->steps;
    tbi_solution swept = tbi_small_island_make(&w->small, island)
                             ? sweep_small(w, island, tolerance, left, &behind)
                             : sweep_on(w, island, tolerance, left, &behind);
    own->converged = swept.converged;
    own->steps += swept.iterations;
  }
  if (behind) tbi_problem_start(w->f.p);
}

bool tbi_newton_fallback(tbi_problem *p, const tabi_world_def *def, bool budgeted, void *scratch,
                         tbi_solution *solution) {
  TBI_ASSERT(def->tolerance >= 0);
  work w;
  (void)place(&w, scratch, p->model, def);
  w.budgeted = budgeted;
  solution->too_large = p->npoint + p->ncouple > w.points || p->nrow > w.rows;
  if (solution->too_large) return false;
  tbi_factored_find_islands(&w.f, p);
  int32_t left = def->iterations - solution->iterations;
  int32_t bound = def->budget > 0 ? def->budget - solution->iterations : INT32_MAX;
  apply_newton(&w, def->tolerance, bound);
  sweep_rest(&w, def->tolerance, left < bound ? left : bound);
  solve_jams(&w, def, bound, solution);
  int32_t most = 0;
  for (int32_t i = 0; i < w.f.nisland; ++i)
    most = w.progress[i].steps > most ? w.progress[i].steps : most;
  solution->iterations += most;
  solution->fallback = true;
  return true;
}
