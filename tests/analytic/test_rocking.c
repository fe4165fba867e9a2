/* test_rocking.c - Housner's block: it rocks about one edge, and comes down flat on the other.
 *
 * Without slip and bounce the moment of momentum about the new edge is kept, and the angular
 * velocity goes from w to w (1 - 3/2 sin^2 alpha), tan alpha = b / h with half sizes b and h. */
#include "support/near.h"
#include "support/scene_build.h"

/* the ratio after one step from the flat pose, without gravity */
static double rock_once(tabi_contact_kind contact, double b, double h, double tolerance) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 100, 0);
  scene_plane(&s, 0, stuff);
  int32_t block = scene_box(&s, 3, v3_make(2 * b, b, 2 * h), v3_make(0, 0, h), stuff);
  tabi_world_def def = scene_def(&s);
  def.gravity[2] = 0;
  def.contact = contact;
  def.tolerance = tolerance;
  def.iterations = 10000;
  scene_open(&s, &def);
  /* turning about the edge at x = -b: the one at x = b comes down */
  const double spin = 0.5;
  v3 ang = v3_make(0, spin, 0);
  scene_set_velocity(&s, block, v3_cross(ang, v3_make(b, 0, h)), ang);
  scene_run(&s, 1);
  double ratio = scene_v(&s, block)[4] / spin;
  print_message("rocking %g x %g: ratio %.9f after %d iterations of %s\n", b, h, ratio,
                tabi_world_certificate(s.world).iterations, tabi_contact_name(contact));
  scene_close(&s);
  return ratio;
}

static void check_ratios(tabi_contact_kind contact, double tolerance, double error) {
  assert_near(rock_once(contact, 0.1, 0.4, tolerance), 0.9117647, 1e-7);
  const double size[3][2] = {
      {0.1,  0.4},
      {0.1,  0.2},
      {0.05, 0.4}
  };
  for (int i = 0; i < 3; ++i) {
    double b = size[i][0];
    double h = size[i][1];
    double sine = b / sqrt(b * b + h * h);
    assert_near(rock_once(contact, b, h, tolerance), 1 - 1.5 * sine * sine, error);
  }
}

static void rocks(void **state) {
  (void)state;
  check_ratios(TABI_CONTACT_CONE, 1e-12, 1e-6);
}

/* at its own tolerance */
static void rocks_by_exact(void **state) {
  (void)state;
  check_ratios(TABI_CONTACT_EXACT, 1e-10, 1e-9);
}

/* A whole run: let go tilted by theta0 = alpha / 2, it is flat after acosh(1 / (1 - theta0 /
 * alpha)) / p, p^2 = 3 g / (4 R) (for small angles), and the impact takes what it should within
 * 1 %.  The look-ahead spreads the impact over two steps or three. */
static void rocks_down(void **state) {
  (void)state;
  const double b = 0.1;
  const double h = 0.4;
  double alpha = atan2(b, h);
  double radius = sqrt(b * b + h * h);
  double tilt = 0.5 * alpha;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 100, 0);
  scene_plane(&s, 0, stuff);
  int32_t block = scene_box(&s, 3, v3_make(2 * b, b, 2 * h), v3_make(0, 0, h), stuff);
  scene_open(&s, NULL);
  /* on the edge at x = -b, raised at x = b */
  double q[7] = {radius * sin(alpha - tilt), 0, radius * cos(alpha - tilt)};
  q_store(scene_tilt(-tilt), q + 3);
  scene_set(&s, block, q, NULL);
  double before = 0;
  double now = 0;
  int64_t k = 0;
  do {
    before = now;
    scene_run(&s, 1);
    now = scene_v(&s, block)[4];
  } while (now >= before && ++k < 1000);
  scene_run(&s, 2);
  double p = sqrt(3 * GRAVITY / (4 * radius));
  /* gravity has slowed the rise for these two steps */
  double lost = 2e-3 * p * p * sin(alpha);
  double ratio = (scene_v(&s, block)[4] + lost) / before;
  double expected = acosh(2) / p;
  print_message("rocks down: flat after %.3f s (small angles: %.3f), ratio %.5f\n",
                1e-3 * (double)k, expected, ratio);
  assert_near(expected, 0.311759, 1e-5);
  assert_near(1e-3 * (double)k, expected, 0.02 * expected);
  assert_near(ratio, 0.9117647, 0.01);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rocks),
      cmocka_unit_test(rocks_by_exact),
      cmocka_unit_test(rocks_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
