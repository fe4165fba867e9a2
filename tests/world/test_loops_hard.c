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

/* A plane parallelogram closed by a ball, as a file of five digits has it: the axis of one hinge is
 * off by 4e-6 rad and the ball by 1e-6 m out of the plane, where the mechanism hardly moves.  It
 * falls as the plane one does. */
static void nearly_plane(tabi_integrator integrator, double tilt, double angle[2]) {
  scene s = scene_begin();
  mechanism_gravity(&s, v3_make(0, -9.81, 0));
  v3 centre = v3_make(0, 0.25, 0);
  int32_t crank = mechanism_bar(&s, TABI_WORLD, v3_zero(), 1, centre, 0.02);
  int32_t coupler = mechanism_bar(&s, crank, v3_make(0, 0.5, 0), 1, v3_make(0.5, 0, 0), 0.08);
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(1, 0, 0), v3_make(tilt, 0, 1));
  int32_t rocker = scene_link(&s, 1, centre, v3_make(0.02, 0.02, 0.02), hinge);
  mechanism_connect(&s, TABI_CONNECTION_BALL, coupler, v3_make(1, 0, 0), rocker,
                    v3_make(0, 0.5, tilt > 0 ? 1e-6 : 0));
  mechanism_open(&s, integrator, 1e-3);
  mechanism_set(&s, crank, 0.1, 0);
  mechanism_set(&s, coupler, -0.1, 0);
  mechanism_set(&s, rocker, 0.1, 0);
  mechanism_watch worst = mechanism_begin(&s);
  mechanism_run(&s, &worst, 500);
  angle[0] = scene_q(&s, crank)[0];
  angle[1] = scene_q(&s, rocker)[0];
  print_message("parallelogram, %s, tilt %.1g: %.9f, %.9f rad, gap %.2g m, energy %.2g\n",
                tabi_integrator_name(integrator), tilt, angle[0], angle[1], worst.gap,
                worst.energy / worst.kinetic);
  assert_true(worst.gap < 1e-5);
  scene_close(&s);
}

static void plane_to_five_digits(void **state) {
  (void)state;
  const tabi_integrator integrators[] = {TABI_SEMI_IMPLICIT, TABI_RK4};
  for (int i = 0; i < 2; ++i) {
    double plane[2];
    double tilted[2];
    nearly_plane(integrators[i], 0, plane);
    nearly_plane(integrators[i], 4e-6, tilted);
    assert_near(tilted[0], plane[0], 1e-5);
    assert_near(tilted[1], plane[1], 1e-5);
  }
}

/* An arm of seven hinges with limits, its hand welded to a place that it cannot have. */
#define HINGES 7
#define RANGE  1.2

static scene welded_arm(v3 place, int32_t arm[HINGES]) {
  static const double axis[HINGES][3] = {
      {0, 0, 1},
      {0, 1, 0},
      {1, 0, 0},
      {0, 1, 0},
      {1, 0, 0},
      {0, 1, 0},
      {1, 0, 0}
  };
  scene s = scene_begin();
  for (int i = 0; i < HINGES; ++i) {
    int32_t parent = i == 0 ? TABI_WORLD : arm[i - 1];
    tabi_joint_def joint = scene_hinge(TABI_JOINT_REVOLUTE, parent,
                                       v3_make(i == 0 ? 0 : 0.15, 0, 0), v3_load(axis[i]));
    joint.lower = i == 1 ? 0.3 : -RANGE;
    joint.upper = RANGE;
    joint.damping = 1;
    double mass = 4 - 0.5 * i;
    double moment = 0.01 * mass;
    arm[i] = scene_link(&s, mass, v3_make(0.075, 0, 0), v3_make(moment, moment, moment), joint);
  }
  mechanism_connect(&s, TABI_CONNECTION_FIXED, TABI_WORLD, place, arm[HINGES - 1], v3_zero());
  return s;
}

typedef struct strain {
  double fastest, beyond, late; /* rad/s; rad out of limits; rad/s, in the last half */
} strain;

static strain strain_arm(scene *s, const int32_t arm[HINGES], int64_t steps) {
  strain worst = {0, 0, 0};
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(s, 1);
    for (int i = 0; i < HINGES; ++i) {
      double q = scene_q(s, arm[i])[0];
      double speed = fabs(scene_v(s, arm[i])[0]);
      double below = i == 1 ? 0.3 : -RANGE;
      worst.fastest = fmax(worst.fastest, speed);
      worst.beyond = fmax(worst.beyond, fmax(q - RANGE, below - q));
      if (2 * k > steps) worst.late = fmax(worst.late, speed);
    }
  }
  return worst;
}

static void strain_at(tabi_contact_kind contact, tabi_integrator integrator, v3 place) {
  int32_t arm[HINGES];
  scene s = welded_arm(place, arm);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  scene_open(&s, &def);
  mechanism_set(&s, arm[1], 0.6, 0);
  strain worst = strain_arm(&s, arm, 3000);
  tabi_connection_state weld = tabi_world_connection(s.world, 0);
  print_message("weld out of reach at (%g, %g, %g), %s, %s: open by %.2g m, missed %.2g; at most "
                "%.3g rad/s, later %.2g, %.2g rad beyond limits\n",
                place.x, place.y, place.z, tabi_contact_name(contact),
                tabi_integrator_name(integrator), weld.gap, weld.missed, worst.fastest, worst.late,
                worst.beyond);
  scene_close(&s);
  assert_true(worst.fastest < 100);
  assert_true(worst.beyond < 0.1);
  assert_true(fmax(weld.gap, weld.turn) > 0.05);
  assert_true(weld.missed > 0.01);
}

static void weld_out_of_reach(void **state) {
  (void)state;
  const v3 places[3] = {v3_make(0, 0, 0.1), v3_make(3, 0.2, 0), v3_make(-0.4, 0.3, 0.2)};
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    for (int i = 0; i < 3; ++i)
      strain_at((tabi_contact_kind)contact, TABI_SEMI_IMPLICIT, places[i]);
  }
  for (int i = 0; i < 3; ++i) {
    strain_at(TABI_CONTACT_CONE, TABI_MIDPOINT, places[i]);
    strain_at(TABI_CONTACT_CONE, TABI_RK4, places[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum),
      cmocka_unit_test(chain_by_default),
      cmocka_unit_test(chain_by_rk4),
      cmocka_unit_test(contradictory_welds),
      cmocka_unit_test(plane_to_five_digits),
      cmocka_unit_test(weld_out_of_reach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
