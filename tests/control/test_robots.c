/* test_robots.c - the walking pattern is not made for one robot: a humanoid of 0.48 m and 6 kg and
 * a human figure of 1.75 m and 70 kg walk six steps as planned, in open loop. */
#include "control/humanoid.h"
#include "support/near.h"

#define TIMESTEP 1e-3

/* How far the CoM was from the plan, at most. */
static double walk_off(humanoid *robot, int32_t nstep, const tabi_footstep *step) {
  tabi_walk_def def = humanoid_walk_def(robot, nstep, step);
  def.stand_after = 0.5;
  tabi_walk *walk = humanoid_plan(robot, &def);
  tabi_pd *pd = humanoid_follow(robot, walk, true);
  humanoid_reset(robot, walk);
  double off = 0;
  while (tabi_world_time(robot->world) < tabi_walk_duration(walk)) {
    tabi_pd_apply(pd, robot->world, TIMESTEP);
    if (tabi_world_step(robot->world, NULL) != TABI_OK)
      fail_msg("%s", tabi_world_error(robot->world)->message);
    double com[3];
    tabi_dynamics_com(tabi_world_dynamics(robot->world), com);
    tabi_walk_state plan = tabi_walk_at(walk, tabi_world_time(robot->world));
    for (int i = 0; i < 2; ++i)
      off = fmax(off, fabs(com[i] - plan.com[i]));
  }
  tabi_pd_destroy(pd);
  tabi_walk_destroy(walk);
  return off;
}

static void check(const char *file, double size, double single_support, double kp) {
  humanoid robot = humanoid_build(file, TIMESTEP, false);
  robot.kp = kp;
  robot.kd = kp / 50;
  tabi_footstep step[MAX_STEPS];
  int32_t count = steps_straight(step);
  for (int32_t i = 0; i < count; ++i) {
    step[i].forward *= size;
    step[i].lift *= size;
    step[i].single_support = single_support;
  }
  double off = walk_off(&robot, count, step);
  print_message("%s: CoM within %.2f mm of the plan\n", file, 1e3 * off);
  assert_true(off < 2e-3 * size);
  humanoid_free(&robot);
}

static void test_small(void **state) {
  (void)state;
  check("humanoid20.urdf", 0.3, 0.4, 200);
}

static void test_human(void **state) {
  (void)state;
  check("figure40.urdf", 1, 0.6, 15000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small),
      cmocka_unit_test(test_human),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
