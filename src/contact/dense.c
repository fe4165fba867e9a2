/* dense.c - the same sweeps on the full matrix, as published.
 *
 * The velocity of unknown i is u_i = b_i + sum_j K_ij f_j, summed anew whenever it is visited: a
 * sweep costs the square of the number of unknowns.  Column j of K is what all unknowns feel of a
 * unit impulse at j, and every unknown reads its ports.  The ports move
 *
 *   dense         by the blocks between them
 *   test forces   as forward dynamics say, for every column anew: a pass along the trees from the
 *                 leaves to the root and back, as the papers do (P1, P4) */
#include "contact/dense.h"

#include "base/assertion.h"
#include "problem/sweep.h"

/* rows end on whole vectors */
static size_t padded(size_t n) { return (n + 3) & ~(size_t)3; }

typedef struct dense {
  ptrdiff_t count, stride;
  double *constant, *impulse, *old; /* b; f, padded with zeros; f at the start */
  sv *response;                     /* of every port to one unit impulse */
  double *matrix;                   /* K, row by row */
  double *acceleration;             /* of joints under a test force: [nv] */
} dense;

size_t tbi_dense_memsize(size_t unknowns, const tabi_model *model) {
  size_t ports = (size_t)model->nbody;
  size_t numbers = (3 + unknowns) * padded(unknowns) + (size_t)model->nv;
  return ports * sizeof(sv) + numbers * sizeof(double);
}

static dense make(const tbi_pgs *pgs, const tbi_problem *p) {
  dense k = {.count = pgs->count, .stride = (ptrdiff_t)padded((size_t)pgs->count)};
  k.response = pgs->dense;
  k.matrix = (double *)(k.response + p->nport);
  k.constant = k.matrix + k.count * k.stride;
  k.impulse = k.constant + k.stride;
  k.old = k.impulse + k.stride;
  k.acceleration = k.old + k.stride;
  return k;
}

/* the ports of a cluster respond to a wrench on one of them */
static void spread(const tbi_problem *p, int32_t from, sv m, sv *response) {
  int32_t cluster = p->port[from].cluster;
  int32_t first = p->cluster_port[cluster];
  for (int32_t k = first; k < first + p->cluster_ports[cluster]; ++k)
    response[k] = sv_add(response[k], tbi_problem_response(p, k, from, m));
}

/* the ports respond to a unit force of the unknown, by the articulated-body algorithm */
static void apply_test_force(const tbi_problem *p, const tbi_group *run, const tbi_unknown *x,
                             dense *k) {
  tabi_dynamics *d = p->dynamics;
  for (int32_t i = 0; i < p->model->nbody; ++i)
    d->flow[i] = sv_zero();
  d->flow[p->port[run->port_b].body] = x->wrench_b;
  if (run->port_a != TABI_NONE) {
    sv *on = &d->flow[p->port[run->port_a].body];
    *on = sv_sub(*on, x->wrench_a);
  }
  for (int32_t i = 0; i < p->model->nv; ++i)
    k->acceleration[i] = 0;
  tbi_aba_solve_flow(d, k->acceleration);
  for (int32_t i = 0; i < p->nport; ++i)
    k->response[i] = d->flow[p->port[i].body];
}

static void clear(const tbi_problem *p, int32_t port, sv *response) {
  int32_t cluster = p->port[port].cluster;
  for (int32_t k = 0; k < p->cluster_ports[cluster]; ++k)
    response[p->cluster_port[cluster] + k] = sv_zero();
}

/* what every unknown reads at its ports */
static void read(const tbi_pgs *pgs, const sv *port, double *to) {
  for (int32_t r = 0; r < pgs->nrun; ++r) {
    const tbi_group *run = &pgs->run[r];
    sv b = port[run->port_b];
    sv a = run->port_a == TABI_NONE ? sv_zero() : port[run->port_a];
    for (int32_t i = run->first; i < run->first + run->count; ++i) {
      const tbi_unknown *x = &pgs->unknown[i];
      to[i] = sv_dot(x->wrench_b, b) - sv_dot(x->wrench_a, a);
    }
  }
}

/* written as a row, for K is symmetric */
static void form_column(const tbi_pgs *pgs, const tbi_problem *p, const tbi_group *run, int32_t j,
                        dense *k) {
  const tbi_unknown *x = &pgs->unknown[j];
  spread(p, run->port_b, x->wrench_b, k->response);
  if (run->port_a != TABI_NONE) spread(p, run->port_a, sv_scale(-1, x->wrench_a), k->response);
  read(pgs, k->response, k->matrix + j * k->stride);
  clear(p, run->port_b, k->response);
  if (run->port_a != TABI_NONE) clear(p, run->port_a, k->response);
}

