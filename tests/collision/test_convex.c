/* test_convex.c - cylinders and hulls against everything, measured by brute force.
 *
 * The separation of two convex bodies is the largest gap along any direction: their distance, or
 * minus the least way to part them.  A dense set of directions bounds it from below; the gap along
 * a reported normal, measured by farthest points, is one of those gaps.  So a report is right when
 * it is the gap along its normal and not below what the dense search finds. */
#include "collision/hulls.h"
#include "collision/solids.h"
#include "support/near.h"

#include <float.h>
#include <stdlib.h>

static tbi_pair_point points[TBI_PAIR_ROOM];

/* libccd's pairs: one of each is a cylinder or a mesh */
static const tabi_shape_type pairs[][2] = {
    {TABI_SHAPE_SPHERE,   TABI_SHAPE_CYLINDER},
    {TABI_SHAPE_CAPSULE,  TABI_SHAPE_CYLINDER},
    {TABI_SHAPE_CYLINDER, TABI_SHAPE_CYLINDER},
    {TABI_SHAPE_CYLINDER, TABI_SHAPE_BOX     },
    {TABI_SHAPE_SPHERE,   TABI_SHAPE_MESH    },
    {TABI_SHAPE_CAPSULE,  TABI_SHAPE_MESH    },
    {TABI_SHAPE_CYLINDER, TABI_SHAPE_MESH    },
    {TABI_SHAPE_BOX,      TABI_SHAPE_MESH    },
    {TABI_SHAPE_MESH,     TABI_SHAPE_MESH    },
};
#define PAIRS ((int)(sizeof pairs / sizeof pairs[0]))

/* Two solids with the meshes that they may stand for. */
typedef struct couple {
  tbi_solid a, b;
  tabi_mesh_def hull_a, hull_b;
} couple;

static tbi_solid make_solid(rng *r, tabi_shape_type type, double room, tabi_mesh_def *hull) {
  tbi_solid solid = random_solid(r, type, room);
  *hull = hull_random(r, rng_between(r, 0.1, 0.4));
  if (type == TABI_SHAPE_MESH) solid.mesh = hull;
  return solid;
}

static void couple_make(couple *c, rng *r, const tabi_shape_type type[2], double room) {
  c->a = make_solid(r, type[0], room, &c->hull_a);
  c->b = make_solid(r, type[1], room, &c->hull_b);
}

static void couple_free(couple *c) {
  hull_free(&c->hull_a);
  hull_free(&c->hull_b);
}

/* Directions on a spiral, then ever smaller steps around the best. */
static double search(const couple *c, v3 *normal) {
  const int count = 2000;
  double best = -DBL_MAX;
  for (int i = 0; i < count; ++i) {
    double z = 1 - (2 * i + 1.0) / count;
    double turn = 2.399963229728653 * i; /* the golden angle */
    double side = sqrt(1 - z * z);
    v3 n = v3_make(side * cos(turn), side * sin(turn), z);
    double gap = solid_gap_along(&c->a, &c->b, n);
    if (gap > best) {
      best = gap;
      *normal = n;
    }
  }
  rng r = rng_make(1);
  double step = 0.05;
  for (int i = 0; i < 400; ++i) {
    double aside[3];
    rng_direction(&r, aside, 3);
    v3 n = v3_axpy(*normal, step, v3_load(aside));
    n = v3_scale(1 / v3_norm(n), n);
    double gap = solid_gap_along(&c->a, &c->b, n);
    if (gap > best) {
      best = gap;
      *normal = n;
    }
    step *= 0.98;
  }
  return best;
}

/* The report of a couple; its deepest point is as deep as the solids are along the normal. */
static int32_t collide(const couple *c, double margin) {
  int32_t count = tbi_pair_collide(&c->a, &c->b, margin, points);
  check_manifold(&c->a, &c->b, margin, points, count);
  for (int32_t i = 0; i < count; ++i) {
    assert_true(v3_norm(v3_sub(points[i].normal, points[0].normal)) == 0);
    // ids of contacts have no room for more
    assert_in_range(points[i].feature, 0, 0xffff);
  }
  if (count > 0) {
    double along = solid_gap_along(&c->a, &c->b, points[0].normal);
    assert_near(min_gap(points, count), along, 1.1e-6);
  }
  return count;
}

