/* pgs.c - the list of unknowns and its sweeps on ports.
 *
 * A sweep takes the unknowns one after the other.  Those with the same two ports follow one
 * another, so the velocities of both stay in local variables; the other ports of their clusters
 * follow once, at the end of such a run.  This is still Gauss-Seidel, because nothing reads the
 * other ports in between. */
#include "contact/pgs.h"

#include "base/assertion.h"
#include "contact/dense.h"
#include "problem/sweep.h"

/* below this share of the point's whole mobility a direction moves by rounding only */
#define IMMOBILE  1e-11
#define UNSETTLED 1e-4 /* m/s: sweeps that change velocities by more have not come near the law */
enum { PERSISTENCE = 16 }; /* times def->iterations that they may then take, if they persist */

static size_t list_size(size_t unknowns) {
  size_t size = unknowns * (sizeof(tbi_unknown) + sizeof(tbi_group) + sizeof(double));
  return (size + 63) & ~(size_t)63;
}

size_t tbi_pgs_memsize(const tabi_model *model, const tabi_world_def *def, tabi_storage storage) {
  size_t max = 3 * (size_t)def->max_contacts;
  return list_size(max) + (storage != TABI_STORAGE_PORTS ? tbi_dense_memsize(max, model) : 0);
}

/* the unknown joins the last run, or begins one */
static void add(tbi_pgs *pgs, int32_t port_a, int32_t port_b, double impulse) {
  tbi_group *next = &pgs->run[pgs->nrun];
  if (pgs->nrun > pgs->normal_runs && next[-1].port_a == port_a && next[-1].port_b == port_b) {
    ++next[-1].count;
  } else {
    *next = (tbi_group){port_a, port_b, pgs->count, 1};
    ++pgs->nrun;
  }
  pgs->impulse[pgs->count++] = impulse;
}

/* a direction at a point of contact, in its frame */
static void add_direction(tbi_pgs *pgs, const tbi_problem *p, const tbi_point *c,
                          const double e[3]) {
  tbi_unknown *x = &pgs->unknown[pgs->count];
  v4 axis = m4_combine(&c->frame, e[0], e[1], e[2]);
  *x = (tbi_unknown){
      .normal = TABI_NONE, .along = {e[1], e[2]}
  };
  tbi_sides on = tbi_point_wrenches(c, axis);
  tbi_sides response = tbi_sides_response(p, c->port_a, c->port_b, on);
  x->wrench_a = sv_scale(-1, on.a);
  x->wrench_b = on.b;
  x->response_a = response.a;
  x->response_b = response.b;
  double impulse = 0;
  for (int i = 0; i < 3; ++i) {
    x->w += e[i] * (c->w[i][0] * e[0] + c->w[i][1] * e[1] + c->w[i][2] * e[2]);
    impulse += e[i] * c->impulse[i];
  }
  double mobility = c->w[0][0] + c->w[1][1] + c->w[2][2];
  x->inverse = x->w > IMMOBILE * mobility ? 1 / x->w : 0;

  /* the world is side a */
  int32_t a = c->port_a;
  int32_t b = c->port_b;
  TBI_ASSERT(a != b);
  if (b == TABI_NONE) {
    x->wrench_b = sv_scale(-1, x->wrench_a);
    x->response_b = x->response_a;
    b = a;
    a = TABI_NONE;
  }
  if (a == TABI_NONE) x->wrench_a = x->response_a = sv_zero();
  add(pgs, a, b, impulse);
}

tbi_pgs tbi_pgs_make(const tbi_problem *problem, void *scratch) {
  size_t max = 3 * (size_t)problem->npoint;
  tbi_pgs pgs = {.unknown = scratch};
  pgs.impulse = (double *)(pgs.unknown + max);
  pgs.run = (tbi_group *)(pgs.impulse + max);
  pgs.dense = (char *)scratch + list_size(max);
  for (int32_t i = 0; i < problem->npoint; ++i) {
    add_direction(&pgs, problem, &problem->point[i], (double[3]){1, 0, 0});
    pgs.unknown[i].target = problem->point[i].target;
    pgs.unknown[i].upper = INFINITY;
  }
  pgs.normal_runs = pgs.nrun;
  return pgs;
}

tbi_unknown *tbi_pgs_add_tangents(tbi_pgs *pgs, const tbi_problem *problem, int32_t i, double y,
                                  double z) {
  TBI_ASSERT(pgs->count == problem->npoint + 2 * i);
  tbi_unknown *x = &pgs->unknown[pgs->count];
  add_direction(pgs, problem, &problem->point[i], (double[3]){0, y, z});
  add_direction(pgs, problem, &problem->point[i], (double[3]){0, -z, y});
  x[0].normal = x[1].normal = i;
  return x;
}

/* `both` is known where these are called: contacts with the world need not look at side a */
static inline double velocity(const tbi_visit *v, const tbi_unknown *x, bool both) {
  double u = sv_dot(x->wrench_b, v->b);
  return both ? u - sv_dot(x->wrench_a, v->a) : u;
}

