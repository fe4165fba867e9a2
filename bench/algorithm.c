/* algorithm.c - whole calls of the rigid-body algorithms, and their errors. */
#include "algorithm.h"

#include "dynamics/dynamics.h"

#include <math.h>
#include <stdlib.h>

static void set_state(const tbi_bench_tree *tree, int32_t state) {
  tabi_dynamics_set_state(tree->dynamics, tbi_bench_tree_q(tree, state),
                          tbi_bench_tree_v(tree, state));
}

static void rnea(const tbi_bench_tree *tree, int32_t state) {
  set_state(tree, state);
  tabi_dynamics_inverse(tree->dynamics, tbi_bench_tree_qdd(tree, state), tree->out);
}

static void crba(const tbi_bench_tree *tree, int32_t state) {
  set_state(tree, state);
  tbi_crba(tree->dynamics, tree->dynamics->model->dof_rotor);
  tbi_ltdl_factor(tree->dynamics);
}

static void aba(const tbi_bench_tree *tree, int32_t state) {
  set_state(tree, state);
  tabi_dynamics_forward(tree->dynamics, tbi_bench_tree_tau(tree, state), tree->out);
}

static void ada(const tbi_bench_tree *tree, int32_t state) {
  set_state(tree, state);
  tbi_forward_ada(tree->dynamics, tbi_bench_tree_tau(tree, state), tree->out);
}

static bool ada_fits(const tabi_model *model) { return tbi_ada_obstacle(model) == TABI_NONE; }

/* in the order of the table below */
enum { KINEMATICS, RNEA, CRBA, ABA, ADA };

const tbi_algorithm tbi_algorithms[TBI_ALGORITHMS] = {
    {"kinematics", set_state, NULL    },
    {"rnea",       rnea,      NULL    },
    {"crba",       crba,      NULL    },
    {"aba",        aba,       NULL    },
    {"ada",        ada,       ada_fits}
};

/* M and bias at one state. */
typedef struct equation {
  int32_t nv;
  double *mass, *bias;
} equation;

/* The residual of M qdd + bias = tau, row by row over the sum of the sizes of its terms: the
 * componentwise backward error of Oettli and Prager. */
static double residual(const equation *e, const double *qdd, const double *tau) {
  double worst = 0;
  for (int32_t i = 0; i < e->nv; i++) {
    const double *row = e->mass + (size_t)i * (size_t)e->nv;
    double sum = e->bias[i] - tau[i], size = fabs(e->bias[i]) + fabs(tau[i]);
    for (int32_t j = 0; j < e->nv; j++) {
      sum += row[j] * qdd[j];
      size += fabs(row[j] * qdd[j]);
    }
    // written so that a result that is not a number is not lost
    if (size > 0 && !(fabs(sum) / size <= worst)) worst = fabs(sum) / size;
  }
  return worst;
}

static double energy_error(const tbi_bench_tree *tree, const equation *e, const double *v) {
  double twice = 0;
  for (int32_t i = 0; i < e->nv; i++)
    for (int32_t j = 0; j < e->nv; j++)
      twice += v[i] * e->mass[(size_t)i * (size_t)e->nv + (size_t)j] * v[j];
  return fabs(tabi_dynamics_kinetic(tree->dynamics) - twice / 2) / (twice / 2);
}

/* tree->out = the solution of M x = tau - bias by the factor. */
static void solve(const tbi_bench_tree *tree, const equation *e, const double *tau) {
  for (int32_t i = 0; i < e->nv; i++)
    tree->out[i] = tau[i] - e->bias[i];
  tbi_ltdl_solve(tree->dynamics, tree->out);
}

static void state_errors(const tbi_bench_tree *tree, equation *e, int32_t state,
                         double errors[TBI_ALGORITHMS]) {
  const double *tau = tbi_bench_tree_tau(tree, state);
  set_state(tree, state);
  tabi_dynamics_mass_matrix(tree->dynamics, e->mass);
  tabi_dynamics_inverse(tree->dynamics, NULL, e->bias);
  errors[KINEMATICS] = energy_error(tree, e, tbi_bench_tree_v(tree, state));
  rnea(tree, state);
  errors[RNEA] = residual(e, tbi_bench_tree_qdd(tree, state), tree->out);
  crba(tree, state);
  solve(tree, e, tau);
  errors[CRBA] = residual(e, tree->out, tau);
  aba(tree, state);
  errors[ABA] = residual(e, tree->out, tau);
  if (!ada_fits(tree->model)) return;
  ada(tree, state);
  errors[ADA] = residual(e, tree->out, tau);
}

tabi_status tbi_algorithm_errors(const tbi_bench_tree *tree, double errors[TBI_ALGORITHMS]) {
  size_t nv = (size_t)tree->nv;
  equation e = {.nv = tree->nv, .mass = malloc((nv + 1) * nv * sizeof(double) + 1)};
  if (!e.mass) return TABI_ERR_MEMORY;
  e.bias = e.mass + nv * nv;
  for (int32_t a = 0; a < TBI_ALGORITHMS; a++)
    errors[a] = 0;
  for (int32_t state = 0; state < TBI_BENCH_TREE_STATES; state++) {
    double here[TBI_ALGORITHMS] = {0};
    state_errors(tree, &e, state, here);
    for (int32_t a = 0; a < TBI_ALGORITHMS; a++)
      if (!(here[a] <= errors[a])) errors[a] = here[a];
  }
  free(e.mass);
  return TABI_OK;
}
