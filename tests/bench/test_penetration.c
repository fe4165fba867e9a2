/* test_penetration.c - penetration as the benchmarks measure it for all engines, against closed
 * forms, and against every direction there is. */
#include "penetration.h"
#include "support/near.h"
#include "support/rng.h"

#include <string.h>

static tbi_solid solid(int32_t kind, double a, double b, double c) {
  return (tbi_solid){
      .kind = kind, .size = {a,         b,         c        },
           .rot = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
  };
}

static tbi_solid moved(tbi_solid s, double x, double y, double z) {
  const double pos[3] = {x, y, z};
  memcpy(s.pos, pos, sizeof pos);
  return s;
}

/* Turned about an axis by an angle. */
static tbi_solid turned(tbi_solid s, int axis, double angle) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  s.rot[i][i] = s.rot[j][j] = cos(angle);
  s.rot[i][j] = -sin(angle);
  s.rot[j][i] = sin(angle);
  return s;
}

static void planes(void **state) {
  (void)state;
  tbi_solid floor = solid(TBI_NEUTRAL_PLANE, 0, 0, 0), box = solid(TBI_NEUTRAL_BOX, 0.2, 0.4, 0.6);
  tbi_solid ball = moved(solid(TBI_NEUTRAL_SPHERE, 0.1, 0, 0), 3, 4, 0.09);
  assert_near(tbi_penetration(&floor, &ball), 0.01, 1e-15);
  assert_near(tbi_penetration(&ball, &floor), 0.01, 1e-15);
  box = moved(turned(box, 0, 0.3), 0, 0, 0.3);
  assert_near(tbi_penetration(&floor, &box), 0.3 * cos(0.3) + 0.2 * sin(0.3) - 0.3, 1e-15);
  tbi_solid rod = moved(turned(solid(TBI_NEUTRAL_CAPSULE, 0.1, 1, 0), 1, 0.4), 0, 0, 0.5);
  assert_near(tbi_penetration(&floor, &rod), 0.5 * cos(0.4) + 0.1 - 0.5, 1e-15);
  tbi_solid drum = moved(turned(solid(TBI_NEUTRAL_CYLINDER, 0.1, 1, 0), 1, 0.4), 0, 0, 0.4);
  assert_near(tbi_penetration(&floor, &drum), 0.5 * cos(0.4) + 0.1 * sin(0.4) - 0.4, 1e-15);
  floor = moved(turned(floor, 1, 0.2), 0, 0, 1);
  assert_near(tbi_penetration(&floor, &ball), 0.1 - 3 * sin(0.2) + 0.91 * cos(0.2), 1e-14);
}

static void round_shapes(void **state) {
  (void)state;
  tbi_solid a = solid(TBI_NEUTRAL_SPHERE, 0.1, 0, 0), rod = solid(TBI_NEUTRAL_CAPSULE, 0.05, 1, 0);
  tbi_solid b = moved(a, 0.1, 0, 0.1);
  assert_near(tbi_penetration(&a, &b), 0.2 - sqrt(0.02), 1e-12);
  b = moved(a, 0.12, 0, 0.4);
  assert_near(tbi_penetration(&rod, &b), 0.03, 1e-9);
  b = moved(a, 0, 0, 0.62);
  assert_near(tbi_penetration(&b, &rod), 0.03, 1e-9);
  tbi_solid cross = moved(turned(rod, 0, 1), 0.09, 0, 0.1);
  assert_near(tbi_penetration(&rod, &cross), 0.01, 1e-9);
  cross = moved(cross, 0.11, 0, 0.1);
  assert_near(tbi_penetration(&rod, &cross), 0, 1e-15);
  // through a box: out by its middle face, and out of a ball that is deep inside
  tbi_solid box = solid(TBI_NEUTRAL_BOX, 0.4, 0.6, 0.8);
  assert_near(tbi_penetration(&rod, &box), 0.25, 1e-9);
  b = moved(a, 0.15, 0, 0);
  assert_near(tbi_penetration(&box, &b), 0.15, 1e-9);
  b = moved(a, 0.2 + 0.05, 0.3 + 0.05, 0);
  assert_near(tbi_penetration(&box, &b), 0.1 - sqrt(0.005), 1e-9);
}

