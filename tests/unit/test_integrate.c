/* test_integrate.c - moving along a velocity: sums, and exact rotations. */
#include "support/near.h"
#include "support/rng.h"

#include "tabi/tabi.h"

#include <string.h>

static tabi_model *one_joint(tabi_joint_type type) {
  tabi_builder *b = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  link.mass = 1;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 1;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.child = tabi_builder_add_link(b, &link);
  (void)tabi_builder_add_joint(b, &joint);
  tabi_model *model = tabi_builder_build(b, NULL);
  tabi_builder_destroy(b);
  assert_non_null(model);
  return model;
}

static void product(const double a[4], const double b[4], double to[4]) {
  to[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  to[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  to[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  to[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* the quaternion of a turn by w dt */
static void turn(const double w[3], double dt, double to[4]) {
  double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), half = 0.5 * speed * dt;
  to[0] = cos(half);
  for (int i = 0; i < 3; ++i)
    to[1 + i] = sin(half) * w[i] / speed;
}

static double length(const double q[4]) {
  return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

static void test_sums(void **state) {
  (void)state;
  static const tabi_joint_type types[] = {TABI_JOINT_REVOLUTE, TABI_JOINT_CONTINUOUS,
                                          TABI_JOINT_PRISMATIC};
  for (size_t i = 0; i < 3; ++i) {
    tabi_model *model = one_joint(types[i]);
    double q = 3, v = -2, to;
    tabi_model_integrate(model, &q, &v, 0.25, &to);
    assert_true(to == 2.5);
    tabi_model_destroy(model);
  }
  tabi_model *model = one_joint(TABI_JOINT_PLANAR);
  double q[3] = {1, 2, 3}, v[3] = {1, -1, 2};
  tabi_model_integrate(model, q, v, 0.5, q);
  assert_true(q[0] == 1.5 && q[1] == 1.5 && q[2] == 4);
  tabi_model_destroy(model);
}

/* child axes turn from the right, those of the joint frame from the left */
static void test_rotations(void **state) {
  (void)state;
  tabi_model *ball = one_joint(TABI_JOINT_BALL), *free_joint = one_joint(TABI_JOINT_FREE);
  rng r = rng_make(11);
  for (int k = 0; k < 500; ++k) {
    double q[7], v[6], step[4], expected[4], to[7], dt = rng_between(&r, -1, 1);
    rng_fill(&r, 3, q, 3);
    rng_direction(&r, q + 3, 4);
    rng_fill(&r, 3, v, 6);
    turn(v + 3, dt, step);
    tabi_model_integrate(ball, q + 3, v + 3, dt, to);
    product(q + 3, step, expected);
    assert_near_n(to, expected, 4, 1e-15);
    tabi_model_integrate(free_joint, q, v, dt, to);
    product(step, q + 3, expected);
    assert_near_n(to + 3, expected, 4, 1e-15);
    for (int i = 0; i < 3; ++i)
      assert_true(to[i] == q[i] + dt * v[i]);
  }
  tabi_model_destroy(ball);
  tabi_model_destroy(free_joint);
}

/* many small steps are one large one, and the quaternion stays unit */
static void test_many_steps(void **state) {
  (void)state;
  tabi_model *model = one_joint(TABI_JOINT_FREE);
  double q[7] = {0, 0, 0, 0.6, 0, 0.8, 0}, once[7], v[6] = {1, 2, 3, 0.4, -0.3, 1.1};
  tabi_model_integrate(model, q, v, 10, once);
  for (int k = 0; k < 100000; ++k)
    tabi_model_integrate(model, q, v, 1e-4, q);
  assert_near(length(q + 3), 1, 4e-16);
  assert_near_n(q + 3, once + 3, 4, 1e-11);
  tabi_model_destroy(model);
}

/* tiny, zero and huge turns */
static void test_extreme_turns(void **state) {
  (void)state;
  tabi_model *model = one_joint(TABI_JOINT_BALL);
  double q[4] = {1, 0, 0, 0}, v[3] = {0, 0, 0}, to[4];
  tabi_model_integrate(model, q, v, 1, to);
  assert_memory_equal(to, q, sizeof q);
  for (int e = -300; e <= 8; ++e) {
    v[1] = pow(10.0, e);
    tabi_model_integrate(model, q, v, 1, to);
    assert_near(length(to), 1, 4e-16);
    assert_near(to[2], sin(0.5 * v[1]), 1e-15 * fmin(1, v[1]));
  }
  /* a quaternion that came in longer goes out unit */
  double longer[4] = {2, 0, 0, 0};
  v[1] = 0;
  tabi_model_integrate(model, longer, v, 1, to);
  assert_near(to[0], 1, 0);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_rotations),
      cmocka_unit_test(test_many_steps),
      cmocka_unit_test(test_extreme_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
