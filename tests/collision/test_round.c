/* test_round.c - spheres, capsules and boxes against exact distances and against themselves. */
#include "collision/solids.h"
#include "support/near.h"

static tbi_pair_point points[TBI_PAIR_ROOM];

static v3 end_of(const tbi_solid *capsule, double sign) {
  double half = capsule->type == TABI_SHAPE_CAPSULE ? capsule->half[2] : 0;
  return v3_axpy(capsule->pos, sign * half, capsule->axis[2]);
}

static double distance_to(const tbi_solid *solid, v3 p) {
  return solid->type == TABI_SHAPE_BOX ? box_distance(solid, p) : core_distance(solid, p);
}

/* of the axis of a to the box or axis b */
static double true_distance(const tbi_solid *a, const tbi_solid *b) {
  return segment_distance(end_of(a, -1), end_of(a, 1), b, distance_to);
}

static double radius_of(const tbi_solid *solid) {
  return solid->type == TABI_SHAPE_BOX ? 0 : solid->half[0];
}

/* Where the cores are apart, the least gap is exact and its point on both surfaces; no other
 * point is off a surface outwards. */
static void check_apart(const tbi_solid *a, const tbi_solid *b, double distance, double margin,
                        int32_t count) {
  double gap = distance - radius_of(a) - radius_of(b);
  if (fabs(gap - margin) > 1e-9) assert_int_equal(count > 0, gap <= margin);
  if (count == 0) return;
  assert_near(min_gap(points, count), gap, 1e-9);
  for (int32_t i = 0; i < count; ++i) {
    v3 on_a = v3_axpy(points[i].point, -0.5 * points[i].gap, points[i].normal);
    v3 on_b = v3_axpy(points[i].point, 0.5 * points[i].gap, points[i].normal);
    double inside_a = radius_of(a) - distance_to(a, on_a);
    double inside_b = radius_of(b) - distance_to(b, on_b);
    bool deepest = points[i].gap == min_gap(points, count);
    assert_true(inside_a >= -1e-9 && inside_b >= -1e-9);
    if (deepest) assert_near(fmax(inside_a, inside_b), 0, 1e-9);
  }
}

static void check_pair(rng *r, tabi_shape_type type_a, tabi_shape_type type_b) {
  for (int trial = 0; trial < 3000; ++trial) {
    tbi_solid a = random_solid(r, type_a, 0.5);
    tbi_solid b = random_solid(r, type_b, 0.5);
    double margin = rng_between(r, 0, 0.3);
    int32_t count = tbi_pair_collide(&a, &b, margin, points);
    check_manifold(&a, &b, margin, points, count);
    double distance = true_distance(&a, &b);
    if (distance > 1e-6) {
      check_apart(&a, &b, distance, margin, count);
    } else {
      assert_in_range(count, 1, 2);
    }
    check_swap(&a, &b, margin, 1e-9);
    tbi_frame motion = random_motion(r, 1);
    check_motion(&a, &b, margin, &motion);
  }
}

static void test_distances(void **state) {
  (void)state;
  rng r = rng_make(21);
  check_pair(&r, TABI_SHAPE_SPHERE, TABI_SHAPE_SPHERE);
  check_pair(&r, TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE);
  check_pair(&r, TABI_SHAPE_SPHERE, TABI_SHAPE_BOX);
  check_pair(&r, TABI_SHAPE_CAPSULE, TABI_SHAPE_CAPSULE);
  check_pair(&r, TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX);
}

/* A ball inside a box is as deep as the nearest face says; a segment through a box at most 5 %
 * deeper than the least of the six directions out, the bias for faces. */
