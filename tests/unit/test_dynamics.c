/* test_dynamics.c - small mechanisms whose equations of motion can be written down. */
#include "support/near.h"

#include "tabi/tabi.h"

#include <math.h>
#include <string.h>

#define G 9.81

typedef struct rig {
  tabi_builder *builder;
  tabi_model *model;
  tabi_dynamics *dynamics;
} rig;

static tabi_link_def body(double mass, const double com[3], const double moments[3]) {
  tabi_link_def def = tabi_link_def_default();
  def.mass = mass;
  memcpy(def.com, com, sizeof def.com);
  memcpy(def.inertia, moments, 3 * sizeof *moments);
  return def;
}

/* adds a link and the joint above it; returns the link */
static int32_t hang(rig *r, const tabi_link_def *link, tabi_joint_def joint) {
  joint.child = tabi_builder_add_link(r->builder, link);
  assert_true(tabi_builder_add_joint(r->builder, &joint) >= 0);
  return joint.child;
}

static tabi_joint_def joint_of(tabi_joint_type type, int32_t parent, const double axis[3]) {
  tabi_joint_def def = tabi_joint_def_default();
  def.type = type;
  def.parent = parent;
  if (axis) memcpy(def.axis, axis, sizeof def.axis);
  return def;
}

static rig begin(void) { return (rig){.builder = tabi_builder_create()}; }

static void ready(rig *r, const double *q, const double *v) {
  r->model = tabi_builder_build(r->builder, NULL);
  assert_non_null(r->model);
  r->dynamics = tabi_dynamics_create(r->model, NULL);
  assert_non_null(r->dynamics);
  tabi_dynamics_set_state(r->dynamics, q, v);
}

static void finish(rig *r) {
  tabi_dynamics_destroy(r->dynamics);
  tabi_model_destroy(r->model);
  tabi_builder_destroy(r->builder);
}

static void cross(const double a[3], const double b[3], double to[3]) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

/* (I + m l^2 + gear^2 rotor) q'' = tau - m g l sin q */
static void test_pendulum(void **state) {
  (void)state;
  const double m = 2, l = 0.7, inertia = 0.05, q = 0.6, v = 1.3, tau = 0.4;
  rig r = begin();
  tabi_link_def link = body(m, (double[3]){0, 0, -l}, (double[3]){inertia, inertia, 0.02});
  tabi_joint_def joint = joint_of(TABI_JOINT_REVOLUTE, TABI_WORLD, (double[3]){0, 3, 0});
  joint.rotor_inertia = 1e-4;
  joint.gear = 50;
  /* none of these belongs to rigid-body dynamics */
  joint.stiffness = 10;
  joint.damping = 1;
  joint.friction = 1;
  hang(&r, &link, joint);
  ready(&r, &q, &v);
  double qdd, mass, bias;
  double expected = inertia + m * l * l + 0.25;
  tabi_dynamics_forward(r.dynamics, &tau, &qdd);
  assert_near_rel(qdd, (tau - m * G * l * sin(q)) / expected, 1e-14);
  tabi_dynamics_mass_matrix(r.dynamics, &mass);
  assert_near_rel(mass, expected, 1e-14);
  tabi_dynamics_inverse(r.dynamics, NULL, &bias);
  assert_near_rel(bias, m * G * l * sin(q), 1e-14);
  assert_near_rel(tabi_dynamics_kinetic(r.dynamics), 0.5 * expected * v * v, 1e-14);
  assert_near_rel(tabi_dynamics_potential(r.dynamics), -m * G * l * cos(q), 1e-14);
  finish(&r);
}

