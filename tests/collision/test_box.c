/* test_box.c - box against box: the right number of points, depths, distances, and ids that stay.
 */
#include "collision/solids.h"
#include "support/near.h"

static tbi_pair_point points[TBI_PAIR_ROOM];

static void check_common_normal(int32_t count) {
  for (int32_t i = 1; i < count; ++i)
    assert_true(v3_norm(v3_sub(points[i].normal, points[0].normal)) == 0);
}

/* Differences below this decide nothing: 1e-6 of the smaller box, by which corners beside a face
 * count as above it. */
static double noise_of(const tbi_solid *a, const tbi_solid *b) {
  double size[2];
  for (int k = 0; k < 2; ++k) {
    const double *half = k == 0 ? a->half : b->half;
    size[k] = fmax(fmax(half[0], half[1]), half[2]);
  }
  return 1e-6 * fmin(size[0], size[1]);
}

/* Apart: the least gap is the distance, within the 5 % for which a whole face is preferred. */
static void check_apart(const tbi_solid *a, const tbi_solid *b, double margin, int32_t count) {
  double distance = box_box_distance(a, b);
  if (count == 0) {
    assert_true(distance > margin / 1.06 - 1e-6);
    return;
  }
  double min = min_gap(points, count);
  assert_true(min >= distance - 1e-9 - noise_of(a, b));
  assert_true(min <= 1.06 * distance + 1e-6);
}

/* Overlapping: along the normal hardly deeper than along the best of all 15 axes, unless clipping
 * took away what was deeper. */
static void check_overlap(const tbi_solid *a, const tbi_solid *b, double separation,
                          int32_t count) {
  assert_in_range(count, 1, 8);
  double min = min_gap(points, count);
  assert_true(min <= 1e-6);
  double along = solid_gap_along(a, b, points[0].normal);
  assert_true(min >= along - 1e-9);
  assert_true(min >= 1.06 * separation - 1e-6 || along >= 1.06 * separation - 1e-6);
}

static void test_random(void **state) {
  (void)state;
  rng r = rng_make(31);
  for (int trial = 0; trial < 6000; ++trial) {
    tbi_solid a = random_solid(&r, TABI_SHAPE_BOX, 0.3);
    tbi_solid b = random_solid(&r, TABI_SHAPE_BOX, 0.3);
    double margin = rng_between(&r, 0, 0.3);
    int32_t count = tbi_pair_collide(&a, &b, margin, points);
    check_manifold(&a, &b, margin, points, count);
    check_common_normal(count);
    double separation = box_box_separation(&a, &b);
    if (separation > 0) {
      check_apart(&a, &b, margin, count);
    } else {
      check_overlap(&a, &b, separation, count);
    }
    tbi_frame motion = random_motion(&r, 1);
    check_motion(&a, &b, margin, &motion);
  }
}

/* Nearly parallel boxes that just touch, as things in a pile do. */
static void test_nearly_flat(void **state) {
  (void)state;
  rng r = rng_make(32);
  for (int trial = 0; trial < 4000; ++trial) {
    tbi_solid a = random_solid(&r, TABI_SHAPE_BOX, 0);
    a = solid_at(a, v3_zero(), q_identity());
    tbi_solid b = random_solid(&r, TABI_SHAPE_BOX, 0);
    double tilt[3];
    rng_fill(&r, pow(10, rng_between(&r, -8, -1)), tilt, 3);
    q4 turn = q_mul(q_exp(v3_load(tilt)), q_exp(v3_make(0, 0, rng_between(&r, 0, 6))));
    double place[2];
    rng_fill(&r, 0.2, place, 2);
    b = solid_at(b, v3_make(place[0], place[1], 0), turn);
    double lift = solid_support(&a, v3_make(0, 0, 1)) + solid_support(&b, v3_make(0, 0, -1));
    b.pos.z = lift + rng_between(&r, -1e-3, 1e-3);
    double separation = box_box_separation(&a, &b);
    int32_t count = tbi_pair_collide(&a, &b, 1e-2, points);
    check_manifold(&a, &b, 1e-2, points, count);
    check_common_normal(count);
    if (separation > 0) {
      check_apart(&a, &b, 1e-2, count);
    } else {
      check_overlap(&a, &b, separation, count);
    }
  }
}

/* Edges along x that are parallel but for a twist and meet but for a shift, each of any size: from
 * edges that meet along their length to such that cross, and to faces. */
