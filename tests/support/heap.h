/* heap.h - malloc, calloc, realloc, aligned_alloc and free under a test's control: calls are
 * counted, and the n-th allocation fails on request.
 *
 * The linker redirects the calls: CMake's tabi_wrap_heap(TARGET) for each program that includes
 * this header. */
#ifndef TABI_TESTS_HEAP_H
#define TABI_TESTS_HEAP_H

#include "tabi/tabi.h"

#include <stdbool.h>

/* Calls so far, and those among them that ask for memory. */
long heap_calls(void);
long heap_allocations(void);

/* After n more allocations one fails, or if for_good all that follow. */
void heap_fail_after(long n, bool for_good);
/* From now on none fails. */
void heap_recover(void);
/* Whether one has failed since heap_fail_after. */
bool heap_failed(void);

/* What a test starves. It destroys all that it makes. */
typedef tabi_status heap_job(const void *context, tabi_error *err);

/* Runs the job with the first allocation failing, then the second, until it needs no more. Each
 * time the job has to report "out of memory" and leave no block behind. Returns the number of
 * allocations, which it prints. */
long heap_starve(heap_job *job, const void *context, bool for_good);

#endif
