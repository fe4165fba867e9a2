/* energy_limit.c - islands are looked at only in steps in which some point rebounds, or that have
 * not converged: Coulomb's law at the end of a step dissipates by itself. */
#include "contact/energy_limit.h"

#include "base/assertion.h"
#include "contact/impulse_work.h"

enum { LARGE = 600 }; /* coordinates; for more there is no memory to factorise, and exact sweeps */

typedef struct work {
  tbi_factored f;
  tbi_impulse_exact exact;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = tbi_point_laws(model, def->max_contacts);
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place_islands(&at, model, points, rows, &to->f);
  tbi_factored_place_newton(&at, model, points, rows, LARGE, &to->f);
  tbi_impulse_exact_place(&at, points, rows, &to->exact);
  return at.used;
}

size_t tbi_energy_limit_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

static bool rebounds_at_all(const tabi_model *model) {
  for (int32_t i = 0; i < model->nmaterial; ++i) {
    if (model->material[i].restitution > 0) return true;
  }
  for (int32_t i = 0; i < model->npair; ++i) {
    if (model->pair[i].surface.restitution > 0) return true;
  }
  return false;
}

bool tbi_energy_is_limited(const tbi_formulation *method, const tabi_model *model) {
  return method->limits_unsettled || (method->limits_rebounds && rebounds_at_all(model));
}

static bool is_rebound(const tbi_point *c) {
  return c->target > tbi_max(c->resting_target, 0) && c->impulse[0] > 0;
}

static bool any_rebound(const tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    if (is_rebound(&p->point[i])) return true;
  }
  return false;
}

/* whether the present impulses add energy; velocities and sum of the problem are up to date */
static bool gains(const tbi_exact_memory *memory, const tbi_island *island) {
  tbi_island_read(island, memory->r);
  tbi_island_velocity(island, memory->u);
  return tbi_island_adds_energy(island, memory->r, memory->u);
}

void tbi_energy_limit(tbi_problem *p, const tabi_world_def *exact_def, void *scratch,
                      tbi_solution *solution) {
  TBI_ASSERT(scratch);
  if (solution->converged && !any_rebound(p)) return;
  work w;
  (void)place(&w, scratch, p->model, exact_def);
  tbi_problem_sum(p);
  tbi_problem_respond(p);
  tbi_factored_begin(&w.f, p);
  int32_t most = 0;
  for (int32_t i = 0; i < w.f.nisland; ++i) {
    const tbi_island *island = &w.f.island[i];
    if (!gains(&w.exact.memory, island)) continue;
    tbi_solution own = tbi_impulse_fall_back(&w.exact, island, exact_def);
    solution->converged = solution->converged && own.converged;
    solution->energy_limited = true;
    if (own.iterations > most) most = own.iterations;
  }
  if (solution->energy_limited) tbi_problem_start(p);
  solution->iterations += most;
}