/* point masses at the ends of two rods, q2 relative to the first rod */
static void test_double_pendulum(void **state) {
  (void)state;
  const double m1 = 1.5, m2 = 0.8, l1 = 0.9, l2 = 0.6;
  const double q[2] = {0.5, -1.1}, v[2] = {1.2, 2.3}, none[3] = {0, 0, 0}, y[3] = {0, 1, 0};
  rig r = begin();
  tabi_link_def first = body(m1, (double[3]){0, 0, -l1}, none);
  tabi_link_def second = body(m2, (double[3]){0, 0, -l2}, none);
  int32_t upper = hang(&r, &first, joint_of(TABI_JOINT_CONTINUOUS, TABI_WORLD, y));
  tabi_joint_def elbow = joint_of(TABI_JOINT_CONTINUOUS, upper, y);
  elbow.pos[2] = -l1;
  hang(&r, &second, elbow);
  ready(&r, q, v);
  double c = m2 * l1 * l2 * cos(q[1]), h = m2 * l1 * l2 * sin(q[1]);
  double M[4], bias[2], m22 = m2 * l2 * l2;
  double expected_M[4] = {(m1 + m2) * l1 * l1 + m22 + 2 * c, m22 + c, m22 + c, m22};
  double g2 = m2 * G * l2 * sin(q[0] + q[1]);
  double expected_bias[2] = {(m1 + m2) * G * l1 * sin(q[0]) + g2 -
                                 h * (2 * v[0] * v[1] + v[1] * v[1]),
                             g2 + h * v[0] * v[0]};
  tabi_dynamics_mass_matrix(r.dynamics, M);
  assert_near_n(M, expected_M, 4, 1e-14);
  tabi_dynamics_inverse(r.dynamics, NULL, bias);
  assert_near_n(bias, expected_bias, 2, 1e-14);
  double qdd[2], det = M[0] * M[3] - M[1] * M[2];
  double expected[2] = {(-expected_bias[0] * M[3] + expected_bias[1] * M[1]) / det,
                        (expected_bias[0] * M[2] - expected_bias[1] * M[0]) / det};
  tabi_dynamics_forward(r.dynamics, NULL, qdd);
  assert_near_n(qdd, expected, 2, 1e-13);
  finish(&r);
}

/* mass on a slope, with a rotor */
static void test_slider(void **state) {
  (void)state;
  const double slope = 0.4, tau = 3, q = 2, v = -1;
  rig r = begin();
  tabi_link_def link = body(5, (double[3]){0.1, 0.2, 0.3}, (double[3]){1, 1, 1});
  tabi_joint_def joint =
      joint_of(TABI_JOINT_PRISMATIC, TABI_WORLD, (double[3]){cos(slope), 0, -sin(slope)});
  joint.rotor_inertia = 0.02;
  joint.gear = 10;
  int32_t slider = hang(&r, &link, joint);
  ready(&r, &q, &v);
  double qdd, pos[3], quat[4];
  tabi_dynamics_forward(r.dynamics, &tau, &qdd);
  assert_near_rel(qdd, (tau + 5 * G * sin(slope)) / 7, 1e-14);
  tabi_dynamics_link_pose(r.dynamics, slider, pos, quat);
  assert_near_n(pos, ((double[3]){q * cos(slope), 0, -q * sin(slope)}), 3, 1e-15);
  assert_near_n(quat, ((double[4]){1, 0, 0, 0}), 4, 1e-15);
  finish(&r);
}

/* centre of mass at distance c along the child's x */
static void test_planar(void **state) {
  (void)state;
  const double m = 3, c = 0.4, inertia = 0.2;
  const double q[3] = {1, 2, 0.7}, v[3] = {0.3, -0.5, 2.5};
  rig r = begin();
  tabi_builder_set_gravity(r.builder, (double[3]){0, -G, 0});
  tabi_link_def link = body(m, (double[3]){c, 0, 0}, (double[3]){inertia, inertia, inertia});
  int32_t disc = hang(&r, &link, joint_of(TABI_JOINT_PLANAR, TABI_WORLD, NULL));
  ready(&r, q, v);
  double s = m * c * sin(q[2]), k = m * c * cos(q[2]), w2 = v[2] * v[2];
  double expected_M[9] = {m, 0, -s, 0, m, k, -s, k, inertia + m * c * c}, M[9];
  double expected_bias[3] = {-k * w2, m * G - s * w2, k * G}, bias[3];
  tabi_dynamics_mass_matrix(r.dynamics, M);
  assert_near_n(M, expected_M, 9, 1e-14);
  tabi_dynamics_inverse(r.dynamics, NULL, bias);
  assert_near_n(bias, expected_bias, 3, 1e-14);
  double lin[3], ang[3], pos[3], quat[4];
  tabi_dynamics_link_velocity(r.dynamics, disc, lin, ang);
  assert_near_n(lin, ((double[3]){v[0], v[1], 0}), 3, 1e-15);
  assert_near_n(ang, ((double[3]){0, 0, v[2]}), 3, 1e-15);
  tabi_dynamics_link_pose(r.dynamics, disc, pos, quat);
  assert_near_n(pos, ((double[3]){q[0], q[1], 0}), 3, 1e-15);
  assert_near_n(quat, ((double[4]){cos(q[2] / 2), 0, 0, sin(q[2] / 2)}), 4, 1e-15);
  finish(&r);
}

