/* exact.c - Coulomb's law to its residual, for the problem of a step.
 *
 * The impulses of the last step are mostly close to the solution.  So a few sweeps of cone come
 * first, and only islands whose residual is still too large are solved (exact_island.c).  Where
 * contacts slide, a rule decides how they share their load (load_sharing.c). */
#include "contact/cone.h"
#include "contact/exact_island.h"
#include "contact/load_sharing.h"

enum { FIRST_SWEEPS = 2 };

typedef struct work {
  tbi_factored f;
  tbi_exact_memory memory;
  int32_t *loaded;      /* of tbi_load_is_open */
  tbi_load_memory load; /* of tbi_load_effect */
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = tbi_point_laws(model, def->max_contacts);
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place(&at, model, points, rows, &to->f);
  tbi_exact_memory_place(&at, points, rows, &to->memory);
  to->loaded = tbi_layout_take(&at, model->ncluster, sizeof *to->loaded);
  tbi_load_memory_place(&at, tbi_load_coordinates(model), &to->load);
  return at.used;
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* factorisations of the island that took most */
static int32_t share_loads(const work *w, const tabi_world_def *def) {
  if (!tbi_load_may_be_open(w->f.p) || !tbi_load_is_open(w->f.p, w->loaded)) return 0;
  const tbi_exact_memory *own = &w->memory;
  tbi_sharing_memory memory = {.loaded = w->loaded,
                               .r = own->r,
                               .u = own->u,
                               .kept = own->kept,
                               .newton = own->newton,
                               .load = w->load};
  int32_t most = 0;
  for (int32_t i = 0; i < w->f.nisland; ++i) {
    const tbi_island *island = &w->f.island[i];
    double tolerance = tbi_exact_tolerance(island, def);
    int32_t steps = tbi_island_share_load(&memory, island, tolerance, tolerance);
    most = steps > most ? steps : most;
  }
  return most;
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  work w;
  (void)place(&w, scratch, p->model, def);
  tbi_factored_begin(&w.f, p);
  for (int32_t i = 0; i < FIRST_SWEEPS; ++i)
    (void)tbi_cone_sweep(p);
  tbi_problem_sum(p);
  tbi_solution all = {.converged = true};
  bool changed = false;
  for (int32_t i = 0; i < w.f.nisland; ++i) {
    tbi_solution own = tbi_exact_island(&w.memory, &w.f.island[i], def);
    all.converged = all.converged && own.converged;
    if (own.iterations > all.iterations) all.iterations = own.iterations;
    changed = changed || own.iterations > 0;
  }
  int32_t shared = share_loads(&w, def);
  if (changed || shared > 0) tbi_problem_start(p);
  all.iterations += FIRST_SWEEPS + shared;
  return all;
}

const tbi_formulation tbi_exact = {
    .info = {.name = "exact",
             .summary = "Coulomb's law to its residual, whatever the conditioning",
             .method = TABI_CONTACT_EXACT,
             .published = TABI_NONE,
             .rebounds = true,
             .exact = true,
             .couples = true},
    .tolerance = 1e-10,
    .iterations = 1000,
    .predicts_joints = true,
    .limits_rebounds = true,
    .middle = true,
    .memsize = memsize,
    .solve = solve,
};