/* u_i = b_i + K_i . f, in four sums of fixed order */
static double velocity(const dense *k, ptrdiff_t i) {
  const double *row = k->matrix + i * k->stride;
  v4 sum = v4_zero();
  for (ptrdiff_t j = 0; j < k->stride; j += 4)
    sum = v4_add(sum, v4_mul(v4_load(row + j), v4_load(k->impulse + j)));
  return k->constant[i] + v4_sum(sum);
}

static void test_column(const tbi_pgs *pgs, const tbi_problem *p, const tbi_group *run, int32_t j,
                        dense *k) {
  apply_test_force(p, run, &pgs->unknown[j], k);
  read(pgs, k->response, k->matrix + j * k->stride);
}

static void form(const tbi_pgs *pgs, const tbi_problem *p, bool test_forces, dense *k) {
  for (int32_t i = 0; i < p->nport; ++i)
    k->response[i] = sv_zero();
  for (ptrdiff_t i = 0; i < k->count; ++i) {
    for (ptrdiff_t j = k->count; j < k->stride; ++j)
      k->matrix[i * k->stride + j] = 0;
  }
  for (int32_t r = 0; r < pgs->nrun; ++r) {
    const tbi_group *run = &pgs->run[r];
    for (int32_t j = run->first; j < run->first + run->count; ++j)
      (test_forces ? test_column : form_column)(pgs, p, run, j, k);
  }

  /* b: the present velocities without the impulses that they include already */
  for (ptrdiff_t i = 0; i < k->stride; ++i) {
    k->constant[i] = 0;
    k->impulse[i] = i < k->count ? pgs->impulse[i] : 0;
  }
  for (ptrdiff_t i = 0; i < k->count; ++i)
    k->old[i] = velocity(k, i);
  read(pgs, p->velocity, k->constant);
  for (ptrdiff_t i = 0; i < k->count; ++i) {
    k->constant[i] -= k->old[i];
    k->old[i] = k->impulse[i];
  }
}

static double visit_pair(const tbi_unknown *x, const dense *k, ptrdiff_t i) {
  double *f = &k->impulse[i];
  double old[2] = {f[0], f[1]};
  for (int n = 0; n < 2; ++n)
    f[n] = tbi_pgs_wanted(&x[n], f[n], velocity(k, i + n));
  double keep = tbi_pgs_shrink(x, k->impulse, f);
  double change = 0;
  for (int n = 0; n < 2; ++n) {
    f[n] *= keep;
    change = tbi_pgs_max_change(change, &x[n], f[n] - old[n]);
  }
  return change;
}

static double sweep(const tbi_pgs *pgs, const dense *k) {
  double change = 0;
  for (ptrdiff_t i = 0; i < k->count; ++i) {
    const tbi_unknown *x = &pgs->unknown[i];
    if (x->disk) {
      double pair = visit_pair(x, k, i);
      change = pair > change ? pair : change;
      ++i;
      continue;
    }
    double old = k->impulse[i];
    double wanted = tbi_pgs_wanted(x, old, velocity(k, i));
    k->impulse[i] = tbi_pgs_clamp(x, k->impulse, wanted);
    change = tbi_pgs_max_change(change, x, k->impulse[i] - old);
  }
  return change;
}

tbi_solution tbi_dense_solve(tbi_pgs *pgs, tbi_problem *problem, const tabi_world_def *def,
                             bool test_forces) {
  TBI_ASSERT(problem->nrow + problem->nloop == 0); /* rows are swept on ports */
  TBI_ASSERT(pgs->count == 3 * problem->npoint);
  tbi_solution solution = {.converged = pgs->count == 0};
  dense k = make(pgs, problem);
  form(pgs, problem, test_forces, &k);
  while (!solution.converged && solution.iterations < def->iterations) {
    double change = sweep(pgs, &k);
    ++solution.iterations;
    solution.converged = tbi_is_settled(change, solution.iterations, def->tolerance);
  }
  for (ptrdiff_t i = 0; i < k.count; ++i)
    pgs->impulse[i] = k.impulse[i];
  tbi_pgs_apply(pgs, problem, k.old);
  return solution;
}
