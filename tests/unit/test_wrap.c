/* test_wrap.c - paths around and through spheres and cylinders: that they are the shortest, touch
 * as tangents, and change as their derivatives say. */
#include "dynamics/wrap.h"

#include "math/quat.h"
#include "support/near.h"
#include "support/rng.h"

#include <math.h>

#define TRIALS 3000

typedef enum kind { PLAIN, SIDED, INSIDE } kind;

static v3 random_vector(rng *r, double size) {
  return v3_make(rng_between(r, -size, size), rng_between(r, -size, size),
                 rng_between(r, -size, size));
}

static tbi_obstacle random_obstacle(rng *r, bool cylinder, kind what) {
  tbi_obstacle o = {
      .radius = rng_between(r, 0.05, 0.4), .cylinder = cylinder, .sided = what != PLAIN};
  v3 side = random_vector(r, 1);
  double distance = what == INSIDE ? 0.3 : 3;
  if (o.sided) o.side = v3_scale(distance * o.radius / v3_norm(side), side);
  return o;
}

/* The whole length; the way of touching must not change near by. */
static double length_of(const tbi_obstacle *o, v3 a, v3 b, tbi_wrap *wrap, bool *wraps) {
  *wraps = tbi_wrap_find(o, a, b, wrap);
  if (!*wraps) return v3_norm(v3_sub(b, a));
  return v3_norm(v3_sub(wrap->touch[0], a)) + wrap->length + v3_norm(v3_sub(b, wrap->touch[1]));
}

static v3 moved(const tbi_wrap_end *at, double t) {
  return v3_axpy(v3_axpy(at->x, t, at->v), 0.5 * t * t, at->a);
}

/* A central difference of fourth order. */
static bool second_difference(const tbi_obstacle *o, const tbi_wrap_end ends[2], double *second) {
  static const double weight[] = {-1, 16, -30, 16, -1};
  const double h = 2e-3;
  double turn = 0;
  *second = 0;
  for (int i = 0; i < 5; ++i) {
    tbi_wrap wrap;
    bool wraps;
    double t = (i - 2) * h;
    double length = length_of(o, moved(&ends[0], t), moved(&ends[1], t), &wrap, &wraps);
    if (!wraps || (i > 0 && wrap.turn != turn)) return false;
    turn = wrap.turn;
    *second += weight[i] * length / (12 * h * h);
  }
  return true;
}

/* What the obstacle pushes with along its surface: nothing, at either end. */
static void assert_tangent(const tbi_obstacle *o, const tbi_wrap *wrap, v3 a, v3 b) {
  const v3 ends[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    v3 p = wrap->touch[i];
    v3 out = o->cylinder ? v3_make(p.x, p.y, 0) : p;
    v3 way = v3_sub(ends[i], p);
    assert_near(v3_norm(out), o->radius, 1e-12);
    if (v3_norm(way) > 1e-6) assert_near(v3_dot(way, out) / (v3_norm(way) * o->radius), 0, 1e-9);
  }
}

/* At a corner both parts meet the surface at one angle, and lie in a plane with its normal. */
static void assert_mirrored(const tbi_obstacle *o, const tbi_wrap *wrap, v3 a, v3 b) {
  v3 p = wrap->touch[0];
  v3 out = o->cylinder ? v3_make(p.x, p.y, 0) : p;
  v3 in = v3_sub(p, a);
  v3 on = v3_sub(b, p);
  v3 bend = v3_sub(v3_scale(1 / v3_norm(in), in), v3_scale(1 / v3_norm(on), on));
  assert_near(wrap->length, 0, 0);
  assert_near(v3_norm(v3_cross(bend, out)) / o->radius, 0, 1e-7);
}

static void try_kind(rng *r, bool cylinder, kind what) {
  int wrapped = 0;
  for (int i = 0; i < TRIALS; ++i) {
    tbi_obstacle o = random_obstacle(r, cylinder, what);
    tbi_wrap_end ends[2];
    for (int k = 0; k < 2; ++k) {
      ends[k] = (tbi_wrap_end){random_vector(r, 1), random_vector(r, 0.3), random_vector(r, 0.3)};
      if (cylinder) continue;
      // not on a line with the centre, where any plane would do
      if (v3_norm(ends[k].x) < 1.2 * o.radius) ends[k].x = v3_make(1, 0.1 * k, 0.2);
    }
    tbi_wrap wrap;
    bool wraps;
    double second = 0;
    double length = length_of(&o, ends[0].x, ends[1].x, &wrap, &wraps);
    double straight = v3_norm(v3_sub(ends[1].x, ends[0].x));
    assert_true(length >= straight - 1e-12);
    if (!wraps) continue;
    ++wrapped;
    if (wrap.inside) {
      assert_mirrored(&o, &wrap, ends[0].x, ends[1].x);
    } else {
      assert_tangent(&o, &wrap, ends[0].x, ends[1].x);
    }
    double sine =
        v3_norm(v3_cross(ends[0].x, ends[1].x)) / (v3_norm(ends[0].x) * v3_norm(ends[1].x));
    double near = fmin(hypot(ends[0].x.x, ends[0].x.y), hypot(ends[1].x.x, ends[1].x.y));
    if (sine < 0.1 || near < 1.3 * o.radius) continue; // differences are of no use there
    if (!second_difference(&o, ends, &second)) continue;
    assert_near(tbi_wrap_drift(&o, &wrap, &ends[0], &ends[1]), second, 1e-4 * (1 + fabs(second)));
  }
  assert_true(wrapped > TRIALS / 20);
}

static void test_paths(void **state) {
  (void)state;
  rng r = rng_make(7);
  for (int cylinder = 0; cylinder < 2; ++cylinder) {
    try_kind(&r, cylinder, PLAIN);
    try_kind(&r, cylinder, SIDED);
    try_kind(&r, cylinder, INSIDE);
  }
}

/* Half around a cylinder, evenly rising: a helix between two straight parts. */
static void test_helix(void **state) {
  (void)state;
  const tbi_obstacle drum = {.radius = 0.1, .cylinder = true};
  tbi_wrap wrap;
  v3 a = v3_make(-1, 0.1, 0);
  v3 b = v3_make(-1, -0.1, 3);
  assert_false(tbi_wrap_find(&drum, v3_make(-1, 0.2, 0), v3_make(1, 0.2, 0), &wrap));
  const tbi_obstacle sided = {
      .radius = 0.1, .cylinder = true, .sided = true, .side = {1, 0, 0}
  };
  assert_true(tbi_wrap_find(&sided, a, b, &wrap));
  double flat = 2 + 0.1 * M_PI;
  assert_near(wrap.touch[0].x, 0, 1e-15);
  assert_near(wrap.touch[0].z, 3 / flat, 1e-12);
  assert_near(wrap.length, hypot(0.1 * M_PI, 0.1 * M_PI * 3 / flat), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths), cmocka_unit_test(test_helix)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
