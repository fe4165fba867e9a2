/* test_quat.c - quaternions, rotation matrices and symmetric 3x3 matrices. */
#include "math/quat.h"

#include "support/near.h"
#include "support/rng.h"

static const double PI = 3.14159265358979323846;

static q4 random_quat(rng *r) {
  double q[4];
  rng_direction(r, q, 4);
  return q_load(q);
}

static v3 random_v3(rng *r) {
  double x[3];
  rng_fill(r, 2.0, x, 3);
  return v3_load(x);
}

static void near_v3(v3 a, v3 b, double tolerance) {
  assert_near(a.x, b.x, tolerance);
  assert_near(a.y, b.y, tolerance);
  assert_near(a.z, b.z, tolerance);
}

static void near_m3(const m3 *a, const m3 *b, double tolerance) {
  for (int i = 0; i < 3; ++i)
    near_v3(m3_row(a, i), m3_row(b, i), tolerance);
}

static void test_vectors(void **state) {
  (void)state;
  v3 a = v3_make(1, 2, 3), b = v3_make(-2, 0.5, 4);
  near_v3(v3_cross(a, b), v3_make(6.5, -10, 4.5), 0);
  assert_near(v3_dot(a, b), 11, 0);
  near_v3(v3_axpy(a, 2, b), v3_add(a, v3_scale(2, b)), 0);
  near_v3(v3_neg(a), v3_sub(v3_zero(), a), 0);
  assert_near(v3_norm(v3_make(3, 4, 12)), 13, 0);
}

static void test_quarter_turns(void **state) {
  (void)state;
  double h = sqrt(0.5);
  m3 x = q_matrix((q4){h, h, 0, 0}), y = q_matrix((q4){h, 0, h, 0});
  m3 z = q_matrix((q4){h, 0, 0, h});
  near_v3(m3_mulv(&x, v3_make(0, 1, 0)), v3_make(0, 0, 1), 1e-15);
  near_v3(m3_mulv(&y, v3_make(0, 0, 1)), v3_make(1, 0, 0), 1e-15);
  near_v3(m3_mulv(&z, v3_make(1, 0, 0)), v3_make(0, 1, 0), 1e-15);
}

static void test_matrix_is_a_rotation(void **state) {
  (void)state;
  rng r = rng_make(1);
  m3 one = m3_identity();
  for (int k = 0; k < 1000; ++k) {
    m3 R = q_matrix(random_quat(&r)), T = m3_transpose(&R), P = m3_mul(&R, &T);
    near_m3(&P, &one, 4e-15);
    near_v3(v3_cross(m3_row(&R, 0), m3_row(&R, 1)), m3_row(&R, 2), 4e-15);
    v3 u = random_v3(&r);
    near_v3(m3_tmulv(&R, m3_mulv(&R, u)), u, 4e-15);
  }
}

/* any length gives the same rotation, and products of quaternions are products of rotations */
static void test_products_and_length(void **state) {
  (void)state;
  rng r = rng_make(2);
  for (int k = 0; k < 1000; ++k) {
    q4 a = random_quat(&r), b = random_quat(&r);
    m3 A = q_matrix(a), B = q_matrix(b), AB = m3_mul(&A, &B);
    m3 product = q_matrix(q_mul(a, b)), longer = q_matrix(q_scale(3.7, a));
    near_m3(&product, &AB, 4e-15);
    near_m3(&longer, &A, 4e-15);
    assert_near(q_norm(q_normalize(q_scale(1e-6, b))), 1, 4e-16);
  }
}

static void test_matrix_back_to_quaternion(void **state) {
  (void)state;
  rng r = rng_make(3);
  for (int k = 0; k < 4000; ++k) {
    q4 a = random_quat(&r);
    /* near and exactly at half turns too, where each branch is needed in turn */
    if (k % 4 == 1) a.w *= 1e-9;
    if (k % 4 == 2) a.w = 0;
    if (k % 4 == 3) a = (q4){0, k % 3 == 0, k % 3 == 1, k % 3 == 2};
    a = q_normalize(a);
    m3 R = q_matrix(a);
    q4 b = q_from_matrix(&R);
    m3 back = q_matrix(b);
    assert_true(b.w >= 0);
    assert_near(q_norm(b), 1, 4e-16);
    near_m3(&back, &R, 4e-15);
  }
}

