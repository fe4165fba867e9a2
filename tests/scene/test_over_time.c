/* test_over_time.c - what a scene prescribes over time: forces that are sines or come from tables.
 */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

static tabi_scene *load(const char *text) { return load_scene(scratch_text("s.yaml", text), NULL); }

/* Forces that change over time on 2 kg for half a second: a sine of half a period, 3 N at 1 Hz,
 * gives v = 2 F / (m w), and 4 N/s from a table, linear between its rows, h^2 exactly. */
static void test_force_over_time(void **state) {
  (void)state;
  (void)scratch_text("push.csv", "time, fx, tz\n0, 0, 0\n1, 4, 0\n");
  tabi_scene *scene = load("gravity: [0, 0, 0]\n"
                           "bodies: [{name: a, mass: 2, shape: {sphere: 0.1}},\n"
                           "         {name: b, mass: 2, shape: {sphere: 0.1}, xyz: [9, 0, 0]}]\n"
                           "forces:\n"
                           "  - {body: a, force: [3, 0, 0], sine: {frequency: 1}}\n"
                           "  - {body: b, table: push.csv}\n");
  tabi_world *world = open_world(scene, NULL);
  for (int i = 0; i < 500; ++i)
    step_world(scene, world);
  assert_near(tabi_world_v(world)[0], 3 / (2 * M_PI), 1e-5 * 3 / (2 * M_PI));
  assert_near(tabi_world_v(world)[6], 0.25, 1e-12);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_force_over_time),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