/* Euler's equations in child axes: I w' = tau - w x I w */
static void test_ball_joint(void **state) {
  (void)state;
  const double I[3] = {1, 2, 2.5}, q[4] = {0.5, 0.5, -0.5, 0.5};
  const double w[3] = {0.3, -1.2, 2.0}, tau[3] = {0.1, 0.2, -0.4};
  rig r = begin();
  tabi_link_def link = body(4, (double[3]){0, 0, 0}, I);
  hang(&r, &link, joint_of(TABI_JOINT_BALL, TABI_WORLD, NULL));
  ready(&r, q, w);
  double qdd[3], expected[3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    expected[i] = (tau[i] - (I[k] - I[j]) * w[j] * w[k]) / I[i];
  }
  tabi_dynamics_forward(r.dynamics, tau, qdd);
  assert_near_n(qdd, expected, 3, 1e-14);
  finish(&r);
}

/* a body thrown with spin: its centre falls, Euler's equations hold in world axes, and the
 * origin, off the centre by c, follows: a = g - w' x c - w x (w x c) */
static void test_free_body(void **state) {
  (void)state;
  const double I[3] = {0.5, 0.6, 0.9}, c[3] = {0.1, -0.2, 0.3};
  const double q[7] = {1, 2, 3, 1, 0, 0, 0}, v[6] = {0.5, 0.2, -0.7, 1.5, -2.0, 0.8};
  rig r = begin();
  tabi_link_def link = body(2, c, I);
  int32_t thrown = hang(&r, &link, joint_of(TABI_JOINT_FREE, TABI_WORLD, NULL));
  ready(&r, q, v);
  const double *w = v + 3;
  double qdd[6], rate[3], arm[3], inward[3], inner[3], lin[3], ang[3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    rate[i] = -(I[k] - I[j]) * w[j] * w[k] / I[i];
  }
  cross(rate, c, arm);
  cross(w, c, inner);
  cross(w, inner, inward);
  double expected[6] = {
      -arm[0] - inward[0], -arm[1] - inward[1], -G - arm[2] - inward[2], rate[0], rate[1], rate[2]};
  tabi_dynamics_forward(r.dynamics, NULL, qdd);
  assert_near_n(qdd, expected, 6, 1e-14);
  tabi_dynamics_link_velocity(r.dynamics, thrown, lin, ang);
  assert_near_n(lin, v, 3, 1e-15);
  assert_near_n(ang, w, 3, 1e-15);
  finish(&r);
}

/* A heavy top in steady precession: spin s about its axis n, tilted by t, and precession p about
 * the vertical satisfy C w3 p - A p^2 cos t = m g l, and then w' = p z x w. */
static void test_heavy_top(void **state) {
  (void)state;
  const double m = 1.2, l = 0.3, A0 = 0.02, C = 0.03, t = 0.5, p = 2.0;
  const double A = A0 + m * l * l;
  const double w3 = (m * G * l + A * p * p * cos(t)) / (C * p), s = w3 - p * cos(t);
  const double q[4] = {cos(t / 2), sin(t / 2), 0, 0}; /* tilted about x */
  /* in child axes: the vertical is (0, sin t, cos t), the axis is z */
  const double w[3] = {0, p * sin(t), s + p * cos(t)};
  rig r = begin();
  tabi_link_def link = body(m, (double[3]){0, 0, l}, (double[3]){A0, A0, C});
  hang(&r, &link, joint_of(TABI_JOINT_BALL, TABI_WORLD, NULL));
  ready(&r, q, w);
  double vertical[3] = {0, p * sin(t), p * cos(t)}, expected[3], qdd[3];
  cross(vertical, w, expected);
  tabi_dynamics_forward(r.dynamics, NULL, qdd);
  assert_near_n(qdd, expected, 3, 1e-13);
  finish(&r);
}

/* links that stand in the world have mass and weight, but no coordinates */
static void test_nothing_moves(void **state) {
  (void)state;
  rig r = begin();
  tabi_link_def link = body(2, (double[3]){0, 0, 0.5}, (double[3]){1, 1, 1});
  tabi_joint_def joint = joint_of(TABI_JOINT_FIXED, TABI_WORLD, NULL);
  joint.pos[0] = 3;
  int32_t post = hang(&r, &link, joint);
  double none[1] = {0};
  ready(&r, none, none);
  assert_int_equal(tabi_model_nv(r.model), 0);
  assert_int_equal(tabi_model_nbody(r.model), 0);
  double com[3], pos[3], quat[4], lin[3], ang[3];
  tabi_dynamics_com(r.dynamics, com);
  assert_near_n(com, ((double[3]){3, 0, 0.5}), 3, 1e-15);
  tabi_dynamics_link_pose(r.dynamics, post, pos, quat);
  assert_near_n(pos, ((double[3]){3, 0, 0}), 3, 0);
  tabi_dynamics_link_velocity(r.dynamics, post, lin, ang);
  assert_near_n(lin, ((double[3]){0, 0, 0}), 3, 0);
  assert_near_rel(tabi_dynamics_potential(r.dynamics), 2 * G * 0.5, 1e-15);
  assert_near(tabi_dynamics_kinetic(r.dynamics), 0, 0);
  tabi_dynamics_forward(r.dynamics, NULL, none);
  tabi_dynamics_inverse(r.dynamics, NULL, none);
  tabi_dynamics_mass_matrix(r.dynamics, none);
  finish(&r);
}

