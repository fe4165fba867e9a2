/* test_energy.c - energy and momentum over random models: rates against power and external force.
 *
 * Along any motion d/dt (T + V) = v' M qdd + [rate of T + V at constant v], and forward dynamics
 * must make that tau'v.  The bracket is differenced along the exact curve of constant v. */
#include "property/property.h"

#include <string.h>

/* the sum of the terms' sizes, to which rounding is relative */
static double dot_size(const double *a, const double *b, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i)
    sum += fabs(a[i] * b[i]);
  return sum;
}

static void multiply(const double *matrix, const double *x, size_t rows, size_t columns,
                     double *to) {
  for (size_t i = 0; i < rows; ++i)
    to[i] = property_dot(matrix + i * columns, x, columns);
}

static void read_energy(subject *s, double *to) {
  to[0] = tabi_dynamics_kinetic(s->dynamics) + tabi_dynamics_potential(s->dynamics);
}

static void check_power(subject *s) {
  size_t nv = s->nv;
  double *mass = subject_room(s, nv * nv), *qdd = subject_room(s, nv), *Mv = subject_room(s, nv);
  double rate;
  tabi_dynamics_mass_matrix(s->dynamics, mass);
  tabi_dynamics_forward(s->dynamics, s->tau, qdd);
  multiply(mass, s->v, nv, nv, Mv);
  double kinetic = tabi_dynamics_kinetic(s->dynamics);
  property_expect(s, "kinetic energy is v'Mv/2",
                  fabs(kinetic - 0.5 * property_dot(s->v, Mv, nv)) / fmax(kinetic, 1e-3), 1e-12);
  property_rate(s, s->v, read_energy, &rate, 1);
  double scale = dot_size(s->tau, s->v, nv) + dot_size(qdd, Mv, nv) + fabs(rate) + kinetic +
                 fabs(tabi_dynamics_potential(s->dynamics)) + 1e-3;
  property_expect(s, "energy rate is power",
                  fabs(property_dot(qdd, Mv, nv) + rate - property_dot(s->tau, s->v, nv)) / scale,
                  1e-10);
}

/* without differences: v'(M qdd + bias) = tau'v, and the part of the bias that is quadratic in v
 * does the work of -1/2 dM/dt, so that with gravity's share taken out it is the rate of T */
static void read_kinetic(subject *s, double *to) { to[0] = tabi_dynamics_kinetic(s->dynamics); }

static void check_bias_power(subject *s) {
  double *bias = subject_room(s, s->nv), *still = subject_room(s, s->nv);
  double *zero = subject_room(s, s->nv);
  double rate;
  tabi_dynamics_inverse(s->dynamics, NULL, bias);
  property_rate(s, s->v, read_kinetic, &rate, 1);
  tabi_dynamics_set_state(s->dynamics, s->q, zero);
  tabi_dynamics_inverse(s->dynamics, NULL, still);
  for (size_t i = 0; i < s->nv; ++i)
    bias[i] -= still[i];
  double scale = dot_size(bias, s->v, s->nv) + tabi_dynamics_kinetic(s->dynamics) + 1.0;
  property_expect(s, "Coriolis power", fabs(property_dot(bias, s->v, s->nv) - rate) / scale, 1e-10);
}

/* momentum is A v, and its rate along the motion at constant v is the bias */
static void read_momentum(subject *s, double *to) {
  tabi_dynamics_momentum(s->dynamics, to, to + 3);
}

static void check_momentum(subject *s) {
  double *A = subject_room(s, 6 * s->nv);
  double momentum[6], product[6], bias[6], rate[6];
  tabi_dynamics_momentum_matrix(s->dynamics, A);
  multiply(A, s->v, 6, s->nv, product);
  read_momentum(s, momentum);
  property_expect(s, "momentum is A v", property_distance(momentum, product, 6, 1.0), 1e-12);
  tabi_dynamics_momentum_bias(s->dynamics, bias, bias + 3);
  property_rate(s, s->v, read_momentum, rate, 6);
  double floor = 1.0 + property_largest(momentum, 6);
  property_expect(s, "momentum bias is a rate", property_distance(bias, rate, 6, floor), 1e-9);
  /* the linear rows are mass times the com's Jacobian */
  double *J = subject_room(s, 3 * s->nv), mass = tabi_model_mass(s->model);
  tabi_dynamics_com_jacobian(s->dynamics, J);
  for (size_t i = 0; i < 3 * s->nv; ++i)
    J[i] *= mass;
  property_expect(s, "linear rows of A", property_distance(A, J, 3 * s->nv, 0.0), 1e-12);
}

/* how far the links reach from the centre of mass */
static double extent(const subject *s) {
  double com[3], pos[3], quat[4], largest = 0.0;
  tabi_dynamics_com(s->dynamics, com);
  for (int32_t i = 0; i < s->plan->nlink; ++i) {
    tabi_dynamics_link_pose(s->dynamics, i, pos, quat);
    largest = fmax(largest, hypot(hypot(pos[0] - com[0], pos[1] - com[1]), pos[2] - com[2]));
  }
  return largest;
}

/* joint forces are internal: only gravity changes the momentum of what floats.  Rounding is
 * relative to the terms that cancel: inertial forces, and their moments about the centre. */
static void check_external_force(subject *s) {
  double *A = subject_room(s, 6 * s->nv), *qdd = subject_room(s, s->nv);
  double bias[6], gravity[3], mass = tabi_model_mass(s->model);
  double worst[2] = {0, 0}, size[2] = {0, 0};
  tabi_dynamics_forward(s->dynamics, s->tau, qdd);
  tabi_dynamics_momentum_matrix(s->dynamics, A);
  tabi_dynamics_momentum_bias(s->dynamics, bias, bias + 3);
  tabi_model_gravity(s->model, gravity);
  for (size_t i = 0; i < 6; ++i) {
    double external = i < 3 ? mass * gravity[i] : 0.0;
    double rate = property_dot(A + i * s->nv, qdd, s->nv) + bias[i];
    worst[i / 3] = fmax(worst[i / 3], fabs(rate - external));
    size[i / 3] = fmax(size[i / 3], dot_size(A + i * s->nv, qdd, s->nv) + fabs(bias[i]));
  }
  property_expect(s, "rate of linear momentum", worst[0] / size[0], 1e-12);
  property_expect(s, "rate of angular momentum", worst[1] / (size[1] + size[0] * extent(s)), 1e-12);
}

static void test_energy_rate_is_power(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_power);
}

static void test_coriolis_forces_do_the_work_of_changing_inertia(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_bias_power);
}

static void test_momentum_matrix_and_bias(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_momentum);
}

static void test_momentum_rate_is_external_force(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_external_force);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_energy_rate_is_power),
      cmocka_unit_test(test_coriolis_forces_do_the_work_of_changing_inertia),
      cmocka_unit_test(test_momentum_matrix_and_bias),
      cmocka_unit_test(test_momentum_rate_is_external_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
