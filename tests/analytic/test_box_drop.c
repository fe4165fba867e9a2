/* test_box_drop.c - how large a step springs stand: a tilted cube falls on a floor of them (P2,
 * Table 1; what counts as success stands in bench/box_drop.h).  `tabi bench drop` adds the times.
 *
 * Last good step before the first failure, in order: euler, rk4, implicit as published, implicit
 * together; as published at least 6 times euler's and twice rk4's. */
#include "../bench/box_drop.h"
#include "support/load.h"
#include "support/near.h"

#include "tabi/tabi_io.h"

enum { EULER, RK4, AS_PUBLISHED, TOGETHER };

/* Sanitizers are slow, and nobody doubts the shortest steps. */
enum { FIRST = TEST_SHORT ? 2 : 0 };

/* the last good step before the first failure, s; prints a row of the table */
static double last_good(const tabi_model *model, const tbi_drop_method *method) {
  static const char mark[] = {[TBI_DROP_GOOD] = 'o',
                              [TBI_DROP_UNNATURAL] = '~',
                              [TBI_DROP_DIVERGED] = 'x',
                              [TBI_DROP_FAILED] = '!'};
  char row[TBI_DROP_STEPS + 1] = "";
  double last = 0;
  double last_depth = 0;
  bool failed = false;
  for (int i = FIRST; i < TBI_DROP_STEPS; ++i) {
    double depth = 0;
    tbi_drop_outcome out = tbi_drop_run(model, method, tbi_drop_grid[i], &depth);
    assert_true(out != TBI_DROP_FAILED);
    row[i - FIRST] = mark[out];
    failed = failed || out != TBI_DROP_GOOD;
    if (failed) continue;
    last = tbi_drop_grid[i];
    last_depth = depth;
  }
  print_message("%-12s %s  last good step %4.2g ms, %4.1f mm deep at most\n", method->name, row,
                1e3 * last, 1e3 * last_depth);
  return last;
}

static void test_steps(void **state) {
  (void)state;
  tabi_model *model = tbi_drop_model(NULL);
  assert_non_null(model);
  double last[TBI_DROP_METHODS];
  for (int i = 0; i < TBI_DROP_METHODS; ++i)
    last[i] = last_good(model, &tbi_drop_methods[i]);
  assert_true(last[EULER] > 0 && last[EULER] < last[RK4]);
  assert_true(last[RK4] < last[AS_PUBLISHED] && last[AS_PUBLISHED] <= last[TOGETHER]);
  assert_true(last[AS_PUBLISHED] >= 6 * last[EULER]);
  assert_true(last[AS_PUBLISHED] >= 2 * last[RK4]);
  tabi_model_destroy(model);
}

/* the shipped scene is this one */
static void test_scene(void **state) {
  (void)state;
  tabi_error err = {0};
  tabi_scene *scene = load_shipped_scene("box_drop", NULL);
  tabi_world_def def = tabi_scene_world_def(scene);
  def.penalty.tangential_stiffness = 0;
  assert_near(tabi_scene_duration(scene), tbi_drop_duration, 0);
  tabi_world *shipped = open_world(scene, &def);
  tabi_model *model = tbi_drop_model(&err);
  tabi_world *world = tbi_drop_open(model, &tbi_drop_methods[TOGETHER], def.timestep);
  for (int i = 0; i < 200; ++i) {
    assert_int_equal(tabi_world_step(shipped, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  }
  assert_near_n(tabi_world_q(shipped), tabi_world_q(world), 7, 1e-9);
  tabi_world_destroy(world);
  tabi_world_destroy(shipped);
  tabi_model_destroy(model);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_scene),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