/* Of bodies in each other there can be several ways out, and which is shortest is found by descent
 * from a few: a report may miss by more than 3 % twice in a hundred times. */
static void test_deep(void **state) {
  (void)state;
  int missed = 0;
  int total = 0;
  for (int pair = 0; pair < PAIRS; ++pair) {
    rng r = rng_make(200 + (uint64_t)pair);
    for (int trial = 0; trial < 80; ++trial) {
      couple c;
      v3 normal;
      couple_make(&c, &r, pairs[pair], 0.1);
      double best = search(&c, &normal);
      int32_t count = collide(&c, 0.01);
      if (best < -1e-4) {
        assert_true(count > 0);
        missed += min_gap(points, count) < 1.03 * best;
        ++total;
      }
      couple_free(&c);
    }
  }
  assert_true(total > 60 * PAIRS);
  assert_true(100 * missed <= 2 * total);
}

/* Bodies that just touch, overlap a little or are a little apart: what a simulation meets.  Where
 * they are apart, the report is exact. */
static void test_shallow(void **state) {
  (void)state;
  int missed = 0;
  for (int pair = 0; pair < PAIRS; ++pair) {
    rng r = rng_make(300 + (uint64_t)pair);
    for (int trial = 0; trial < 80; ++trial) {
      couple c;
      v3 normal;
      couple_make(&c, &r, pairs[pair], 0.3);
      double wanted = rng_between(&r, -3e-3, 8e-3);
      c.b.pos = v3_axpy(c.b.pos, wanted - search(&c, &normal), normal);
      double best = search(&c, &normal);
      int32_t count = collide(&c, 0.02);
      assert_true(count > 0);
      double error = best - min_gap(points, count);
      assert_true(error <= 1e-6 + fmax(0, -0.3 * best));
      missed += error > 1e-6 + fmax(0, -0.03 * best);
      couple_free(&c);
    }
  }
  assert_true(missed <= 80 * PAIRS / 100);
}

static void test_apart(void **state) {
  (void)state;
  for (int pair = 0; pair < PAIRS; ++pair) {
    rng r = rng_make(400 + (uint64_t)pair);
    for (int trial = 0; trial < 80; ++trial) {
      couple c;
      v3 normal;
      couple_make(&c, &r, pairs[pair], 1);
      double best = search(&c, &normal);
      double margin = rng_between(&r, 0.1, 1);
      int32_t count = collide(&c, margin);
      if (count == 0) assert_true(best > margin - 1e-5);
      if (best > margin) assert_int_equal(count, 0);
      if (count > 0 && best > 0) assert_true(min_gap(points, count) >= best - 1e-6);
      couple_free(&c);
    }
  }
}

static void test_swap_and_motion(void **state) {
  (void)state;
  for (int pair = 0; pair < PAIRS; ++pair) {
    rng r = rng_make(500 + (uint64_t)pair);
    for (int trial = 0; trial < 80; ++trial) {
      couple c;
      v3 normal;
      couple_make(&c, &r, pairs[pair], 0.3);
      double wanted = rng_between(&r, -3e-3, 8e-3);
      c.b.pos = v3_axpy(c.b.pos, wanted - search(&c, &normal), normal);
      check_swap(&c.a, &c.b, 0.01, 1e-4);
      tbi_frame motion = random_motion(&r, 1);
      couple moved = c;
      moved.a = solid_moved(&c.a, &motion);
      moved.b = solid_moved(&c.b, &motion);
      double min = min_gap(points, collide(&c, 0.01));
      assert_near(min, min_gap(points, collide(&moved, 0.01)), 1e-6);
      couple_free(&c);
    }
  }
}

