/* heap.c - what ld's --wrap calls instead of malloc and its kin. */
#include "heap.h"
#include "near.h"

#include <stdlib.h>
#include <string.h>

/* volatile: compilers assume that malloc changes no variable of the program */
static volatile struct {
  long calls;
  long allocations;
  long live;     /* blocks that are not freed */
  long until;    /* allocations that still succeed; negative: all do */
  bool for_good; /* all after the first failure fail too */
  bool failed;
} heap = {.until = -1};

long heap_calls(void) { return heap.calls; }

long heap_allocations(void) { return heap.allocations; }

void heap_fail_after(long n, bool for_good) {
  heap.failed = false;
  heap.for_good = for_good;
  heap.until = n;
}

void heap_recover(void) { heap.until = -1; }

bool heap_failed(void) { return heap.failed; }

static bool fails(void) {
  ++heap.calls;
  ++heap.allocations;
  if (heap.until < 0) return false;
  if (heap.until > 0) {
    --heap.until;
    return false;
  }
  bool now = heap.for_good || !heap.failed;
  heap.failed = true;
  return now;
}

static void *count(void *block) {
  heap.live += block != NULL;
  return block;
}

// names that the linker asks for
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size) { return fails() ? NULL : count(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) {
  return fails() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size) {
  if (fails()) return NULL;
  return block ? __real_realloc(block, size) : count(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : count(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *block) {
  ++heap.calls;
  heap.live -= block != NULL;
  __real_free(block);
}
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)

static tabi_status run(heap_job *job, const void *context, long n, tabi_error *err) {
  long live = heap.live;
  tabi_status status = job(context, err);
  heap_recover();
  if (heap.live != live) fail_msg("allocation %ld failed: %ld blocks left", n, heap.live - live);
  return status;
}

long heap_starve(heap_job *job, const void *context, bool for_good) {
  for (long n = 0;; ++n) {
    tabi_error err = {0};
    heap_fail_after(n, for_good);
    tabi_status status = run(job, context, n, &err);
    if (!heap.failed) {
      if (status != TABI_OK) fail_msg("%s", err.message);
      print_message("%ld allocations\n", n);
      return n;
    }
    if (status != TABI_ERR_MEMORY || strcmp(err.message, "out of memory") != 0) {
      fail_msg("allocation %ld failed: status %d, '%s'", n, (int)status, err.message);
    }
  }
}
