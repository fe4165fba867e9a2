/* exact.c - Coulomb's law to its residual, for the problem of a step.
 *
 * A step mostly begins where the last one ended.  So sweeps of cone come first, and then the
 * residual is asked for, island by island; only islands that are not there yet go through
 * tbi_exact_solve, on the factored matrix.  Their tolerance is relative to what their contacts have
 * to stop. */
#include "contact/cone.h"
#include "contact/factored.h"
#include "contact/formulation.h"

#include <string.h>

enum { FIRST_SWEEPS = 2, SWEEPS_PER_FACTORISATION = 2, SWEEPS_PER_TEST = 20 };

/* m/s or rad/s: less than this need not be stopped any better */
#define LEAST_SPEED 1e-3
/* of the tolerance: an impulse that moves its own contact by less is a trace */
#define TRACE 1.0

typedef struct work {
  tbi_factored f;
  double *r, *u, *start, *kept; /* of one island */
  void *rest;                   /* of tbi_exact_solve */
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  int64_t points = def->max_contacts;
  int64_t rows = (int64_t)model->nv * TBI_ROW_KINDS;
  tbi_factored_place(&at, model, points, rows, &to->f);
  to->r = tbi_layout_take(&at, 3 * points + rows, sizeof *to->r);
  to->u = tbi_layout_take(&at, 3 * points + rows, sizeof *to->u);
  to->start = tbi_layout_take(&at, 3 * points + rows, sizeof *to->start);
  to->kept = tbi_layout_take(&at, 3 * points + rows, sizeof *to->kept);
  size_t rest = tbi_exact_memsize((int32_t)(points + rows), (int32_t)(3 * points + rows));
  to->rest = tbi_layout_take(&at, (int64_t)rest, 1);
  return at.used;
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

static double norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}

/* A contact that is open may keep a trace of an impulse: too small for its residual, but then its
 * friction is no friction.  Such impulses go if the residual allows it. */
static void drop_traces(work *w, const tbi_island *island, double tolerance) {
  const tbi_delassus *d = &island->w;
  bool any = false;
  memcpy(w->kept, w->r, (size_t)d->nunknown * sizeof *w->kept);
  for (int32_t i = 0; i < island->npoint; ++i) {
    double *r = w->r + d->law[i].at;
    if (r[0] == 0 || d->law[i].mobility * r[0] > TRACE * tolerance) continue;
    r[0] = r[1] = r[2] = 0;
    any = true;
  }
  if (!any) return;
  d->multiply(d->self, w->r, w->u);
  for (int32_t i = 0; i < d->nunknown; ++i)
    w->u[i] += d->q[i];
  if (tbi_exact_residual(d, w->r, w->u) <= tolerance) return;
  memcpy(w->r, w->kept, (size_t)d->nunknown * sizeof *w->r);
}

/* Newton has failed: more sweeps from where it began, which now and then get there all the same.
 * The better of both stays in w->r; returns the number of sweeps, and its residual. */
static int32_t sweep_on(work *w, const tbi_island *island, const tabi_world_def *def,
                        double tolerance, double *residual) {
  const tbi_delassus *d = &island->w;
  for (int32_t s = 1; s <= SWEEPS_PER_FACTORISATION * def->iterations; ++s) {
    d->sweep(d->self, w->start);
    if (s % SWEEPS_PER_TEST != 0) continue;
    d->multiply(d->self, w->start, w->u);
    for (int32_t i = 0; i < d->nunknown; ++i)
      w->u[i] += d->q[i];
    double now = tbi_exact_residual(d, w->start, w->u);
    if (now < *residual) {
      *residual = now;
      memcpy(w->r, w->start, (size_t)d->nunknown * sizeof *w->r);
    }
    if (now <= tolerance) return s;
  }
  return SWEEPS_PER_FACTORISATION * def->iterations;
}

/* What an island took beyond sweeps over all; zero if these sufficed. */
static tbi_solution solve_island(work *w, const tbi_island *island, const tabi_world_def *def) {
  const tbi_delassus *d = &island->w;
  double tolerance = def->tolerance * tbi_max(norm(d->q, d->nunknown), LEAST_SPEED);
  tbi_island_read(island, w->r);
  tbi_island_velocity(island, w->u);
  if (tbi_exact_residual(d, w->r, w->u) <= tolerance) return (tbi_solution){.converged = true};
  memcpy(w->start, w->r, (size_t)d->nunknown * sizeof *w->start);
  tbi_exact_result result = tbi_exact_solve(d, tolerance, def->iterations, w->r, w->rest);
  if (!result.converged) {
    result.sweeps += sweep_on(w, island, def, tolerance, &result.residual);
    result.converged = result.residual <= tolerance;
  }
  if (result.converged) drop_traces(w, island, tolerance);
  tbi_island_write(island, w->r);
  return (tbi_solution){.iterations = result.sweeps + result.factorisations,
                        .converged = result.converged};
}

static tbi_solution solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  work w;
  (void)place(&w, scratch, p->model, def);
  tbi_factored_begin(&w.f, p);
  for (int32_t i = 0; i < FIRST_SWEEPS; ++i)
    (void)tbi_cone_sweep(p);
  tbi_problem_sum(p);
  tbi_solution all = {.converged = true};
  bool touched = false;
  for (int32_t i = 0; i < w.f.nisland; ++i) {
    tbi_solution own = solve_island(&w, &w.f.island[i], def);
    all.converged = all.converged && own.converged;
    if (own.iterations > all.iterations) all.iterations = own.iterations;
    touched = touched || own.iterations > 0;
  }
  if (touched) tbi_problem_start(p);
  all.iterations += FIRST_SWEEPS;
  return all;
}

const tbi_formulation tbi_exact = {.name = "exact", .memsize = memsize, .solve = solve};
