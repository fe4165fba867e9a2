/* test_edges.c - how faces, edges and corners of boxes and hulls meet, against directions sown on a
 * sphere.
 *
 * Along a unit direction n the gap of two bodies is what lies between their farthest points; bodies
 * that touch are parted by the n for which it is largest.  Where a corner is on a face or two edges
 * cross, there is one such direction.  Where parallel edges meet there is a fan of them, and the
 * contact normal has to be its middle: all else would prefer one of the bodies. */
#include "collision/hulls.h"
#include "collision/solids.h"
#include "support/near.h"

#define DEEP 1e-5

static tbi_pair_point points[TBI_PAIR_ROOM];

/* Two boxes, the second or both as hulls. */
typedef struct couple {
  tbi_solid a, b;  /* boxes, by which all is measured */
  tbi_solid as[2]; /* what is given to collision */
  tabi_mesh_def hull[2];
} couple;

static tbi_solid hull_of(const tbi_solid *box, tabi_mesh_def *hull) {
  const double straight[4] = {1, 0, 0, 0};
  *hull = hull_box(2 * box->half[0], 2 * box->half[1], 2 * box->half[2], straight);
  tbi_solid solid = *box;
  solid.type = TABI_SHAPE_MESH;
  solid.mesh = hull;
  return solid;
}

/* kind 0: boxes; 1: box and hull; 2: hulls */
static void couple_make(couple *c, tbi_solid a, tbi_solid b, int kind) {
  *c = (couple){
      .a = a, .b = b, .as = {a, b}
  };
  if (kind > 1) c->as[0] = hull_of(&a, &c->hull[0]);
  if (kind > 0) c->as[1] = hull_of(&b, &c->hull[1]);
}

static void couple_free(couple *c) {
  for (int i = 0; i < 2; ++i) {
    if (c->hull[i].vertices) hull_free(&c->hull[i]);
  }
}

static int32_t collide(const couple *c) {
  int32_t count = tbi_pair_collide(&c->as[0], &c->as[1], 1e-3, points);
  assert_true(count > 0);
  return count;
}

/* b moved along n until it is so deep in a */
static tbi_solid press(const tbi_solid *a, tbi_solid b, v3 n, double deep) {
  b.pos = v3_axpy(b.pos, -solid_gap_along(a, &b, n) - deep, n);
  return b;
}

/* No direction of many parts them better than the one that is reported. */
static void check_sown(rng *r, const couple *c, double slack) {
  double gap = solid_gap_along(&c->a, &c->b, points[0].normal);
  for (int i = 0; i < 3000; ++i) {
    double way[3];
    rng_direction(r, way, 3);
    v3 n = v3_load(way);
    /* as well all around as close to the one reported */
    if (i & 1) n = v3_axpy(points[0].normal, 0.1, n);
    n = v3_scale(1 / v3_norm(n), n);
    assert_true(solid_gap_along(&c->a, &c->b, n) <= gap + slack);
  }
}

static tbi_solid random_box(rng *r) {
  return solid_at(random_solid(r, TABI_SHAPE_BOX, 0), v3_zero(), q_identity());
}

/* A box above another's face, turned at random, with its lowest corner over the face; with a turn
 * about an edge of it only, that edge is lowest; without, a face. */
static void above_face(couple *c, rng *r, int kind, int feature) {
  tbi_solid a = random_box(r);
  tbi_solid b = random_box(r);
  v3 up = v3_make(0, 0, 1);
  double spin = rng_between(r, 0, 6);
  q4 turn = q_exp(v3_make(0, 0, spin));
  if (feature == 1) turn = q_mul(turn, q_exp(v3_make(rng_between(r, 0.3, 1.2), 0, 0)));
  if (feature == 0) turn = random_rotation(r);
  b = press(&a, solid_at(b, v3_zero(), turn), up, DEEP);
  /* that corner, or the middle of what is lowest, over the middle of the face */
  v3 low = v3_zero();
  for (int i = 0; i < 3; ++i) {
    double along = v3_dot(b.axis[i], up);
    if (fabs(along) > 1e-9) low = v3_axpy(low, along > 0 ? -b.half[i] : b.half[i], b.axis[i]);
  }
  b.pos.x = -low.x;
  b.pos.y = -low.y;
  couple_make(c, a, b, kind);
}

/* A corner, an edge or a face on a face: the normal is the face's. */
static void test_on_face(void **state) {
  (void)state;
  rng r = rng_make(81);
  for (int trial = 0; trial < 300; ++trial) {
    int feature = trial % 3;
    couple c;
    above_face(&c, &r, trial / 3 % 3, feature);
    int32_t count = collide(&c);
    assert_near(points[0].normal.z, 1, 1e-9);
    assert_near(min_gap(points, count), -DEEP, 1e-8);
    check_sown(&r, &c, 1e-9);
    couple_free(&c);
  }
}

