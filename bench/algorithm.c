/* algorithm.c - whole calls of the rigid-body algorithms, and their errors. */
#include "algorithm.h"

#include "dynamics/dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A spring and damper between a link and the ground, as contacts of penalty are at steps of 1 ms:
 * 1e6 N/m, 1e3 N s/m. */
typedef struct spring {
  int32_t body;
  v3 arm;         /* from the body's origin, world axes */
  v3 start, give; /* along x, y and z */
} spring;

/* Springs are spread over the links, at the far end of each. */
static spring get_spring(const tabi_dynamics *d, int32_t i) {
  const double h = 1e-3, stiffness = 1e6, damping = 1e3;
  double give = h * damping + h * h * stiffness;
  int32_t body = (int32_t)((int64_t)i * d->model->nbody / TBI_BENCH_TREE_SPRINGS);
  while (d->model->body[body].mass <= 0)
    ++body; /* what moves without mass bears nothing; something behind it does */
  const tbi_body_state *state = &d->body[body];
  v4 arm = m4_mulv3(&state->rot, v3_make(0, 0, 0.2));
  v3 u = v4_to(sv_at(state->vel, v4_add(state->pos, arm)));
  v3 start = v3_sub(v3_make(0, 0, 100), v3_scale(damping + h * stiffness, u));
  return (spring){body, v4_to(arm), start, v3_make(give, give, give)};
}

static void ada_springs(const tbi_bench_tree *tree, int32_t state) {
  set_state(tree, state);
  tabi_dynamics *d = tree->dynamics;
  memset(tree->load, 0, sizeof *tree->load * (size_t)d->model->nbody);
  for (int32_t i = 0; i < TBI_BENCH_TREE_SPRINGS; ++i) {
    spring s = get_spring(d, i);
    const tbi_body_state *body = &d->body[s.body];
    v4 at = v4_add(body->pos, v4_from(s.arm));
    v3 bias = v4_to(v4_cross(body->vel.ang, sv_at(body->vel, at)));
    m4 frame = {v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
    tbi_load_point(&tree->load[s.body], s.arm, &frame, s.start, s.give, bias);
  }
  tbi_forward_ada_loaded(d, tbi_bench_tree_tau(tree, state), tree->load, tree->out);
}

static bool ada_fits(const tabi_model *model) { return tbi_ada_obstacle(model) == TABI_NONE; }

/* in the order of the table below */
enum { KINEMATICS, RNEA, CRBA, ABA, ADA, ADA_SPRINGS };

const tbi_algorithm tbi_algorithms[TBI_ALGORITHMS] = {
    {"kinematics", set_state,   NULL    },
    {"rnea",       rnea,        NULL    },
    {"crba",       crba,        NULL    },
    {"aba",        aba,         NULL    },
    {"ada",        ada,         ada_fits},
    {"ada100",     ada_springs, ada_fits}
};

/* M and bias at one state. */
typedef struct equation {
  int32_t nv;
  double *mass, *bias;
  double *tau;             /* with what springs push */
  double *jacobian, *rate; /* of a point: 3 x nv */
} equation;

/* The residual of M qdd + bias = tau, row by row over the sum of the sizes of its terms: the
 * componentwise backward error of Oettli and Prager. */
static double residual(const equation *e, const double *qdd, const double *tau) {
  double worst = 0;
  for (int32_t i = 0; i < e->nv; ++i) {
    const double *row = e->mass + (size_t)i * (size_t)e->nv;
    double sum = e->bias[i] - tau[i], size = fabs(e->bias[i]) + fabs(tau[i]);
    for (int32_t j = 0; j < e->nv; ++j) {
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
  for (int32_t i = 0; i < e->nv; ++i)
    for (int32_t j = 0; j < e->nv; ++j)
      twice += v[i] * e->mass[(size_t)i * (size_t)e->nv + (size_t)j] * v[j];
  return fabs(tabi_dynamics_kinetic(tree->dynamics) - twice / 2) / (twice / 2);
}

/* tree->out = the solution of M x = tau - bias by the factor. */
static void solve(const tbi_bench_tree *tree, const equation *e, const double *tau) {
  for (int32_t i = 0; i < e->nv; ++i)
    tree->out[i] = tau[i] - e->bias[i];
  tbi_ltdl_solve(tree->dynamics, tree->out);
}

/* e->tau = tau and what the springs push at the acceleration qdd. */
static void push_springs(const tbi_bench_tree *tree, equation *e, const double *v,
                         const double *qdd, const double *tau) {
  const tabi_dynamics *d = tree->dynamics;
  memcpy(e->tau, tau, sizeof *tau * (size_t)e->nv);
  for (int32_t i = 0; i < TBI_BENCH_TREE_SPRINGS; ++i) {
    spring s = get_spring(d, i);
    int32_t link = d->model->joint[d->model->body[s.body].joint].child;
    double point[3];
    v3_store(v3_add(tbi_tree_origin(d, s.body), v3_add(v4_to(d->body[s.body].pos), s.arm)), point);
    tabi_dynamics_point_jacobian(d, link, point, e->jacobian);
    tabi_dynamics_point_jacobian_rate(d, link, point, e->rate);
    const double start[3] = {s.start.x, s.start.y, s.start.z};
    for (int32_t k = 0; k < 3; ++k) {
      const double *row = e->jacobian + (size_t)k * (size_t)e->nv;
      const double *rate = e->rate + (size_t)k * (size_t)e->nv;
      double acceleration = 0;
      for (int32_t j = 0; j < e->nv; ++j)
        acceleration += row[j] * qdd[j] + rate[j] * v[j];
      for (int32_t j = 0; j < e->nv; ++j)
        e->tau[j] += row[j] * (start[k] - s.give.x * acceleration);
    }
  }
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
  ada_springs(tree, state);
  push_springs(tree, e, tbi_bench_tree_v(tree, state), tree->out, tau);
  errors[ADA_SPRINGS] = residual(e, tree->out, e->tau);
}

tabi_status tbi_algorithm_errors(const tbi_bench_tree *tree, double errors[TBI_ALGORITHMS]) {
  size_t nv = (size_t)tree->nv;
  equation e = {.nv = tree->nv, .mass = malloc((nv + 8) * nv * sizeof(double) + 1)};
  if (!e.mass) return TABI_ERR_MEMORY;
  e.bias = e.mass + nv * nv;
  e.tau = e.bias + nv;
  e.jacobian = e.tau + nv;
  e.rate = e.jacobian + 3 * nv;
  for (int32_t a = 0; a < TBI_ALGORITHMS; ++a)
    errors[a] = 0;
  for (int32_t state = 0; state < TBI_BENCH_TREE_STATES; ++state) {
    double here[TBI_ALGORITHMS] = {0};
    state_errors(tree, &e, state, here);
    for (int32_t a = 0; a < TBI_ALGORITHMS; ++a)
      if (!(here[a] <= errors[a])) errors[a] = here[a];
  }
  free(e.mass);
  return TABI_OK;
}
