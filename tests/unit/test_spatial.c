/* test_spatial.c - spatial vectors and inertias against explicit 6x6 matrices.
 *
 *   crm(v) = | [w]  [v] |     crf(v) = | [w]   0  |     I = | m 1   -[h] |
 *            |  0   [w] |              | [v]  [w] |         | [h]    J   |
 */
#include "math/spatial.h"

#include "support/near.h"
#include "support/rng.h"

typedef double matrix[6][6];

static sv random_sv(rng *r) {
  double x[6];
  rng_fill(r, 2.0, x, 6);
  return (sv){v3_load(x), v3_load(x + 3)};
}

static void near_sv(sv a, const double b[6], double tolerance) {
  double x[6];
  v3_store(a.lin, x);
  v3_store(a.ang, x + 3);
  assert_near_n(x, b, 6, tolerance);
}

/* sets the 3x3 block at (row, column) to s [a], the matrix of a cross product */
static void set_cross(matrix m, int row, int column, double s, v3 a) {
  m[row][column + 1] = -s * a.z;
  m[row][column + 2] = s * a.y;
  m[row + 1][column] = s * a.z;
  m[row + 1][column + 2] = -s * a.x;
  m[row + 2][column] = -s * a.y;
  m[row + 2][column + 1] = s * a.x;
}

static void apply(matrix m, sv a, double to[6]) {
  double x[6];
  v3_store(a.lin, x);
  v3_store(a.ang, x + 3);
  for (int i = 0; i < 6; i++) {
    to[i] = 0;
    for (int j = 0; j < 6; j++)
      to[i] += m[i][j] * x[j];
  }
}

static void test_cross_products(void **state) {
  (void)state;
  rng r = rng_make(1);
  for (int k = 0; k < 200; k++) {
    sv v = random_sv(&r), m = random_sv(&r), f = random_sv(&r);
    matrix motion = {{0}}, force = {{0}};
    double expected[6];
    set_cross(motion, 0, 0, 1, v.ang);
    set_cross(motion, 0, 3, 1, v.lin);
    set_cross(motion, 3, 3, 1, v.ang);
    apply(motion, m, expected);
    near_sv(sv_cross(v, m), expected, 1e-15);
    set_cross(force, 0, 0, 1, v.ang);
    set_cross(force, 3, 0, 1, v.lin);
    set_cross(force, 3, 3, 1, v.ang);
    apply(force, f, expected);
    near_sv(sv_cross_force(v, f), expected, 1e-15);
    /* the power f.m of what is carried along together stays */
    assert_near(sv_dot(f, sv_cross(v, m)) + sv_dot(sv_cross_force(v, f), m), 0, 1e-13);
  }
}

static void test_point_velocity(void **state) {
  (void)state;
  sv v = {
      {1, 2, 3},
      {0, 0, 2}
  };
  v3 at = sv_at(v, v3_make(1, 0, 5));
  assert_near(at.x, 1, 0);
  assert_near(at.y, 4, 0);
  assert_near(at.z, 3, 0);
}

static void test_inertia_times_motion(void **state) {
  (void)state;
  rng r = rng_make(2);
  for (int k = 0; k < 200; k++) {
    double x[3], moments[3], expected[6];
    rng_fill(&r, 1.0, x, 3);
    for (int i = 0; i < 3; i++)
      moments[i] = rng_between(&r, 1, 2);
    double m = rng_between(&r, 0.1, 10);
    v3 c = v3_load(x), h = v3_scale(m, c);
    body_inertia body =
        inertia_make(m, c, (s3){moments[0], moments[1], moments[2], 0.1, -0.2, 0.3});
    s3 about_o = body.moment;
    matrix I = {{0}};
    for (int i = 0; i < 3; i++)
      I[i][i] = m;
    set_cross(I, 0, 3, -1, h);
    set_cross(I, 3, 0, 1, h);
    double J[3][3] = {
        {about_o.xx, about_o.xy, about_o.xz},
        {about_o.xy, about_o.yy, about_o.yz},
        {about_o.xz, about_o.yz, about_o.zz}
    };
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        I[3 + i][3 + j] = J[i][j];
    sv v = random_sv(&r);
    apply(I, v, expected);
    near_sv(inertia_mulv(&body, v), expected, 1e-14);
  }
}

/* kinetic energy does not depend on the point of reference: m |v_c|^2 + w.(I_c w) */
static void test_inertia_about_another_point(void **state) {
  (void)state;
  rng r = rng_make(3);
  for (int k = 0; k < 200; k++) {
    double x[3];
    rng_fill(&r, 1.0, x, 3);
    v3 c = v3_load(x);
    s3 about_com = {1.1, 1.3, 1.7, 0.1, 0.2, -0.1};
    body_inertia body = inertia_make(2.5, c, about_com);
    sv v = random_sv(&r);
    v3 vc = sv_at(v, c);
    double energy = 2.5 * v3_dot(vc, vc) + v3_dot(v.ang, s3_mulv(about_com, v.ang));
    assert_near_rel(sv_dot(v, inertia_mulv(&body, v)), energy, 1e-14);
  }
}

static void test_inertias_add(void **state) {
  (void)state;
  body_inertia a = inertia_make(1, v3_make(1, 0, 0), s3_zero());
  body_inertia b = inertia_make(1, v3_make(-1, 0, 0), s3_zero());
  body_inertia both = inertia_add(a, b), none = inertia_add(inertia_zero(), a);
  assert_near(both.mass, 2, 0);
  assert_near(v3_norm(both.h), 0, 0);
  assert_near(both.moment.xx, 0, 0);
  assert_near(both.moment.yy, 2, 0);
  assert_near(both.moment.zz, 2, 0);
  assert_near(none.h.x, 1, 0);
}

static void test_linear_operations(void **state) {
  (void)state;
  sv a =
         {
             {1, 2, 3},
             {4, 5, 6}
  },
     b = {{-1, 0, 2}, {1, 1, 0}};
  near_sv(sv_add(a, b), (double[6]){0, 2, 5, 5, 6, 6}, 0);
  near_sv(sv_sub(a, b), (double[6]){2, 2, 1, 3, 4, 6}, 0);
  near_sv(sv_axpy(a, 2, b), (double[6]){-1, 2, 7, 6, 7, 6}, 0);
  near_sv(sv_scale(2, b), (double[6]){-2, 0, 4, 2, 2, 0}, 0);
  near_sv(sv_zero(), (double[6]){0}, 0);
  assert_near(sv_dot(a, b), 14, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cross_products),
      cmocka_unit_test(test_point_velocity),
      cmocka_unit_test(test_inertia_times_motion),
      cmocka_unit_test(test_inertia_about_another_point),
      cmocka_unit_test(test_inertias_add),
      cmocka_unit_test(test_linear_operations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