/* Standing at depth 1e-5 with the normal up, ids and depths to stay. */
static int32_t rest(tbi_solid below, tbi_solid above) {
  rng r = rng_make(33);
  v3 up = v3_make(0, 0, 1);
  above.pos.z += -1e-5 - solid_gap_along(&below, &above, up);
  int32_t count = tbi_pair_collide(&below, &above, 1e-4, points);
  check_manifold(&below, &above, 1e-4, points, count);
  for (int32_t i = 0; i < count; ++i) {
    assert_near(points[i].normal.z, 1, 1e-12);
    assert_near(points[i].gap, -1e-5, 1e-9);
  }
  check_ids(&r, &below, &above, 1e-4);
  check_swap(&below, &above, 1e-4, 1e-4);
  return count;
}

static tbi_solid mesh_solid(const tabi_mesh_def *mesh) {
  tbi_solid solid = solid_make(TABI_SHAPE_MESH, 0, 0, 0);
  solid.mesh = mesh;
  return solid;
}

static void test_resting_cylinder(void **state) {
  (void)state;
  tbi_solid slab = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  tbi_solid can = solid_make(TABI_SHAPE_CYLINDER, 0.1, 0.3, 0);
  tbi_solid thin = solid_make(TABI_SHAPE_CYLINDER, 0.05, 0.3, 0);
  q4 lying = q_exp(v3_make(0, M_PI / 2, 0));
  assert_in_range(rest(slab, can), 3, 8);
  assert_in_range(rest(slab, solid_at(can, v3_make(0.48, 0.1, 0), q_identity())), 3, 8);
  assert_in_range(rest(can, thin), 3, 8);
  assert_in_range(rest(can, slab), 3, 8);
  assert_int_equal(rest(slab, solid_at(can, v3_zero(), lying)), 2);
  /* lying along another, and across */
  tbi_solid log = solid_at(can, v3_zero(), lying);
  assert_int_equal(rest(log, solid_at(thin, v3_make(0.1, 0, 0), lying)), 2);
  assert_int_equal(rest(log, solid_at(thin, v3_zero(), q_exp(v3_make(M_PI / 2, 0, 0)))), 1);
  /* round things on its cap */
  assert_int_equal(rest(can, solid_make(TABI_SHAPE_SPHERE, 0.1, 0, 0)), 1);
  tbi_solid pill = solid_make(TABI_SHAPE_CAPSULE, 0.03, 0.1, 0);
  assert_int_equal(rest(can, solid_at(pill, v3_zero(), lying)), 2);
}

/* A coin on its rim touches at the lowest point, wherever that is between the points of the rim. */
static void test_rim(void **state) {
  (void)state;
  tbi_solid slab = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  for (int i = 0; i < 50; ++i) {
    q4 spin = q_exp(v3_make(0, 0, 0.1 * i));
    q4 tilt = q_exp(v3_make(0.2, 0, 0));
    tbi_solid coin =
        solid_at(solid_make(TABI_SHAPE_CYLINDER, 0.1, 0.01, 0), v3_zero(), q_mul(tilt, spin));
    coin.pos.z = -1e-4 + 0.1 + solid_support(&coin, v3_make(0, 0, -1));
    int32_t count = tbi_pair_collide(&slab, &coin, 1e-3, points);
    assert_in_range(count, 1, 8);
    assert_near(min_gap(points, count), -1e-4, 1.1e-6);
  }
}

