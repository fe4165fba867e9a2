/* test_jacobian.c - Jacobians against differences of poses, their rates against differences of
 * the Jacobians, over random models. */
#include "property/property.h"

#include <string.h>

/* point, com and rotation (by rows) */
static void read_pose(subject *s, double *to) {
  double pos[3], quat[4];
  subject_point(s, to);
  tabi_dynamics_com(s->dynamics, to + 3);
  tabi_dynamics_link_pose(s->dynamics, s->link, pos, quat);
  property_rotation(quat, to + 6);
}

/* the vector w with dR/dt = w x R, from the skew part of (dR/dt) R' */
static void angular_rate(const double rate[9], const double R[9], double w[3]) {
  double skew[3][3] = {{0}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        skew[i][j] += rate[3 * i + k] * R[3 * j + k];
  w[0] = 0.5 * (skew[2][1] - skew[1][2]);
  w[1] = 0.5 * (skew[0][2] - skew[2][0]);
  w[2] = 0.5 * (skew[1][0] - skew[0][1]);
}

static void read_jacobians(subject *s, double *to) {
  double point[3];
  subject_point(s, point);
  tabi_dynamics_point_jacobian(s->dynamics, s->link, point, to);
  tabi_dynamics_angular_jacobian(s->dynamics, s->link, to + 3 * s->nv);
  tabi_dynamics_com_jacobian(s->dynamics, to + 6 * s->nv);
}

static void read_rates(subject *s, double *to) {
  double point[3];
  subject_point(s, point);
  tabi_dynamics_point_jacobian_rate(s->dynamics, s->link, point, to);
  tabi_dynamics_angular_jacobian_rate(s->dynamics, s->link, to + 3 * s->nv);
  tabi_dynamics_com_jacobian_rate(s->dynamics, to + 6 * s->nv);
}

static void check_jacobian(subject *s) {
  size_t nv = s->nv;
  double *jacobian = subject_room(s, 9 * nv), *differences = subject_room(s, 9 * nv);
  double *direction = subject_room(s, nv);
  double pose[15], rate[15], w[3];
  read_jacobians(s, jacobian);
  read_pose(s, pose);
  for (size_t k = 0; k < nv; ++k) {
    direction[k] = 1.0;
    property_rate(s, direction, read_pose, rate, 15);
    direction[k] = 0.0;
    angular_rate(rate + 6, pose + 6, w);
    for (size_t i = 0; i < 3; ++i) {
      differences[i * nv + k] = rate[i];
      differences[(3 + i) * nv + k] = w[i];
      differences[(6 + i) * nv + k] = rate[3 + i];
    }
  }
  property_expect(s, "point Jacobian", property_distance(jacobian, differences, 3 * nv, 1.0), 1e-9);
  property_expect(s, "angular Jacobian",
                  property_distance(jacobian + 3 * nv, differences + 3 * nv, 3 * nv, 1.0), 1e-9);
  property_expect(s, "com Jacobian",
                  property_distance(jacobian + 6 * nv, differences + 6 * nv, 3 * nv, 1.0), 1e-9);
}

static void check_rate(subject *s) {
  size_t nv = s->nv;
  double *rates = subject_room(s, 9 * nv), *differences = subject_room(s, 9 * nv);
  read_rates(s, rates);
  property_rate(s, s->v, read_jacobians, differences, 9 * nv);
  property_expect(s, "point Jacobian rate", property_distance(rates, differences, 3 * nv, 1.0),
                  1e-8);
  property_expect(s, "angular Jacobian rate",
                  property_distance(rates + 3 * nv, differences + 3 * nv, 3 * nv, 1.0), 1e-8);
  property_expect(s, "com Jacobian rate",
                  property_distance(rates + 6 * nv, differences + 6 * nv, 3 * nv, 1.0), 1e-8);
}

/* link velocities are Jacobian times v */
static void check_velocity(subject *s) {
  double *jacobian = subject_room(s, 9 * s->nv);
  double expected[6] = {0}, velocity[6], pos[3], quat[4];
  memset(s->point, 0, sizeof s->point);
  tabi_dynamics_link_pose(s->dynamics, s->link, pos, quat);
  read_jacobians(s, jacobian);
  for (size_t i = 0; i < 6; ++i)
    for (size_t k = 0; k < s->nv; ++k)
      expected[i] += jacobian[i * s->nv + k] * s->v[k];
  tabi_dynamics_link_velocity(s->dynamics, s->link, velocity, velocity + 3);
  property_expect(s, "velocity", property_distance(velocity, expected, 3, 1.0), 1e-12);
  property_expect(s, "angular velocity", property_distance(velocity + 3, expected + 3, 3, 1.0),
                  1e-12);
  double length = 0.0;
  for (size_t i = 0; i < 4; ++i)
    length += quat[i] * quat[i];
  property_expect(s, "length of the quaternion", fabs(length - 1.0), 1e-13);
}

static void test_jacobians_are_differences_of_poses(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_jacobian);
}

static void test_rates_are_differences_of_jacobians(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_rate);
}

static void test_velocities_are_jacobian_times_v(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_velocity);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jacobians_are_differences_of_poses),
      cmocka_unit_test(test_rates_are_differences_of_jacobians),
      cmocka_unit_test(test_velocities_are_jacobian_times_v),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
