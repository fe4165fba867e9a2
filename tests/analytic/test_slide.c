/* test_slide.c - a block on a plane, level and inclined: Coulomb's law by the numbers.
 *
 * A step of h under constant forces changes the velocity by exactly h a, so velocities are right
 * to rounding at the end of every step up to the first change of direction.  Positions move with
 * the end velocity: of first order. */
#include "support/near.h"
#include "support/scene_build.h"

#define H     1e-3
#define ANGLE (M_PI / 6)

static const v3 brick = {0.2, 0.2, 0.1};

/* a block at rest on a plane, and the direction down the plane */
static int32_t open_block(scene *s, double tilt, double friction, const tabi_world_def *change) {
  *s = scene_begin();
  int32_t stuff = scene_material(s, friction, 0);
  scene_plane(s, tilt, stuff);
  v3 up = v3_make(sin(tilt), 0, cos(tilt));
  int32_t block = scene_box(s, 2, brick, v3_scale(0.5 * brick.z, up), stuff);
  tabi_world_def def = scene_def(s);
  if (change) {
    def.tolerance = change->tolerance;
    def.iterations = change->iterations;
  }
  scene_open(s, &def);
  scene_turn(s, block, scene_tilt(tilt));
  return block;
}

static v3 downhill(double tilt) { return v3_make(cos(tilt), 0, -sin(tilt)); }

static double speed_along(const scene *s, int32_t link, v3 axis) {
  return v3_dot(v3_load(scene_v(s, link)), axis);
}

/* v = v0 - mu g t until it stops at t = v0 / (mu g), d = v0^2 / (2 mu g) */
static void block_stops(void **state) {
  (void)state;
  const double mu = 0.4;
  const double v0 = 3;
  scene s;
  int32_t block = open_block(&s, 0, mu, NULL);
  scene_set_velocity(&s, block, v3_make(v0, 0, 0), v3_zero());
  double worst = 0;
  int64_t stop = 0;
  for (int64_t k = 1; k <= 1000; ++k) {
    scene_run(&s, 1);
    double expected = fmax(v0 - mu * GRAVITY * H * (double)k, 0);
    double v = scene_v(&s, block)[0];
    worst = fmax(worst, fabs(v - expected));
    if (stop == 0 && fabs(v) < 1e-9) stop = k;
  }
  double way = scene_q(&s, block)[0];
  print_message("block on plane: velocity off by %.2g, stops at %.3f s after %.6f m\n", worst,
                H * (double)stop, way);
  assert_true(worst < 1e-9);
  assert_int_equal(stop, (int64_t)ceil(v0 / (mu * GRAVITY * H)));
  assert_near(way, v0 * v0 / (2 * mu * GRAVITY), 0.5 * v0 * H * (1 + 1e-6));
  scene_close(&s);
}

/* down: a = g (sin - mu cos) */
static void block_slides_down(void **state) {
  (void)state;
  const double mu = 0.3;
  scene s;
  int32_t block = open_block(&s, ANGLE, mu, NULL);
  double a = GRAVITY * (sin(ANGLE) - mu * cos(ANGLE));
  double worst = 0;
  for (int64_t k = 1; k <= 1000; ++k) {
    scene_run(&s, 1);
    v3 v = v3_load(scene_v(&s, block));
    v3 expected = v3_scale(a * H * (double)k, downhill(ANGLE));
    worst = fmax(worst, v3_norm(v3_sub(v, expected)));
  }
  print_message("slides down: velocity off by %.2g\n", worst);
  assert_near(a, 2.356287, 1e-6);
  assert_true(worst < 1e-9);
  scene_close(&s);
}

/* up: v = v0 - g (sin + mu cos) t until 0.268323 s, then down with g (sin - mu cos), where the step
 * of the turn may leave an error of g h */
static void block_slides_up(void **state) {
  (void)state;
  const double mu = 0.3;
  const double v0 = 2;
  scene s;
  int32_t block = open_block(&s, ANGLE, mu, NULL);
  scene_set_velocity(&s, block, v3_scale(-v0, downhill(ANGLE)), v3_zero());
  double braking = GRAVITY * (sin(ANGLE) + mu * cos(ANGLE));
  double a = GRAVITY * (sin(ANGLE) - mu * cos(ANGLE));
  double stop = v0 / braking;
  assert_near(stop, 0.268323, 1e-6);
  double up = 0;
  double down = 0;
  for (int64_t k = 1; k <= 600; ++k) {
    scene_run(&s, 1);
    double t = H * (double)k;
    double v = speed_along(&s, block, downhill(ANGLE));
    if (t < stop) up = fmax(up, fabs(v - (braking * t - v0)));
    if (t > stop) down = fmax(down, fabs(v - a * (t - stop)));
  }
  print_message("slides up: velocity off by %.2g, after the turn by %.2g\n", up, down);
  assert_true(up < 1e-9);
  assert_true(down < GRAVITY * H);
  scene_close(&s);
}

