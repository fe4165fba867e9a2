/* test_pattern.c - whole-body walking patterns of humanoid36: feet and CoM are where the
 * plan has them, the further passes bring the ZMP of all bodies to the plan, joints
 * move smoothly and within their limits, and what cannot be walked is refused. */
#include "control/humanoid.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

/* Root mean square and largest distance of the motion's ZMP from the plan. */
static void zmp_error(const tabi_walk *walk, double *mean, double *worst) {
  int count = 0;
  *mean = *worst = 0;
  for (; 5e-3 * count < tabi_walk_duration(walk); ++count) {
    tabi_walk_state now = tabi_walk_at(walk, 5e-3 * count);
    double error = hypot(now.zmp[0] - now.motion_zmp[0], now.zmp[1] - now.motion_zmp[1]);
    *mean += error * error;
    *worst = fmax(*worst, error);
  }
  *mean = sqrt(*mean / count);
}

static void test_passes(void **state) {
  (void)state;
  humanoid robot = humanoid_load(NULL, 0);
  tabi_footstep step[MAX_STEPS];
  tabi_walk_def def = humanoid_walk_def(&robot, steps_straight(step), step);
  double mean[3];
  double worst[3];
  for (int32_t passes = 0; passes < 3; ++passes) {
    def.passes = passes;
    tabi_walk *walk = humanoid_plan(&robot, &def);
    zmp_error(walk, &mean[passes], &worst[passes]);
    print_message("%d passes: ZMP off by %.2f mm rms, %.1f mm at most\n", (int)passes,
                  1e3 * mean[passes], 1e3 * worst[passes]);
    tabi_walk_destroy(walk);
  }
  assert_true(mean[1] < 0.2 * mean[0]);
  assert_true(mean[2] < 0.3 * mean[1]);
  assert_true(worst[2] < 6e-3);
  humanoid_free(&robot);
}

/* The joints of a row, with the waist where the walk says, put feet and CoM to their
 * places: checked by the kinematics of the whole robot. */
static void check_places(const humanoid *robot, const tabi_walk_def *def, const tabi_walk *walk,
                         double time) {
  const tabi_model *model = robot->model;
  double *q = malloc((size_t)tabi_model_nq(model) * sizeof *q);
  double *v = calloc((size_t)tabi_model_nv(model), sizeof *v);
  double *row = calloc((size_t)tabi_model_njoint(model), sizeof *row);
  tabi_walk_state now = tabi_walk_at(walk, time);
  tabi_walk_initial_q(walk, q);
  tabi_trajectory_sample(tabi_walk_trajectory(walk), time, row, NULL);
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range range = tabi_model_joint_q(model, j);
    if (range.count == 1) q[range.first] = row[j];
  }
  double *base = q + tabi_model_joint_q(model, tabi_model_link_joint(model, def->waist)).first;
  memcpy(base, now.waist, sizeof now.waist);
  base[3] = cos(now.waist_yaw / 2);
  base[4] = base[5] = 0;
  base[6] = sin(now.waist_yaw / 2);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_set_state(d, q, v);
  double com[3];
  tabi_dynamics_com(d, com);
  assert_near(com[0], now.com[0], 1e-7);
  assert_near(com[1], now.com[1], 1e-7);
  assert_near(com[2], now.com[2], 0.01);
  for (int side = 0; side < 2; ++side) {
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(d, def->foot[side], pos, quat);
    /* the sole's middle in the foot's frame, from the model */
    double c = cos(now.foot_yaw[side]);
    double s = sin(now.foot_yaw[side]);
    assert_near(pos[0] + 0.0175 * c, now.foot[side][0], 1e-6);
    assert_near(pos[1] + 0.0175 * s, now.foot[side][1], 1e-6);
    assert_near(pos[2] - 0.045, now.foot[side][2], 1e-6);
    assert_near(fabs(quat[0]), fabs(cos(now.foot_yaw[side] / 2)), 1e-6);
    assert_near(hypot(quat[1], quat[2]), 0, 1e-6);
  }
  tabi_dynamics_destroy(d);
  free(q);
  free(v);
  free(row);
}

