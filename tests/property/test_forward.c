/* test_forward.c - the mass matrix and three algorithms of forward dynamics over random models.
 *
 * M of a long tree may be ill-conditioned, so two solutions of M x = b may differ although both
 * are right to the last digits.  They are compared in the norm of the kinetic energy, sqrt(x'Mx),
 * and by what is left of the forces. */
#include "property/property.h"

#include "dynamics/dynamics.h"
#include "support/oracle.h"

#include <string.h>

static void multiply(const double *M, const double *x, size_t n, double *to) {
  for (size_t i = 0; i < n; ++i)
    to[i] = property_dot(M + i * n, x, n);
}

static void check_definite(subject *s) {
  size_t n = s->nv;
  double *M = subject_room(s, n * n), *factor = subject_room(s, n * n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      property_expect(s, "symmetry of M", fabs(M[i * n + j] - M[j * n + i]), 0.0);
  memcpy(factor, M, n * n * sizeof *M);
  property_expect(s, "M positive definite", oracle_cholesky(factor, n) ? 0.0 : 1.0, 0.0);
}

/* column i of M is the force for a unit acceleration, without the bias */
static void check_columns(subject *s) {
  size_t n = s->nv;
  double *M = subject_room(s, n * n), *bias = subject_room(s, n), *unit = subject_room(s, n);
  double *column = subject_room(s, n), *expected = subject_room(s, n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  tabi_dynamics_inverse(s->dynamics, NULL, bias);
  double scale = fmax(property_largest(M, n * n), property_largest(bias, n));
  for (size_t k = 0; k < n; ++k) {
    unit[k] = 1.0;
    tabi_dynamics_inverse(s->dynamics, unit, column);
    unit[k] = 0.0;
    for (size_t i = 0; i < n; ++i) {
      column[i] -= bias[i];
      expected[i] = M[i * n + k];
    }
    property_expect(s, "column of M", property_distance(column, expected, n, scale), 1e-13);
  }
}

/* |a - b| over |b| in the norm of the kinetic energy */
static double energy_distance(const double *M, const double *a, const double *b, size_t n,
                              double *scratch) {
  double *difference = scratch, *product = scratch + n;
  for (size_t i = 0; i < n; ++i)
    difference[i] = a[i] - b[i];
  multiply(M, difference, n, product);
  double square = property_dot(difference, product, n);
  multiply(M, b, n, product);
  double size = property_dot(b, product, n);
  return size > 0.0 ? sqrt(fmax(square, 0.0) / size) : sqrt(fmax(square, 0.0));
}

static void check_agreement(subject *s) {
  size_t n = s->nv;
  double *M = subject_room(s, n * n), *scratch = subject_room(s, 2 * n);
  double *aba = subject_room(s, n), *ltdl = subject_room(s, n), *ada = subject_room(s, n);
  double *public = subject_room(s, n), *solved = subject_room(s, n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  tbi_forward_aba(s->dynamics, s->tau, aba);
  tbi_forward_ltdl(s->dynamics, s->tau, ltdl);
  tbi_forward_ada(s->dynamics, s->tau, ada);
  tabi_dynamics_forward(s->dynamics, s->tau, public);
  property_expect(s, "ABA = LTDL", energy_distance(M, aba, ltdl, n, scratch), 1e-9);
  property_expect(s, "ADA = LTDL", energy_distance(M, ada, ltdl, n, scratch), 1e-9);
  property_expect(s, "public = ABA", energy_distance(M, public, aba, n, scratch), 1e-9);
  /* and a dense Cholesky solve of the same equations */
  tabi_dynamics_inverse(s->dynamics, NULL, solved);
  for (size_t i = 0; i < n; ++i)
    solved[i] = s->tau[i] - solved[i];
  double *factor = subject_room(s, n * n);
  memcpy(factor, M, n * n * sizeof *M);
  assert_true(oracle_cholesky(factor, n));
  oracle_cholesky_solve(factor, n, solved);
  property_expect(s, "LTDL = Cholesky", energy_distance(M, ltdl, solved, n, scratch), 1e-9);
}

/* both factors serve any number of right-hand sides, whatever was solved in between */
static void check_solves(subject *s) {
  size_t n = s->nv;
  double *M = subject_room(s, n * n), *scratch = subject_room(s, 2 * n);
  double *a = subject_room(s, n), *b = subject_room(s, n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  tbi_crba(s->dynamics, s->dynamics->model->dof_rotor);
  tbi_ltdl_factor(s->dynamics);
  tbi_aba_factor(s->dynamics, s->dynamics->model->dof_rotor, NULL);
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < n; ++i)
      a[i] = b[i] = k == 0 ? s->tau[i] : k == 1 ? s->v[i] : 1.0;
    tbi_aba_solve(s->dynamics, a);
    tbi_ltdl_solve(s->dynamics, b);
    property_expect(s, "solves by ABA and LTDL", energy_distance(M, a, b, n, scratch), 1e-9);
  }
}

/* inverse dynamics gives back the forces, up to the rounding of the terms they are the sum of */
static void check_inverse(subject *s) {
  typedef void forward_fn(tabi_dynamics *, const double *, double *);
  static const struct {
    const char *name;
    forward_fn *forward;
  } all[] = {
      {"inverse of ABA",  tbi_forward_aba },
      {"inverse of LTDL", tbi_forward_ltdl},
      {"inverse of ADA",  tbi_forward_ada }
  };
  size_t n = s->nv;
  double *M = subject_room(s, n * n), *qdd = subject_room(s, n), *tau = subject_room(s, n);
  tabi_dynamics_mass_matrix(s->dynamics, M);
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    all[k].forward(s->dynamics, s->tau, qdd);
    tabi_dynamics_inverse(s->dynamics, qdd, tau);
    double scale = 1.0;
    for (size_t i = 0; i < n; ++i) {
      double row = 0.0;
      for (size_t j = 0; j < n; ++j)
        row += fabs(M[i * n + j] * qdd[j]);
      scale = fmax(scale, row);
    }
    property_expect(s, all[k].name, property_distance(tau, s->tau, n, scale), 1e-9);
  }
}

/* the same as before with no joint forces: NULL means zero */
static void check_null(subject *s) {
  double *zero = subject_room(s, s->nv), *a = subject_room(s, s->nv), *b = subject_room(s, s->nv);
  tabi_dynamics_forward(s->dynamics, zero, a);
  tabi_dynamics_forward(s->dynamics, NULL, b);
  property_expect(s, "tau NULL", property_distance(a, b, s->nv, 0.0), 0.0);
  tabi_dynamics_inverse(s->dynamics, zero, a);
  tabi_dynamics_inverse(s->dynamics, NULL, b);
  property_expect(s, "qdd NULL", property_distance(a, b, s->nv, 1.0), 1e-14);
}

static void test_mass_matrix_is_positive_definite(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_definite);
}

static void test_columns_of_the_mass_matrix(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_columns);
}

static void test_three_algorithms_agree(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_agreement);
}

static void test_factors_serve_many_sides(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_solves);
}

static void test_inverse_gives_back_the_forces(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_inverse);
}

static void test_null_is_zero(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_null);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass_matrix_is_positive_definite),
      cmocka_unit_test(test_columns_of_the_mass_matrix),
      cmocka_unit_test(test_three_algorithms_agree),
      cmocka_unit_test(test_factors_serve_many_sides),
      cmocka_unit_test(test_inverse_gives_back_the_forces),
      cmocka_unit_test(test_null_is_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
