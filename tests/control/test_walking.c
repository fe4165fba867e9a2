/* test_walking.c - humanoid36, feet without rubber, plays walking patterns under joint control and
 * without any feedback of its balance: it keeps its height, puts its feet where it was told, and
 * the floor carries its weight.  With the torques of the pattern added it does exactly as planned,
 * and no foot slips. */
#include "control/humanoid.h"
#include "support/near.h"

#include <string.h>

#define TIMESTEP 1e-3

/* What was seen on the way. */
typedef struct record {
  double lowest, highest; /* m, of the CoM */
  double force;           /* N, mean vertical while it walks */
  double margin;          /* m, of the mean ZMP of single supports to the sole's edge */
  double feet;            /* m, by which the feet missed their last places */
  double zmp[2], seen;    /* sums over the present single support */
  int32_t walked;         /* steps of the simulation while it walks */
  double off;             /* m, of the CoM from the plan, at most */
  double slip;            /* m, of a standing foot in a single support, at most */
  double stood[2];        /* m, where that foot stood first */
} record;

/* Vertical force of the floor and its centre. */
static double floor_force(const tabi_world *world, double centre[2]) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  double force = 0;
  centre[0] = centre[1] = 0;
  for (int32_t i = 0; i < count; ++i) {
    double up = fabs(contact[i].impulse[2]) / TIMESTEP;
    force += up;
    for (int k = 0; k < 2; ++k)
      centre[k] += up * contact[i].point[k];
  }
  for (int k = 0; k < 2 && force > 0; ++k)
    centre[k] /= force;
  return force;
}

/* The mean ZMP of a single support against the stance sole, 0.245 m x 0.13 m. */
static void end_support(record *seen, const tabi_walk_state *now, int stands) {
  if (seen->seen > 0) {
    double c = cos(now->foot_yaw[stands]);
    double s = sin(now->foot_yaw[stands]);
    double x = seen->zmp[0] / seen->seen - now->foot[stands][0];
    double y = seen->zmp[1] / seen->seen - now->foot[stands][1];
    seen->margin = fmin(seen->margin, 0.1225 - fabs(c * x + s * y));
    seen->margin = fmin(seen->margin, 0.065 - fabs(-s * x + c * y));
  }
  seen->zmp[0] = seen->zmp[1] = seen->seen = 0;
}

/* The middle of a foot's sole, 0.0175 m before the link's origin. */
static void sole(const humanoid *robot, int32_t foot, double to[2]) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(robot->world), foot, pos, quat);
  double yaw = 2 * atan2(quat[3], quat[0]);
  to[0] = pos[0] + 0.0175 * cos(yaw);
  to[1] = pos[1] + 0.0175 * sin(yaw);
}

static void watch_support(const humanoid *robot, const tabi_walk_def *def,
                          const tabi_walk_state *now, record *seen) {
  double centre[2];
  double at[2];
  double force = floor_force(robot->world, centre);
  sole(robot, def->foot[now->lifted[0] ? 1 : 0], at);
  if (seen->seen == 0) memcpy(seen->stood, at, sizeof at);
  seen->slip = fmax(seen->slip, hypot(at[0] - seen->stood[0], at[1] - seen->stood[1]));
  seen->zmp[0] += force * centre[0];
  seen->zmp[1] += force * centre[1];
  seen->seen += force;
}

static void watch(const humanoid *robot, const tabi_walk_def *def, const tabi_walk *walk,
                  record *seen) {
  double com[3];
  double centre[2];
  double time = tabi_world_time(robot->world);
  tabi_walk_state now = tabi_walk_at(walk, time);
  tabi_dynamics_com(tabi_world_dynamics(robot->world), com);
  seen->lowest = fmin(seen->lowest, com[2]);
  seen->highest = fmax(seen->highest, com[2]);
  seen->off = fmax(seen->off, hypot(com[0] - now.com[0], com[1] - now.com[1]));
  if (time >= def->stand_before && time <= tabi_walk_duration(walk) - def->stand_after) {
    seen->force += floor_force(robot->world, centre);
    ++seen->walked;
  }
  if (now.lifted[0] || now.lifted[1]) {
    watch_support(robot, def, &now, seen);
  } else {
    tabi_walk_state before = tabi_walk_at(walk, time - 2 * TIMESTEP);
    end_support(seen, &now, before.lifted[0] ? 1 : 0);
  }
}

