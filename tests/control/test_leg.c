/* test_leg.c - legs put their feet where they are told: against forward kinematics of the whole
 * robot, for random places within reach, and not for places out of reach. */
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"

#include "control/leg.h"
#include "tabi/tabi_io.h"

#include <string.h>

static tbi_leg find_leg(const tabi_model *model, const char *foot) {
  static double q[128];
  tabi_model_initial_q(model, q);
  tbi_leg leg;
  tabi_error err = {0};
  int32_t waist = tabi_model_find_link(model, "pelvis");
  if (tbi_leg_find(model, waist, tabi_model_find_link(model, foot), q, &leg, &err) != TABI_OK)
    fail_msg("%s", err.message);
  return leg;
}

static void draw(rng *random, const tbi_leg *leg, double *angle) {
  for (int i = 0; i < TBI_LEG_JOINTS; ++i)
    angle[i] = rng_between(random, leg->lower[i], leg->upper[i]);
}

/* The chain that was taken from the model moves like the model. */
static void test_forward(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  tbi_leg leg = find_leg(model, "r_foot");
  assert_string_equal(tabi_model_joint(model, leg.joint[0]).name, "r_hip_yaw");
  assert_string_equal(tabi_model_joint(model, leg.joint[5]).name, "r_ankle_roll");
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  double q[128];
  double v[128] = {0};
  double angle[TBI_LEG_JOINTS];
  rng random = rng_make(1);
  for (int trial = 0; trial < 20; ++trial) {
    tabi_model_initial_q(model, q);
    draw(&random, &leg, angle);
    for (int i = 0; i < TBI_LEG_JOINTS; ++i)
      q[tabi_model_joint_q(model, leg.joint[i]).first] = angle[i];
    tabi_dynamics_set_state(d, q, v);
    double pos[2][3];
    double quat[2][4];
    tabi_dynamics_link_pose(d, tabi_model_find_link(model, "pelvis"), pos[0], quat[0]);
    tabi_dynamics_link_pose(d, tabi_model_find_link(model, "r_foot"), pos[1], quat[1]);
    tbi_frame waist = tbi_frame_load(pos[0], quat[0]);
    tbi_frame foot = tbi_frame_load(pos[1], quat[1]);
    tbi_frame chain = tbi_leg_forward(&leg, angle);
    chain = tbi_frame_mul(&waist, &chain);
    assert_near_n(chain.rot.m[0], foot.rot.m[0], 9, 1e-12);
    assert_near(v3_norm(v3_sub(chain.pos, foot.pos)), 0, 1e-12);
  }
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

static double missed(const tbi_leg *leg, const tbi_frame *place, const double *angle) {
  tbi_frame foot = tbi_leg_forward(leg, angle);
  double worst = v3_norm(v3_sub(foot.pos, place->pos));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      worst = fmax(worst, fabs(foot.rot.m[i][j] - place->rot.m[i][j]));
  }
  return worst;
}

static void assert_within(const tbi_leg *leg, const double *angle) {
  for (int i = 0; i < TBI_LEG_JOINTS; ++i)
    assert_true(angle[i] >= leg->lower[i] && angle[i] <= leg->upper[i]);
}

/* Anywhere within the limits, from a bent leg far away: every place is found, to 1e-10. */
static void test_search(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  const char *const feet[] = {"l_foot", "r_foot"};
  for (int side = 0; side < 2; ++side) {
    tbi_leg leg = find_leg(model, feet[side]);
    rng random = rng_make(2);
    int direct = 0;
    double worst = 0;
    for (int trial = 0; trial < 300; ++trial) {
      double angle[TBI_LEG_JOINTS];
      draw(&random, &leg, angle);
      tbi_frame place = tbi_leg_forward(&leg, angle);
      double found[TBI_LEG_JOINTS] = {0, 0, -0.45, 0.87, -0.42, 0};
      double near_by[TBI_LEG_JOINTS] = {0, 0, -0.45, 0.87, -0.42, 0};
      direct += tbi_leg_solve(&leg, &place, near_by);
      assert_true(tbi_leg_search(&leg, &place, found));
      assert_within(&leg, found);
      worst = fmax(worst, missed(&leg, &place, found));
    }
    print_message("%s: 300 places, %d from the first start; missed by %.1e at most\n", feet[side],
                  direct, worst);
    assert_true(worst < 1e-10);
    assert_true(direct > 200);
  }
  tabi_model_destroy(model);
}

