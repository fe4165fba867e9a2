/* friction.c - stored friction problems: checked when made, solved island by island. */
#include "friction/friction.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/layout.h"
#include "math/vec.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SWEEPS = 10000, DEFAULT_FACTORISATIONS = 2000, MORE_SOLVES = 4 };

#define DEFAULT_TOLERANCE 1e-10
/* The parts of the tolerance that islands get add up to this share of it. */
#define SHARE 0.9
/* Sweeps that change impulses by less, relative to the largest, will not get anywhere. */
#define STILL 1e-15

static const char *const solvers[TABI_FRICTION_COUNT] = {"exact", "cone", "lcp"};

const char *tabi_friction_solver_name(tabi_friction_solver solver) {
  TBI_ASSERT((unsigned)solver < TABI_FRICTION_COUNT);
  return solvers[solver];
}

int32_t tabi_friction_solver_find(const char *name) {
  TBI_ASSERT(name);
  for (int32_t i = 0; i < TABI_FRICTION_COUNT; ++i) {
    if (strcmp(name, solvers[i]) == 0) return i;
  }
  return TABI_NONE;
}

tabi_friction_problem_def tabi_friction_problem_def_default(void) {
  return (tabi_friction_problem_def){.def_size = sizeof(tabi_friction_problem_def)};
}

tabi_friction_solve_def tabi_friction_solve_def_default(void) {
  return (tabi_friction_solve_def){.def_size = sizeof(tabi_friction_solve_def),
                                   .solver = TABI_FRICTION_EXACT,
                                   .tolerance = DEFAULT_TOLERANCE};
}

static tabi_status check_numbers(const double *x, int64_t n, const char *what, int32_t per_contact,
                                 tabi_place place, tabi_error *err) {
  for (int64_t i = 0; i < n; ++i) {
    if (isfinite(x[i])) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, place, "%s of contact %d is not finite", what,
                         (int)(i / per_contact));
  }
  return TABI_OK;
}

/* The rows, their columns, and a trace that is positive: without it nothing moves at the contact,
 * and no impulse is the right one. */
static tabi_status check_blocks(const tabi_friction_problem_def *def, tabi_error *err) {
  for (int32_t i = 0; i < def->ncontact; ++i) {
    if (def->row[i + 1] < def->row[i]) {
      return tbi_error_set(err, TABI_ERR_ARGUMENT, def->place,
                           "the blocks of contact %d end before they begin", i);
    }
    double trace = 0;
    for (int32_t b = def->row[i]; b < def->row[i + 1]; ++b) {
      int32_t j = def->column[b];
      if (j < 0 || j >= def->ncontact) {
        return tbi_error_set(err, TABI_ERR_ARGUMENT, def->place,
                             "contact %d has a block in column %d of %d", i, j, def->ncontact);
      }
      const double *w = def->block + 9 * (ptrdiff_t)b;
      tabi_status status = check_numbers(w, 9, "a block", 9, def->place, err);
      if (status != TABI_OK) return status;
      if (i == j) trace += w[0] + w[4] + w[8];
    }
    if (!(trace > 0)) {
      return tbi_error_set(err, TABI_ERR_MODEL, def->place,
                           "contact %d: its own block of W has trace %g, expected > 0; leave out "
                           "contacts where nothing can move",
                           i, trace);
    }
  }
  return TABI_OK;
}

static tabi_status check_def(const tabi_friction_problem_def *def, tabi_error *err) {
  tabi_place place = def->place;
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, place,
                         "def is not from tabi_friction_problem_def_default()");
  }
  if (def->ncontact < 0 || def->ncontact > INT32_MAX / 9) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, place, "ncontact is %d", def->ncontact);
  }
  if (!def->row || def->row[0] != 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, place, "row does not begin with 0");
  }
  if (def->ncontact > 0 && (!def->column || !def->block || !def->q || !def->friction)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, place, "column, block, q or friction is NULL");
  }
  tabi_status status = check_blocks(def, err);
  if (status == TABI_OK) {
    status = check_numbers(def->q, 3 * (int64_t)def->ncontact, "q", 3, place, err);
  }
  if (status == TABI_OK) {
    status = check_numbers(def->friction, def->ncontact, "friction", 1, place, err);
  }
  for (int32_t i = 0; i < def->ncontact && status == TABI_OK; ++i) {
    if (def->friction[i] >= 0) continue;
    status = tbi_error_set(err, TABI_ERR_ARGUMENT, place, "friction of contact %d is %g, below 0",
                           i, def->friction[i]);
  }
  return status;
}

