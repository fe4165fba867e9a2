/* test_simbench.c - two scenes of SimBenchmark, with its measures of error. */
#include "support/near.h"
#include "support/scene_build.h"

#define H 1e-3

/* A plate of 10 kg slides under 25 rolling balls, pulled by 150 N at 60 degrees from x.  Friction
 * below is f1 = mu1 (M + 25 m) g; each ball takes f2 = (F - f1) / M / (3.5 / m + 25 / M), so that
 * the plate gains (F - f1 - 25 f2) / M and a ball f2 / m. */
static double rolling_error(double depth, tabi_contact_kind contact, double tolerance) {
  const double force = 150;
  v3 along = v3_make(0.5, sqrt(0.75), 0);
  scene s = scene_begin();
  /* materials of the three parts; what pairs do together is given */
  int32_t ground = scene_material(&s, 1, 0);
  int32_t plate_stuff = scene_material(&s, 2, 0);
  int32_t ball_stuff = scene_material(&s, 3, 0);
  tabi_material_def pair = tabi_material_def_default();
  pair.friction = 0.4;
  tabi_builder_add_pair(s.builder, ground, plate_stuff, &pair);
  pair.friction = 0.8;
  tabi_builder_add_pair(s.builder, plate_stuff, ball_stuff, &pair);
  scene_plane(&s, 0, ground);
  int32_t plate = scene_box(&s, 10, v3_make(20, 20, 1), v3_make(0, 0, 0.5 - depth), plate_stuff);
  int32_t ball = TABI_NONE;
  for (int i = 0; i < 25; ++i) {
    const int at[2] = {i / 5, i % 5};
    v3 pos = v3_make(2 * at[0] - 4, 2 * at[1] - 4, 1.5 - 3 * depth);
    int32_t link = scene_ball(&s, 1, 0.5, pos, ball_stuff);
    if (i == 0) ball = link;
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.tolerance = tolerance;
  def.correction = 0; /* the benchmark lets nothing be pushed out */
  scene_open(&s, &def);

  double below = 0.4 * (10 + 25) * GRAVITY;
  double above = (force - below) / 10 / (3.5 + 2.5);
  double a_plate = (force - below - 25 * above) / 10;
  double a_ball = above;
  assert_near(a_plate, 0.7385, 1e-4);
  assert_near(a_ball, 0.211, 1e-4);

  const int64_t steps = TEST_SHORT ? 500 : 4000;
  double error = 0;
  int32_t sweeps = 0;
  for (int64_t k = 0; k < steps; ++k) {
    double t = H * (double)k;
    v3 off = v3_sub(v3_load(scene_v(&s, plate)), v3_scale(a_plate * t, along));
    v3 off_ball = v3_sub(v3_load(scene_v(&s, ball)), v3_scale(a_ball * t, along));
    error += (v3_dot(off, off) + v3_dot(off_ball, off_ball)) / (double)steps;
    scene_push(&s, plate, v3_scale(force, along));
    scene_run(&s, 1);
    sweeps += tabi_world_certificate(s.world).iterations;
  }
  print_message("rolling, %s, overlap %g m: error %.3g m2/s2, %.1f sweeps a step\n",
                tabi_contact_name(contact), depth, error, (double)sweeps / (double)steps);
  scene_close(&s);
  return error;
}

/* The parts start overlapping by a little: 5e-6 m is the benchmark's default, 2e-5 m stands in its
 * configuration. */
static void rolling(void **state) {
  (void)state;
  assert_true(rolling_error(0, TABI_CONTACT_CONE, -1) <= 1e-9);
  assert_true(rolling_error(2e-5, TABI_CONTACT_CONE, -1) <= 1e-9);
}

/* solved to 1e-14 what is left is the rounding of 4000 steps */
static void rolling_exactly(void **state) {
  (void)state;
  assert_true(rolling_error(0, TABI_CONTACT_EXACT, 1e-14) <= 1e-20);
  assert_true(rolling_error(2e-5, TABI_CONTACT_EXACT, 1e-14) <= 1e-20);
}

/* 49 balls dropped from 5 m with restitution 1: their energy is kept.  The measure is the mean of
 * (E - E0)^2 over 20 s, E0 = 49 10 9.81 5 J. */
static void bouncing(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0, 1);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 49; ++i) {
    const int at[2] = {i / 7, i % 7};
    scene_ball(&s, 10, 0.1, v3_make(2 * at[0], 2 * at[1], 5), stuff);
  }
  tabi_world_def def = scene_def(&s);
  def.integrator = TABI_MIDPOINT;
  scene_open(&s, &def);
  const double start = 49 * 10 * GRAVITY * 5;
  assert_near(scene_energy(&s), start, 1e-9 * start);
  const int64_t steps = TEST_SHORT ? 4000 : 20000;
  double error = 0;
  for (int64_t k = 0; k < steps; ++k) {
    double off = scene_energy(&s) - start;
    error += off * off / (double)steps;
    scene_run(&s, 1);
  }
  print_message("bouncing: error %.3g J2\n", error);
  assert_true(error <= 2e-2);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rolling),
      cmocka_unit_test(rolling_exactly),
      cmocka_unit_test(bouncing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