/* Between the samples of the generator too. */
static void test_places(void **state) {
  (void)state;
  humanoid robot = humanoid_load(NULL, 0);
  tabi_footstep step[MAX_STEPS];
  tabi_walk_def def = humanoid_walk_def(&robot, steps_nineteen(step), step);
  def.passes = 1;
  tabi_walk *walk = humanoid_plan(&robot, &def);
  for (int k = 0; k < 200; ++k)
    check_places(&robot, &def, walk, 0.101 * k);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

/* Joints of legs keep their limits of angle and speed; others stay; no speed jumps. */
static void test_smooth(void **state) {
  (void)state;
  humanoid robot = humanoid_load(NULL, 0);
  tabi_footstep step[MAX_STEPS];
  tabi_walk_def def = humanoid_walk_def(&robot, steps_turning(step), step);
  tabi_walk *walk = humanoid_plan(&robot, &def);
  const tabi_trajectory *trajectory = tabi_walk_trajectory(walk);
  int32_t njoint = tabi_model_njoint(robot.model);
  assert_int_equal(tabi_trajectory_ncolumn(trajectory), njoint);
  double *at = calloc(4 * (size_t)njoint, sizeof *at);
  double *rate = at + njoint;
  double *last_rate = rate + njoint;
  double *first = last_rate + njoint;
  double fastest = 0;
  double sharpest = 0;
  tabi_trajectory_sample(trajectory, 0, first, last_rate);
  for (int k = 0; k < 1000 * tabi_walk_duration(walk); ++k) {
    tabi_trajectory_sample(trajectory, 1e-3 * (k + 0.5), at, rate);
    for (int32_t j = 0; j < njoint; ++j) {
      tabi_joint_def joint = tabi_model_joint(robot.model, j);
      if (tabi_model_joint_q(robot.model, j).count != 1) continue;
      assert_true(at[j] >= joint.lower && at[j] <= joint.upper);
      assert_true(fabs(rate[j]) <= joint.velocity);
      bool leg =
          strstr(joint.name, "hip") || strstr(joint.name, "knee") || strstr(joint.name, "ankle");
      if (!leg) assert_near(at[j], first[j], 1e-12);
      fastest = fmax(fastest, fabs(rate[j]));
      sharpest = fmax(sharpest, fabs(rate[j] - last_rate[j]) / 1e-3);
    }
    memcpy(last_rate, rate, (size_t)njoint * sizeof *rate);
  }
  print_message("fastest joint %.2f rad/s, sharpest %.0f rad/s^2\n", fastest, sharpest);
  assert_true(sharpest < 100);
  free(at);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

static void expect_refused(const humanoid *robot, const tabi_walk_def *def, const char *words) {
  tabi_error err = {0};
  tabi_walk *walk = tabi_walk_create(robot->model, def, &err);
  assert_null(walk);
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  if (!strstr(err.message, words)) fail_msg("%s", err.message);
}

static void test_refuses(void **state) {
  (void)state;
  humanoid robot = humanoid_load(NULL, 0);
  tabi_footstep step[MAX_STEPS];
  tabi_walk_def good = humanoid_walk_def(&robot, steps_straight(step), step);
  tabi_walk_def def = good;
  def.def_size = 0;
  expect_refused(&robot, &def, "tabi_walk_def_default");
  def = good;
  def.period = 0;
  expect_refused(&robot, &def, "must be positive");
  def = good;
  def.first = (tabi_side)7;
  expect_refused(&robot, &def, "first must be TABI_LEFT or TABI_RIGHT");
  def = good;
  def.foot[TABI_LEFT] = TABI_NONE;
  expect_refused(&robot, &def, "a foot is none of the model");
  def = good;
  def.waist = tabi_model_find_link(robot.model, "robot/chest");
  expect_refused(&robot, &def, "does not float");
  def = good;
  def.foot[TABI_LEFT] = good.foot[TABI_RIGHT];
  expect_refused(&robot, &def, "not to the left");
  def = good;
  def.foot[TABI_LEFT] = tabi_model_find_link(robot.model, "floor");
  expect_refused(&robot, &def, "is not below the waist");
  def = good;
  def.waist_height = 0.71;
  expect_refused(&robot, &def, "cannot reach its place within the limits");
  step[2].forward = 0.8;
  expect_refused(&robot, &good, "leg cannot reach");
  humanoid_free(&robot);
}

/* Torques whose columns are not those of the targets. */
static void test_torque_columns(void **state) {
  (void)state;
  humanoid robot = humanoid_load(NULL, 0);
  tabi_walk_def def = humanoid_walk_def(&robot, 0, NULL);
  tabi_walk *walk = humanoid_plan(&robot, &def);
  tabi_trajectory *other =
      tabi_trajectory_create(1, 2, (const double[]){0}, (const double[]){0, 0}, NULL);
  tabi_pd_def pd_def = tabi_pd_def_default();
  pd_def.trajectory = tabi_walk_trajectory(walk);
  pd_def.torque = other;
  tabi_error err = {0};
  assert_null(tabi_pd_create(robot.model, &pd_def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  tabi_trajectory_destroy(other);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes),         cmocka_unit_test(test_places),
      cmocka_unit_test(test_smooth),         cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_torque_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
