/* test_trajectory.c - trajectories between, before and after their samples; defs that are refused.
 */
#include "support/near.h"
#include "tabi/tabi_control.h"

#include <string.h>

static const double times[3] = {1, 2, 4};
static const double values[6] = {10, -1, 20, -1, 60, 3};

static void check_sample(const tabi_trajectory *t, double time, const double value[2],
                         const double rate[2]) {
  double seen[2];
  double seen_rate[2];
  tabi_trajectory_sample(t, time, seen, seen_rate);
  assert_near_n(seen, value, 2, 1e-14);
  assert_near_n(seen_rate, rate, 2, 1e-14);
}

static void test_sample(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_trajectory *t = tabi_trajectory_create(3, 2, times, values, &err);
  assert_non_null(t);
  assert_int_equal(tabi_trajectory_ncolumn(t), 2);
  assert_near(tabi_trajectory_start(t), 1, 0);
  assert_near(tabi_trajectory_end(t), 4, 0);
  const double still[2] = {0, 0};
  check_sample(t, 0, values, still);
  check_sample(t, 1, values, (const double[2]){10, 0});
  check_sample(t, 1.25, (const double[2]){12.5, -1}, (const double[2]){10, 0});
  check_sample(t, 3, (const double[2]){40, 1}, (const double[2]){20, 2});
  check_sample(t, 4, values + 4, still);
  check_sample(t, 1e9, values + 4, still);
  tabi_trajectory_destroy(t);
  tabi_trajectory_destroy(NULL);
}

/* In time steps of one sample, summed with rounding, the slope is always that behind the sample. */
static void test_samples_as_steps(void **state) {
  (void)state;
  enum { ROWS = 3000 };
  static double at[ROWS];
  static double square[ROWS];
  for (int i = 0; i < ROWS; ++i) {
    at[i] = i * 1e-3;
    square[i] = (double)i * i;
  }
  tabi_trajectory *t = tabi_trajectory_create(ROWS, 1, at, square, NULL);
  assert_non_null(t);
  for (int i = 0; i < ROWS - 2; ++i) {
    double value = 0;
    double rate = 0;
    tabi_trajectory_sample(t, i * 1e-3 + 1e-3, &value, &rate);
    assert_near(value, square[i + 1], 1e-6);
    assert_near(rate, 1e3 * (2 * i + 3), 1);
  }
  tabi_trajectory_destroy(t);
}

static void test_refused(void **state) {
  (void)state;
  tabi_error err = {0};
  const double back[3] = {1, 1, 2};
  const double holes[6] = {1, 2, 3, NAN, 5, 6};
  assert_null(tabi_trajectory_create(0, 2, times, values, &err));
  assert_null(tabi_trajectory_create(3, 2, back, values, &err));
  assert_non_null(strstr(err.message, "time of sample 2 does not rise"));
  assert_null(tabi_trajectory_create(3, 2, times, holes, &err));
  assert_non_null(strstr(err.message, "sample 2 is not finite"));
}

static tabi_model *slider(void) {
  tabi_builder *builder = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  link.mass = 2;
  joint.type = TABI_JOINT_PRISMATIC;
  joint.child = tabi_builder_add_link(builder, &link);
  (void)tabi_builder_add_joint(builder, &joint);
  tabi_model *model = tabi_builder_build(builder, NULL);
  tabi_builder_destroy(builder);
  assert_non_null(model);
  return model;
}

static void test_pd_refused(void **state) {
  (void)state;
  tabi_model *model = slider();
  tabi_error err = {0};
  tabi_pd_joint joint = {.joint = 0, .actuator = TABI_NONE, .column = TABI_NONE, .kp = 1};
  tabi_pd_def def = tabi_pd_def_default();
  def.njoint = 1;
  def.joint = &joint;
  tabi_pd *pd = tabi_pd_create(model, &def, &err);
  assert_non_null(pd);
  tabi_pd_destroy(pd);
  joint.kd = NAN;
  assert_null(tabi_pd_create(model, &def, &err));
  joint.kd = 0;
  joint.column = 0;
  assert_null(tabi_pd_create(model, &def, &err));
  joint.column = TABI_NONE;
  joint.actuator = 0;
  assert_null(tabi_pd_create(model, &def, &err));
  joint.actuator = TABI_NONE;
  joint.joint = 1;
  assert_null(tabi_pd_create(model, &def, &err));
  assert_null(tabi_pd_create(model, &(tabi_pd_def){0}, &err));
  tabi_model_destroy(model);
}

/* m a = kp (target - x) from rest, one explicit step of 1 ms. */
static void test_pd_force(void **state) {
  (void)state;
  tabi_model *model = slider();
  tabi_pd_joint joint = {
      .joint = 0, .actuator = TABI_NONE, .column = TABI_NONE, .target = 0.5, .kp = 40};
  tabi_pd_def def = tabi_pd_def_default();
  def.njoint = 1;
  def.joint = &joint;
  tabi_pd *pd = tabi_pd_create(model, &def, NULL);
  tabi_world_def world_def = tabi_world_def_default(model);
  world_def.gravity[2] = 0;
  tabi_world *world = tabi_world_create(model, &world_def, NULL);
  assert_non_null(pd);
  assert_non_null(world);
  tabi_pd_apply(pd, world, world_def.timestep);
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  assert_near(tabi_world_v(world)[0], 40 * 0.5 / 2 * 1e-3, 1e-15);
  tabi_world_destroy(world);
  tabi_pd_destroy(pd);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample),   cmocka_unit_test(test_samples_as_steps),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_pd_refused),
      cmocka_unit_test(test_pd_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
