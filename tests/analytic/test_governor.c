/* test_governor.c - a flyball governor whose slider hangs on stiff springs.
 *
 * A shaft turns freely; at its top two rods of 1 m hang with 5 kg at their ends, and springs of
 * 8e5 N/m with dampers of 4e4 N s/m carry a slider below their middles.  The damper alone would
 * need explicit steps below 0.1 ms. */
#include "mechanism.h"

#define ALPHA (M_PI / 6)

typedef struct governor {
  scene s;
  int32_t shaft, slider, rod[2];
} governor;

static int32_t add_rod(scene *s, int32_t shaft) {
  double density = 3000;
  double mass = density * 1e-4;
  double across = mass * (1 + 1e-4) / 12;
  double along = mass * 2e-4 / 12;
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, shaft, v3_make(0, 0, 1), v3_make(0, 1, 0));
  int32_t rod = scene_link(s, mass, v3_make(0, 0, -0.5), v3_make(across, across, along), hinge);
  tabi_joint_def end = scene_hinge(TABI_JOINT_FIXED, rod, v3_make(0, 0, -1), v3_make(0, 0, 1));
  (void)scene_link(s, 5, v3_zero(), v3_zero(), end);
  return rod;
}

static void add_spring(scene *s, int32_t slider, int32_t rod, v3 middle) {
  tabi_connection_def def = mechanism_join(TABI_CONNECTION_SPRING, slider, v3_zero(), rod, middle);
  def.stiffness = 8e5;
  def.damping = 4e4;
  def.length = 0.5;
  tabi_builder_add_connection(s->builder, &def);
}

static governor open_governor(tabi_integrator integrator, double timestep) {
  governor g = {.s = scene_begin()};
  scene *s = &g.s;
  double across = 0.3 * (1 + 1e-4) / 12;
  tabi_joint_def turn = scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
  g.shaft = scene_link(s, 0.3, v3_make(0, 0, 0.5), v3_make(across, across, 0.3 * 2e-4 / 12), turn);
  tabi_joint_def slide = scene_hinge(TABI_JOINT_PRISMATIC, g.shaft, v3_zero(), v3_make(0, 0, 1));
  double cube = 3 * 0.01 / 6;
  g.slider = scene_link(s, 3, v3_zero(), v3_make(cube, cube, cube), slide);
  for (int i = 0; i < 2; ++i) {
    g.rod[i] = add_rod(s, g.shaft);
    add_spring(s, g.slider, g.rod[i], v3_make(0, 0, -0.5));
  }
  mechanism_open(s, integrator, timestep);
  mechanism_set(s, g.shaft, 0, 2 * M_PI);
  mechanism_set(s, g.slider, 1 - cos(ALPHA), 0);
  mechanism_set(s, g.rod[0], -ALPHA, 0);
  mechanism_set(s, g.rod[1], ALPHA, 0);
  return g;
}

/* turns z to y */
static q4 hinge_turn(void) { return q_exp(v3_make(-M_PI / 2, 0, 0)); }

static void hold(scene *s, tabi_connection_def def, q4 turn_a, q4 turn_b, uint32_t axes) {
  q_store(turn_a, def.quat_a);
  q_store(turn_b, def.quat_b);
  def.axes = axes;
  tabi_builder_add_connection(s->builder, &def);
}

/* The same of free bodies, each with its frame in its centre, held by connections alone. */
static governor open_loose_governor(tabi_integrator integrator, double timestep) {
  governor g = {.s = scene_begin()};
  scene *s = &g.s;
  double across = 0.3 * (1 + 1e-4) / 12;
  double along = 0.3 * 2e-4 / 12;
  double centre = (0.3 * 0.5 + 5) / 5.3; /* of rod and weight, from the hinge */
  double heavy = across + 0.3 * 5 / 5.3 * 0.25;
  double cube = 3 * 0.01 / 6;
  g.shaft = scene_free(s, 0.3, v3_make(across, across, along), v3_make(0, 0, 0.5));
  g.slider = scene_free(s, 3, v3_make(cube, cube, cube), v3_make(0, 0, 1 - cos(ALPHA)));
  hold(s,
       mechanism_join(TABI_CONNECTION_HINGE, TABI_WORLD, v3_zero(), g.shaft, v3_make(0, 0, -0.5)),
       q_identity(), q_identity(), 0);
  hold(s, mechanism_join(TABI_CONNECTION_AXES, g.shaft, v3_zero(), g.slider, v3_zero()),
       q_identity(), q_identity(),
       TABI_MOVE_X | TABI_MOVE_Y | TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z);
  for (int i = 0; i < 2; ++i) {
    double side = i == 0 ? 1 : -1;
    v3 place = v3_make(side * centre * sin(ALPHA), 0, 1 - centre * cos(ALPHA));
    g.rod[i] = scene_free(s, 5.3, v3_make(heavy, heavy, along), place);
    hold(s,
         mechanism_join(TABI_CONNECTION_HINGE, g.shaft, v3_make(0, 0, 0.5), g.rod[i],
                        v3_make(0, 0, centre)),
         hinge_turn(), hinge_turn(), 0);
    add_spring(s, g.slider, g.rod[i], v3_make(0, 0, centre - 0.5));
  }
  mechanism_open(s, integrator, timestep);
  v3 spin = v3_make(0, 0, 2 * M_PI);
  for (int i = 0; i < 2; ++i) {
    scene_turn(s, g.rod[i], q_exp(v3_make(0, i == 0 ? -ALPHA : ALPHA, 0)));
    scene_set_velocity(s, g.rod[i], v3_cross(spin, v3_load(scene_q(s, g.rod[i]))), spin);
  }
  scene_set_velocity(s, g.shaft, v3_zero(), spin);
  scene_set_velocity(s, g.slider, v3_zero(), spin);
  return g;
}