/* Along a motion the leg follows without a jump and stays as near to its last posture. */
static void test_follow(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  tbi_leg leg = find_leg(model, "l_foot");
  double angle[TBI_LEG_JOINTS] = {0, 0, -0.45, 0.87, -0.42, 0};
  tbi_frame place = tbi_leg_forward(&leg, angle);
  double last[TBI_LEG_JOINTS];
  for (int k = 0; k < 400; ++k) {
    memcpy(last, angle, sizeof last);
    double phase = 0.005 * k * 2 * acos(-1);
    tbi_frame goal = place;
    goal.pos.x += 0.1 * sin(phase);
    goal.pos.y += 0.05 * sin(2 * phase);
    goal.pos.z += 0.05 * (1 - cos(phase));
    assert_true(tbi_leg_solve(&leg, &goal, angle));
    for (int i = 0; i < TBI_LEG_JOINTS; ++i)
      assert_true(fabs(angle[i] - last[i]) < 0.03);
  }
  tabi_model_destroy(model);
}

/* From very near, a step about the point in which the hip's axes meet is as good as one that does
 * not know of it; near a limit and near the stretched knee, too. */
static void test_hip(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  tbi_leg leg = find_leg(model, "r_foot");
  tbi_leg plain = leg;
  assert_true(leg.meets);
  plain.meets = false;
  rng random = rng_make(3);
  for (int trial = 0; trial < 300; ++trial) {
    double angle[TBI_LEG_JOINTS];
    double there[2][TBI_LEG_JOINTS];
    draw(&random, &leg, angle);
    if (trial % 3 == 1) angle[3] = leg.lower[3] + 1e-7;
    if (trial % 3 == 2) angle[3] = 1e-4;
    tbi_frame place = tbi_leg_forward(&leg, angle);
    for (int i = 0; i < TBI_LEG_JOINTS; ++i) {
      double near_by = angle[i] + rng_between(&random, -3e-7, 3e-7);
      there[0][i] = there[1][i] = fmin(fmax(near_by, leg.lower[i]), leg.upper[i]);
    }
    assert_true(tbi_leg_solve(&leg, &place, there[0]));
    assert_true(tbi_leg_solve(&plain, &place, there[1]));
    assert_within(&leg, there[0]);
    assert_true(missed(&leg, &place, there[0]) < 1e-11);
    if (trial % 3 == 0) assert_near_n(there[0], there[1], TBI_LEG_JOINTS, 1e-9);
  }
  tabi_model_destroy(model);
}

static void test_out_of_reach(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  tbi_leg leg = find_leg(model, "l_foot");
  double angle[TBI_LEG_JOINTS] = {0, 0, -0.45, 0.87, -0.42, 0};
  tbi_frame place = tbi_leg_forward(&leg, angle);
  place.pos.z -= 0.2;
  assert_false(tbi_leg_search(&leg, &place, angle));
  assert_within(&leg, angle);
  tabi_model_destroy(model);
}

static void test_refuses(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  tbi_leg leg;
  tabi_error err = {0};
  double q[128];
  tabi_model_initial_q(model, q);
  int32_t foot = tabi_model_find_link(model, "l_foot");
  assert_int_equal(tbi_leg_find(model, tabi_model_find_link(model, "chest"), foot, q, &leg, &err),
                   TABI_ERR_ARGUMENT);
  assert_int_equal(tbi_leg_find(model, tabi_model_find_link(model, "l_shank"), foot, q, &leg, &err),
                   TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "has 4 hinges"));
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forward),      cmocka_unit_test(test_search),
      cmocka_unit_test(test_follow),       cmocka_unit_test(test_hip),
      cmocka_unit_test(test_out_of_reach), cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