/* an empty model is a model */
static void test_empty(void **state) {
  (void)state;
  rig r = begin();
  double none[1] = {0};
  ready(&r, none, none);
  assert_int_equal(tabi_model_nlink(r.model), 0);
  assert_near(tabi_model_mass(r.model), 0, 0);
  double com[3], lin[3], ang[3];
  tabi_dynamics_com(r.dynamics, com);
  assert_near_n(com, ((double[3]){0, 0, 0}), 3, 0);
  tabi_dynamics_momentum(r.dynamics, lin, ang);
  assert_near_n(ang, ((double[3]){0, 0, 0}), 3, 0);
  finish(&r);
}

/* boxes around shapes of a body that hangs at (1, 2, 3), turned by 45 degrees about x */
static void test_shape_bounds(void **state) {
  (void)state;
  const double com[3] = {0, 0, 0};
  const double moments[3] = {1, 1, 1};
  const double half = sqrt(0.5);
  static const double corners[4][3] = {
      {0, 0, 0},
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.vertices = corners[0];
  mesh.nvertex = 4;
  rig r = begin();
  tabi_link_def link = body(1, com, moments);
  (void)hang(&r, &link, joint_of(TABI_JOINT_FREE, TABI_WORLD, NULL));
  int32_t hull = tabi_builder_add_mesh(r.builder, &mesh);
  const struct {
    tabi_shape_type type;
    double size[3], lower[3], upper[3];
  } cases[] = {
      {TABI_SHAPE_SPHERE,   {0.5},     {0.5, 1.5, 2.5},                 {1.5, 2.5, 3.5}                },
      {TABI_SHAPE_BOX,      {2, 2, 2}, {0, 2 - 2 * half, 3 - 2 * half}, {2, 2 + 2 * half, 3 + 2 * half}},
      {TABI_SHAPE_CAPSULE,  {0.1, 2},  {0.9, 1.9 - half, 2.9 - half},   {1.1, 2.1 + half, 3.1 + half}  },
      {TABI_SHAPE_CYLINDER,
       {1, 2},
       {0, 2 - 2 * half, 3 - 2 * half},
       {2, 2 + 2 * half, 3 + 2 * half}                                                                 },
      {TABI_SHAPE_MESH,     {0},       {1, 2 - half, 3},                {2, 2 + half, 3 + half}        },
  };
  const int32_t count = (int32_t)(sizeof cases / sizeof *cases);
  for (int32_t i = 0; i < count; ++i) {
    tabi_shape_def shape = tabi_shape_def_default();
    shape.type = cases[i].type;
    shape.link = 0;
    if (shape.type == TABI_SHAPE_MESH) shape.mesh = hull;
    memcpy(shape.size, cases[i].size, sizeof shape.size);
    assert_true(tabi_builder_add_shape(r.builder, &shape) >= 0);
  }
  tabi_shape_def plane = tabi_shape_def_default();
  plane.type = TABI_SHAPE_PLANE;
  plane.link = TABI_WORLD;
  (void)tabi_builder_add_shape(r.builder, &plane);
  const double angle = atan(1) / 2;
  const double q[7] = {1, 2, 3, cos(angle), sin(angle), 0, 0};
  const double v[6] = {0};
  ready(&r, q, v);
  for (int32_t i = 0; i < count; ++i) {
    double lower[3];
    double upper[3];
    assert_true(tabi_dynamics_shape_bounds(r.dynamics, i, lower, upper));
    for (int k = 0; k < 3; ++k) {
      assert_near(lower[k], cases[i].lower[k], 1e-14);
      assert_near(upper[k], cases[i].upper[k], 1e-14);
    }
  }
  double box[3];
  assert_false(tabi_dynamics_shape_bounds(r.dynamics, count, box, box));
  finish(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),   cmocka_unit_test(test_double_pendulum),
      cmocka_unit_test(test_slider),     cmocka_unit_test(test_planar),
      cmocka_unit_test(test_ball_joint), cmocka_unit_test(test_free_body),
      cmocka_unit_test(test_heavy_top),  cmocka_unit_test(test_nothing_moves),
      cmocka_unit_test(test_empty),      cmocka_unit_test(test_shape_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
