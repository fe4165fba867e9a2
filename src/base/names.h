/* names.h - from a name to an index. */
#ifndef TBI_NAMES_H
#define TBI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tbi_name {
  const char *name; /* NULL: an empty slot */
  int32_t index;
} tbi_name;

/* A hash table with open addressing; all zero is an empty one.  The strings are the caller's. */
typedef struct tbi_names {
  tbi_name *slots;
  int32_t count, capacity; /* capacity: a power of two, at least twice the count */
} tbi_names;

int32_t tbi_names_find(const tbi_names *names, const char *name); /* -1: not there */
/* The name must not be there yet; false when memory runs out. */
bool tbi_names_add(tbi_names *names, const char *name, int32_t index);
void tbi_names_free(tbi_names *names);

#endif
