/* test_walk.c - SR1 plays the walking pattern that ships with it (extra data): 13.4 s at 1 ms under
 * joint control, feet against the floor, without falling. */
#include "support/load.h"
#include "support/near.h"
#include "support/walk.h"

static double deepest(const tabi_world *world) {
  int32_t count = 0;
  double depth = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -contact[i].gap);
  return depth;
}

static void walk(const char *const *set, int32_t nset) {
  tabi_scene *scene = walk_load(set, nset);
  tabi_world *world = open_world(scene, NULL);
  double depth = 0;
  for (int i = 0; i < WALK_STEPS; ++i) {
    step_world(scene, world);
    depth = fmax(depth, deepest(world));
  }
  double pos[3];
  double quat[4];
  int32_t base = tabi_scene_get_robot(scene, 0).base;
  tabi_dynamics_link_pose(tabi_world_dynamics(world), base, pos, quat);
  double yaw = 2 * atan2(quat[3], quat[0]) * 180 / acos(-1);
  print_message("%s: base (%.4f, %.4f, %.4f), yaw %.2f degrees, depth %.3f mm\n",
                nset > 0 ? set[0] : "cone", pos[0], pos[1], pos[2], yaw, 1e3 * depth);
  const double expected[3] = {0.450, 0, 0.708};
  for (int i = 0; i < 3; ++i)
    assert_near(pos[i], expected[i], 0.02);
  assert_near(yaw, 0, 2);
  assert_true(depth < 0.5e-3);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

static void test_cone(void **state) {
  (void)state;
  walk(NULL, 0);
}

#if !TEST_SHORT
static void test_cone_rough(void **state) {
  (void)state;
  const char *const set[] = {"materials.ground.friction=1.0"};
  walk(set, 1);
}

static void test_lcp(void **state) {
  (void)state;
  const char *const set[] = {"contact.model=lcp"};
  walk(set, 1);
}

static void test_lcp_rough(void **state) {
  (void)state;
  const char *const set[] = {"materials.ground.friction=1.0", "contact.model=lcp"};
  walk(set, 2);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cone),
#if !TEST_SHORT
    cmocka_unit_test(test_cone_rough),
    cmocka_unit_test(test_lcp),
    cmocka_unit_test(test_lcp_rough),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