#define LOOKS 100

/* heights of the slider over `seconds`; the share by which energy rose at most */
static double follow(bool loose, tabi_integrator integrator, double timestep, double seconds,
                     double height[LOOKS]) {
  governor g =
      loose ? open_loose_governor(integrator, timestep) : open_governor(integrator, timestep);
  double start = scene_energy(&g.s);
  double gain = 0;
  for (int i = 0; i < LOOKS; ++i) {
    scene_run(&g.s, lround(seconds / LOOKS / timestep));
    height[i] = scene_q(&g.s, g.slider)[loose ? 2 : 0];
    gain = fmax(gain, scene_energy(&g.s) - start);
  }
  print_message("governor, %s, %s, %g us: height %.8f m, rate %.8f rad/s; energy rose by %.2g J of "
                "%.3g\n",
                loose ? "loose" : "jointed", tabi_integrator_name(integrator), 1e6 * timestep,
                height[LOOKS - 1], scene_v(&g.s, g.shaft)[loose ? 5 : 0], gain, start);
  scene_close(&g.s);
  return gain / start;
}

static double differ(const double *a, const double *b) {
  double worst = 0;
  for (int i = 0; i < LOOKS; ++i)
    worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* 10 s, or fewer where steps are slow */
#define SECONDS (TEST_SHORT ? 2.0 : 10.0)

/* rk4 is explicit and needs small steps; with them it is converged */
static void converges_by_rk4(void **state) {
  (void)state;
  double fine[LOOKS];
  double coarse[LOOKS];
  follow(false, TABI_RK4, 2.5e-5, 0.2 * SECONDS, fine);
  follow(false, TABI_RK4, 5e-5, 0.2 * SECONDS, coarse);
  double change = differ(fine, coarse);
  print_message("governor, rk4, 50 and 25 us: %.2g m apart\n", change);
  assert_true(change < 1e-9);
}

/* Velocities half a step beside positions cost a first order that two runs can take out. */
static void loose_converges(void **state) {
  (void)state;
  double exact[LOOKS];
  double coarse[LOOKS];
  double fine[LOOKS];
  follow(false, TABI_RK4, 5e-5, SECONDS, exact);
  double gain = follow(true, TABI_SEMI_IMPLICIT, 1e-3, SECONDS, coarse);
  follow(true, TABI_SEMI_IMPLICIT, 5e-4, SECONDS, fine);
  double off = differ(coarse, exact);
  double order = log2(off / differ(fine, exact));
  for (int i = 0; i < LOOKS; ++i)
    fine[i] = 2 * fine[i] - coarse[i];
  double rest = differ(fine, exact);
  print_message("governor, loose, 1 ms: %.2g m off, order %.2f, %.2g m extrapolated\n", off, order,
                rest);
  assert_true(off < 2e-3);
  assert_true(order > 0.9);
  assert_true(rest < 1e-5);
  assert_true(gain < 0.01);
}

/* In joint coordinates what swings is solved at the middle of the step; its springs are not, and
 * leave an error of first order, but a small one. */
static void jointed_is_stable(void **state) {
  (void)state;
  double exact[LOOKS];
  double coarse[LOOKS];
  double fine[LOOKS];
  follow(false, TABI_RK4, 5e-5, 0.2 * SECONDS, exact);
  double gain = follow(false, TABI_SEMI_IMPLICIT, 1e-3, 0.2 * SECONDS, coarse);
  follow(false, TABI_SEMI_IMPLICIT, 1.25e-4, 0.2 * SECONDS, fine);
  double off = differ(coarse, exact);
  double rest = differ(fine, exact);
  print_message("governor, jointed: %.2g m off at 1 ms, %.2g m at 0.125 ms\n", off, rest);
  assert_true(off < 1e-4);
  assert_true(rest < off / 4);
  assert_true(gain < 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(converges_by_rk4),
      cmocka_unit_test(loose_converges),
      cmocka_unit_test(jointed_is_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