static size_t lay_out(tabi_friction_problem *p, void *memory, int64_t n, int64_t nblock) {
  tbi_layout at = {memory, 0};
  (void)tbi_layout_take(&at, 1, sizeof *p);
  p->row = tbi_layout_take(&at, n + 1, sizeof *p->row);
  p->column = tbi_layout_take(&at, nblock, sizeof *p->column);
  p->block = tbi_layout_take(&at, nblock, sizeof *p->block);
  p->q = tbi_layout_take(&at, 3 * n, sizeof *p->q);
  p->friction = tbi_layout_take(&at, n, sizeof *p->friction);
  return at.used;
}

tabi_friction_problem *tabi_friction_problem_create(const tabi_friction_problem_def *def,
                                                    tabi_error *err) {
  TBI_ASSERT(def);
  if (check_def(def, err) != TABI_OK) return NULL;
  size_t n = (size_t)def->ncontact;
  size_t nblock = (size_t)def->row[n];
  tabi_friction_problem p = {.ncontact = def->ncontact};
  tabi_friction_problem *problem = malloc(lay_out(&p, NULL, (int64_t)n, (int64_t)nblock));
  if (!problem) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  (void)lay_out(&p, problem, (int64_t)n, (int64_t)nblock);
  *problem = p;
  memcpy(p.row, def->row, (n + 1) * sizeof *p.row);
  if (n == 0) return problem;
  memcpy(p.column, def->column, nblock * sizeof *p.column);
  memcpy(p.block, def->block, nblock * sizeof *p.block);
  memcpy(p.q, def->q, 3 * n * sizeof *p.q);
  memcpy(p.friction, def->friction, n * sizeof *p.friction);
  return problem;
}

void tabi_friction_problem_destroy(tabi_friction_problem *problem) { free(problem); }

int32_t tabi_friction_problem_ncontact(const tabi_friction_problem *problem) {
  TBI_ASSERT(problem);
  return problem->ncontact;
}

/* What the islands are solved with, one after another. */
typedef struct solving {
  const tabi_friction_solve_def *def;
  tabi_friction_result *result;
  double *r, *u; /* of the largest island */
  void *scratch; /* of tbi_newton_solve */
  void *factor;
  size_t factor_size;
  double square, plain; /* sums of squares of both residuals */
} solving;

/* the residual of one island in both kinds, squared */
static double plain_square(const tbi_friction_island *island, const double *r, const double *u) {
  double sum = 0;
  for (int32_t i = 0; i < island->ncontact; ++i) {
    tbi_law law = island->law[i];
    law.mobility = 1;
    law.at = 0;
    tbi_delassus one = {.nlaw = 1, .nunknown = 3, .law = &law};
    double own = tbi_newton_residual(&one, r + 3 * (ptrdiff_t)i, u + 3 * (ptrdiff_t)i);
    sum += own * own;
  }
  return sum;
}

static void velocity(const tbi_friction_island *island, const double *r, double *u) {
  for (int32_t i = 0; i < island->ncontact; ++i) {
    tbi_friction_row(island, i, r, u + 3 * (ptrdiff_t)i);
    for (int k = 0; k < 3; ++k)
      u[3 * i + k] += island->q[3 * i + k];
  }
}

/* Every row alone: normal, then each tangent between the bounds that follow the normal. */
static void sweep_pyramid(const tbi_friction_island *island, double *r) {
  for (int32_t i = 0; i < island->ncontact; ++i) {
    const tbi_friction_block *own = &island->own[i];
    double *mine = r + 3 * (ptrdiff_t)i;
    double u[3];
    tbi_friction_row(island, i, r, u);
    for (int k = 0; k < 3; ++k) {
      double upper = k == 0 ? (double)INFINITY : island->law[i].friction * mine[0];
      double lower = k == 0 ? 0 : -upper;
      double wanted = mine[k] - (u[k] + island->q[3 * i + k]) / own->m[k][k];
      double change = tbi_min(tbi_max(wanted, lower), upper) - mine[k];
      mine[k] += change;
      for (int l = 0; l < 3; ++l)
        u[l] += own->m[l][k] * change;
    }
  }
}

