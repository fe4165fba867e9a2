/* test_stabiliser.c - humanoid36 on rubber feet falls when it plays a walking pattern in open loop,
 * and walks on when the stabiliser, which knows nothing but its sensors, moves its feet; it also
 * stands a push; and an update allocates nothing. */
#include "control/humanoid.h"
#include "support/heap.h"
#include "support/near.h"

#include <string.h>

/* What was seen on the way. */
typedef struct record {
  double fell;       /* s; 0: not */
  double off;        /* m, of the CoM from the plan, at most */
  double felt_wrong; /* m, by which the stabiliser was wrong about that, at most */
  double settled;    /* m, of the CoM from the plan at the end */
  long allocations;  /* during all updates */
} record;

typedef struct trial {
  double timestep;
  bool stabilised;
  bool noisy;  /* sensors that err and are late */
  double push; /* N s, at the chest to the left, over 50 ms from 2.5 s on */
} trial;

static void push(const humanoid *robot, const trial *t) {
  double time = tabi_world_time(robot->world);
  if (t->push == 0 || time < 2.5 || time > 2.55 - t->timestep / 2) return;
  const double force[3] = {0, t->push / 0.05, 0};
  const double none[3] = {0, 0, 0};
  int32_t chest = tabi_model_find_link(robot->model, "chest");
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(robot->world), chest, pos, quat);
  tabi_world_apply(robot->world, chest, force, none, pos);
}

static void watch(const humanoid *robot, const tabi_walk *walk, const tabi_stabiliser *stabiliser,
                  record *seen) {
  double com[3];
  double time = tabi_world_time(robot->world);
  tabi_dynamics_com(tabi_world_dynamics(robot->world), com);
  tabi_walk_state plan = tabi_walk_at(walk, time);
  tabi_stabiliser_state estimate = tabi_stabiliser_get_state(stabiliser);
  double off[2] = {com[0] - plan.com[0], com[1] - plan.com[1]};
  seen->settled = hypot(off[0], off[1]);
  seen->off = fmax(seen->off, seen->settled);
  double wrong = hypot(off[0] - estimate.com_error[0], off[1] - estimate.com_error[1]);
  if (time > 0.1) seen->felt_wrong = fmax(seen->felt_wrong, wrong);
  if (com[2] < 0.5) seen->fell = time;
}

static record run(const trial *t, int32_t nstep, const tabi_footstep *step) {
  humanoid robot = humanoid_build("humanoid36.urdf", t->timestep, t->noisy);
  tabi_walk_def def = humanoid_walk_def(&robot, nstep, step);
  def.stand_after = nstep > 0 ? 1 : 4;
  tabi_walk *walk = humanoid_plan(&robot, &def);
  tabi_pd *pd = humanoid_follow(&robot, walk, true);
  tabi_stabiliser_def stabiliser_def = humanoid_stabiliser_def(&robot, walk);
  tabi_error err = {0};
  tabi_stabiliser *stabiliser = tabi_stabiliser_create(robot.model, &stabiliser_def, &err);
  if (!stabiliser) fail_msg("%s", err.message);
  humanoid_reset(&robot, walk);
  record seen = {0};
  while (tabi_world_time(robot.world) < tabi_walk_duration(walk) && seen.fell == 0) {
    push(&robot, t);
    long before = heap_allocations();
    tabi_stabiliser_update(stabiliser, robot.world, t->timestep);
    if (t->stabilised) {
      tabi_pd_apply_targets(pd, robot.world, tabi_stabiliser_target(stabiliser),
                            tabi_stabiliser_rate(stabiliser));
    } else {
      tabi_pd_apply(pd, robot.world, t->timestep);
    }
    seen.allocations += heap_allocations() - before;
    if (tabi_world_step(robot.world, NULL) != TABI_OK)
      fail_msg("%s", tabi_world_error(robot.world)->message);
    watch(&robot, walk, stabiliser, &seen);
  }
  tabi_stabiliser_destroy(stabiliser);
  tabi_pd_destroy(pd);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
  return seen;
}

static void print(const char *name, const trial *t, const record *seen) {
  print_message("%s, %.1f ms, %s: ", name, 1e3 * t->timestep,
                t->stabilised ? "stabilised" : "open loop");
  if (seen->fell > 0) {
    print_message("falls at %.2f s\n", seen->fell);
  } else {
    print_message("CoM within %.1f mm of the plan, estimated to %.1f mm\n", 1e3 * seen->off,
                  1e3 * seen->felt_wrong);
  }
}

/* The first four of the 19 steps. */
static void test_short(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  (void)steps_nineteen(step);
  const trial t = {.timestep = 1e-3, .stabilised = true};
  record seen = run(&t, 4, step);
  print("four steps", &t, &seen);
  assert_true(seen.fell == 0);
  assert_true(seen.off < 0.03);
  assert_true(seen.felt_wrong < 0.03);
  assert_int_equal(seen.allocations, 0);
}

#if !TEST_SHORT
static void test_nineteen(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  int32_t count = steps_nineteen(step);
  const double timesteps[] = {1e-3, 2e-3};
  for (int i = 0; i < 2; ++i) {
    trial t = {.timestep = timesteps[i]};
    record open_loop = run(&t, count, step);
    print("nineteen steps", &t, &open_loop);
    t.stabilised = true;
    record seen = run(&t, count, step);
    print("nineteen steps", &t, &seen);
    assert_true(open_loop.fell > 2);
    assert_true(seen.fell == 0);
    assert_true(seen.off < 0.03);
  }
}

static void test_noisy(void **state) {
  (void)state;
  tabi_footstep step[MAX_STEPS];
  int32_t count = steps_nineteen(step);
  const trial t = {.timestep = 1e-3, .stabilised = true, .noisy = true};
  record seen = run(&t, count, step);
  print("noisy sensors", &t, &seen);
  assert_true(seen.fell == 0);
  assert_true(seen.off < 0.02);
}

static void test_push(void **state) {
  (void)state;
  const trial t = {.timestep = 1e-3, .stabilised = true, .push = 15};
  record seen = run(&t, 0, NULL);
  print("pushed", &t, &seen);
  assert_true(seen.fell == 0);
  assert_true(seen.off > 0.01);
  assert_true(seen.settled < 2e-3);
}
#endif

static void expect_refused(const humanoid *robot, const tabi_stabiliser_def *def,
                           const char *words) {
  tabi_error err = {0};
  assert_null(tabi_stabiliser_create(robot->model, def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  if (!strstr(err.message, words)) fail_msg("%s", err.message);
}

static void test_refuses(void **state) {
  (void)state;
  humanoid robot = humanoid_build("humanoid36.urdf", 1e-3, false);
  tabi_walk_def walk_def = humanoid_walk_def(&robot, 0, NULL);
  tabi_walk *walk = humanoid_plan(&robot, &walk_def);
  const tabi_stabiliser_def good = humanoid_stabiliser_def(&robot, walk);
  tabi_stabiliser_def def = good;
  def.walk = NULL;
  expect_refused(&robot, &def, "must be a walk of this model");
  def = good;
  def.pole[1] = 4;
  expect_refused(&robot, &def, "poles must be negative");
  def = good;
  def.gyro = good.accelerometer;
  expect_refused(&robot, &def, "is not a sensor of type gyro");
  def = good;
  def.force[TABI_LEFT] = TABI_NONE;
  expect_refused(&robot, &def, "is not a sensor of type force_torque");
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_short),
#if !TEST_SHORT
    cmocka_unit_test(test_nineteen),
    cmocka_unit_test(test_noisy),
    cmocka_unit_test(test_push),
#endif
    cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
