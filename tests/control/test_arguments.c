/* test_arguments.c - arguments of tabi_control.h: defs that are wrong get an error, calls that are
 * wrong fail an assertion. */
#include "control/humanoid.h"
#include "support/must_fail.h"

#include <string.h>

static void expect_error(const tabi_error *err, const char *words) {
  assert_int_equal(err->status, TABI_ERR_ARGUMENT);
  if (!strstr(err->message, words)) fail_msg("%s", err->message);
}

/* Defs that were not made by their default functions, and counts without arrays. */
static void test_defs(void **state) {
  (void)state;
  humanoid robot = humanoid_build("humanoid36.urdf", 1e-3, false);
  tabi_error err = {0};
  assert_null(tabi_pd_create(robot.model, &(tabi_pd_def){0}, &err));
  expect_error(&err, "not made by tabi_pd_def_default()");
  assert_null(tabi_walk_create(robot.model, &(tabi_walk_def){0}, &err));
  expect_error(&err, "not made by tabi_walk_def_default()");
  assert_null(tabi_stabiliser_create(robot.model, &(tabi_stabiliser_def){0}, &err));
  expect_error(&err, "not made by tabi_stabiliser_def_default()");
  tabi_pd_def pd = tabi_pd_def_default();
  pd.njoint = 1;
  assert_null(tabi_pd_create(robot.model, &pd, &err));
  expect_error(&err, "njoint");
  pd.njoint = -1;
  assert_null(tabi_pd_create(robot.model, &pd, &err));
  expect_error(&err, "njoint");
  tabi_walk_def walk = humanoid_walk_def(&robot, 3, NULL);
  assert_null(tabi_walk_create(robot.model, &walk, &err));
  expect_error(&err, "nstep");
  walk.nstep = -1;
  assert_null(tabi_walk_create(robot.model, &walk, &err));
  expect_error(&err, "nstep");
  humanoid_free(&robot);
}

#ifndef TABI_NO_ASSERT

static void test_trajectories(void **state) {
  (void)state;
  const double time[2] = {0, 1};
  double value[2] = {0, 0};
  must_fail_begin();
  MUST_FAIL(tabi_trajectory_create(2, 1, NULL, value, NULL));
  MUST_FAIL(tabi_trajectory_create(2, 1, time, NULL, NULL));
  MUST_FAIL(tabi_trajectory_ncolumn(NULL));
  MUST_FAIL(tabi_trajectory_start(NULL));
  MUST_FAIL(tabi_trajectory_end(NULL));
  MUST_FAIL((tabi_trajectory_sample(NULL, 0, value, NULL), 0));
  must_fail_end();
}

static void test_controllers(void **state) {
  (void)state;
  humanoid robot = humanoid_build("humanoid36.urdf", 1e-3, false);
  tabi_walk_def walk_def = humanoid_walk_def(&robot, 0, NULL);
  tabi_walk *walk = humanoid_plan(&robot, &walk_def);
  tabi_pd *pd = humanoid_follow(&robot, walk, false);
  tabi_stabiliser_def def = humanoid_stabiliser_def(&robot, walk);
  tabi_stabiliser *stabiliser = tabi_stabiliser_create(robot.model, &def, NULL);
  assert_non_null(stabiliser);
  const double pole[2] = {-1, -2};
  double gain[3];
  must_fail_begin();
  MUST_FAIL(tabi_pd_create(NULL, &(tabi_pd_def){0}, NULL));
  MUST_FAIL(tabi_pd_create(robot.model, NULL, NULL));
  MUST_FAIL((tabi_pd_apply(NULL, robot.world, 1e-3), 0));
  MUST_FAIL((tabi_pd_apply(pd, NULL, 1e-3), 0));
  MUST_FAIL((tabi_pd_apply_targets(pd, robot.world, NULL, NULL), 0));
  MUST_FAIL(tabi_walk_create(robot.model, NULL, NULL));
  MUST_FAIL(tabi_walk_create(NULL, &walk_def, NULL));
  MUST_FAIL((tabi_walk_initial_q(walk, NULL), 0));
  MUST_FAIL(tabi_walk_duration(NULL));
  MUST_FAIL(tabi_walk_trajectory(NULL));
  MUST_FAIL(tabi_walk_torque(NULL));
  MUST_FAIL((tabi_walk_at(NULL, 0), 0));
  MUST_FAIL((tabi_lipm_gains(0, 9.81, 0.04, pole, gain), 0));
  MUST_FAIL((tabi_lipm_gains(0.8, 9.81, 0.04, pole, NULL), 0));
  MUST_FAIL(tabi_stabiliser_create(robot.model, NULL, NULL));
  MUST_FAIL((tabi_stabiliser_reset(NULL), 0));
  MUST_FAIL((tabi_stabiliser_update(stabiliser, NULL, 1e-3), 0));
  MUST_FAIL((tabi_stabiliser_update(stabiliser, robot.world, 0), 0));
  MUST_FAIL(tabi_stabiliser_target(NULL));
  MUST_FAIL(tabi_stabiliser_rate(NULL));
  MUST_FAIL((tabi_stabiliser_get_state(NULL), 0));
  must_fail_end();
  tabi_stabiliser_destroy(stabiliser);
  tabi_pd_destroy(pd);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defs),
#ifndef TABI_NO_ASSERT
      cmocka_unit_test(test_trajectories),
      cmocka_unit_test(test_controllers),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
