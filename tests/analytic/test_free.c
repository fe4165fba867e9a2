/* test_free.c - motion without contact: tumbling, falling, a double pendulum. */
#include "support/near.h"
#include "support/scene_build.h"

#define H 1e-3

static int32_t open_tumbler(scene *s, tabi_integrator integrator) {
  *s = scene_begin();
  int32_t body = scene_free(s, 1, v3_make(1, 2, 3), v3_zero());
  tabi_world_def def = scene_def(s);
  def.integrator = integrator;
  def.gravity[2] = 0;
  scene_open(s, &def);
  scene_set_velocity(s, body, v3_zero(), v3_make(0.01, 5, 0.01));
  return body;
}

/* angular velocity about the body's second axis */
static double middle_spin(const scene *s, int32_t body) {
  m3 rot = q_matrix(q_load(scene_q(s, body) + 3));
  v3 w = v3_load(scene_v(s, body) + 3);
  return rot.m[0][1] * w.x + rot.m[1][1] * w.y + rot.m[2][1] * w.z;
}

/* the largest error of the times between four flips, s */
static double flip_error(tabi_integrator integrator, double period) {
  scene s;
  int32_t body = open_tumbler(&s, integrator);
  double flip[4] = {0};
  int seen = 0;
  double before = middle_spin(&s, body);
  double energy = scene_energy(&s);
  for (int64_t k = 1; seen < 4 && k < 30000; ++k) {
    scene_run(&s, 1);
    double now = middle_spin(&s, body);
    if (now * before < 0) flip[seen++] = H * ((double)k - now / (now - before));
    before = now;
  }
  assert_int_equal(seen, 4);
  double worst = 0;
  for (int i = 1; i < 4; ++i)
    worst = fmax(worst, fabs(flip[i] - flip[i - 1] - period));
  print_message("tumbler, %s: flips off by %.2g s, energy by %.2g\n",
                tabi_integrator_name(integrator), worst, scene_energy(&s) / energy - 1);
  scene_close(&s);
  return worst;
}

/* Spinning about the middle axis of (1, 2, 3) with a little of the others, a body flips every
 * 2 K(k) / lambda = 5.0259291382 s, k^2 = 0.999992000096 (elliptic integral). */
static void tumbler_flips(void **state) {
  (void)state;
  assert_true(flip_error(TABI_RK4, 5.0259291382) < 1e-6);
  assert_true(flip_error(TABI_SEMI_IMPLICIT, 5.0259291382) < 1e-4);
  assert_true(flip_error(TABI_MIDPOINT, 5.0259291382) < 1e-4);
}

/* a free body keeps its energy to rounding, whatever its spin */
static void tumbler_keeps_energy(void **state) {
  (void)state;
  const v3 spin[3] = {
      {0.01, 5,   0.01},
      {3,    -4,  20  },
      {40,   -30, 50  }
  };
  for (int i = 0; i < 3; ++i) {
    scene s;
    int32_t body = open_tumbler(&s, TABI_SEMI_IMPLICIT);
    scene_set_velocity(&s, body, v3_zero(), spin[i]);
    double start = scene_energy(&s);
    double worst = 0;
    for (int64_t k = 0; k < 5000; ++k) {
      scene_run(&s, 1);
      worst = fmax(worst, fabs(scene_energy(&s) / start - 1));
    }
    print_message("tumbler %d, semi-implicit: energy off by %.2g\n", i, worst);
    assert_true(worst < 1e-11);
    scene_close(&s);
  }
}

/* z = z0 + v0 t - g t^2 / 2 without any error of the steps */
static void midpoint_falls(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t body = scene_free(&s, 2, v3_make(1, 1, 1), v3_make(0, 0, 3));
  tabi_world_def def = scene_def(&s);
  def.integrator = TABI_MIDPOINT;
  def.timestep = 0.01;
  scene_open(&s, &def);
  scene_set_velocity(&s, body, v3_make(1, -2, 4), v3_zero());
  scene_run(&s, 200);
  const double *q = scene_q(&s, body);
  print_message("midpoint falls: off by %.2g m\n", q[2] - (3 + 4 * 2 - 0.5 * GRAVITY * 4));
  assert_near(q[0], 2, 1e-12);
  assert_near(q[1], -4, 1e-12);
  assert_near(q[2], 3 + 4 * 2 - 0.5 * GRAVITY * 4, 1e-12);
  scene_close(&s);
}

/* the same body tumbling: orders of the integrators by halving the step */
static double tumbler_error(tabi_integrator integrator, double h) {
  v3 spin[2];
  for (int i = 0; i < 2; ++i) {
    scene s = scene_begin();
    int32_t body = scene_free(&s, 1, v3_make(1, 2, 3), v3_zero());
    tabi_world_def def = scene_def(&s);
    def.integrator = i == 0 ? integrator : TABI_RK4;
    def.timestep = i == 0 ? h : 1e-3;
    def.gravity[2] = 0;
    scene_open(&s, &def);
    scene_set_velocity(&s, body, v3_zero(), v3_make(1, 2, -1));
    scene_run(&s, (int64_t)floor(1 / def.timestep + 0.5));
    spin[i] = v3_load(scene_v(&s, body) + 3);
    scene_close(&s);
  }
  return v3_norm(v3_sub(spin[0], spin[1]));
}

static void orders(void **state) {
  (void)state;
  const double min[TABI_INTEGRATOR_COUNT] = {1.9, 1.9, 3.8, 0.9};
  for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    double coarse = tumbler_error((tabi_integrator)i, 0.04);
    double fine = tumbler_error((tabi_integrator)i, 0.02);
    double order = log2(coarse / fine);
    print_message("%s: error %.2g at 20 ms, order %.2f\n", tabi_integrator_name((tabi_integrator)i),
                  fine, order);
    assert_true(order > min[i]);
  }
}

/* Two point masses of 1 kg on massless arms of 1 m, let go from the horizontal: chaos, but the
 * energy stays.  The largest change, J. */
static double pendulum_drift(double h, double time) {
  scene s = scene_begin();
  v3 arm = v3_make(1, 0, 0);
  v3 axis = v3_make(0, 1, 0);
  int32_t upper = scene_link(&s, 1, arm, v3_zero(),
                             scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), axis));
  (void)scene_link(&s, 1, arm, v3_zero(), scene_hinge(TABI_JOINT_CONTINUOUS, upper, arm, axis));
  tabi_world_def def = scene_def(&s);
  def.integrator = TABI_RK4;
  def.timestep = h;
  scene_open(&s, &def);
  double start = scene_energy(&s);
  double drift = 0;
  const int64_t steps = (int64_t)(time / h);
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(&s, 1);
    drift = fmax(drift, fabs(scene_energy(&s) - start));
  }
  print_message("double pendulum, rk4 at %g s: energy off by %.2g J\n", h, drift);
  scene_close(&s);
  return drift;
}

/* textbook rk4 in the two angles loses 6e-8 J in 100 s at 1 ms, too, and 2e-10 J at 0.25 ms */
static void double_pendulum(void **state) {
  (void)state;
  const double time = TEST_SHORT ? 10 : 100;
  assert_true(pendulum_drift(1e-3, time) < 2e-7);
  assert_true(pendulum_drift(2.5e-4, time) < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tumbler_flips),   cmocka_unit_test(tumbler_keeps_energy),
      cmocka_unit_test(midpoint_falls),  cmocka_unit_test(orders),
      cmocka_unit_test(double_pendulum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
