/* test_ellipsoid.c - ellipsoids against planes, balls, capsules, boxes, hulls, each other, ground
 * and rays: against closed forms where there are some, else against what must hold where two
 * surfaces are nearest, and against points and directions sown at random. */
#include "collision/hulls.h"
#include "collision/ray.h"
#include "collision/solids.h"
#include "collision/support.h"
#include "support/near.h"

static tbi_pair_point points[TBI_PAIR_ROOM];

static tbi_solid random_ellipsoid(rng *r) { return random_solid(r, TABI_SHAPE_ELLIPSOID, 0.3); }

/* (x/a)^2 + (y/b)^2 + (z/c)^2, 1 on the surface */
static double level(const tbi_solid *e, v3 p) {
  v3 x = tbi_solid_local(e, v3_sub(p, e->pos));
  v3 s = v3_make(x.x / e->half[0], x.y / e->half[1], x.z / e->half[2]);
  return v3_dot(s, s);
}

static v3 outward(const tbi_solid *e, v3 p) {
  v3 x = tbi_solid_local(e, v3_sub(p, e->pos));
  v3 g = v3_make(x.x / (e->half[0] * e->half[0]), x.y / (e->half[1] * e->half[1]),
                 x.z / (e->half[2] * e->half[2]));
  g = tbi_solid_world(e, g);
  return v3_scale(1 / v3_norm(g), g);
}

/* Lowest point in closed form: the height of the middle less sqrt(n A n). */
static void test_plane(void **state) {
  (void)state;
  rng r = rng_make(91);
  for (int trial = 0; trial < 500; ++trial) {
    tbi_solid plane = random_solid(&r, TABI_SHAPE_PLANE, 0.1);
    tbi_solid e = random_ellipsoid(&r);
    assert_int_equal(tbi_pair_collide(&plane, &e, 10, points), 1);
    v3 n = tbi_solid_local(&e, plane.axis[2]);
    double h = sqrt(e.half[0] * e.half[0] * n.x * n.x + e.half[1] * e.half[1] * n.y * n.y +
                    e.half[2] * e.half[2] * n.z * n.z);
    double gap = v3_dot(plane.axis[2], v3_sub(e.pos, plane.pos)) - h;
    assert_near(points[0].gap, gap, 1e-14);
    assert_true(v3_norm(v3_sub(points[0].normal, plane.axis[2])) == 0);
    v3 lowest = v3_axpy(points[0].point, 0.5 * gap, plane.axis[2]);
    assert_near(level(&e, lowest), 1, 1e-12);
    assert_true(v3_norm(v3_add(outward(&e, lowest), plane.axis[2])) < 1e-12);
    check_swap(&plane, &e, 10, 1e-15);
  }
}

/* A ball of any size beside an ellipsoid: its middle is on the surface's normal, which is one
 * equation that a good normal satisfies to its last digits. */
static void test_ball(void **state) {
  (void)state;
  rng r = rng_make(92);
  for (int trial = 0; trial < 1000; ++trial) {
    tbi_solid ball = solid_make(TABI_SHAPE_SPHERE, rng_between(&r, 0.01, 0.2), 0, 0);
    tbi_solid e = random_ellipsoid(&r);
    double way[3];
    rng_direction(&r, way, 3);
    v3 on = tbi_support(&e, v3_load(way));
    v3 n = v3_load(way);
    double gap = rng_between(&r, -0.2, 0.5) * ball.half[0];
    ball.pos = v3_axpy(on, ball.half[0] + gap, n);
    assert_int_equal(tbi_pair_collide(&ball, &e, 1, points), 1);
    assert_near(points[0].gap, gap, 1e-12);
    assert_true(v3_norm(v3_add(points[0].normal, n)) < 1e-10);
    assert_true(v3_norm(v3_sub(points[0].point, v3_axpy(on, 0.5 * gap, n))) < 1e-10);
    check_swap(&ball, &e, 1, 1e-12);
  }
}

/* An ellipsoid with equal axes is a ball. */
static void test_as_ball(void **state) {
  (void)state;
  static const tabi_shape_type types[] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX};
  rng r = rng_make(93);
  for (int trial = 0; trial < 900; ++trial) {
    double radius = rng_between(&r, 0.05, 0.3);
    tbi_solid other = random_solid(&r, types[trial % 3], 0.4);
    tbi_solid e = solid_make(TABI_SHAPE_ELLIPSOID, radius, radius, radius);
    double pos[3];
    rng_fill(&r, 0.4, pos, 3);
    e = solid_at(e, v3_load(pos), random_rotation(&r));
    tbi_solid ball = solid_at(solid_make(TABI_SHAPE_SPHERE, radius, 0, 0), e.pos, q_identity());
    tbi_pair_point wanted[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&other, &ball, 1, wanted);
    /* a middle inside of the other has several ways out */
    if (count != 1 || wanted[0].gap < -0.5 * radius) continue;
    assert_int_equal(tbi_pair_collide(&other, &e, 1, points), 1);
    assert_near(points[0].gap, wanted[0].gap, 1e-10);
    assert_true(v3_norm(v3_sub(points[0].normal, wanted[0].normal)) < 1e-8);
  }
}

