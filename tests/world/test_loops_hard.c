/* test_loops_hard.c - connections where little helps: long swings on a rod, a light chain with a
 * heavy end, welds that contradict each other. */
#include "../analytic/mechanism.h"

/* A mass of 1 kg on a rod of 1 m falls from the side for 10 s; the answer is an elliptic integral.
 */
static void swings(bool jointed, tabi_integrator integrator, double timestep, double bound) {
  scene s = scene_begin();
  int32_t mass;
  if (jointed) {
    tabi_joint_def hinge =
        scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 1, 0));
    int32_t arm = scene_link(&s, 0, v3_zero(), v3_zero(), hinge);
    tabi_joint_def end = scene_hinge(TABI_JOINT_FIXED, arm, v3_make(-1, 0, 0), v3_make(0, 1, 0));
    mass = scene_link(&s, 1, v3_zero(), v3_zero(), end);
  } else {
    mass = scene_free(&s, 1, v3_make(1, 1, 1), v3_make(-1, 0, 0));
    tabi_connection_def rod =
        mechanism_join(TABI_CONNECTION_ROD, TABI_WORLD, v3_zero(), mass, v3_zero());
    rod.length = 1;
    tabi_builder_add_connection(s.builder, &rod);
  }
  mechanism_open(&s, integrator, timestep);
  mechanism_watch worst = mechanism_begin(&s);
  mechanism_run(&s, &worst, lround(10 / timestep));
  double x[3];
  double turn[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(s.world), mass, x, turn);
  double off = hypot(x[0] + 0.27508746258, x[2] + 0.96141920510);
  print_message("pendulum, %s, %s, 10 s of %g ms: off by %.2g m, gap %.2g m, energy %.2g\n",
                jointed ? "joint" : "rod", tabi_integrator_name(integrator), 1e3 * timestep, off,
                worst.gap, worst.energy / worst.kinetic);
  scene_close(&s);
  assert_true(off < bound);
  assert_true(worst.gap < 1e-7);
  assert_true(worst.energy < 0.01 * worst.kinetic);
}

static void pendulum(void **state) {
  (void)state;
  swings(true, TABI_RK4, 1e-3, 1e-9);
  swings(false, TABI_RK4, 1e-3, 1e-9);
  swings(true, TABI_SEMI_IMPLICIT, 1e-3, 1e-2);
  swings(false, TABI_SEMI_IMPLICIT, 1e-3, 1e-2);
}

#define LINKS 20
#define PITCH 0.1

/* Links of 0.1 kg on balls carry 1e4 kg, half a radian from the vertical.  The links vibrate across
 * with up to sqrt(12 T / (m l)) = 1e4 rad/s, which steps must resolve. */
static scene open_chain(tabi_integrator integrator, double timestep) {
  scene s = scene_begin();
  v3 down = v3_make(sin(0.5), 0, -cos(0.5));
  v3 half = v3_scale(0.5 * PITCH, down);
  double moment = 0.1 * PITCH * PITCH / 12;
  int32_t last = TABI_WORLD;
  for (int i = 0; i < LINKS; ++i) {
    int32_t link =
        scene_free(&s, 0.1, v3_make(moment, moment, moment), v3_scale((i + 0.5) * PITCH, down));
    mechanism_connect(&s, TABI_CONNECTION_BALL, last, i == 0 ? v3_zero() : half, link,
                      v3_scale(-1, half));
    last = link;
  }
  int32_t bob = scene_free(&s, 1e4, v3_make(100, 100, 100), v3_scale(LINKS * PITCH, down));
  mechanism_connect(&s, TABI_CONNECTION_BALL, last, half, bob, v3_zero());
  mechanism_open(&s, integrator, timestep);
  return s;
}

static void heavy_end(tabi_integrator integrator, int64_t steps, double gap, double energy) {
  scene s = open_chain(integrator, 1e-4);
  mechanism_watch worst = mechanism_begin(&s);
  mechanism_run(&s, &worst, steps);
  print_message("chain with 1e4 kg, %s, %d steps of 0.1 ms: gap %.2g m, energy %.2g J of %.3g\n",
                tabi_integrator_name(integrator), (int)steps, worst.gap, worst.energy,
                worst.kinetic);
  scene_close(&s);
  assert_true(worst.gap < gap);
  assert_true(worst.energy < energy * worst.kinetic);
}

static void chain_by_default(void **state) {
  (void)state;
  heavy_end(TABI_SEMI_IMPLICIT, TEST_SHORT ? 200 : 1000, 1e-9, 0.01);
}

static void chain_by_rk4(void **state) {
  (void)state;
  heavy_end(TABI_RK4, TEST_SHORT ? 50 : 300, 1e-12, 1e-8);
}

/* Two welds want a body `apart` m from each other, or turned by `turn` rad: it stays still halfway,
 * and both say by how much they miss what they want. */
static void torn_body(tabi_integrator integrator, double shift, double turn) {
  scene s = scene_begin();
  int32_t body = scene_free(&s, 2, v3_make(0.1, 0.2, 0.3), v3_zero());
  for (int i = 0; i < 2; ++i) {
    double half = i == 0 ? -0.5 : 0.5;
    tabi_connection_def weld = mechanism_join(TABI_CONNECTION_FIXED, TABI_WORLD,
                                              v3_make(half * shift, 0, 0), body, v3_zero());
    q_store(q_exp(v3_make(0, 0, half * turn)), weld.quat_a);
    tabi_builder_add_connection(s.builder, &weld);
  }
  mechanism_open(&s, integrator, 1e-3);
  /* not where they can agree on */
  scene_set(&s, body, (double[]){0.03, 0, 0, 1, 0, 0, 0}, NULL);
  double fastest = 0;
  for (int i = 0; i < 4000; ++i) {
    scene_run(&s, 1);
    fastest = fmax(fastest, v3_norm(v3_load(scene_v(&s, body))));
  }
  const double *q = scene_q(&s, body);
  tabi_certificate certificate = tabi_world_certificate(s.world);
  print_message("welds %g m and %g rad apart, %s: body at (%.2g, %.2g, %.2g), at most %.2g m/s\n",
                shift, turn, tabi_integrator_name(integrator), q[0], q[1], q[2], fastest);
  assert_true(fastest < 1);
  for (int i = 0; i < 7; ++i)
    assert_near(q[i], i == 3, 1e-3);
  for (int32_t i = 0; i < 2; ++i) {
    tabi_connection_state weld = tabi_world_connection(s.world, i);
    print_message("  gap %.4g m, turn %.4g rad, missed %.3g of %.3g\n", weld.gap, weld.turn,
                  weld.missed, certificate.connection);
    assert_near(weld.gap, 0.5 * shift, 1e-3);
    assert_near(weld.turn, sin(0.5 * turn), 1e-3);
    assert_true(weld.missed > 0.1);
    assert_true(certificate.connection >= weld.missed);
  }
  scene_close(&s);
}

static void contradictory_welds(void **state) {
  (void)state;
  torn_body(TABI_SEMI_IMPLICIT, 0.2, 0);
  torn_body(TABI_SEMI_IMPLICIT, 0, 0.4);
  torn_body(TABI_RK4, 0.2, 0);
  torn_body(TABI_RK4, 0, 0.4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum),
      cmocka_unit_test(chain_by_default),
      cmocka_unit_test(chain_by_rk4),
      cmocka_unit_test(contradictory_welds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