/* the largest change of an impulse, relative to the largest impulse */
static double change_of(const double *a, const double *b, int32_t n) {
  double change = 0;
  double size = 0;
  for (int32_t i = 0; i < n; ++i) {
    change = tbi_max(change, fabs(a[i] - b[i]));
    size = tbi_max(size, fabs(a[i]));
  }
  return size > 0 ? change / size : change;
}

/* cone and lcp: sweeps until the residual is met, or nothing moves any more */
static bool solve_by_sweeps(solving *s, tbi_friction_island *island, double tolerance,
                            int32_t *sweeps) {
  tbi_delassus w = tbi_friction_delassus(island);
  int32_t max = s->def->max_iterations > 0 ? s->def->max_iterations : DEFAULT_SWEEPS;
  for (*sweeps = 0;; ++*sweeps) {
    bool test = *sweeps < 10 || *sweeps % 5 == 0 || *sweeps == max;
    if (test) {
      velocity(island, s->r, s->u);
      if (tbi_newton_residual(&w, s->r, s->u) <= tolerance) return true;
    }
    if (*sweeps == max) return false;
    memcpy(s->u, s->r, (size_t)w.nunknown * sizeof *s->u);
    if (s->def->solver == TABI_FRICTION_LCP) {
      sweep_pyramid(island, s->r);
    } else {
      w.sweep(w.self, s->r);
    }
    if (change_of(s->r, s->u, w.nunknown) <= STILL) {
      velocity(island, s->r, s->u);
      ++*sweeps;
      return tbi_newton_residual(&w, s->r, s->u) <= tolerance;
    }
  }
}

/* It stops on the scaled residual; where masses are far from one the plain one may still be above
 * the tolerance, and is then pressed down, too, as far as it goes. */
static tabi_status solve_exact(solving *s, tbi_friction_island *island, double tolerance,
                               tbi_newton_result *all, tabi_error *err) {
  if (!tbi_friction_factor_begin(island, &s->factor, &s->factor_size)) return tbi_error_memory(err);
  tbi_delassus w = tbi_friction_delassus(island);
  int32_t budget = s->def->max_iterations > 0 ? s->def->max_iterations : DEFAULT_FACTORISATIONS;
  *all = tbi_newton_solve(&w, tolerance, budget, s->r, s->scratch);
  double wanted = tolerance;
  for (int k = 0; k < MORE_SOLVES && all->converged; ++k) {
    velocity(island, s->r, s->u);
    if (sqrt(plain_square(island, s->r, s->u)) <= tolerance) break;
    wanted /= 10;
    tbi_newton_result end =
        tbi_newton_solve(&w, wanted, budget - all->factorisations, s->r, s->scratch);
    all->sweeps += end.sweeps;
    all->factorisations += end.factorisations;
    if (!end.converged || end.residual > wanted) break;
  }
  return TABI_OK;
}

static tabi_status solve_island(solving *s, tbi_friction_island *island, double tolerance,
                                tabi_error *err) {
  int32_t iterations = 0;
  bool converged;
  if (s->def->solver == TABI_FRICTION_EXACT) {
    tbi_newton_result end = {0};
    tabi_status status = solve_exact(s, island, tolerance, &end, err);
    if (status != TABI_OK) return status;
    converged = end.converged;
    iterations = end.sweeps + end.factorisations;
    s->result->factorisations += end.factorisations;
  } else {
    converged = solve_by_sweeps(s, island, tolerance, &iterations);
  }
  if (iterations > s->result->iterations) s->result->iterations = iterations;
  s->result->converged = s->result->converged && converged;
  tbi_delassus w = tbi_friction_delassus(island);
  velocity(island, s->r, s->u);
  double residual = tbi_newton_residual(&w, s->r, s->u);
  s->square += residual * residual;
  s->plain += plain_square(island, s->r, s->u);
  return TABI_OK;
}

