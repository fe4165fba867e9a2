/* test_footsteps.c - plans put feet where geometry says, move the ZMP from foot to
 * foot without a jump, and swing feet smoothly and from above. */
#include "control/humanoid.h"
#include "support/near.h"

#include "control/footsteps.h"

#include <string.h>

static const double spacing = 0.19;

static tbi_plan make(int32_t nstep, const tabi_footstep *step, tabi_side first) {
  tabi_walk_def walk = tabi_walk_def_default();
  walk.nstep = nstep;
  walk.step = step;
  walk.first = first;
  walk.stand_after = 1.75;
  const tbi_plan_def def = {.spacing = spacing, .clearance = 0.13, .walk = &walk};
  tbi_plan plan;
  tabi_error err = {0};
  if (tbi_plan_make(&plan, &def, &err) != TABI_OK) fail_msg("%s", err.message);
  return plan;
}

static void assert_place(const tbi_foot_place *place, double x, double y, double yaw) {
  assert_near(place->pos.x, x, 1e-12);
  assert_near(place->pos.y, y, 1e-12);
  assert_near(place->pos.z, 0, 1e-12);
  assert_near(place->yaw, yaw, 1e-12);
}

/* The walk of 19 steps takes 20 s.  It goes 1.2 m forward, then 60 degrees around the centre at
 * (1.2, 0.75), then 0.75 m backwards. */
static void test_nineteen(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  int32_t count = steps_nineteen(step);
  assert_int_equal(count, 19);
  tbi_plan plan = make(count, step, TABI_LEFT);
  assert_near(plan.stride[18].land, 18.15, 1e-12);
  assert_near(plan.end, 20, 1e-12);
  double third = acos(-1) / 3;
  double x = 1.2 + 0.75 * sin(third) - 0.75 * cos(third);
  double y = 0.75 - 0.75 * cos(third) - 0.75 * sin(third);
  tbi_plan_state end = tbi_plan_at(&plan, plan.end);
  assert_place(&end.foot[TABI_LEFT], x - spacing / 2 * sin(third), y + spacing / 2 * cos(third),
               third);
  assert_place(&end.foot[TABI_RIGHT], x + spacing / 2 * sin(third), y - spacing / 2 * cos(third),
               third);
  assert_near(end.zmp[0], x, 1e-12);
  assert_near(end.zmp[1], y, 1e-12);
  tbi_plan_free(&plan);
}

/* Feet take turns; the first can be either; a step is measured from the standing foot. */
static void test_places(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  tbi_plan plan = make(steps_straight(step), step, TABI_RIGHT);
  assert_int_equal(plan.stride[0].swing, TABI_RIGHT);
  assert_int_equal(plan.stride[1].swing, TABI_LEFT);
  assert_place(&plan.stride[0].to, 0.2, -spacing / 2, 0);
  assert_place(&plan.stride[1].to, 0.4, spacing / 2, 0);
  assert_place(&plan.stride[5].to, 1.0, spacing / 2, 0);
  tbi_plan_free(&plan);
  plan = make(steps_sideways(step), step, TABI_LEFT);
  assert_place(&plan.stride[0].to, 0, 0.1 + spacing / 2, 0);
  assert_place(&plan.stride[1].to, 0, 0.1 - spacing / 2, 0);
  assert_place(&plan.stride[5].to, 0, 0.3 - spacing / 2, 0);
  tbi_plan_free(&plan);
}

/* At every time the ZMP is between the stance feet, on the stance foot while
 * the other one moves, and moves at most as fast as one shift asks. */
static void test_zmp(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  tbi_plan plan = make(steps_nineteen(step), step, TABI_LEFT);
  tbi_plan_state last = tbi_plan_at(&plan, 0);
  for (int k = 1; k <= 20000; ++k) {
    tbi_plan_state now = tbi_plan_at(&plan, 1e-3 * k);
    for (int i = 0; i < 2; ++i)
      assert_true(fabs(now.zmp[i] - last.zmp[i]) < 1e-3 * 0.3 / 0.1 + 1e-12);
    for (int side = 0; side < 2; ++side) {
      if (!now.lifted[side]) continue;
      assert_false(now.lifted[1 - side]);
      assert_near(now.zmp[0], now.foot[1 - side].pos.x, 1e-9);
      assert_near(now.zmp[1], now.foot[1 - side].pos.y, 1e-9);
    }
    v3 a = now.foot[0].pos;
    v3 b = now.foot[1].pos;
    double off = fabs((now.zmp[0] - a.x) * (b.y - a.y) - (now.zmp[1] - a.y) * (b.x - a.x));
    if (!now.lifted[0] && !now.lifted[1]) assert_near(off, 0, 1e-9);
    last = now;
  }
  tbi_plan_free(&plan);
}

/* Speed and acceleration vanish at both ends; the foot is over its place for the last tenth, and
 * as high as it was told in the middle. */
static void test_swing(void **state) {
  (void)state;
  const tbi_foot_place from = {
      {1, 2, 0},
      0.1
  };
  const tbi_foot_place to = {
      {1.4, 1.9, 0},
      0.5
  };
  const double h = 1e-4;
  for (int end = 0; end < 2; ++end) {
    double sign = end == 0 ? 1 : -1;
    tbi_foot_place a = tbi_swing(&from, &to, 0.05, end);
    tbi_foot_place b = tbi_swing(&from, &to, 0.05, end + sign * h);
    tbi_foot_place c = tbi_swing(&from, &to, 0.05, end + sign * 2 * h);
    const tbi_foot_place *exact = end == 0 ? &from : &to;
    assert_near(v3_norm(v3_sub(a.pos, exact->pos)), 0, 1e-15);
    assert_near(a.yaw, exact->yaw, 1e-15);
    v3 speed = v3_scale(1 / h, v3_sub(b.pos, a.pos));
    v3 bend = v3_scale(1 / (h * h), v3_add(v3_sub(c.pos, b.pos), v3_sub(a.pos, b.pos)));
    assert_near(v3_norm(speed), 0, 1e-6);
    assert_near(v3_norm(bend), 0, 5e-3);
    assert_near((b.yaw - a.yaw) / h, 0, 1e-6);
  }
  assert_near(tbi_swing(&from, &to, 0.05, 0.5).pos.z, 0.05, 1e-15);
  tbi_foot_place late = tbi_swing(&from, &to, 0.05, 0.91);
  assert_near(late.pos.x, to.pos.x, 1e-12);
  assert_near(late.yaw, to.yaw, 1e-12);
  assert_true(late.pos.z > 1e-4);
}

static void expect_refused(const tabi_footstep *step, const char *words) {
  tabi_walk_def walk = tabi_walk_def_default();
  walk.nstep = 1;
  walk.step = step;
  const tbi_plan_def def = {.spacing = spacing, .clearance = 0.13, .walk = &walk};
  tbi_plan plan;
  tabi_error err = {0};
  assert_int_equal(tbi_plan_make(&plan, &def, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, words));
  tbi_plan_free(&plan);
}

/* Feet that would stand on each other, and raw structs. */
static void test_refuses(void **state) {
  (void)state;
  tabi_footstep step = tabi_footstep_default();
  step.sideways = -0.1;
  expect_refused(&step, "0.090 m apart and need 0.130 m");
  step = (tabi_footstep){.forward = 0.1};
  expect_refused(&step, "tabi_footstep_default");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nineteen), cmocka_unit_test(test_places),  cmocka_unit_test(test_zmp),
      cmocka_unit_test(test_swing),    cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