static void test_resting_hull(void **state) {
  (void)state;
  const double straight[4] = {1, 0, 0, 0};
  const double askew[4] = {0.5, 0.5, -0.5, 0.5};
  tbi_solid slab = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  tabi_mesh_def foot_mesh = hull_box(0.25, 0.1, 0.05, straight);
  tabi_mesh_def block_mesh = hull_box(0.4, 0.4, 0.4, askew);
  tbi_solid foot = mesh_solid(&foot_mesh);
  tbi_solid block = mesh_solid(&block_mesh);
  assert_int_equal(rest(slab, foot), 4);
  assert_int_equal(rest(block, foot), 4);
  assert_int_equal(rest(slab, solid_at(foot, v3_make(0.45, 0.1, 0), q_identity())), 4);
  // on its long edge, on a corner
  assert_int_equal(rest(slab, solid_at(foot, v3_zero(), q_exp(v3_make(0.7, 0, 0)))), 2);
  assert_int_equal(rest(slab, solid_at(foot, v3_zero(), q_exp(v3_make(0.7, 0.5, 0)))), 1);
  assert_int_equal(rest(foot, solid_make(TABI_SHAPE_SPHERE, 0.1, 0, 0)), 1);
  tbi_solid pill = solid_make(TABI_SHAPE_CAPSULE, 0.03, 0.1, 0);
  assert_int_equal(rest(block, solid_at(pill, v3_zero(), q_exp(v3_make(0, M_PI / 2, 0)))), 2);
  assert_in_range(rest(block, solid_make(TABI_SHAPE_CYLINDER, 0.1, 0.3, 0)), 3, 8);
  // edges across each other
  tbi_solid ridge = solid_at(block, v3_zero(), q_exp(v3_make(M_PI / 4, 0, 0)));
  assert_int_equal(rest(ridge, solid_at(foot, v3_zero(), q_exp(v3_make(0, M_PI / 4, 0)))), 1);
  hull_free(&foot_mesh);
  hull_free(&block_mesh);
}

/* A foot that lands a little askew has its four corners, each with a gap of its own. */
static void test_landing(void **state) {
  (void)state;
  const double straight[4] = {1, 0, 0, 0};
  tbi_solid slab = solid_make(TABI_SHAPE_BOX, 1, 1, 0.2);
  tabi_mesh_def mesh = hull_box(0.25, 0.1, 0.05, straight);
  tbi_solid foot =
      solid_at(mesh_solid(&mesh), v3_make(0, 0, 0.1 + 0.03), q_exp(v3_make(0.01, 0.02, 0)));
  assert_int_equal(tbi_pair_collide(&slab, &foot, 0.02, points), 4);
  for (int i = 0; i < 4; ++i) {
    assert_near(points[i].normal.z, 1, 1e-12);
    // the point is halfway between the slab's top and the corner
    assert_near(points[i].point.z, 0.1 + 0.5 * points[i].gap, 1e-12);
  }
  hull_free(&mesh);
}

/* A box given as a hull, in axes that are not its own, is the box. */
static void test_box_as_hull(void **state) {
  (void)state;
  rng r = rng_make(600);
  int missed = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    tbi_solid a = random_solid(&r, TABI_SHAPE_BOX, 0.25);
    tbi_solid b = random_solid(&r, TABI_SHAPE_BOX, 0.25);
    q4 inside = random_rotation(&r);
    m3 rot = q_matrix(inside);
    double quat[4];
    q_store(inside, quat);
    tabi_mesh_def mesh = hull_box(2 * b.half[0], 2 * b.half[1], 2 * b.half[2], quat);
    tbi_solid hull = mesh_solid(&mesh);
    hull.pos = b.pos;
    // axes of the mesh such that the box inside stands as b does
    for (int k = 0; k < 3; ++k)
      hull.axis[k] = tbi_solid_world(&b, m3_row(&rot, k));
    double separation = box_box_separation(&a, &b);
    double best = separation > 0 ? box_box_distance(&a, &b) : separation;
    int32_t count = tbi_pair_collide(&a, &hull, 0.1, points);
    check_manifold(&a, &hull, 0.1, points, count);
    if (best < 0.1 - 1e-6) {
      assert_true(count > 0);
      double min = min_gap(points, count);
      assert_true(min <= best + 1e-6);
      if (best > 0) assert_near(min, best, 1e-6);
      missed += best < 0 && min < 1.03 * best - 1e-6;
    }
    hull_free(&mesh);
  }
  assert_true(missed <= 15);
}

