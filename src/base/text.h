/* text.h - a pool of strings that stay where they are until the pool is freed. */
#ifndef TBI_TEXT_H
#define TBI_TEXT_H

#include <stddef.h>

typedef struct tbi_text_chunk tbi_text_chunk;

/* All zero is an empty pool. */
typedef struct tbi_text_pool {
  tbi_text_chunk *newest;
} tbi_text_pool;

/* A copy of the string in the pool, or NULL when memory runs out. */
const char *tbi_text_add(tbi_text_pool *pool, const char *string);
void tbi_text_free(tbi_text_pool *pool);

/* Replaces control characters, which would move the cursor of a terminal or break a line: ASCII
 * ones by `by`, those of two bytes in UTF-8 by two of it. */
void tbi_text_hide_controls(char *string, char by);

/* Two strings in one that the caller frees; NULL when memory runs out. */
char *tbi_text_join(const char *first, const char *second);

/* Bytes of all strings with their ends, and a copy of them all in one piece. */
size_t tbi_text_size(const tbi_text_pool *pool);
void tbi_text_copy(const tbi_text_pool *pool, char *to);
/* Where a string of the pool stands in such a copy; NULL stays NULL. */
const char *tbi_text_moved(const tbi_text_pool *pool, const char *string, const char *copy);

#endif
