/* test_plane.c - every shape on a plane: right points, right heights, ids that stay. */
#include "collision/solids.h"
#include "support/near.h"

static tbi_pair_point points[TBI_PAIR_ROOM];

static const tbi_solid *ground(void) {
  static tbi_solid plane;
  plane = solid_make(TABI_SHAPE_PLANE, 0, 0, 0);
  return &plane;
}

static q4 tilted(double angle) { return q_exp(v3_make(angle, 0, 0)); }

/* of a shape with its origin at a height, turned about x */
static int32_t stand(tbi_solid solid, double height, double angle, double margin) {
  tbi_solid there = solid_at(solid, v3_make(0.3, -0.2, height), tilted(angle));
  int32_t count = tbi_pair_collide(ground(), &there, margin, points);
  check_manifold(ground(), &there, margin, points, count);
  return count;
}

static void test_counts(void **state) {
  (void)state;
  tbi_solid ball = solid_make(TABI_SHAPE_SPHERE, 0.1, 0, 0);
  tbi_solid point = solid_make(TABI_SHAPE_SPHERE, 0, 0, 0);
  tbi_solid capsule = solid_make(TABI_SHAPE_CAPSULE, 0.1, 0.4, 0);
  tbi_solid cylinder = solid_make(TABI_SHAPE_CYLINDER, 0.1, 0.4, 0);
  tbi_solid box = solid_make(TABI_SHAPE_BOX, 0.2, 0.3, 0.4);
  assert_int_equal(stand(ball, 0.0999, 0, 1e-3), 1);
  assert_near(points[0].gap, -1e-4, 1e-15);
  assert_int_equal(stand(point, 1e-4, 0, 1e-3), 1);
  assert_near(points[0].gap, 1e-4, 1e-15);
  /* lying and standing */
  assert_int_equal(stand(capsule, 0.1, M_PI / 2, 1e-3), 2);
  assert_int_equal(stand(capsule, 0.3, 0, 1e-3), 1);
  assert_int_equal(stand(cylinder, 0.1, M_PI / 2, 1e-3), 2);
  assert_in_range(stand(cylinder, 0.2, 0, 1e-3), 3, 8);
  assert_in_range(stand(cylinder, 0.2, M_PI, 1e-3), 3, 8);
  /* on a face, an edge, and in the air */
  assert_int_equal(stand(box, 0.2, 0, 1e-3), 4);
  double edge = 0.15 * sin(0.5) + 0.2 * cos(0.5);
  assert_int_equal(stand(box, edge, 0.5, 1e-3), 2);
  assert_int_equal(stand(box, 0.202, 0, 1e-3), 0);
}

/* Half the space is no less deep than the solid is low, so the least gap is exact. */
static void test_heights(void **state) {
  (void)state;
  rng r = rng_make(11);
  for (int trial = 0; trial < 5000; ++trial) {
    tabi_shape_type type = (tabi_shape_type)(TABI_SHAPE_SPHERE + rng_below(&r, 4));
    tbi_solid solid = random_solid(&r, type, 0.5);
    tbi_solid plane = solid_at(*ground(), v3_zero(), random_rotation(&r));
    double margin = rng_between(&r, 0, 0.2);
    int32_t count = tbi_pair_collide(&plane, &solid, margin, points);
    check_manifold(&plane, &solid, margin, points, count);
    double gap = solid_gap_along(&plane, &solid, plane.axis[2]);
    assert_int_equal(count > 0, gap <= margin);
    if (count > 0) assert_near(min_gap(points, count), gap, 1e-12);
    for (int32_t i = 0; i < count; ++i) {
      /* halfway between the plane and the solid */
      v3 above = v3_sub(points[i].point, plane.pos);
      assert_near(v3_dot(plane.axis[2], above), 0.5 * points[i].gap, 1e-12);
    }
    check_swap(&plane, &solid, margin, 1e-12);
    tbi_frame motion = random_motion(&r, 1);
    check_motion(&plane, &solid, margin, &motion);
  }
}

static void test_mesh(void **state) {
  (void)state;
  /* two rings of 40, one above the other */
  static double vertices[80 * 3];
  for (int i = 0; i < 80; ++i) {
    v3 p = {0.1 * cos(i * M_PI / 20), 0.1 * sin(i * M_PI / 20), i < 40 ? -0.05 : 0.05};
    v3_store(p, vertices + 3 * (ptrdiff_t)i);
  }
  tabi_mesh_def mesh = {.nvertex = 80, .vertices = vertices};
  tbi_solid drum = solid_make(TABI_SHAPE_MESH, 0, 0, 0);
  drum.mesh = &mesh;
  assert_int_equal(stand(drum, 0.0499, 0, 1e-3), 8);
  for (int i = 0; i < 8; ++i) {
    assert_near(points[i].gap, -1e-4, 1e-12);
    assert_true(points[i].feature < 40);
  }
  assert_int_equal(stand(drum, 0.06, 0, 1e-3), 0);
  /* all 80 within the margin: the deepest is there, and not more than eight */
  assert_int_equal(stand(drum, 0.05, 0.1, 1), 8);
  assert_near(min_gap(points, 8), 0.05 - 0.05 * cos(0.1) - 0.1 * sin(0.1), 1e-12);
}

static void test_resting_ids(void **state) {
  (void)state;
  rng r = rng_make(12);
  static const struct {
    tabi_shape_type type;
    double size[3], height, angle;
  } rests[] = {
      {TABI_SHAPE_SPHERE,   {0.1, 0, 0},     0.1,  0       },
      {TABI_SHAPE_CAPSULE,  {0.1, 0.4, 0},   0.1,  M_PI / 2},
      {TABI_SHAPE_CYLINDER, {0.1, 0.4, 0},   0.1,  M_PI / 2},
      {TABI_SHAPE_CYLINDER, {0.1, 0.4, 0},   0.2,  0       },
      {TABI_SHAPE_BOX,      {0.2, 0.3, 0.4}, 0.2,  0       },
      {TABI_SHAPE_BOX,      {0.2, 0.3, 0.4}, 0.15, M_PI / 2},
  };
  for (size_t i = 0; i < sizeof rests / sizeof *rests; ++i) {
    tbi_solid solid =
        solid_make(rests[i].type, rests[i].size[0], rests[i].size[1], rests[i].size[2]);
    solid = solid_at(solid, v3_make(0, 0, rests[i].height), tilted(rests[i].angle));
    check_ids(&r, ground(), &solid, 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_heights),
      cmocka_unit_test(test_mesh),
      cmocka_unit_test(test_resting_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