static void test_nearly_parallel(void **state) {
  (void)state;
  rng r = rng_make(36);
  for (int trial = 0; trial < 20000; ++trial) {
    tbi_solid box[2];
    double twist[3];
    double shift[3];
    rng_fill(&r, pow(10, rng_between(&r, -8, -1.5)), twist, 3);
    rng_fill(&r, pow(10, rng_between(&r, -7, -2)), shift, 3);
    shift[0] = rng_between(&r, -0.3, 0.3);
    for (int i = 0; i < 2; ++i) {
      box[i] = random_solid(&r, TABI_SHAPE_BOX, 0);
      q4 lean = q_exp(v3_make(rng_between(&r, 0, M_PI / 2), 0, 0));
      box[i] = solid_at(box[i], v3_zero(), i == 0 ? lean : q_mul(q_exp(v3_load(twist)), lean));
      const double *half = box[i].half;
      v3 crest = v3_axpy(v3_scale(half[1], box[i].axis[1]), half[2], box[i].axis[2]);
      box[i].pos = i == 0 ? v3_neg(crest) : v3_add(crest, v3_load(shift));
    }
    int32_t count = tbi_pair_collide(&box[0], &box[1], 1e-2, points);
    check_manifold(&box[0], &box[1], 1e-2, points, count);
    check_common_normal(count);
    double separation = box_box_separation(&box[0], &box[1]);
    if (separation > 0) {
      check_apart(&box[0], &box[1], 1e-2, count);
    } else {
      check_overlap(&box[0], &box[1], separation, count);
    }
    check_swap(&box[0], &box[1], 1e-2, 1e-2);
  }
}

static int32_t rest(tbi_solid a, tbi_solid b) {
  rng r = rng_make(33);
  int32_t count = tbi_pair_collide(&a, &b, 1e-3, points);
  check_manifold(&a, &b, 1e-3, points, count);
  check_common_normal(count);
  for (int32_t i = 0; i < count; ++i)
    assert_near(points[i].gap, -1e-5, 1e-9);
  check_ids(&r, &a, &b, 1e-3);
  check_swap(&a, &b, 1e-3, 1e-6);
  return count;
}

static void test_resting(void **state) {
  (void)state;
  tbi_solid cube = solid_make(TABI_SHAPE_BOX, 0.2, 0.2, 0.2);
  tbi_solid slab = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  double deep = 1e-5;
  q4 none = q_identity();
  q4 eighth = q_exp(v3_make(0, 0, M_PI / 4));
  /* on a slab, on its own like, shifted by half, and turned by an eighth */
  assert_int_equal(rest(slab, solid_at(cube, v3_make(0, 0, 0.2 - deep), none)), 4);
  assert_int_equal(rest(cube, solid_at(cube, v3_make(0, 0, 0.2 - deep), none)), 4);
  assert_int_equal(rest(cube, solid_at(cube, v3_make(0.1, 0.05, 0.2 - deep), none)), 4);
  assert_int_equal(rest(cube, solid_at(cube, v3_make(0, 0, 0.2 - deep), eighth)), 8);
  assert_int_equal(rest(cube, solid_at(slab, v3_make(0.1, 0, 0.2 - deep), eighth)), 4);
  /* on a floor that is much larger */
  tbi_solid floor = solid_make(TABI_SHAPE_BOX, 200, 200, 0.2);
  tbi_solid coin = solid_make(TABI_SHAPE_BOX, 0.02, 0.02, 0.002);
  assert_int_equal(rest(floor, solid_at(coin, v3_make(70, 30, 0.101 - deep), eighth)), 4);
  /* on an edge and on a corner */
  q4 edge = q_exp(v3_make(M_PI / 4, 0, 0));
  assert_int_equal(rest(slab, solid_at(cube, v3_make(0, 0, 0.1 + 0.1 * sqrt(2) - deep), edge)), 2);
  q4 corner = q_mul(q_exp(v3_make(0, -atan(sqrt(0.5)), 0)), edge);
  double high = 0.1 + 0.1 * sqrt(3) - deep;
  assert_int_equal(rest(slab, solid_at(cube, v3_make(0, 0, high), corner)), 1);
  /* edge across edge, both at 45 degrees */
  tbi_solid ridge = solid_at(cube, v3_zero(), edge);
  tbi_solid rider =
      solid_at(cube, v3_make(0, 0, 0.2 * sqrt(2) - deep), q_exp(v3_make(0, M_PI / 4, 0)));
  assert_int_equal(rest(ridge, rider), 1);
  assert_near(points[0].normal.z, 1, 1e-12);
}