/* tan 30 = 0.577 < 0.6: holds, without creep */
static void block_holds(void **state) {
  (void)state;
  scene s;
  int32_t block = open_block(&s, ANGLE, 0.6, NULL);
  scene_run(&s, 1000);
  v3 start = v3_load(scene_q(&s, block));
  double fastest = 0;
  const int64_t steps = TEST_SHORT ? 10000 : 100000;
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(&s, 1);
    fastest = fmax(fastest, v3_norm(v3_load(scene_v(&s, block))));
  }
  v3 end = v3_load(scene_q(&s, block));
  double creep = v3_norm(v3_sub(end, start)) / (H * (double)steps);
  print_message("holds: creep %.2g m/s, fastest %.2g m/s\n", creep, fastest);
  assert_true(creep < 1e-9);
  assert_true(fastest < 1e-8);
  scene_close(&s);
}

/* a push at the level of the contacts, so that nothing tips; true: it holds */
static bool holds_against(double mu, double share, double direction) {
  scene s;
  int32_t block = open_block(&s, 0, mu, NULL);
  double size = share * 2 * GRAVITY;
  const double force[3] = {size * cos(direction), size * sin(direction), 0};
  const double none[3] = {0};
  for (int k = 0; k < 20; ++k) {
    const double point[3] = {scene_q(&s, block)[0], scene_q(&s, block)[1], 0};
    tabi_world_apply(s.world, block, force, none, point);
    scene_run(&s, 1);
  }
  bool holds = v3_norm(v3_load(scene_v(&s, block))) < 1e-6;
  scene_close(&s);
  return holds;
}

/* the true cone has no favourite direction */
static void friction_is_isotropic(void **state) {
  (void)state;
  const double mu = 0.5;
  double min = INFINITY;
  double max = 0;
  for (int i = 0; i < 36; ++i) {
    double direction = 2 * M_PI * i / 36;
    double low = 0.8 * mu;
    double high = 1.6 * mu;
    while (high - low > 1e-3 * mu) {
      double middle = 0.5 * (low + high);
      *(holds_against(mu, middle, direction) ? &low : &high) = middle;
    }
    min = fmin(min, low);
    max = fmax(max, low);
  }
  print_message("cone, 36 directions: holds %.5f to %.5f of the weight at mu %.2f\n", min, max, mu);
  assert_near(min, mu, 0.01 * mu);
  assert_near(max, mu, 0.01 * mu);
}

/* sliding is braked by mu g in every direction, too */
static void sliding_is_isotropic(void **state) {
  (void)state;
  const double mu = 0.5;
  double worst = 0;
  for (int i = 0; i < 36; ++i) {
    double direction = 2 * M_PI * i / 36;
    v3 along = v3_make(cos(direction), sin(direction), 0);
    scene s;
    int32_t block = open_block(&s, 0, mu, NULL);
    scene_set_velocity(&s, block, along, v3_zero());
    scene_run(&s, 100);
    v3 expected = v3_scale(1 - mu * GRAVITY * 0.1, along);
    worst = fmax(worst, v3_norm(v3_sub(v3_load(scene_v(&s, block)), expected)));
    scene_close(&s);
  }
  print_message("sliding in 36 directions: velocity off by %.2g\n", worst);
  assert_true(worst < 1e-9);
}

/* Static 0.6 and kinetic 0.4.  From rest: a push of 0.5 weights holds, 0.65 moves.  In motion 0.5
 * weights do not hold any more: a = (0.5 - 0.4) g. */
static void static_and_kinetic(void **state) {
  (void)state;
  scene s = scene_begin();
  tabi_material_def def = tabi_material_def_default();
  def.name = "two";
  def.friction = 0.6;
  def.kinetic = 0.4;
  int32_t stuff = tabi_builder_add_material(s.builder, &def);
  scene_plane(&s, 0, stuff);
  int32_t block = scene_box(&s, 2, brick, v3_make(0, 0, 0.05), stuff);
  scene_open(&s, NULL);
  const double weight = 2 * GRAVITY;
  const double share[3] = {0.5, 0.65, 0.5};
  double after[3];
  for (int phase = 0; phase < 3; ++phase) {
    for (int k = 0; k < 100; ++k) {
      const double force[3] = {share[phase] * weight, 0, 0};
      const double none[3] = {0};
      const double point[3] = {scene_q(&s, block)[0], 0, 0};
      tabi_world_apply(s.world, block, force, none, point);
      scene_run(&s, 1);
    }
    after[phase] = scene_v(&s, block)[0];
  }
  print_message("static and kinetic: %.3g, then %.6f, then %.6f m/s\n", after[0], after[1],
                after[2]);
  assert_near(after[0], 0, 1e-9);
  /* the slip speed of 1e-3 m/s is passed by the static surplus of 0.05 g within three steps */
  double slow = 3 * H * 0.05 * GRAVITY;
  assert_near(after[1], 0.1 * 0.25 * GRAVITY, slow + 3 * H * 0.25 * GRAVITY);
  assert_near(after[2] - after[1], 0.1 * 0.1 * GRAVITY, 1e-9);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_stops),           cmocka_unit_test(block_slides_down),
      cmocka_unit_test(block_slides_up),       cmocka_unit_test(block_holds),
      cmocka_unit_test(friction_is_isotropic), cmocka_unit_test(sliding_is_isotropic),
      cmocka_unit_test(static_and_kinetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
