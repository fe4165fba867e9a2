/* random.h - numbers that look random and repeat: splitmix64. */
#ifndef TBI_RANDOM_H
#define TBI_RANDOM_H

#include <stdint.h>

static inline uint64_t tbi_random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/* uniform in [0, 1) */
static inline double tbi_random_unit(uint64_t *state) {
  return (double)(tbi_random_next(state) >> 11) * 0x1p-53;
}

#endif