/* Edges that cross: square to both. */
static void test_crossing(void **state) {
  (void)state;
  rng r = rng_make(82);
  for (int trial = 0; trial < 300; ++trial) {
    q4 lean_a = q_exp(v3_make(rng_between(&r, 0.5, 1), 0, 0));
    q4 lean_b = q_exp(v3_make(rng_between(&r, 0.5, 1), 0, 0));
    q4 turn = q_exp(v3_make(0, 0, rng_between(&r, 0.4, 2.7)));
    tbi_solid a = solid_at(random_box(&r), v3_zero(), lean_a);
    tbi_solid b = solid_at(random_box(&r), v3_zero(), q_mul(turn, lean_b));
    /* crests one above the other */
    v3 up = v3_make(0, 0, 1);
    v3 crest_a = v3_axpy(v3_scale(a.half[1], a.axis[1]), a.half[2], a.axis[2]);
    v3 crest_b = v3_axpy(v3_scale(b.half[1], b.axis[1]), b.half[2], b.axis[2]);
    b.pos = v3_add(crest_a, crest_b);
    b = press(&a, b, up, DEEP);
    couple c;
    couple_make(&c, a, b, trial % 3);
    int32_t count = collide(&c);
    assert_int_equal(count, 1);
    assert_near(points[0].normal.z, 1, 1e-8);
    assert_near(points[0].gap, -DEEP, 1e-8);
    check_sown(&r, &c, 1e-9);
    couple_free(&c);
  }
}

/* Crests along x that meet, each leaning as it likes, at the origin. */
static void crests(couple *c, tbi_solid a, tbi_solid b, const double lean[2], v3 shift, int kind) {
  a = solid_at(a, v3_zero(), q_exp(v3_make(lean[0], 0, 0)));
  b = solid_at(b, v3_zero(), q_exp(v3_make(lean[1], 0, 0)));
  a.pos = v3_neg(v3_axpy(v3_scale(a.half[1], a.axis[1]), a.half[2], a.axis[2]));
  b.pos = v3_add(v3_axpy(v3_scale(b.half[1], b.axis[1]), b.half[2], b.axis[2]), shift);
  couple_make(c, a, b, kind);
}

/* The ends of the fan of directions in the plane across x that part bodies which touch. */
static void find_fan(const couple *c, double fan[2]) {
  fan[0] = INFINITY;
  fan[1] = -INFINITY;
  for (int i = 0; i < 20000; ++i) {
    double angle = M_PI * (i + 0.5) / 20000;
    v3 n = v3_make(0, cos(angle), sin(angle));
    if (solid_gap_along(&c->a, &c->b, n) < -1e-9) continue;
    fan[0] = fmin(fan[0], angle);
    fan[1] = fmax(fan[1], angle);
  }
  assert_true(fan[0] < fan[1]);
}

static double angle_of(v3 normal) { return atan2(normal.z, normal.y); }

/* Two points touch, at the ends of the shorter edge; others of hulls are above. */
static void check_ends(const couple *c, int32_t count) {
  double end = tbi_min(c->a.half[0], c->b.half[0]);
  double sum = 0;
  int touching = 0;
  for (int32_t i = 0; i < count; ++i) {
    assert_true(points[i].gap > -1e-8);
    if (points[i].gap > 1e-8) continue;
    assert_near(fabs(points[i].point.x), end, 1.1e-6);
    sum += points[i].point.x;
    ++touching;
  }
  assert_int_equal(touching, 2);
  assert_near(sum, 0, 1e-9);
}

/* Parallel edges that touch: the middle of the fan for boxes, and for hulls a direction inside of
 * it; the same, turned round, when they are swapped. */
static void test_parallel(void **state) {
  (void)state;
  rng r = rng_make(83);
  for (int trial = 0; trial < 600; ++trial) {
    int kind = trial % 3;
    const double lean[2] = {rng_between(&r, 0.3, 1.3), rng_between(&r, 0.3, 1.3)};
    if (fabs(lean[0] - lean[1]) < 0.05) continue; /* a face on a face */
    tbi_solid a = random_box(&r);
    couple c;
    crests(&c, a, random_box(&r), lean, v3_zero(), kind);
    double fan[2];
    find_fan(&c, fan);
    int32_t count = collide(&c);
    double angle = angle_of(points[0].normal);
    check_ends(&c, count);
    assert_near(points[0].normal.x, 0, 1e-6);
    if (kind == 0) {
      assert_near(angle, 0.5 * (fan[0] + fan[1]), 4e-4);
    } else {
      assert_true(angle > fan[0] - 4e-4 && angle < fan[1] + 4e-4);
    }
    v3 normal = points[0].normal;
    tbi_pair_point swapped[TBI_PAIR_ROOM];
    assert_true(tbi_pair_collide(&c.as[1], &c.as[0], 1e-3, swapped) >= 2);
    assert_true(v3_norm(v3_add(normal, swapped[0].normal)) < (kind == 0 ? 1e-12 : 1e-6));
    couple_free(&c);
  }
}

