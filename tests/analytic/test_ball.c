/* test_ball.c - one ball on a plane: from slipping to rolling, and bouncing to rest. */
#include "support/near.h"
#include "support/scene_build.h"

#define H 1e-3

static int32_t open_ball(scene *s, double friction, double restitution, double radius, double z,
                         tabi_integrator integrator) {
  *s = scene_begin();
  int32_t stuff = scene_material(s, friction, restitution);
  scene_plane(s, 0, stuff);
  int32_t ball = scene_ball(s, 1, radius, v3_make(0, 0, z), stuff);
  tabi_world_def def = scene_def(s);
  def.integrator = integrator;
  scene_open(s, &def);
  return ball;
}

/* The moment of momentum about the contact is kept: (1 + 2/5) r v = r v0.  So v = 5/7 v0, after
 * t = 2 v0 / (7 mu g), and d = 12 v0^2 / (49 mu g) on the way. */
static void slip_to_roll(void **state) {
  (void)state;
  const double v0 = 5;
  const double mu = 0.2;
  const double radius[3] = {0.05, 0.1, 1};
  for (int i = 0; i < 3; ++i) {
    scene s;
    int32_t ball = open_ball(&s, mu, 0, radius[i], radius[i], TABI_SEMI_IMPLICIT);
    scene_set_velocity(&s, ball, v3_make(v0, 0, 0), v3_zero());
    int64_t rolls = 0;
    double way = 0;
    for (int64_t k = 1; k <= 1000; ++k) {
      scene_run(&s, 1);
      const double *v = scene_v(&s, ball);
      if (rolls != 0 || fabs(v[0] - v[4] * radius[i]) > 1e-9) continue;
      rolls = k;
      way = scene_q(&s, ball)[0];
    }
    const double *v = scene_v(&s, ball);
    print_message("slip to roll, r %g: v off by %.2g, spin by %.2g, rolls at %.3f s, %.4f m\n",
                  radius[i], v[0] / (5 * v0 / 7) - 1, v[4] * radius[i] / (5 * v0 / 7) - 1,
                  H * (double)rolls, way);
    assert_near(v[0], 5 * v0 / 7, 1e-12 * v0);
    assert_near(v[4] * radius[i], 5 * v0 / 7, 1e-12 * v0);
    assert_int_equal(rolls, (int64_t)ceil(2 * v0 / (7 * mu * GRAVITY * H)));
    /* first order: positions lead by half a step of the velocity that was lost, and the moment
     * of rolling is seen a step late */
    double exact = 12 * v0 * v0 / (49 * mu * GRAVITY);
    assert_near(way, exact, H * v0);
    scene_close(&s);
  }
}

/* spin w0 = -5 v0 / (2 r) carries just the opposite moment: the ball stops dead */
static void backspin_stops(void **state) {
  (void)state;
  const double v0 = 5;
  const double radius = 0.1;
  scene s;
  int32_t ball = open_ball(&s, 0.2, 0, radius, radius, TABI_SEMI_IMPLICIT);
  scene_set_velocity(&s, ball, v3_make(v0, 0, 0), v3_make(0, -2.5 * v0 / radius, 0));
  scene_run(&s, 4000);
  const double *v = scene_v(&s, ball);
  print_message("backspin: %.2g m/s and %.2g rad/s left\n", v[0], v[4]);
  assert_near(v[0], 0, 1e-12 * v0);
  assert_near(v[4] * radius, 0, 1e-12 * v0);
  scene_close(&s);
}

/* Heights e^(2k) and moments of the impacts: t_0 = sqrt(2 h / g), then 2 e^k t_0 later.  Bounces
 * get shorter without end at t_0 (1 + e) / (1 - e); after it the ball rests. */
static void bounces(double e, int impacts, double end, double time_error, double height_error) {
  scene s;
  const double radius = 0.1;
  int32_t ball = open_ball(&s, 0, e, radius, 1 + radius, TABI_MIDPOINT);
  double first = sqrt(2 / GRAVITY);
  double worst_time = 0;
  double worst_height = 0;
  double expected = first;
  double before = 0;
  double top = 0;
  int seen = 0;
  int64_t steps = (int64_t)ceil((end + 0.5) / H);
  for (int64_t k = 1; k <= steps; ++k) {
    scene_run(&s, 1);
    double v = scene_v(&s, ball)[2];
    double z = scene_q(&s, ball)[2] - radius;
    assert_true(z > -1e-5);
    if (v > 0 && before < 0 && seen < impacts) {
      /* the touch lies within this step */
      worst_time = fmax(worst_time, fabs(expected - H * ((double)k - 0.5)) - 0.5 * H);
      if (seen > 0) worst_height = fmax(worst_height, fabs(top - pow(e, 2 * seen)));
      expected += 2 * pow(e, ++seen) * first;
      top = 0;
    }
    top = fmax(top, z);
    before = v;
  }
  print_message(
      "bouncing, e %g: impacts off by %.2g s, heights by %.2g m; rests at %.2g m, %.2g m/s\n", e,
      worst_time, worst_height, scene_q(&s, ball)[2] - radius, before);
  assert_int_equal(seen, impacts);
  assert_true(worst_time < time_error);
  assert_true(worst_height < height_error);
  /* at rest, on the plane */
  assert_near(scene_q(&s, ball)[2], radius, 1e-5);
  assert_near(before, 0, 1e-9);
  scene_close(&s);
}

static void bounces_high(void **state) {
  (void)state;
  bounces(0.9, 12, 8.578949, 1e-6, 2e-6);
}

static void bounces_low(void **state) {
  (void)state;
  bounces(0.5, 5, 1.354571, 1e-6, 2e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slip_to_roll),
      cmocka_unit_test(backspin_stops),
      cmocka_unit_test(bounces_high),
      cmocka_unit_test(bounces_low),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
