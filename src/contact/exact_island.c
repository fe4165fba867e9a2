/* exact_island.c - the residual is asked for; if it does not suffice tbi_newton_solve runs on the
 * factored matrix, and if that fails sweeps of cone. */
#include "contact/exact_island.h"

#include "base/assertion.h"
#include <string.h>

enum { SWEEPS_PER_FACTORISATION = 2, SWEEPS_PER_TEST = 20 };

/* m/s or rad/s: less than this need not be stopped any better */
#define LEAST_SPEED 1e-3
/* of the tolerance: an impulse that moves its own contact by less is a trace */
#define TRACE 1.0

void tbi_exact_memory_place(tbi_layout *at, int64_t points, int64_t rows, tbi_exact_memory *room) {
  int64_t unknowns = 3 * points + rows;
  room->r = tbi_layout_take(at, unknowns, sizeof *room->r);
  room->u = tbi_layout_take(at, unknowns, sizeof *room->u);
  room->start = tbi_layout_take(at, unknowns, sizeof *room->start);
  room->kept = tbi_layout_take(at, unknowns, sizeof *room->kept);
  size_t rest = tbi_newton_memsize((int32_t)(points + rows), (int32_t)unknowns);
  room->rest = tbi_layout_take(at, (int64_t)rest, 1);
}

static double norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}

/* A contact that is open may keep a trace of an impulse: too small for its residual, but then its
 * friction is no friction.  Such impulses go if the residual allows it. */
static void drop_traces(const tbi_exact_memory *room, const tbi_island *island, double tolerance) {
  const tbi_delassus *d = &island->w;
  bool any = false;
  memcpy(room->kept, room->r, (size_t)d->nunknown * sizeof *room->kept);
  for (int32_t i = 0; i < island->npoint; ++i) {
    double *r = room->r + d->law[i].at;
    if (r[0] == 0 || d->law[i].mobility * r[0] > TRACE * tolerance) continue;
    r[0] = r[1] = r[2] = 0;
    any = true;
  }
  if (!any) return;
  d->multiply(d->self, room->r, room->u);
  for (int32_t i = 0; i < d->nunknown; ++i)
    room->u[i] += d->q[i];
  if (tbi_newton_residual(d, room->r, room->u) <= tolerance) return;
  memcpy(room->r, room->kept, (size_t)d->nunknown * sizeof *room->r);
}

/* Newton has failed: more sweeps from where it began, which now and then get there all the same.
 * The better of both stays in room->r; returns the number of sweeps, and its residual. */
static int32_t sweep_on(const tbi_exact_memory *room, const tbi_island *island,
                        const tabi_world_def *def, double tolerance, double *residual) {
  const tbi_delassus *d = &island->w;
  for (int32_t s = 1; s <= SWEEPS_PER_FACTORISATION * def->iterations; ++s) {
    d->sweep(d->self, room->start);
    if (s % SWEEPS_PER_TEST != 0) continue;
    d->multiply(d->self, room->start, room->u);
    for (int32_t i = 0; i < d->nunknown; ++i)
      room->u[i] += d->q[i];
    double now = tbi_newton_residual(d, room->start, room->u);
    if (now < *residual) {
      *residual = now;
      memcpy(room->r, room->start, (size_t)d->nunknown * sizeof *room->r);
    }
    if (now <= tolerance) return s;
  }
  return SWEEPS_PER_FACTORISATION * def->iterations;
}

tbi_solution tbi_exact_island(const tbi_exact_memory *room, const tbi_island *island,
                              const tabi_world_def *def) {
  TBI_ASSERT(def->tolerance >= 0 && def->iterations > 0);
  const tbi_delassus *d = &island->w;
  double tolerance = def->tolerance * tbi_max(norm(d->q, d->nunknown), LEAST_SPEED);
  tbi_island_read(island, room->r);
  tbi_island_velocity(island, room->u);
  if (tbi_newton_residual(d, room->r, room->u) <= tolerance)
    return (tbi_solution){.converged = true};
  memcpy(room->start, room->r, (size_t)d->nunknown * sizeof *room->start);
  tbi_newton_result result = tbi_newton_solve(d, tolerance, def->iterations, room->r, room->rest);
  if (!result.converged) {
    result.sweeps += sweep_on(room, island, def, tolerance, &result.residual);
    result.converged = result.residual <= tolerance;
  }
  if (result.converged) drop_traces(room, island, tolerance);
  tbi_island_write(island, room->r);
  return (tbi_solution){.iterations = result.sweeps + result.factorisations,
                        .converged = result.converged};
}
