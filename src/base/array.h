/* array.h - memory for builders, readers and makers; never in a step. */
#ifndef TBI_ARRAY_H
#define TBI_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Make room for `more` items after the first `count`.  *items is moved and *capacity raised as
 * needed; false and unchanged when memory or int32_t runs out. */
bool tbi_array_reserve(void **items, int32_t *capacity, int32_t count, int32_t more, size_t size);

/* A block of zeros that starts on a cache line, for free(); NULL when memory runs out. */
void *tbi_block_alloc(size_t size);

#endif
