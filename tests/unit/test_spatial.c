/* test_spatial.c - spatial vectors and inertias against explicit 6x6 matrices.
 *
 *   crm(v) = | [w]  [v] |     crf(v) = | [w]   0  |     I = | m 1   -[h] |
 *            |  0   [w] |              | [v]  [w] |         | [h]    J   |
 */
#include "math/spatial.h"

#include "math/quat.h"
#include "support/near.h"
#include "support/rng.h"

static m4 m4_from(const m3 *a) {
  return (m4){v4_from(m3_column(a, 0)), v4_from(m3_column(a, 1)), v4_from(m3_column(a, 2))};
}

typedef double matrix[6][6];

static sv motion(double x, double y, double z, double rx, double ry, double rz) {
  return (sv){v4_from(v3_make(x, y, z)), v4_from(v3_make(rx, ry, rz))};
}

static sv random_sv(rng *r) {
  double x[6];
  rng_fill(r, 2.0, x, 6);
  return (sv){v4_from(v3_load(x)), v4_from(v3_load(x + 3))};
}

static void near_sv(sv a, const double b[6], double tolerance) {
  double x[6];
  v3_store(v4_to(a.lin), x);
  v3_store(v4_to(a.ang), x + 3);
  assert_near_n(x, b, 6, tolerance);
}

/* sets the 3x3 block at (row, column) to s [a], the matrix of a cross product */
static void set_cross(matrix m, int row, int column, double s, v4 a4) {
  v3 a = v4_to(a4);
  m[row][column + 1] = -s * a.z;
  m[row][column + 2] = s * a.y;
  m[row + 1][column] = s * a.z;
  m[row + 1][column + 2] = -s * a.x;
  m[row + 2][column] = -s * a.y;
  m[row + 2][column + 1] = s * a.x;
}

static void apply(matrix m, sv a, double to[6]) {
  double x[6];
  v3_store(v4_to(a.lin), x);
  v3_store(v4_to(a.ang), x + 3);
  for (int i = 0; i < 6; ++i) {
    to[i] = 0;
    for (int j = 0; j < 6; ++j)
      to[i] += m[i][j] * x[j];
  }
}

static void test_cross_products(void **state) {
  (void)state;
  rng r = rng_make(1);
  for (int k = 0; k < 200; ++k) {
    sv v = random_sv(&r), m = random_sv(&r), f = random_sv(&r);
    matrix crm = {{0}}, crf = {{0}};
    double expected[6];
    set_cross(crm, 0, 0, 1, v.ang);
    set_cross(crm, 0, 3, 1, v.lin);
    set_cross(crm, 3, 3, 1, v.ang);
    apply(crm, m, expected);
    near_sv(sv_cross(v, m), expected, 1e-15);
    set_cross(crf, 0, 0, 1, v.ang);
    set_cross(crf, 3, 0, 1, v.lin);
    set_cross(crf, 3, 3, 1, v.ang);
    apply(crf, f, expected);
    near_sv(sv_cross_force(v, f), expected, 1e-15);
    /* the power f.m of what is carried along together stays */
    assert_near(sv_dot(f, sv_cross(v, m)) + sv_dot(sv_cross_force(v, f), m), 0, 1e-13);
  }
}

static void test_point_velocity(void **state) {
  (void)state;
  v4 at = sv_at(motion(1, 2, 3, 0, 0, 2), v4_make(1, 0, 5));
  assert_near(v4_x(at), 1, 0);
  assert_near(v4_y(at), 4, 0);
  assert_near(v4_z(at), 3, 0);
}

static v4 random_point(rng *r) {
  double x[3];
  rng_fill(r, 1.0, x, 3);
  return v4_from(v3_load(x));
}

static void test_inertia_times_motion(void **state) {
  (void)state;
  rng r = rng_make(2);
  for (int k = 0; k < 200; ++k) {
    double mass = rng_between(&r, 0.1, 10), expected[6], c[3];
    v4 com = random_point(&r);
    v3_store(v4_to(com), c);
    m3 about_com = {
        {{1.1, 0.1, -0.2}, {0.1, 1.3, 0.3}, {-0.2, 0.3, 1.7}}
    };
    m4 moment = m4_from(&about_com);
    body_inertia body = inertia_make(mass, com, &moment);
    matrix I = {{0}};
    set_cross(I, 0, 3, -mass, com);
    set_cross(I, 3, 0, mass, com);
    for (int i = 0; i < 3; ++i) {
      I[i][i] = mass;
      for (int j = 0; j < 3; ++j)
        I[3 + i][3 + j] =
            about_com.m[i][j] + mass * ((i == j ? v4_dot(com, com) : 0) - c[i] * c[j]);
    }
    sv v = random_sv(&r);
    apply(I, v, expected);
    near_sv(inertia_mulv(&body, v), expected, 1e-14);
  }
}