static void test_depths_inside(void **state) {
  (void)state;
  rng r = rng_make(22);
  for (int trial = 0; trial < 5000; ++trial) {
    tbi_solid box = random_solid(&r, TABI_SHAPE_BOX, 0);
    tbi_solid ball = random_solid(&r, TABI_SHAPE_SPHERE, 0.1);
    tbi_solid capsule = random_solid(&r, TABI_SHAPE_CAPSULE, 0.1);
    double min = INFINITY;
    double through = INFINITY;
    for (int i = 0; i < 6; ++i) {
      v3 face = v3_scale(i & 1 ? -1 : 1, box.axis[i >> 1]);
      v3 edge = v3_cross(face, capsule.axis[2]);
      edge = v3_scale(1 / v3_norm(edge), edge);
      min = fmin(min, -solid_gap_along(&ball, &box, face));
      through = fmin(through, -solid_gap_along(&capsule, &box, face));
      through = fmin(through, -solid_gap_along(&capsule, &box, edge));
    }
    if (box_distance(&box, ball.pos) < 1e-12) {
      assert_int_equal(tbi_pair_collide(&ball, &box, 0, points), 1);
      assert_near(points[0].gap, -min, 1e-12);
    }
    if (true_distance(&capsule, &box) < 1e-12) {
      int32_t count = tbi_pair_collide(&capsule, &box, 0, points);
      check_manifold(&capsule, &box, 0, points, count);
      double along = solid_gap_along(&capsule, &box, points[0].normal);
      assert_true(-along <= through + 0.06 * (through - capsule.half[0]) + 1e-9);
    }
  }
}

static void test_resting(void **state) {
  (void)state;
  rng r = rng_make(23);
  tbi_solid box = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  tbi_solid capsule = solid_make(TABI_SHAPE_CAPSULE, 0.1, 0.4, 0);
  q4 lying = q_exp(v3_make(M_PI / 2, 0, 0));

  /* on a face: both ends, also where it hangs over the border */
  tbi_solid on_top = solid_at(capsule, v3_make(0, 0, 0.2 - 1e-5), lying);
  assert_int_equal(tbi_pair_collide(&box, &on_top, 1e-3, points), 2);
  assert_near(points[0].gap, -1e-5, 1e-12);
  assert_near(points[1].gap, -1e-5, 1e-12);
  assert_near(fabs(points[0].point.y - points[1].point.y), 0.4, 1e-9);
  check_ids(&r, &box, &on_top, 1e-3);
  tbi_solid over = solid_at(capsule, v3_make(0, 0.5, 0.2 - 1e-5), lying);
  assert_int_equal(tbi_pair_collide(&box, &over, 1e-3, points), 2);
  assert_near(fabs(points[0].point.y - points[1].point.y), 0.2, 1e-9);
  check_ids(&r, &box, &over, 1e-3);
  /* upright: one */
  tbi_solid up = solid_at(capsule, v3_make(0, 0, 0.4 - 1e-5), q_identity());
  assert_int_equal(tbi_pair_collide(&box, &up, 1e-3, points), 1);
  /* its axis as deep as the top */
  tbi_solid deep = solid_at(capsule, v3_make(0, 0, 0.1 - 1e-5), lying);
  assert_int_equal(tbi_pair_collide(&box, &deep, 1e-3, points), 2);
  assert_near(points[0].gap, -0.1 - 1e-5, 1e-12);

  /* one along the other, the same length or shorter, and across it */
  tbi_solid low = solid_at(capsule, v3_zero(), lying);
  tbi_solid high = solid_at(capsule, v3_make(0, 0, 0.2 - 1e-5), lying);
  assert_int_equal(tbi_pair_collide(&low, &high, 1e-3, points), 2);
  check_ids(&r, &low, &high, 1e-3);
  tbi_solid across = solid_at(capsule, v3_make(0, 0, 0.2 - 1e-5), q_exp(v3_make(0, M_PI / 2, 0)));
  assert_int_equal(tbi_pair_collide(&low, &across, 1e-3, points), 1);
  check_ids(&r, &low, &across, 1e-3);
}

/* Middles and axes that coincide give one direction, always the same. */
static void test_coincident(void **state) {
  (void)state;
  tabi_shape_type types[] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX};
  for (int i = 0; i < 9; ++i) {
    tbi_solid a = solid_make(types[i / 3], 0.1, 0.2, 0.3);
    tbi_solid b = solid_make(types[i % 3], 0.1, 0.2, 0.3);
    int32_t count = tbi_pair_collide(&a, &b, 1e-3, points);
    assert_in_range(count, 1, 8);
    check_manifold(&a, &b, 1e-3, points, count);
    tbi_pair_point again[TBI_PAIR_ROOM];
    assert_int_equal(tbi_pair_collide(&a, &b, 1e-3, again), count);
    for (int32_t k = 0; k < count; ++k) {
      assert_true(isfinite(points[k].gap));
      assert_true(v3_norm(v3_sub(points[k].normal, again[k].normal)) == 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances),
      cmocka_unit_test(test_depths_inside),
      cmocka_unit_test(test_resting),
      cmocka_unit_test(test_coincident),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