/* Moves b along the line of middles until the pair has a small gap or overlap. */
static void bring_near(rng *r, const tbi_solid *a, tbi_solid *b) {
  double way[3];
  rng_direction(r, way, 3);
  v3 n = v3_load(way);
  b->pos = v3_axpy(b->pos, rng_between(r, -2e-3, 5e-3) - solid_gap_along(a, b, n), n);
}

/* Gap and normal against directions sown around: none parts them better.  Points are on both
 * surfaces, and on the ellipsoid the normal is the surface's. */
static void check_best(rng *r, const tbi_solid *a, const tbi_solid *e) {
  int32_t count = tbi_pair_collide(a, e, 0.5, points);
  assert_true(count > 0);
  check_manifold(a, e, 0.5, points, count);
  double gap = min_gap(points, count);
  v3 normal = points[0].normal;
  assert_near(gap, solid_gap_along(a, e, normal), 1e-6);
  for (int i = 0; i < 2000; ++i) {
    double way[3];
    rng_direction(r, way, 3);
    v3 n = v3_axpy(normal, i % 4 == 0 ? 1 : pow(10, -(i % 4)), v3_load(way));
    n = v3_scale(1 / v3_norm(n), n);
    assert_true(solid_gap_along(a, e, n) <= gap + 2e-9);
  }
  v3 on_e = v3_axpy(points[0].point, 0.5 * points[0].gap, normal);
  assert_near(level(e, on_e), 1, 1e-5);
  assert_true(v3_norm(v3_add(outward(e, on_e), normal)) < 1e-4);
}

static void test_sown(void **state) {
  (void)state;
  static const tabi_shape_type types[] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX,
                                          TABI_SHAPE_ELLIPSOID};
  rng r = rng_make(94);
  for (int trial = 0; trial < 800; ++trial) {
    tbi_solid a = random_solid(&r, types[trial % 4], 0);
    tbi_solid e = random_ellipsoid(&r);
    bring_near(&r, &a, &e);
    check_best(&r, &a, &e);
  }
}

static void test_hulls(void **state) {
  (void)state;
  rng r = rng_make(95);
  for (int trial = 0; trial < 150; ++trial) {
    tabi_mesh_def mesh = hull_random(&r, 0.2);
    tbi_solid hull = {.type = TABI_SHAPE_MESH, .mesh = &mesh};
    hull = solid_at(hull, v3_zero(), random_rotation(&r));
    tbi_solid e = random_ellipsoid(&r);
    bring_near(&r, &hull, &e);
    int32_t count = tbi_pair_collide(&hull, &e, 0.5, points);
    assert_true(count > 0);
    for (int i = 0; i < 2000; ++i) {
      double way[3];
      rng_direction(&r, way, 3);
      v3 n = v3_axpy(points[0].normal, pow(10, -(i % 4)), v3_load(way));
      n = v3_scale(1 / v3_norm(n), n);
      assert_true(solid_gap_along(&hull, &e, n) <= min_gap(points, count) + 2e-6);
    }
    hull_free(&mesh);
  }
}

/* Which comes first, and where it is, decides nothing. */
static void test_swap(void **state) {
  (void)state;
  rng r = rng_make(96);
  for (int trial = 0; trial < 400; ++trial) {
    tbi_solid a = random_ellipsoid(&r);
    tbi_solid b = random_ellipsoid(&r);
    bring_near(&r, &a, &b);
    check_swap(&a, &b, 0.5, 1e-9);
    tbi_frame motion = random_motion(&r, 1);
    check_motion(&a, &b, 0.5, &motion);
  }
}

static void test_ray(void **state) {
  (void)state;
  rng r = rng_make(97);
  int met = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    tbi_solid e = random_ellipsoid(&r);
    double from[3];
    double way[3];
    rng_fill(&r, 1, from, 3);
    rng_direction(&r, way, 3);
    tbi_ray ray = {v3_load(from), v3_load(way)};
    /* half of them towards it */
    v3 to = v3_axpy(v3_sub(e.pos, ray.origin), 0.2, ray.direction);
    if (trial % 2 == 0) ray.direction = v3_scale(1 / v3_norm(to), to);
    tbi_ray_hit hit;
    if (tbi_ray_solid(&e, &ray, &hit)) {
      ++met;
      v3 at = v3_axpy(ray.origin, hit.distance, ray.direction);
      if (hit.distance == 0) {
        assert_true(level(&e, at) <= 1);
        continue;
      }
      assert_near(level(&e, at), 1, 1e-9);
      assert_true(v3_norm(v3_sub(hit.normal, outward(&e, at))) < 1e-9);
      assert_true(v3_dot(hit.normal, ray.direction) <= 0);
    } else {
      for (int i = 0; i < 200; ++i)
        assert_true(level(&e, v3_axpy(ray.origin, 0.01 * i, ray.direction)) > 1 - 1e-9);
    }
  }
  assert_true(met > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plane), cmocka_unit_test(test_ball),  cmocka_unit_test(test_as_ball),
      cmocka_unit_test(test_sown),  cmocka_unit_test(test_hulls), cmocka_unit_test(test_swap),
      cmocka_unit_test(test_ray),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