static void boxes(void **state) {
  (void)state;
  tbi_solid a = solid(TBI_NEUTRAL_BOX, 1, 1, 1), b = moved(a, 0.95, 0.3, -0.2);
  assert_near(tbi_penetration(&a, &b), 0.05, 1e-15);
  // two beams whose edges cross
  tbi_solid lower = turned(solid(TBI_NEUTRAL_BOX, 4, 1, 1), 0, atan(1));
  tbi_solid upper = moved(turned(solid(TBI_NEUTRAL_BOX, 1, 4, 1), 1, atan(1)), 0, 0, 1.4);
  assert_near(tbi_penetration(&lower, &upper), sqrt(2) - 1.4, 1e-14);
  upper = moved(upper, 0, 0, 1.42);
  assert_near(tbi_penetration(&lower, &upper), 0, 1e-15);
}

static double reach(const tbi_solid *s, const double along[3]) {
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += s->size[k] / 2 *
           fabs(s->rot[0][k] * along[0] + s->rot[1][k] * along[1] + s->rot[2][k] * along[2]);
  return sum;
}

static tbi_solid random_box(rng *r, double spread) {
  double q[4], pos[3];
  for (int k = 0; k < 4; ++k)
    q[k] = rng_unit(r) - 0.5;
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  tbi_neutral_shape shape = {.body = -1, .kind = TBI_NEUTRAL_BOX};
  for (int k = 0; k < 3; ++k) {
    pos[k] = spread * (rng_unit(r) - 0.5);
    shape.size[k] = 0.5 + rng_unit(r);
  }
  for (int k = 0; k < 4; ++k)
    shape.quat[k] = q[k] / n;
  memcpy(shape.pos, pos, sizeof pos);
  const tbi_neutral_scene neutral = {.nshape = 1, .shape = &shape};
  return tbi_solid_at(&neutral, 0, NULL);
}

/* The shortest way out is the least overlap over all directions: none of many is shorter, and some
 * come near. */
static void boxes_any_way(void **state) {
  (void)state;
  rng r = rng_make(5);
  int deep = 0;
  for (int n = 0; n < 40; ++n) {
    tbi_solid a = random_box(&r, 0), b = random_box(&r, 2);
    double found = tbi_penetration(&a, &b), min = HUGE_VAL;
    for (int k = 0; k < 4000; ++k) {
      double u[3], off = 0;
      for (int i = 0; i < 3; ++i)
        u[i] = 2 * rng_unit(&r) - 1;
      double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
      for (int i = 0; i < 3; ++i) {
        u[i] /= length;
        off += u[i] * (b.pos[i] - a.pos[i]);
      }
      min = fmin(min, reach(&a, u) + reach(&b, u) - fabs(off));
    }
    assert_true(fmax(min, 0) >= found - 1e-12);
    if (min > 0) assert_near(found, min, 0.1);
    deep += found > 0.1;
  }
  assert_true(deep >= 10);
}

/* Shapes move with the com of their bodies and turn with them; neighbours and other groups are not
 * judged. */
static void scenes(void **state) {
  (void)state;
  tbi_neutral_body body[3] = {
      {.parent = -1, .joint = TBI_NEUTRAL_FREE, .com = {0, 0, 1}},
      {.parent = 0,            .joint = TBI_NEUTRAL_HINGE                          },
      {.parent = -1,            .joint = TBI_NEUTRAL_FREE}
  };
  tbi_neutral_shape shape[3] = {
      {.body = 0,
       .kind = TBI_NEUTRAL_SPHERE,
       .pos = {0, 0, 2},
       .quat = {1},
       .size = {0.5},
       .group = 1                                                                              },
      {.body = 1, .kind = TBI_NEUTRAL_SPHERE, .quat = {1}, .size = {0.5}, .group = 1, .mask = 1},
      {.body = 2, .kind = TBI_NEUTRAL_SPHERE, .quat = {1}, .size = {0.5}, .group = 2, .mask = 1}
  };
  const tbi_neutral_scene neutral = {.nbody = 3, .nshape = 3, .body = body, .shape = shape};
  double root = sqrt(0.5), deepest = 0, squares = 0;
  /* the first turned by 90 degrees about x: z becomes -y, so its ball is at (0, -1, 5) */
  tbi_neutral_state at[3] = {
      {.com = {0, 0, 5},    .quat = {root, root, 0, 0}},
      {.com = {0, -1, 5},   .quat = {1}               },
      {.com = {0, -1, 5.7}, .quat = {1}               }
  };
  assert_true(tbi_penetration_all(&neutral, at, &deepest, &squares));
  assert_near(deepest, 0.3, 1e-12);
  assert_near(squares, 2 * 0.09, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planes),        cmocka_unit_test(round_shapes), cmocka_unit_test(boxes),
      cmocka_unit_test(boxes_any_way), cmocka_unit_test(scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
