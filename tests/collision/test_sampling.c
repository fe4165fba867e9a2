/* test_sampling.c - all closed forms against nothing but points sown on the surfaces.
 *
 * A point of b inside of a proves that they overlap; the nearest point of b outside of a bounds
 * their distance from above, and is nearer than that by less than the points are apart. */
#include "collision/solids.h"
#include "support/near.h"

#define SAMPLES 1500

/* a point on the surface */
static v3 sown(rng *r, const tbi_solid *s) {
  double way[3];
  double p[3];
  rng_direction(r, way, 3);
  if (s->type == TABI_SHAPE_BOX) {
    int face = rng_below(r, 6);
    for (int i = 0; i < 3; ++i)
      p[i] = rng_between(r, -s->half[i], s->half[i]);
    p[face >> 1] = face & 1 ? s->half[face >> 1] : -s->half[face >> 1];
  } else {
    double half = s->type == TABI_SHAPE_CAPSULE ? s->half[2] : 0;
    /* half of them on the caps, half on the side */
    bool side = half > 0 && rng_below(r, 2) == 0;
    double flat = side ? hypot(way[0], way[1]) : 1;
    for (int i = 0; i < 3; ++i)
      p[i] = s->half[0] * way[i] / flat;
    p[2] = side ? rng_between(r, -half, half) : p[2] + copysign(half, p[2]);
  }
  return v3_add(s->pos, tbi_solid_world(s, v3_load(p)));
}

/* how far a point is outside; negative inside of planes and round things, 0 inside of boxes */
static double outside(const tbi_solid *s, v3 p) {
  if (s->type == TABI_SHAPE_PLANE) return v3_dot(s->axis[2], v3_sub(p, s->pos));
  if (s->type == TABI_SHAPE_BOX) return box_distance(s, p);
  return core_distance(s, p) - s->half[0];
}

static void check_pair(rng *r, const tbi_solid *a, const tbi_solid *b) {
  double nearest = INFINITY;
  for (int i = 0; i < SAMPLES; ++i)
    nearest = fmin(nearest, outside(a, sown(r, b)));
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(a, b, 10, points);
  assert_true(count > 0);
  double gap = min_gap(points, count);
  if (nearest <= 0) {
    assert_true(gap <= 0);
  } else {
    /* 5 % for faces that are preferred */
    assert_true(gap <= 1.06 * nearest + 1e-6);
    if (gap > 0) assert_true(gap > nearest - 0.12);
  }
}

static void test_samples(void **state) {
  (void)state;
  static const tabi_shape_type types[] = {TABI_SHAPE_PLANE, TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
                                          TABI_SHAPE_BOX};
  rng r = rng_make(71);
  for (int trial = 0; trial < 300; ++trial) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 1; j < 4; ++j) {
        tbi_solid a = random_solid(&r, types[i], 0.4);
        tbi_solid b = random_solid(&r, types[j], 0.4);
        check_pair(&r, &a, &b);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
