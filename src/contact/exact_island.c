/* exact_island.c - if the residual is too large, tbi_newton_solve runs on the factored matrix, and
 * if that fails sweeps of cone go on. */
#include "contact/exact_island.h"

#include "base/assertion.h"
#include "contact/load_sharing.h"

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
  tbi_small_island_place(at, &memory->small);
}

static double norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}

/* An open contact may keep a trace of an impulse, too small to matter in its residual, whose
 * friction does not oppose slip.  Such impulses are dropped if the residual allows it. */
static void drop_traces(const tbi_exact_memory *memory, const tbi_island *island,
                        double tolerance) {
  const tbi_delassus *d = &island->w;
  bool any = false;
  memcpy(memory->kept, memory->r, (size_t)d->nunknown * sizeof *memory->kept);
  for (int32_t i = 0; i < island->npoint; ++i) {
    double *r = memory->r + d->law[i].at;
    if (r[0] == 0 || d->law[i].mobility * r[0] > TRACE * tolerance) continue;
    r[0] = r[1] = r[2] = 0;
    any = true;
  }
  if (!any) return;
  d->multiply(d->self, memory->r, memory->u);
  for (int32_t i = 0; i < d->nunknown; ++i)
    memory->u[i] += d->q[i];
  if (tbi_newton_residual(d, memory->r, memory->u) <= tolerance) return;
  memcpy(memory->r, memory->kept, (size_t)d->nunknown * sizeof *memory->r);
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

static void share_load(const tbi_exact_memory *memory, const tbi_island *island, double tolerance,
                       tbi_newton_result *result) {
  if (!tbi_load_is_open(island, memory->r, tolerance)) return;
  tbi_small_island small = memory->small;
  const tbi_delassus *matrix = tbi_small_island_make(&small, island) ? &small.w : &island->w;
  (void)tbi_load_share(matrix, tolerance, memory->r, memory->newton, &result->factorisations);
}

/* From memory->r, which may be a solution already.  Which points are at their cones is known only
 * then, so a solution that leaves load sharing open is replaced by that of the rule. */
static tbi_newton_result solve(const tbi_exact_memory *memory, const tbi_island *island,
                               const tabi_world_def *def, double tolerance) {
  tbi_newton_result result =
      tbi_newton_solve(&island->w, tolerance, def->iterations, memory->r, memory->newton);
  if (result.converged) share_load(memory, island, tolerance, &result);
  return result;
}

tbi_solution tbi_exact_island(const tbi_exact_memory *memory, const tbi_island *island,
                              const tabi_world_def *def) {
  TBI_ASSERT(def->tolerance >= 0 && def->iterations > 0);
  const tbi_delassus *d = &island->w;
  double tolerance = def->tolerance * tbi_max(norm(d->q, d->nunknown), MIN_SPEED);
  tbi_island_read(island, memory->r);
  tbi_island_velocity(island, memory->u);
  bool solved = tbi_newton_residual(d, memory->r, memory->u) <= tolerance;
  if (solved && !tbi_load_is_open(island, memory->r, tolerance))
    return (tbi_solution){.converged = true};
  memcpy(memory->start, memory->r, (size_t)d->nunknown * sizeof *memory->start);
  tbi_newton_result result = solve(memory, island, def, tolerance);
  if (!result.converged) {
    result.sweeps += sweep_on(memory, island, def, tolerance, &result.residual);
    result.converged = result.residual <= tolerance;
  }
  if (result.converged) drop_traces(memory, island, tolerance);
  tbi_island_write(island, memory->r);
  return (tbi_solution){.iterations = result.sweeps + result.factorisations,
                        .converged = result.converged};
}