static inline void push(tbi_visit *v, const tbi_unknown *x, double d, bool both) {
  v->b = sv_axpy(v->b, d, x->response_b);
  v->got_b = sv_axpy(v->got_b, d, x->wrench_b);
  if (!both) return;
  v->a = sv_axpy(v->a, d, x->response_a);
  v->got_a = sv_axpy(v->got_a, -d, x->wrench_a);
}

/* both by their own rows, then back to the disk together: (17), (20) and (21) of the cone paper */
static inline double visit_pair(tbi_visit *v, const tbi_unknown *x, const double *impulse,
                                double *f, bool both) {
  double old[2] = {f[0], f[1]};
  for (int k = 0; k < 2; ++k) {
    f[k] = tbi_pgs_wanted(&x[k], f[k], velocity(v, &x[k], both));
    push(v, &x[k], f[k] - old[k], both);
  }
  double keep = tbi_pgs_shrink(x, impulse, f);
  double change = 0;
  for (int k = 0; k < 2; ++k) {
    double inside = keep * f[k];
    if (keep < 1) push(v, &x[k], inside - f[k], both);
    f[k] = inside;
    change = tbi_pgs_max_change(change, &x[k], f[k] - old[k]);
  }
  return change;
}

/* the unknowns of one run in turn; the largest change of velocity */
static inline double visit(const tbi_pgs *pgs, tbi_visit *v, int32_t first, int32_t count,
                           bool both) {
  double change = 0;
  for (int32_t i = first; i < first + count; ++i) {
    const tbi_unknown *x = &pgs->unknown[i];
    double *f = &pgs->impulse[i];
    if (x->disk) {
      double pair = visit_pair(v, x, pgs->impulse, f, both);
      change = pair > change ? pair : change;
      ++i;
      continue;
    }
    double wanted = tbi_pgs_wanted(x, *f, velocity(v, x, both));
    double d = tbi_pgs_clamp(x, pgs->impulse, wanted) - *f;
    if (d == 0) continue;
    push(v, x, d, both);
    *f += d;
    change = tbi_pgs_max_change(change, x, d);
  }
  return change;
}

/* normals, then joint rows, then friction */
static double sweep(const tbi_pgs *pgs, tbi_problem *p) {
  double change = 0;
  for (int32_t r = 0; r < pgs->nrun; ++r) {
    if (r == pgs->normal_runs) change = tbi_max(change, tbi_rows_sweep(p));
    const tbi_group *run = &pgs->run[r];
    tbi_visit v = tbi_visit_begin(p, run);
    double own = run->port_a == TABI_NONE ? visit(pgs, &v, run->first, run->count, false)
                                          : visit(pgs, &v, run->first, run->count, true);
    tbi_visit_end(p, run, &v);
    change = own > change ? own : change;
  }
  return change;
}

void tbi_pgs_apply(const tbi_pgs *pgs, tbi_problem *problem, const double *old) {
  for (int32_t r = 0; r < pgs->nrun; ++r) {
    const tbi_group *run = &pgs->run[r];
    tbi_visit v = tbi_visit_begin(problem, run);
    for (int32_t i = run->first; i < run->first + run->count; ++i)
      push(&v, &pgs->unknown[i], pgs->impulse[i] - old[i], true);
    tbi_visit_end(problem, run, &v);
  }
}

static void store(const tbi_pgs *pgs, tbi_problem *p) {
  const double *tangent = &pgs->impulse[p->npoint];
  const tbi_unknown *x = &pgs->unknown[p->npoint];
  for (int32_t i = 0; i < p->npoint; ++i, tangent += 2, x += 2) {
    double *impulse = p->point[i].impulse;
    impulse[0] = pgs->impulse[i];
    for (int k = 0; k < 2; ++k)
      impulse[1 + k] = tangent[0] * x[0].along[k] + tangent[1] * x[1].along[k];
  }
}

/* The change is that of the last sweep.  Light bodies that carry heavy ones need many sweeps once;
 * the next steps start from their impulses.  To stop earlier lets them slip for good. */
static bool goes_on(const tbi_pgs *pgs, const tabi_world_def *def, int32_t sweeps, double change) {
  if (sweeps < def->iterations) return true;
  return pgs->persists && change > UNSETTLED && sweeps < PERSISTENCE * def->iterations;
}

tbi_solution tbi_pgs_solve(tbi_pgs *pgs, tbi_problem *problem, const tabi_world_def *def,
                           tabi_storage storage) {
  TBI_ASSERT(pgs->count == 3 * problem->npoint);
  tbi_solution solution = {.converged = false};
  if (storage != TABI_STORAGE_PORTS && problem->nrow + problem->nloop == 0) {
    solution = tbi_dense_solve(pgs, problem, def, storage == TABI_STORAGE_TEST_FORCES);
  } else {
    double change = 0;
    while (!solution.converged && goes_on(pgs, def, solution.iterations, change)) {
      change = pgs->count > 0 ? sweep(pgs, problem) : tbi_rows_sweep(problem);
      ++solution.iterations;
      solution.converged = tbi_is_settled(change, solution.iterations, def->tolerance);
    }
  }
  store(pgs, problem);
  return solution;
}
