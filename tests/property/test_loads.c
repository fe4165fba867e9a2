/* test_loads.c - assembly-disassembly with springs folded into the bodies, over random models with
 * random springs and dampers to the ground at many links, several at some.
 *
 * The forces that the springs have in the answer, applied as forces from outside, must give the
 * same acceleration by ABA, which knows nothing of springs; and a dense solve of
 * (M + J'GJ) qdd = tau - bias + J'(start - G dJ/dt v) must agree. */
#include "property/property.h"

#include "dynamics/dynamics.h"
#include "support/oracle.h"
#include "support/rng.h"

#include <string.h>

#define SPRINGS 20

typedef struct spring {
  int32_t body;
  v3 arm;           /* from the body's origin, world axes */
  v3 bias;          /* acceleration of the point when that of the body is zero */
  m4 frame;         /* world axes */
  v3 start, give;   /* along the frame */
  double *jacobian; /* 3 x nv along the frame */
  v3 drift;         /* dJ/dt v, along the frame */
} spring;

static v3 along(const m4 *frame, v3 x) {
  return v3_make(v3_dot(v4_to(frame->x), x), v3_dot(v4_to(frame->y), x),
                 v3_dot(v4_to(frame->z), x));
}

/* rows of a Jacobian turned into the frame of the spring */
static void turn_rows(const m4 *frame, size_t n, double *jacobian) {
  for (size_t k = 0; k < n; ++k) {
    v3 column = along(frame, v3_make(jacobian[k], jacobian[n + k], jacobian[2 * n + k]));
    jacobian[k] = column.x;
    jacobian[n + k] = column.y;
    jacobian[2 * n + k] = column.z;
  }
}

/* stiffness up to 1e6 N/m and damping up to 1e3 N s/m, at steps of 1 to 5 ms */
static void draw_law(rng *r, spring *x) {
  double h = rng_between(r, 1e-3, 5e-3);
  double k = pow(10, rng_between(r, 3, 6)), d = pow(10, rng_between(r, 0, 3));
  double across = h * d + h * h * k, grip = rng_between(r, 0, 1);
  double push[3];
  rng_fill(r, 100, push, 3);
  x->start = v3_load(push);
  x->give = v3_make(across, grip * across, grip * across);
}

/* false: the link does not move, or has no mass to bear a spring */
static bool draw_spring(subject *s, rng *r, double *jacobian, double *rate, spring *x) {
  const tabi_model *model = s->model;
  int32_t link = rng_below(r, s->plan->nlink);
  x->body = model->link_home[link].body;
  if (x->body == TABI_WORLD || model->body[x->body].mass <= 0) return false;
  double offset[3], normal[3], point[3];
  rng_fill(r, 0.3, offset, 3);
  rng_direction(r, normal, 3);
  v3 n = v3_load(normal);
  v3 away = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
  v3 t = v3_sub(away, v3_scale(v3_dot(away, n), n));
  t = v3_scale(1 / v3_norm(t), t);
  x->frame = (m4){v4_from(n), v4_from(t), v4_from(v3_cross(n, t))};
  x->arm = v3_load(offset);
  const tbi_body_state *state = &s->dynamics->body[x->body];
  v4 at = v4_add(state->pos, v4_from(x->arm));
  x->bias = v4_to(v4_cross(state->vel.ang, sv_at(state->vel, at)));
  v3_store(v3_add(tbi_tree_origin(s->dynamics, x->body), v4_to(at)), point);
  tabi_dynamics_point_jacobian(s->dynamics, link, point, jacobian);
  tabi_dynamics_point_jacobian_rate(s->dynamics, link, point, rate);
  turn_rows(&x->frame, s->nv, jacobian);
  turn_rows(&x->frame, s->nv, rate);
  x->jacobian = jacobian;
  x->drift = v3_make(property_dot(rate, s->v, s->nv), property_dot(rate + s->nv, s->v, s->nv),
                     property_dot(rate + 2 * s->nv, s->v, s->nv));
  draw_law(r, x);
  return true;
}

