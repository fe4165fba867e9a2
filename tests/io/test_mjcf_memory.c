/* test_mjcf_memory.c - memory runs out at every allocation in turn: the load must say so, free
 * all it had (the sanitizer watches) and never crash. */
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdlib.h>

static long countdown = -1; /* allocations until one fails; negative: none does */

static bool fails(void) { return countdown >= 0 && countdown-- == 0; }

/* names that the linker asks for
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*,readability-identifier-naming) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *block, size_t size) {
  return fails() ? NULL : __real_realloc(block, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*,readability-identifier-naming) */

static void starve(const char *file) {
  for (long n = 0;; ++n) {
    tabi_error error = {0};
    countdown = n;
    tabi_model *model = tabi_model_load(file, NULL, &error);
    bool starved = countdown < 0;
    countdown = -1;
    if (model) {
      tabi_model_destroy(model);
    } else {
      assert_int_equal(error.status, TABI_ERR_MEMORY);
    }
    if (!starved) return;
    assert_true(n < 100000);
  }
}

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