static tabi_status solve_all(solving *s, const tabi_friction_problem *problem,
                             tbi_friction_islands *islands, double *r, tabi_error *err) {
  double size = 0;
  for (int32_t i = 0; i < 3 * problem->ncontact; ++i)
    size += problem->q[i] * problem->q[i];
  size = sqrt(size);
  for (int32_t k = 0; k < islands->count; ++k) {
    tbi_friction_island *island = &islands->island[k];
    TBI_ASSERT(island->ncontact > 0);
    double part = sqrt((double)island->ncontact / problem->ncontact);
    for (int32_t i = 0; i < island->ncontact; ++i)
      memcpy(s->r + 3 * (ptrdiff_t)i, r + 3 * (ptrdiff_t)island->contact[i], 3 * sizeof *r);
    tabi_status status = solve_island(s, island, SHARE * s->def->tolerance * size * part, err);
    if (status != TABI_OK) return status;
    for (int32_t i = 0; i < island->ncontact; ++i)
      memcpy(r + 3 * (ptrdiff_t)island->contact[i], s->r + 3 * (ptrdiff_t)i, 3 * sizeof *r);
  }
  double unit = size > 0 ? size : 1;
  s->result->residual = sqrt(s->plain) / unit;
  s->result->scaled = sqrt(s->square) / unit;
  /* numbers that overflow when squared */
  s->result->converged = s->result->converged && isfinite(s->result->scaled);
  return TABI_OK;
}

static int32_t largest(const tbi_friction_islands *islands) {
  int32_t max = 0;
  for (int32_t k = 0; k < islands->count; ++k) {
    if (islands->island[k].ncontact > max) max = islands->island[k].ncontact;
  }
  return max;
}

static tabi_status check_solve(const tabi_friction_problem *problem,
                               const tabi_friction_solve_def *def, const double *r,
                               tabi_error *err) {
  tabi_place nowhere = {NULL, 0};
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "def is not from tabi_friction_solve_def_default()");
  }
  if ((unsigned)def->solver >= TABI_FRICTION_COUNT) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "solver is %d", (int)def->solver);
  }
  if (!(def->tolerance > 0) || !isfinite(def->tolerance)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "tolerance is %g, expected > 0",
                         def->tolerance);
  }
  if (def->max_iterations < 0) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "max_iterations is %d, expected >= 0",
                         def->max_iterations);
  }
  return check_numbers(r, 3 * (int64_t)problem->ncontact, "r", 3, nowhere, err);
}

tabi_status tabi_friction_problem_solve(const tabi_friction_problem *problem,
                                        const tabi_friction_solve_def *def, double *r,
                                        tabi_friction_result *result, tabi_error *err) {
  TBI_ASSERT(problem && result && (r || problem->ncontact == 0));
  tabi_friction_solve_def standard = tabi_friction_solve_def_default();
  if (!def) def = &standard;
  tabi_status status = check_solve(problem, def, r, err);
  if (status != TABI_OK) return status;
  tbi_friction_islands islands;
  if (!tbi_friction_islands_create(&islands, problem)) return tbi_error_memory(err);
  *result = (tabi_friction_result){.islands = islands.count, .converged = true};
  int32_t n = largest(&islands);
  tbi_layout at = {NULL, 0};
  solving s = {.def = def, .result = result};
  void *memory = NULL;
  for (int pass = 0; pass < 2; ++pass) {
    at = (tbi_layout){memory, 0};
    s.r = tbi_layout_take(&at, 3 * (int64_t)n, sizeof *s.r);
    s.u = tbi_layout_take(&at, 3 * (int64_t)n, sizeof *s.u);
    s.scratch = tbi_layout_take(&at, 1, tbi_newton_memsize(n, 3 * n));
    if (pass == 0) memory = malloc(at.used + 1);
    if (!memory) break;
  }
  status = memory ? solve_all(&s, problem, &islands, r, err) : tbi_error_memory(err);
  free(memory);
  free(s.factor);
  tbi_friction_islands_destroy(&islands);
  return status;
}