static int draw_springs(subject *s, spring *all) {
  rng r = rng_make(s->seed + 5);
  double *jacobian = subject_room(s, 3 * s->nv * SPRINGS), *rate = subject_room(s, 3 * s->nv);
  int count = 0;
  for (int i = 0; i < SPRINGS; ++i)
    count += draw_spring(s, &r, jacobian + 3 * s->nv * (size_t)count, rate, &all[count]);
  return count;
}

static void solve_by_ada(subject *s, const spring *all, int count, double *qdd) {
  size_t doubles = sizeof(tbi_body_load) / sizeof(double);
  double *room = subject_room(s, doubles * (size_t)s->model->nbody);
  tbi_body_load *load = (tbi_body_load *)room;
  for (int i = 0; i < count; ++i)
    tbi_load_point(&load[all[i].body], all[i].arm, &all[i].frame, all[i].start, all[i].give,
                   all[i].bias);
  tbi_forward_ada_loaded(s->dynamics, s->tau, load, qdd);
}

/* what the springs do at an acceleration, added to joint forces */
static void add_forces(const subject *s, const spring *all, int count, const double *qdd,
                       double *tau) {
  size_t n = s->nv;
  for (int i = 0; i < count; ++i) {
    const spring *x = &all[i];
    const double start[3] = {x->start.x, x->start.y, x->start.z};
    const double give[3] = {x->give.x, x->give.y, x->give.z};
    const double drift[3] = {x->drift.x, x->drift.y, x->drift.z};
    for (size_t k = 0; k < 3; ++k) {
      const double *row = x->jacobian + k * n;
      double force = start[k] - give[k] * (drift[k] + (qdd ? property_dot(row, qdd, n) : 0));
      for (size_t j = 0; j < n; ++j)
        tau[j] += force * row[j];
    }
  }
}

static void solve_densely(subject *s, const spring *all, int count, const double *M, double *qdd) {
  size_t n = s->nv;
  double *A = subject_room(s, n * n), *bias = subject_room(s, n);
  memcpy(A, M, n * n * sizeof *A);
  tabi_dynamics_inverse(s->dynamics, NULL, bias);
  for (size_t i = 0; i < n; ++i)
    qdd[i] = s->tau[i] - bias[i];
  add_forces(s, all, count, NULL, qdd);
  for (int i = 0; i < count; ++i) {
    const double give[3] = {all[i].give.x, all[i].give.y, all[i].give.z};
    for (size_t k = 0; k < 3; ++k) {
      const double *row = all[i].jacobian + k * n;
      for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b)
          A[a * n + b] += give[k] * row[a] * row[b];
    }
  }
  assert_true(oracle_cholesky(A, n));
  oracle_cholesky_solve(A, n, qdd);
}

/* |a - b| over |b| in the norm of the kinetic energy */
static double energy_distance(subject *s, const double *M, const double *a, const double *b) {
  size_t n = s->nv;
  double *off = subject_room(s, n);
  double square = 0.0, size = 0.0;
  for (size_t i = 0; i < n; ++i)
    off[i] = a[i] - b[i];
  for (size_t i = 0; i < n; ++i) {
    square += off[i] * property_dot(M + i * n, off, n);
    size += b[i] * property_dot(M + i * n, b, n);
  }
  return size > 0.0 ? sqrt(fmax(square, 0.0) / size) : sqrt(fmax(square, 0.0));
}

static void check_loads(subject *s) {
  spring all[SPRINGS];
  size_t n = s->nv;
  int count = draw_springs(s, all);
  double *M = subject_room(s, n * n), *ada = subject_room(s, n), *aba = subject_room(s, n);
  double *dense = subject_room(s, n), *tau = subject_room(s, n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  solve_by_ada(s, all, count, ada);
  memcpy(tau, s->tau, n * sizeof *tau);
  add_forces(s, all, count, ada, tau);
  tbi_forward_aba(s->dynamics, tau, aba);
  property_expect(s, "ADA with springs = ABA under their forces", energy_distance(s, M, ada, aba),
                  1e-9);
  solve_densely(s, all, count, M, dense);
  property_expect(s, "ADA with springs = dense", energy_distance(s, M, ada, dense), 1e-9);
}

static void test_any(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_loads);
}

static void test_floating(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_loads);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any),
      cmocka_unit_test(test_floating),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
