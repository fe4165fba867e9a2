/* rng.h - seeded random numbers for tests: xoshiro256**, its state filled by splitmix64, so that
 * neighbouring seeds give unrelated streams.  The same numbers on every machine. */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <math.h>
#include <stdint.h>

typedef struct rng {
  uint64_t s[4];
} rng;

static inline uint64_t rng_splitmix(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline rng rng_make(uint64_t seed) {
  rng r;
  for (int i = 0; i < 4; ++i)
    r.s[i] = rng_splitmix(&seed);
  return r;
}

static inline uint64_t rng_rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t rng_next(rng *r) {
  uint64_t result = rng_rotl(r->s[1] * 5, 7) * 9;
  uint64_t t = r->s[1] << 17;
  r->s[2] ^= r->s[0];
  r->s[3] ^= r->s[1];
  r->s[1] ^= r->s[2];
  r->s[0] ^= r->s[3];
  r->s[2] ^= t;
  r->s[3] = rng_rotl(r->s[3], 45);
  return result;
}

/* 0 <= x < 1 */
static inline double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

static inline double rng_between(rng *r, double low, double high) {
  return low + (high - low) * rng_unit(r);
}

/* 0 <= i < n; the bias is below n / 2^64 */
static inline int32_t rng_below(rng *r, int32_t n) { return (int32_t)(rng_next(r) % (uint64_t)n); }

static inline void rng_fill(rng *r, double size, double *x, int n) {
  for (int i = 0; i < n; ++i)
    x[i] = rng_between(r, -size, size);
}

/* A direction of n numbers, drawn from the ball inside the cube: uniform on the sphere. */
static inline void rng_direction(rng *r, double *x, int n) {
  double square;
  do {
    rng_fill(r, 1.0, x, n);
    square = 0.0;
    for (int i = 0; i < n; ++i)
      square += x[i] * x[i];
  } while (square > 1.0 || square < 0.01);
  for (int i = 0; i < n; ++i)
    x[i] /= sqrt(square);
}

#endif