/* Boxes of one size on each other have the same four points, whichever way their borders miss. */
static void test_border_on_border(void **state) {
  (void)state;
  rng r = rng_make(35);
  tbi_solid low = solid_make(TABI_SHAPE_BOX, 0.2, 0.2, 0.2);
  uint32_t ids[4] = {0, 0, 0, 0};
  for (int trial = 0; trial < 20000; ++trial) {
    double shift[3];
    double turn[3];
    double size = pow(10, rng_between(&r, -12, -4));
    rng_fill(&r, size, shift, 3);
    rng_fill(&r, size, turn, 3);
    v3 pos = {shift[0], shift[1], 0.2 - 1e-5 + shift[2]};
    tbi_solid high = solid_at(low, pos, q_exp(v3_load(turn)));
    assert_int_equal(tbi_pair_collide(&low, &high, 1e-3, points), 4);
    for (int i = 0; i < 4; ++i) {
      if (trial == 0) ids[i] = points[i].feature;
      assert_int_equal(points[i].feature, ids[i]);
      /* cut beside a corner by 1e-3 at most, which itself is moved and turned */
      assert_near(fabs(points[i].point.x), 0.1, 1e-3 + 1.2 * size);
      assert_near(fabs(points[i].point.y), 0.1, 1e-3 + 1.2 * size);
    }
  }
}

/* Apart by a face, an edge, a corner: reported with the distance. */
static void test_apart(void **state) {
  (void)state;
  tbi_solid cube = solid_make(TABI_SHAPE_BOX, 0.2, 0.2, 0.2);
  tbi_solid above = solid_at(cube, v3_make(0.02, 0, 0.25), q_identity());
  assert_int_equal(tbi_pair_collide(&cube, &above, 0.1, points), 4);
  assert_near(points[0].gap, 0.05, 1e-12);
  assert_near(points[0].point.z, 0.125, 1e-12);
  tbi_solid aside = solid_at(cube, v3_make(0, 0.23, 0.24), q_identity());
  assert_int_equal(tbi_pair_collide(&cube, &aside, 0.1, points), 2);
  for (int i = 0; i < 2; ++i) {
    assert_near(points[i].gap, 0.05, 1e-12);
    assert_near(points[i].normal.y, 0.6, 1e-12);
    assert_near(points[i].point.x, i == 0 ? -0.1 : 0.1, 1e-12);
  }
  tbi_solid beyond = solid_at(cube, v3_make(0.21, 0.22, 0.22), q_identity());
  assert_int_equal(tbi_pair_collide(&cube, &beyond, 0.1, points), 1);
  assert_near(points[0].gap, 0.03, 1e-12);
  assert_int_equal(tbi_pair_collide(&cube, &beyond, 0.029, points), 0);
}

/* Which box comes first decides nothing that matters. */
static void test_swap(void **state) {
  (void)state;
  rng r = rng_make(34);
  for (int trial = 0; trial < 4000; ++trial) {
    tbi_solid a = random_solid(&r, TABI_SHAPE_BOX, 0.3);
    tbi_solid b = random_solid(&r, TABI_SHAPE_BOX, 0.3);
    tbi_pair_point swapped[TBI_PAIR_ROOM];
    int32_t n = tbi_pair_collide(&a, &b, 0.05, points);
    int32_t m = tbi_pair_collide(&b, &a, 0.05, swapped);
    assert_int_equal(n > 0, m > 0);
    if (n == 0) continue;
    bool same = v3_norm(v3_add(points[0].normal, swapped[0].normal)) < 1e-9;
    double along = solid_gap_along(&a, &b, points[0].normal);
    double back = solid_gap_along(&b, &a, swapped[0].normal);
    if (same) assert_near(min_gap(points, n), min_gap(swapped, m), 1e-9);
    assert_near(along, back, 1e-2 * fabs(along) + 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_nearly_flat),
      cmocka_unit_test(test_resting),
      cmocka_unit_test(test_apart),
      cmocka_unit_test(test_swap),
      cmocka_unit_test(test_border_on_border),
      cmocka_unit_test(test_nearly_parallel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
