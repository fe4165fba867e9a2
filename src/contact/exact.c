/* exact.c - Coulomb's law to its residual, for the problem of a step.
 *
 * The impulses of the last step are mostly close to the solution.  So a few sweeps of cone come
 * first, and only islands whose residual is still too large are solved (exact_island.c). */
#include "contact/cone.h"
#include "contact/exact_island.h"

enum { FIRST_SWEEPS = 2 };

typedef struct work {
  tbi_factored f;
  tbi_exact_memory memory;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = tbi_point_laws(model, def->max_contacts);
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place(&at, model, points, rows, &to->f);
  tbi_exact_memory_place(&at, points, rows, &to->memory);
  return at.used;
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
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
  if (changed) tbi_problem_start(p);
  all.iterations += FIRST_SWEEPS;
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
    .memsize = memsize,
    .solve = solve,
};