static void check_odd(tbi_solid a, tbi_solid b) {
  int32_t count = tbi_pair_collide(&a, &b, 0.01, points);
  check_manifold(&a, &b, 0.01, points, count);
  assert_true(count > 0);
  for (int32_t i = 0; i < count; ++i)
    assert_true(isfinite(points[i].gap) && isfinite(points[i].point.x));
}

static void test_odd_shapes(void **state) {
  (void)state;
  const double straight[4] = {1, 0, 0, 0};
  tabi_mesh_def mesh = hull_box(0.2, 0.2, 0.2, straight);
  tabi_mesh_def plate_mesh = hull_box(5, 5, 1e-3, straight);
  tbi_solid cube = mesh_solid(&mesh);
  tbi_solid plate = mesh_solid(&plate_mesh);
  tbi_solid can = solid_make(TABI_SHAPE_CYLINDER, 0.1, 0.2, 0);
  tbi_solid point = solid_make(TABI_SHAPE_SPHERE, 0, 0, 0);
  tbi_solid needle = solid_make(TABI_SHAPE_CYLINDER, 1e-4, 2, 0);
  tbi_solid floor = solid_make(TABI_SHAPE_BOX, 1000, 1000, 1);
  // in the same place, in the same way
  check_odd(cube, cube);
  check_odd(can, can);
  check_odd(can, cube);
  check_odd(point, can);
  check_odd(point, cube);
  check_odd(needle, cube);
  check_odd(needle, needle);
  check_odd(plate, needle);
  check_odd(plate, plate);
  check_odd(floor, plate);
  // near the edge of a wide floor, where centres say nothing of the way out
  tbi_solid far = solid_at(cube, v3_make(499.95, 499.9, 0.599), q_identity());
  check_odd(floor, far);
  assert_near(points[0].normal.z, 1, 1e-12);
  assert_near(min_gap(points, 1), -1e-3, 1e-9);
  tbi_solid edge = solid_at(cube, v3_make(2.45, 2.4, 0.1), q_exp(v3_make(0, 0, 0.3)));
  check_odd(plate, edge);
  assert_near(fabs(points[0].normal.z), 1, 1e-12);
  hull_free(&mesh);
  hull_free(&plate_mesh);
}

/* Under the address sanitizer every allocation of the process can be heard, libccd's included;
 * other builds leave this test out. */
#ifdef __SANITIZE_ADDRESS__
int __sanitizer_install_malloc_and_free_hooks( // NOLINT
    void (*on_malloc)(const volatile void *, size_t), void (*on_free)(const volatile void *));
static int heard;
static void hear_malloc(const volatile void *block, size_t size) {
  (void)block;
  (void)size;
  ++heard;
}
static void hear_free(const volatile void *block) { (void)block; }

static void test_no_allocation(void **state) {
  (void)state;
  (void)__sanitizer_install_malloc_and_free_hooks(hear_malloc, hear_free);
  for (int pair = 0; pair < PAIRS; ++pair) {
    rng r = rng_make(700 + (uint64_t)pair);
    for (int trial = 0; trial < 20; ++trial) {
      couple c;
      couple_make(&c, &r, pairs[pair], 0.2);
      heard = 0;
      (void)tbi_pair_collide(&c.a, &c.b, 0.05, points);
      assert_int_equal(heard, 0);
      couple_free(&c);
      void *volatile block = malloc(1);
      assert_int_equal(heard, 1);
      free(block);
    }
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deep),
      cmocka_unit_test(test_shallow),
      cmocka_unit_test(test_apart),
      cmocka_unit_test(test_swap_and_motion),
      cmocka_unit_test(test_resting_cylinder),
      cmocka_unit_test(test_rim),
      cmocka_unit_test(test_resting_hull),
      cmocka_unit_test(test_landing),
      cmocka_unit_test(test_box_as_hull),
      cmocka_unit_test(test_odd_shapes),
#ifdef __SANITIZE_ADDRESS__
      cmocka_unit_test(test_no_allocation),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
