/* test_loop_rows.c - loop constraints among the unknowns of cone-paper: the cost of a sweep, rk4
 * with their forces held over the step, couplings, and a robot whose loops and soles push at once.
 *
 * tests/property/test_loops.c holds them against elimination on random models. */
#include "../analytic/mechanism.h"

#include "support/load.h"
#include "world/world.h"

#define MANY 40

static void open_swept(scene *s, tabi_integrator integrator, double timestep, int32_t sweeps) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_CONE_PAPER;
  def.integrator = integrator;
  def.timestep = timestep;
  def.iterations = sweeps;
  def.tolerance = 0;
  scene_open(s, &def);
}

/* numbers that a sweep over n windows side by side reads, one loop constraint after the other */
static int32_t numbers_of_windows(int32_t count) {
  int32_t post[MANY + 1];
  scene s = scene_begin();
  v3 end = v3_make(1, 0, 0);
  for (int32_t i = 0; i <= count; ++i)
    post[i] = mechanism_bar(&s, TABI_WORLD, v3_make(i, 0, 0), 1, v3_make(0.5, 0, 0), 0.1);
  for (int32_t i = 0; i < count; ++i)
    mechanism_pin(&s, mechanism_bar(&s, post[i], end, 1, v3_make(0.5, 0, 0), 0.1), end, post[i + 1],
                  end);
  open_swept(&s, TABI_SEMI_IMPLICIT, 1e-3, 2);
  scene_run(&s, 1);
  const tbi_problem *p = &s.world->setup.problem;
  assert_int_equal(p->nloop, 2 * count);
  int32_t numbers = 0;
  for (int32_t i = 0; i < p->nloop; ++i)
    numbers += p->loop_row[i].length[0] + p->loop_row[i].length[1];
  scene_close(&s);
  return numbers;
}

/* all windows are one cluster, and still a sweep costs the same for each */
static void cost_of_a_sweep_is_linear(void **state) {
  (void)state;
  assert_int_equal(numbers_of_windows(10), 10 * numbers_of_windows(1));
  assert_int_equal(numbers_of_windows(MANY), MANY * numbers_of_windows(1));
}

/* the worst gap of a parallelogram that swings for 2 s */
static double swing(double timestep) {
  scene s = scene_begin();
  mechanism_gravity(&s, v3_make(0, -GRAVITY, 0));
  v3 end = v3_make(0.1, 0, 0);
  v3 tip = v3_make(0.2, 0, 0);
  int32_t left = mechanism_bar(&s, TABI_WORLD, v3_zero(), 0.1, v3_make(0.05, 0, 0), 1e-4);
  int32_t coupler = mechanism_bar(&s, left, end, 0.2, v3_make(0.1, 0, 0), 1e-3);
  int32_t right = mechanism_bar(&s, TABI_WORLD, tip, 0.1, v3_make(0.05, 0, 0), 1e-4);
  mechanism_pin(&s, coupler, tip, right, end);
  open_swept(&s, TABI_RK4, timestep, 200);
  mechanism_set(&s, left, -0.8, 0);
  mechanism_set(&s, coupler, 0.8, 0);
  mechanism_set(&s, right, -0.8, 0);
  mechanism_watch worst = mechanism_begin(&s);
  mechanism_run(&s, &worst, lround(2 / timestep));
  scene_close(&s);
  return worst.gap;
}

/* Forces that are held over a step miss their change within it, h^3 of position, which the next
 * step takes back: the gap does not add up, and half the step leaves an eighth of it. */
static void rk4_closes_to_third_order(void **state) {
  (void)state;
  double gap = swing(2e-3);
  double half = swing(1e-3);
  print_message("gap %.3g m at 2 ms, %.3g m at 1 ms\n", gap, half);
  assert_true(half > 0 && gap < 1e-5);
  assert_true(gap / half > 7 && gap / half < 9);
}

