/* test_lipm.c - gains of the stabiliser against published ones and by their poles, and the
 * attitude estimate. */
#include "support/near.h"

#include "control/attitude.h"
#include "math/quat.h"
#include "tabi/tabi_control.h"

/* zc = 0.8 m and g = 9.8 m/s^2, so that w = 3.5 1/s: constants of robots, to the digits printed. */
static void test_published(void **state) {
  (void)state;
  double gain[3];
  tabi_lipm_gains(0.8, 9.8, 0.04, (const double[]){-13, -4}, gain);
  const double first[3] = {1.414286, 0.404082, 0.180000};
  for (int i = 0; i < 3; ++i)
    assert_near(gain[i], first[i], 5e-7);
  tabi_lipm_gains(0.8, 9.8, 0.05, (const double[]){-13, -3}, gain);
  const double second[3] = {1.5321, 0.4378, 0.025};
  for (int i = 0; i < 3; ++i)
    assert_near(gain[i], second[i], 5e-5);
}

/* det(s - A) of the closed loop vanishes at the poles asked for. */
static void test_poles(void **state) {
  (void)state;
  const double height = 0.73;
  const double gravity = 9.81;
  const double delay = 0.055;
  const double pole[2] = {-9, -2.5};
  double k[3];
  tabi_lipm_gains(height, gravity, delay, pole, k);
  double w2 = gravity / height;
  const double expected[3] = {pole[0], pole[1], -sqrt(w2)};
  for (int i = 0; i < 3; ++i) {
    double s = expected[i];
    double lag = s - (k[2] - 1) / delay;
    double det = (s * s - w2) * lag + w2 * (k[0] + k[1] * s) / delay;
    assert_near(det, 0, 1e-9);
  }
}

/* The gyro alone: after turning about y, then about its own x, the two turns are told. */
static void test_gyro(void **state) {
  (void)state;
  v3 up = {0, 0, 1};
  const v3 nothing = {0, 0, 0};
  for (int k = 0; k < 300; ++k)
    up = tbi_attitude_update(up, (v3){0, 1, 0}, nothing, 1e-3, 2);
  for (int k = 0; k < 200; ++k)
    up = tbi_attitude_update(up, (v3){-1, 0, 0}, nothing, 1e-3, 2);
  double tilt[2];
  tbi_attitude_tilt(up, tilt);
  assert_near(tilt[0], -0.2, 1e-12);
  assert_near(tilt[1], 0.3, 1e-12);
}

/* A wrong start is forgotten: by 1/e in the time given, and at last. */
static void test_accelerometer(void **state) {
  (void)state;
  m3 turn = q_matrix(q_exp((v3){0.1, 0, 0}));
  v3 up = {0, 0, 1};
  v3 measured = m3_tmulv(&turn, (v3){0, 0, 9.81});
  double tilt[2];
  for (int k = 0; k < 2000; ++k)
    up = tbi_attitude_update(up, (v3){0, 0, 0}, measured, 1e-3, 2);
  tbi_attitude_tilt(up, tilt);
  assert_near(tilt[0], 0.1 * (1 - exp(-1)), 1e-3);
  for (int k = 0; k < 30000; ++k)
    up = tbi_attitude_update(up, (v3){0, 0, 0}, measured, 1e-3, 2);
  tbi_attitude_tilt(up, tilt);
  assert_near(tilt[0], 0.1, 1e-6);
  assert_near(tilt[1], 0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published),
      cmocka_unit_test(test_poles),
      cmocka_unit_test(test_gyro),
      cmocka_unit_test(test_accelerometer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
