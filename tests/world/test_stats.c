/* test_stats.c - what a world tells of its cost: a clock of ticks is asked at the ends of stages
 * only and does not change the steps, and memory is what capacity makes it. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

static double tick(void *user) {
  double *ticks = user;
  return ++*ticks;
}

static void step(tabi_scene *scene, tabi_world *world, int count) {
  for (int i = 0; i < count; ++i) {
    step_world(scene, world);
  }
}

/* A robot with sensors: all stages take time, together as long as the clock ran within steps, and
 * the state is that of a world without a clock. */
static void test_stages(void **state) {
  (void)state;
  tabi_scene *scene = load_shipped_scene("walk_bush", NULL);
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *plain = open_world(scene, &def);
  step(scene, plain, 30);
  tabi_world *timed = open_world(scene, &def);
  double ticks = 0;
  step(scene, timed, 10);
  assert_int_equal(tabi_world_stats(timed).steps, 0);
  tabi_world_set_clock(timed, tick, &ticks);
  step(scene, timed, 20);
  tabi_stats stats = tabi_world_stats(timed);
  assert_int_equal(stats.steps, 20);
  double sum = 0;
  for (int i = 0; i < TABI_STAGE_COUNT; ++i) {
    assert_true(stats.seconds[i] >= 20);
    assert_true(tabi_stage_name((tabi_stage)i)[0] != '\0');
    sum += stats.seconds[i];
  }
  assert_near(sum, ticks - 20, 0);
  assert_true(tabi_world_hash(timed) == tabi_world_hash(plain));
  tabi_world_set_clock(timed, NULL, NULL);
  step(scene, timed, 1);
  assert_near(ticks, sum + 20, 0);
  assert_near(tabi_world_stats(timed).seconds[TABI_STAGE_SOLVE], 0, 0);
  tabi_world_destroy(plain);
  tabi_world_destroy(timed);
  tabi_scene_destroy(scene);
}

/* Room for more contacts takes more memory. */
static void test_memory(void **state) {
  (void)state;
  tabi_scene *scene = load_shipped_scene("stand", NULL);
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *usual = open_world(scene, &def);
  def.max_contacts = 64;
  tabi_world *small = open_world(scene, &def);
  size_t min = tabi_world_stats(small).memory;
  print_message("humanoid36: %.0f kB, %.0f kB with room for 64 contacts\n",
                (double)tabi_world_stats(usual).memory / 1024, (double)min / 1024);
  assert_true(min > tabi_world_snapshot_size(small));
  assert_true(min < tabi_world_stats(usual).memory);
  tabi_world_destroy(usual);
  tabi_world_destroy(small);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stages), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