/* Both feet against their last places. */
static double missed_places(const humanoid *robot, const tabi_walk_def *def,
                            const tabi_walk *walk) {
  tabi_walk_state end = tabi_walk_at(walk, tabi_walk_duration(walk));
  double worst = 0;
  for (int side = 0; side < 2; ++side) {
    double at[2];
    sole(robot, def->foot[side], at);
    worst = fmax(worst, hypot(at[0] - end.foot[side][0], at[1] - end.foot[side][1]));
  }
  return worst;
}

static record walk_along(int32_t nstep, const tabi_footstep *step, bool torque) {
  humanoid robot = humanoid_load(NULL, 0);
  tabi_walk_def def = humanoid_walk_def(&robot, nstep, step);
  def.stand_after = 1;
  tabi_walk *walk = humanoid_plan(&robot, &def);
  tabi_pd *pd = humanoid_follow(&robot, walk, torque);
  humanoid_reset(&robot, walk);
  record seen = {.lowest = 10, .margin = 1};
  while (tabi_world_time(robot.world) < tabi_walk_duration(walk)) {
    tabi_pd_apply(pd, robot.world, TIMESTEP);
    if (tabi_world_step(robot.world, NULL) != TABI_OK)
      fail_msg("%s", tabi_world_error(robot.world)->message);
    watch(&robot, &def, walk, &seen);
    if (seen.lowest < 0.6) fail_msg("fell at %.3f s", tabi_world_time(robot.world));
  }
  seen.force /= seen.walked * 9.81 * tabi_model_mass(robot.model);
  seen.feet = missed_places(&robot, &def, walk);
  tabi_pd_destroy(pd);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
  return seen;
}

static void check(const char *name, const record *seen) {
  print_message("%s: CoM %.4f to %.4f m high and within %.1f mm of the plan, ZMP "
                "%.0f mm inside soles, %.4f of the weight carried, feet %.1f mm from their "
                "places, slip %.3f mm\n",
                name, seen->lowest, seen->highest, 1e3 * seen->off, 1e3 * seen->margin, seen->force,
                1e3 * seen->feet, 1e3 * seen->slip);
  assert_true(seen->highest - seen->lowest < 0.015);
  assert_true(seen->margin > 0.03);
  assert_near(seen->force, 1, 0.005);
  assert_true(seen->feet < 0.03);
}

static void check_with_torques(const char *name, const record *seen) {
  check(name, seen);
  assert_true(seen->off < 2e-3);
  assert_true(seen->feet < 5e-3);
  assert_true(seen->slip < 0.1e-3);
}

static void test_straight(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  record seen = walk_along(steps_straight(step), step, false);
  check("straight", &seen);
}

#if !TEST_SHORT
static void test_sideways(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  record seen = walk_along(steps_sideways(step), step, false);
  check("sideways", &seen);
  seen = walk_along(steps_sideways(step), step, true);
  check_with_torques("sideways, torques", &seen);
}

static void test_turning(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  record seen = walk_along(steps_turning(step), step, false);
  check("turning", &seen);
  seen = walk_along(steps_turning(step), step, true);
  check_with_torques("turning, torques", &seen);
}

static void test_nineteen(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  record seen = walk_along(steps_nineteen(step), step, false);
  check("nineteen steps", &seen);
  seen = walk_along(steps_nineteen(step), step, true);
  check_with_torques("nineteen steps, torques", &seen);
}
#endif

static void test_straight_torques(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  record seen = walk_along(steps_straight(step), step, true);
  check_with_torques("straight, torques", &seen);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_straight),
    cmocka_unit_test(test_straight_torques),
#if !TEST_SHORT
    cmocka_unit_test(test_sideways),
    cmocka_unit_test(test_turning),
    cmocka_unit_test(test_nineteen),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
