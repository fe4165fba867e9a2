/* exact_island.c - if the residual is too large, tbi_newton_solve runs on the factored matrix, and
 * if that fails sweeps of cone go on. */
#include "contact/exact_island.h"

#include "base/assertion.h"

#include <string.h>

enum { SWEEPS_PER_FACTORISATION = 2, SWEEPS_PER_TEST = 20 };

/* m/s or rad/s: smallest velocity to which the tolerance is relative */
#define MIN_SPEED 1e-3
/* share of the tolerance: an impulse that changes the velocity of its own contact by less is a
 * trace */
#define TRACE 1.0

void tbi_exact_memory_place(tbi_layout *at, int64_t points, int64_t rows,
                            tbi_exact_memory *memory) {
  int64_t unknowns = 3 * points + rows;
  memory->r = tbi_layout_take(at, unknowns, sizeof *memory->r);
  memory->u = tbi_layout_take(at, unknowns, sizeof *memory->u);
  memory->start = tbi_layout_take(at, unknowns, sizeof *memory->start);
  memory->kept = tbi_layout_take(at, unknowns, sizeof *memory->kept);
  size_t newton = tbi_newton_memsize((int32_t)(points + rows), (int32_t)unknowns);
  memory->newton = tbi_layout_take(at, (int64_t)newton, 1);
}

static double norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}

void tbi_island_drop_traces(const tbi_island *island, double tolerance, double *r, double *u,
                            double *kept) {
  const tbi_delassus *d = &island->w;
  bool any = false;
  memcpy(kept, r, (size_t)d->nunknown * sizeof *kept);
  for (int32_t i = 0; i < island->npoint; ++i) {
    double *own = r + d->law[i].at;
    if (own[0] == 0 || d->law[i].mobility * own[0] > TRACE * tolerance) continue;
    own[0] = own[1] = own[2] = 0;
    any = true;
  }
  if (!any) return;
  tbi_island_drop_couples(island, r);
  d->multiply(d->self, r, u);
  for (int32_t i = 0; i < d->nunknown; ++i)
    u[i] += d->q[i];
  if (tbi_newton_residual(d, r, u) <= tolerance) return;
  memcpy(r, kept, (size_t)d->nunknown * sizeof *r);
}

/* Newton has failed: more sweeps from where it began, which now and then get there all the same.
 * The better of both stays in memory->r; returns the number of sweeps, and its residual. */
static int32_t sweep_on(const tbi_exact_memory *memory, const tbi_island *island,
                        const tabi_world_def *def, double tolerance, double *residual) {
  const tbi_delassus *d = &island->w;
  for (int32_t s = 1; s <= SWEEPS_PER_FACTORISATION * def->iterations; ++s) {
    d->sweep(d->self, memory->start);
    if (s % SWEEPS_PER_TEST != 0) continue;
    d->multiply(d->self, memory->start, memory->u);
    for (int32_t i = 0; i < d->nunknown; ++i)
      memory->u[i] += d->q[i];
    double now = tbi_newton_residual(d, memory->start, memory->u);
    if (now < *residual) {
      *residual = now;
      memcpy(memory->r, memory->start, (size_t)d->nunknown * sizeof *memory->r);
    }
    if (now <= tolerance) return s;
  }
  return SWEEPS_PER_FACTORISATION * def->iterations;
}

double tbi_exact_tolerance(const tbi_island *island, const tabi_world_def *def) {
  return def->tolerance * tbi_max(norm(island->w.q, island->w.nunknown), MIN_SPEED);
}

tbi_solution tbi_exact_island(const tbi_exact_memory *memory, const tbi_island *island,
                              const tabi_world_def *def) {
  TBI_ASSERT(def->tolerance >= 0 && def->iterations > 0);
  const tbi_delassus *d = &island->w;
  double tolerance = tbi_exact_tolerance(island, def);
  tbi_island_read(island, memory->r);
  tbi_island_velocity(island, memory->u);
  if (tbi_newton_residual(d, memory->r, memory->u) <= tolerance)
    return (tbi_solution){.converged = true};
  memcpy(memory->start, memory->r, (size_t)d->nunknown * sizeof *memory->start);
  tbi_newton_result result =
      tbi_newton_solve(d, tolerance, def->iterations, memory->r, memory->newton);
  if (!result.converged) {
    result.sweeps += sweep_on(memory, island, def, tolerance, &result.residual);
    result.converged = result.residual <= tolerance;
  }
  if (result.converged)
    tbi_island_drop_traces(island, tolerance, memory->r, memory->u, memory->kept);
  tbi_island_write(island, memory->r);
  return (tbi_solution){.iterations = result.sweeps + result.factorisations,
                        .converged = result.converged};
}
