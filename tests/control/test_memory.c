/* test_memory.c - a walk and a stabiliser that run out of memory, at whichever allocation, say so
 * and leave nothing behind (leaks are found by the sanitizer). */
#include "control/humanoid.h"
#include "support/near.h"

#include <stdlib.h>

/* volatile: compilers know malloc, and that it counts nothing */
static volatile struct {
  bool armed;
  long left; /* allocations until one fails */
} heap;

static bool fails(void) { return heap.armed && heap.left-- == 0; }

// the linker's names for what --wrap replaces
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)

static void *try_walk(const humanoid *robot, const void *def, tabi_error *err) {
  return tabi_walk_create(robot->model, def, err);
}

static void *try_stabiliser(const humanoid *robot, const void *def, tabi_error *err) {
  return tabi_stabiliser_create(robot->model, def, err);
}

/* Fails the first allocation, then the second ...; what is made when none is left to fail. */
static void *exhaust(void *(*make)(const humanoid *, const void *, tabi_error *),
                     const humanoid *robot, const void *def) {
  void *made = NULL;
  long count = 0;
  for (; !made; ++count) {
    assert_true(count < 1000);
    tabi_error err = {0};
    heap.left = count;
    heap.armed = true;
    made = make(robot, def, &err);
    heap.armed = false;
    if (!made) assert_int_equal(err.status, TABI_ERR_MEMORY);
  }
  print_message("%ld allocations\n", count - 1);
  assert_true(count > 3);
  return made;
}

static void test_exhausted(void **state) {
  (void)state;
  humanoid robot = humanoid_build("humanoid36.urdf", 1e-3, false);
  tabi_footstep step = tabi_footstep_default();
  tabi_walk_def def = humanoid_walk_def(&robot, 1, &step);
  def.stand_before = 0.2;
  def.stand_after = 0.2;
  def.passes = 0;
  tabi_walk *walk = exhaust(try_walk, &robot, &def);
  tabi_stabiliser_def stabiliser_def = humanoid_stabiliser_def(&robot, walk);
  tabi_stabiliser *stabiliser = exhaust(try_stabiliser, &robot, &stabiliser_def);
  tabi_stabiliser_destroy(stabiliser);
  tabi_walk_destroy(walk);
  humanoid_free(&robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exhausted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