/* kinetic energy does not depend on the point of reference: m |v_c|^2 + w.(I_c w) */
static void test_inertia_about_another_point(void **state) {
  (void)state;
  rng r = rng_make(3);
  m3 about_com = {
      {{1.1, 0.1, 0.2}, {0.1, 1.3, -0.1}, {0.2, -0.1, 1.7}}
  };
  m4 moment = m4_from(&about_com);
  for (int k = 0; k < 200; ++k) {
    v4 c = random_point(&r);
    body_inertia body = inertia_make(2.5, c, &moment);
    sv v = random_sv(&r);
    v4 vc = sv_at(v, c);
    double energy = 2.5 * v4_dot(vc, vc) + v4_dot(v.ang, m4_mulv(&moment, v.ang));
    assert_near_rel(sv_dot(v, inertia_mulv(&body, v)), energy, 1e-14);
  }
}

static void test_inertias_add(void **state) {
  (void)state;
  m3 zero = {{{0}}};
  m4 none = m4_from(&zero);
  body_inertia a = inertia_make(1, v4_make(1, 0, 0), &none);
  body_inertia b = inertia_make(1, v4_make(-1, 0, 0), &none);
  body_inertia both = inertia_add(&a, &b);
  sv momentum = inertia_mulv(&both, motion(1, 2, 3, 4, 5, 6));
  near_sv(momentum, (double[6]){2, 4, 6, 0, 10, 12}, 0);
}

static void test_linear_operations(void **state) {
  (void)state;
  sv a = motion(1, 2, 3, 4, 5, 6), b = motion(-1, 0, 2, 1, 1, 0);
  near_sv(sv_add(a, b), (double[6]){0, 2, 5, 5, 6, 6}, 0);
  near_sv(sv_sub(a, b), (double[6]){2, 2, 1, 3, 4, 6}, 0);
  near_sv(sv_axpy(a, 2, b), (double[6]){-1, 2, 7, 6, 7, 6}, 0);
  near_sv(sv_scale(2, b), (double[6]){-2, 0, 4, 2, 2, 0}, 0);
  near_sv(sv_zero(), (double[6]){0}, 0);
  assert_near(sv_dot(a, b), 14, 0);
}

static void near_columns(const m4 *a, const m3 *b) {
  m3 plain = m4_to(a);
  assert_near_n(&plain.m[0][0], &b->m[0][0], 9, 1e-14);
}

static void near_plain(v4 a, v3 b) {
  double got[3], expected[3];
  v3_store(v4_to(a), got);
  v3_store(b, expected);
  assert_near_n(got, expected, 3, 1e-15);
  /* the lane that pads it stays zero: the sum of all lanes is that of three */
  assert_near(v4_sum(a), b.x + b.y + b.z, 4e-15);
}

/* padded vectors and matrices do what the plain ones do */
static void test_padded_vectors(void **state) {
  (void)state;
  rng r = rng_make(4);
  for (int k = 0; k < 200; ++k) {
    double q[4], x[6], s[6];
    rng_direction(&r, q, 4);
    rng_fill(&r, 2.0, x, 6);
    rng_fill(&r, 1.0, s, 6);
    v3 a = v3_load(x), b = v3_load(x + 3);
    m3 R = q_matrix(q_load(q)), S = q_matrix(q_load(s)), RS = m3_mul(&R, &S);
    m4 R4 = m4_from(&R), RS4 = m4_mul3(&R4, &S);
    near_plain(v4_cross(v4_from(a), v4_from(b)), v3_cross(a, b));
    near_plain(m4_mulv(&R4, v4_from(a)), m3_mulv(&R, a));
    assert_near(v4_dot(v4_from(a), v4_from(b)), v3_dot(a, b), 1e-14);
    near_columns(&RS4, &RS);
    s3 full = s3_rotate(&R, s3_load(s));
    m3 expected = {
        {{full.xx, full.xy, full.xz}, {full.xy, full.yy, full.yz}, {full.xz, full.yz, full.zz}}
    };
    m4 turned = m4_rotate_sym(&R4, s3_load(s));
    near_columns(&turned, &expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cross_products),
      cmocka_unit_test(test_point_velocity),
      cmocka_unit_test(test_inertia_times_motion),
      cmocka_unit_test(test_inertia_about_another_point),
      cmocka_unit_test(test_inertias_add),
      cmocka_unit_test(test_linear_operations),
      cmocka_unit_test(test_padded_vectors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
