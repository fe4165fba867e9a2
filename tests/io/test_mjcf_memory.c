/* test_mjcf_memory.c - memory runs out at every allocation in turn: the load must say so, free
 * all it had and never crash. */
#include "support/heap.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

static tabi_status load(const void *path, tabi_error *err) {
  tabi_model *model = tabi_model_load(path, NULL, err);
  tabi_status status = model ? TABI_OK : err->status;
  tabi_model_destroy(model);
  return status;
}

static void starve(const char *path) { assert_true(heap_starve(load, path, false) > 0); }

static void test_arm(void **state) {
  (void)state;
  starve(TABI_SOURCE_DIR "/tests/io/mjcf/arm.xml");
}

static void test_toys(void **state) {
  (void)state;
  starve(TABI_SOURCE_DIR "/tests/io/mjcf/toys.xml");
}

static void test_crab(void **state) {
  (void)state;
  starve(TABI_SOURCE_DIR "/tests/io/mjcf/crab.xml");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arm),
      cmocka_unit_test(test_toys),
      cmocka_unit_test(test_crab),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