/* a hinge that follows another 2 : 1 on the same tree, and one on a tree of its own */
static double coupled_speed(tabi_contact_kind contact) {
  scene s = scene_begin();
  v3 arm = v3_make(0.3, 0, 0);
  mechanism_gravity(&s, v3_make(0, -GRAVITY, 0));
  int32_t leader = mechanism_bar(&s, TABI_WORLD, v3_zero(), 1, arm, 0.1);
  int32_t child = mechanism_bar(&s, leader, arm, 1, arm, 0.1);
  int32_t apart = mechanism_bar(&s, TABI_WORLD, v3_make(2, 0, 0), 1, arm, 0.1);
  const int32_t follower[] = {child, apart};
  const double ratio[] = {2, -3};
  for (int i = 0; i < 2; ++i) {
    tabi_coupling_def def = tabi_coupling_def_default();
    def.joint = follower[i]; /* every link here is behind the joint of the same number */
    def.leader = leader;
    def.coef[1] = ratio[i];
    tabi_builder_add_coupling(s.builder, &def);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.iterations = 5000;
  def.tolerance = 1e-14;
  scene_open(&s, &def);
  scene_run(&s, 300);
  double speed = scene_v(&s, leader)[0];
  assert_near(scene_v(&s, child)[0], 2 * speed, 1e-9);
  assert_near(scene_v(&s, apart)[0], -3 * speed, 1e-9);
  scene_close(&s);
  return speed;
}

static void couplings_agree(void **state) {
  (void)state;
  double eliminated = coupled_speed(TABI_CONTACT_CONE);
  assert_true(fabs(eliminated) > 0.1);
  assert_near(coupled_speed(TABI_CONTACT_CONE_PAPER), eliminated, 1e-9);
}

/* the velocity after a step of the robot with parallel ankles, from the state q, v */
static void step_robot(const tabi_scene *from, tabi_contact_kind contact, const double *q,
                       const double *v, double *after) {
  const tabi_model *model = tabi_scene_model(from);
  tabi_world_def def = tabi_scene_world_def(from);
  def.contact = contact;
  def.iterations = 200000;
  def.tolerance = 1e-14;
  tabi_world *world = tabi_world_create(model, &def, NULL);
  assert_non_null(world);
  assert_int_equal(tabi_world_set_state(world, q, v, NULL), TABI_OK);
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  assert_true(tabi_world_certificate(world).contacts > 0);
  for (int32_t k = 0; k < tabi_model_nv(model); ++k)
    after[k] = tabi_world_v(world)[k];
  tabi_world_destroy(world);
}

/* It stands, so that all contacts stick and the answer is one: sweeps over contacts, joint rows and
 * loops together find what `cone` finds with loops eliminated. */
static void loops_and_contacts_agree(void **state) {
  (void)state;
  tabi_scene *robot = load_shipped_scene("parallel_ankles", NULL);
  tabi_world *world = open_world(robot, NULL);
  for (int i = 0; i < 50; ++i)
    step_world(robot, world);
  enum { MAX_NV = 64 };
  double eliminated[MAX_NV];
  double swept[MAX_NV];
  int32_t nv = tabi_model_nv(tabi_scene_model(robot));
  assert_true(nv <= MAX_NV);
  step_robot(robot, TABI_CONTACT_CONE, tabi_world_q(world), tabi_world_v(world), eliminated);
  step_robot(robot, TABI_CONTACT_CONE_PAPER, tabi_world_q(world), tabi_world_v(world), swept);
  double off = 0;
  for (int32_t k = 0; k < nv; ++k)
    off = fmax(off, fabs(eliminated[k] - swept[k]));
  print_message("robot with loops and contacts: off by %.2g\n", off);
  assert_true(off < 1e-7);
  tabi_world_destroy(world);
  tabi_scene_destroy(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cost_of_a_sweep_is_linear),
      cmocka_unit_test(rk4_closes_to_third_order),
      cmocka_unit_test(couplings_agree),
      cmocka_unit_test(loops_and_contacts_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
