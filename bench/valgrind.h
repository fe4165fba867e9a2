/* valgrind.h - instructions of a peer's program, by valgrind. */
#ifndef TBI_BENCH_VALGRIND_H
#define TBI_BENCH_VALGRIND_H

#include <stdint.h>

/* A peer as it was started; argv ends with NULL. */
typedef struct tbi_valgrind {
  const char *const *argv;
  int32_t warm, steps; /* steps that are not counted, then those that are */
} tbi_valgrind;

/* Instructions of one step; NAN: there is no valgrind, or it does not know the processor. */
double tbi_valgrind_count(const tbi_valgrind *v);

#endif
