/* test_oracle.c - every quantity of the public API against the plain reference. */
#include "property/property.h"

#include "support/oracle.h"

#include <string.h>

static void check_links(subject *s, const oracle *o) {
  for (int32_t i = 0; i < s->plan->nlink; ++i) {
    double pos[3], quat[4], lin[3], ang[3], R[9];
    double pos_o[3], R_o[9], lin_o[3], ang_o[3];
    int32_t link = tabi_model_find_link(s->model, s->plan->links[i].name);
    tabi_dynamics_link_pose(s->dynamics, link, pos, quat);
    tabi_dynamics_link_velocity(s->dynamics, link, lin, ang);
    property_rotation(quat, R);
    oracle_link_pose(o, link, pos_o, R_o);
    oracle_link_velocity(o, link, lin_o, ang_o);
    property_expect(s, "position", property_distance(pos, pos_o, 3, 1.0), 1e-13);
    property_expect(s, "rotation", property_distance(R, R_o, 9, 1.0), 1e-13);
    property_expect(s, "velocity", property_distance(lin, lin_o, 3, 1.0), 1e-12);
    property_expect(s, "angular velocity", property_distance(ang, ang_o, 3, 1.0), 1e-12);
  }
}

static void check_jacobians(subject *s, const oracle *o) {
  size_t n = 3 * s->nv;
  double *a = subject_room(s, n), *b = subject_room(s, n), point[3];
  subject_point(s, point);
  tabi_dynamics_point_jacobian(s->dynamics, s->link, point, a);
  oracle_point_jacobian(o, s->link, point, b);
  property_expect(s, "point Jacobian", property_distance(a, b, n, 1.0), 1e-12);
  tabi_dynamics_angular_jacobian(s->dynamics, s->link, a);
  oracle_angular_jacobian(o, s->link, b);
  property_expect(s, "angular Jacobian", property_distance(a, b, n, 1.0), 1e-12);
}

static void check_totals(subject *s, oracle *o) {
  double a[6], b[6];
  property_expect(s, "mass", fabs(tabi_model_mass(s->model) - oracle_mass(o)) / oracle_mass(o),
                  1e-14);
  tabi_dynamics_com(s->dynamics, a);
  oracle_com(o, b);
  property_expect(s, "com", property_distance(a, b, 3, 1.0), 1e-13);
  a[0] = tabi_dynamics_kinetic(s->dynamics);
  b[0] = oracle_kinetic(o);
  property_expect(s, "kinetic energy", property_distance(a, b, 1, 1.0), 1e-12);
  a[0] = tabi_dynamics_potential(s->dynamics);
  b[0] = oracle_potential(o);
  property_expect(s, "potential energy", property_distance(a, b, 1, 1.0), 1e-12);
  tabi_dynamics_momentum(s->dynamics, a, a + 3);
  oracle_momentum(o, b, b + 3);
  property_expect(s, "momentum", property_distance(a, b, 6, 1.0), 1e-12);
  tabi_dynamics_momentum_bias(s->dynamics, a, a + 3);
  oracle_momentum_bias(o, b, b + 3);
  property_expect(s, "momentum bias", property_distance(a, b, 6, 1.0), 1e-12);
  double *A = subject_room(s, 6 * s->nv), *B = subject_room(s, 6 * s->nv);
  tabi_dynamics_momentum_matrix(s->dynamics, A);
  oracle_momentum_matrix(o, B);
  property_expect(s, "momentum matrix", property_distance(A, B, 6 * s->nv, 1.0), 1e-12);
}

static void check_dynamics(subject *s, oracle *o) {
  size_t nv = s->nv;
  double *a = subject_room(s, nv * nv), *b = subject_room(s, nv * nv);
  tabi_dynamics_mass_matrix(s->dynamics, a);
  oracle_mass_matrix(o, b);
  property_expect(s, "mass matrix", property_distance(a, b, nv * nv, 0.0), 1e-13);
  tabi_dynamics_inverse(s->dynamics, NULL, a);
  oracle_inverse(o, NULL, b);
  property_expect(s, "bias", property_distance(a, b, nv, 1.0), 1e-12);
  /* tau serves as an acceleration */
  tabi_dynamics_inverse(s->dynamics, s->tau, a);
  oracle_inverse(o, s->tau, b);
  property_expect(s, "inverse dynamics", property_distance(a, b, nv, 1.0), 1e-12);
  /* the acceleration is judged by the force it needs, because M may be ill-conditioned */
  tabi_dynamics_forward(s->dynamics, s->tau, a);
  oracle_inverse(o, a, b);
  double scale = fmax(property_largest(s->tau, nv), property_largest(a, nv));
  property_expect(s, "forward dynamics", property_distance(b, s->tau, nv, scale), 1e-11);
}

static void check(subject *s) {
  oracle *o = oracle_create(s->model, s->q, s->v);
  check_links(s, o);
  check_jacobians(s, o);
  check_totals(s, o);
  check_dynamics(s, o);
  oracle_destroy(o);
}

static void test_equals_plain_reference(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equals_plain_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