/* Mirror images lean against each other along the line between them, however deep. */
static void test_mirrored(void **state) {
  (void)state;
  rng r = rng_make(84);
  for (int trial = 0; trial < 300; ++trial) {
    double lean = rng_between(&r, 0.1, 0.7);
    double deep = trial % 2 == 0 ? 0 : rng_between(&r, 0, 2e-5);
    tbi_solid box = solid_make(TABI_SHAPE_BOX, 0.1, 0.02, rng_between(&r, 0.05, 0.2));
    tbi_solid a = solid_at(box, v3_zero(), q_exp(v3_make(-lean, 0, 0)));
    tbi_solid b = solid_at(box, v3_zero(), q_exp(v3_make(lean, 0, 0)));
    b = press(&a, b, v3_make(0, 1, 0), deep);
    couple c;
    couple_make(&c, a, b, trial % 3 == 1 ? 2 : 0);
    int32_t count = collide(&c);
    assert_int_equal(count, 2);
    assert_near(points[0].normal.y, 1, 1e-9);
    /* the shortest way out is along a face's normal */
    assert_near(points[0].gap, -deep * cos(lean), 1e-9);
    couple_free(&c);
  }
}

/* As one edge slides over the other, from face to face and as deep all the way, the normal turns
 * without a jump. */
static void test_steady(void **state) {
  (void)state;
  const double step = 1e-7;
  const double face[2] = {1.0, 0.5 + M_PI / 2}; /* angles of the faces' normals */
  tbi_solid a = solid_make(TABI_SHAPE_BOX, 0.1, 0.04, 0.1);
  tbi_solid b = solid_make(TABI_SHAPE_BOX, 0.2, 0.06, 0.3);
  double last = NAN;
  double low = INFINITY;
  double high = -INFINITY;
  for (int i = -6000; i <= 6000; ++i) {
    double y = i * step;
    double z =
        fmin((-DEEP - cos(face[0]) * y) / sin(face[0]), (-DEEP - cos(face[1]) * y) / sin(face[1]));
    couple c;
    crests(&c, a, b, (const double[2]){0.5, 1.0}, v3_make(0, y, z), 0);
    (void)collide(&c);
    double angle = angle_of(points[0].normal);
    if (i > -6000) assert_true(fabs(angle - last) < 1e-3);
    last = angle;
    low = fmin(low, angle);
    high = fmax(high, angle);
    couple_free(&c);
  }
  /* from one face's normal to the other's, through all of the fan */
  assert_near(low, face[0], 1e-9);
  assert_near(high, face[1], 1e-9);
}

/* Boxes, hulls and capsules that are alike and close to each other, some flat on each other but for
 * noise: which comes first changes no bit. */
static void test_order(void **state) {
  (void)state;
  rng r = rng_make(85);
  for (int trial = 0; trial < 2000; ++trial) {
    tbi_solid a = random_solid(&r, trial % 4 == 3 ? TABI_SHAPE_CAPSULE : TABI_SHAPE_BOX, 0);
    tbi_solid b = a;
    double turn[3];
    rng_fill(&r, trial % 4 < 2 ? 1e-7 : 1, turn, 3);
    tbi_frame motion = {q_matrix(q_exp(v3_load(turn))), v3_zero()};
    b = solid_moved(&b, &motion);
    b = press(&a, b, a.axis[rng_below(&r, 3)], rng_between(&r, -1e-5, 1e-5));
    couple c;
    couple_make(&c, a, b, trial % 3 == 2 && a.type == TABI_SHAPE_BOX ? 2 : 0);
    tbi_pair_point swapped[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&c.as[0], &c.as[1], 1e-3, points);
    assert_int_equal(tbi_pair_collide(&c.as[1], &c.as[0], 1e-3, swapped), count);
    for (int32_t i = 0; i < count; ++i) {
      assert_true(v3_norm(v3_add(points[i].normal, swapped[i].normal)) == 0);
      assert_true(v3_norm(v3_sub(points[i].point, swapped[i].point)) == 0);
      assert_true(points[i].gap == swapped[i].gap && points[i].feature == swapped[i].feature);
    }
    couple_free(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_on_face),  cmocka_unit_test(test_crossing),
      cmocka_unit_test(test_parallel), cmocka_unit_test(test_mirrored),
      cmocka_unit_test(test_steady),   cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
