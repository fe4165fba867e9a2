/* test_memory.c - a walk and a stabiliser that run out of memory, at whichever allocation, say so
 * and leave nothing behind. */
#include "control/humanoid.h"
#include "support/heap.h"
#include "support/near.h"

typedef struct walker {
  const tabi_model *model;
  const tabi_walk_def *walk;
  const tabi_stabiliser_def *stabiliser;
} walker;

static tabi_status make_walk(const void *context, tabi_error *err) {
  const walker *w = context;
  tabi_walk *walk = tabi_walk_create(w->model, w->walk, err);
  tabi_status status = walk ? TABI_OK : err->status;
  tabi_walk_destroy(walk);
  return status;
}

static tabi_status make_stabiliser(const void *context, tabi_error *err) {
  const walker *w = context;
  tabi_stabiliser *stabiliser = tabi_stabiliser_create(w->model, w->stabiliser, err);
  tabi_status status = stabiliser ? TABI_OK : err->status;
  tabi_stabiliser_destroy(stabiliser);
  return status;
}

static void test_exhausted(void **state) {
  (void)state;
  humanoid robot = humanoid_build("humanoid36.urdf", 1e-3, false);
  tabi_footstep step = tabi_footstep_default();
  tabi_walk_def def = humanoid_walk_def(&robot, 1, &step);
  def.stand_before = 0.2;
  def.stand_after = 0.2;
  def.passes = 0;
  tabi_walk *walk = humanoid_plan(&robot, &def);
  tabi_stabiliser_def stabiliser_def = humanoid_stabiliser_def(&robot, walk);
  const walker w = {robot.model, &def, &stabiliser_def};
  assert_true(heap_starve(make_walk, &w, false) > 3);
  assert_true(heap_starve(make_stabiliser, &w, false) > 3);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exhausted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