static void test_exp(void **state) {
  (void)state;
  rng r = rng_make(4);
  for (int k = 0; k < 1000; ++k) {
    double axis[3], angle = rng_between(&r, -PI, PI) * pow(10.0, -rng_below(&r, 12));
    rng_direction(&r, axis, 3);
    v3 n = v3_load(axis), u = random_v3(&r);
    m3 R = q_matrix(q_exp(v3_scale(angle, n)));
    /* Rodrigues */
    v3 turned = v3_add(v3_scale(cos(angle), u), v3_scale(sin(angle), v3_cross(n, u)));
    turned = v3_axpy(turned, (1 - cos(angle)) * v3_dot(n, u), n);
    near_v3(m3_mulv(&R, u), turned, 4e-15);
    assert_near(q_norm(q_exp(v3_scale(angle, n))), 1, 4e-16);
  }
  q4 none = q_exp(v3_zero());
  assert_true(none.w == 1 && none.x == 0 && none.y == 0 && none.z == 0);
}

static m3 full(s3 a) {
  return (m3){
      {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}
  };
}

static void test_symmetric_matrices(void **state) {
  (void)state;
  rng r = rng_make(5);
  for (int k = 0; k < 200; ++k) {
    double x[6];
    rng_fill(&r, 1.0, x, 6);
    s3 a = s3_load(x);
    double stored[6];
    s3_store(a, stored);
    assert_memory_equal(stored, x, sizeof x);
    m3 A = full(a), R = q_matrix(random_quat(&r)), T = m3_transpose(&R);
    v3 u = random_v3(&r);
    near_v3(s3_mulv(a, u), m3_mulv(&A, u), 1e-15);
    m3 RA = m3_mul(&R, &A), expected = m3_mul(&RA, &T), turned = full(s3_rotate(&R, a));
    near_m3(&turned, &expected, 4e-15);
    /* w.(I w) of a point mass is m |w x c|^2 */
    v3 c = random_v3(&r), wc = v3_cross(u, c);
    assert_near(v3_dot(u, s3_mulv(s3_point_mass(1.7, c), u)), 1.7 * v3_dot(wc, wc), 1e-13);
  }
}

static void test_eigenvalues(void **state) {
  (void)state;
  rng r = rng_make(6);
  for (int k = 0; k < 500; ++k) {
    double e[3], found[3];
    for (int i = 0; i < 3; ++i)
      e[i] = pow(10.0, rng_between(&r, -6, 0));
    m3 R = q_matrix(random_quat(&r));
    tbi_s3_eigenvalues(s3_rotate(&R, (s3){e[0], e[1], e[2], 0, 0, 0}), found);
    assert_true(found[0] <= found[1] && found[1] <= found[2]);
    assert_near(found[0], fmin(e[0], fmin(e[1], e[2])), 1e-15);
    assert_near(found[2], fmax(e[0], fmax(e[1], e[2])), 1e-15);
    assert_near(found[0] + found[1] + found[2], e[0] + e[1] + e[2], 1e-15);
  }
  double equal[3];
  tbi_s3_eigenvalues((s3){2, 2, 2, 0, 0, 0}, equal);
  assert_true(equal[0] == 2 && equal[1] == 2 && equal[2] == 2);
  tbi_s3_eigenvalues((s3){0, 0, 0, 1, 0, 0}, equal);
  assert_near(equal[0], -1, 1e-15);
  assert_near(equal[2], 1, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_quarter_turns),
      cmocka_unit_test(test_matrix_is_a_rotation),
      cmocka_unit_test(test_products_and_length),
      cmocka_unit_test(test_matrix_back_to_quaternion),
      cmocka_unit_test(test_exp),
      cmocka_unit_test(test_symmetric_matrices),
      cmocka_unit_test(test_eigenvalues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
