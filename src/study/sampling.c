/* sampling.c - points of a unit cube by the number of a run. */
#include "study/sampling.h"

#include "base/assertion.h"
#include "base/random.h"

#include <stddef.h>

const char *tbi_sampling_name(int32_t sampling) {
  static const char *const name[TBI_SAMPLING_COUNT] = {"random", "latin", "sobol", "grid",
                                                       "saltelli"};
  return sampling >= 0 && sampling < TBI_SAMPLING_COUNT ? name[sampling] : NULL;
}

uint64_t tbi_hash2(uint64_t a, uint64_t b) {
  uint64_t state = a;
  uint64_t first = tbi_random_next(&state);
  state = first ^ b;
  return tbi_random_next(&state);
}

/* in (0, 1): the middle of one of 2^52 intervals */
static double unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

static uint64_t random_bits(const tbi_design *design, int64_t run, int32_t coordinate) {
  return tbi_hash2(tbi_hash2(design->seed, (uint64_t)coordinate), (uint64_t)run);
}

/* A permutation of 0 .. count - 1 that needs no table: a Feistel network of four rounds over the
 * next even number of bits, repeated while its result is beyond the range. */
static uint64_t permuted(uint64_t index, uint64_t count, uint64_t key) {
  int half = 1;
  while (half < 31 && (uint64_t)1 << (2 * half) < count)
    ++half;
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = index >> half;
    uint64_t right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t next = left ^ (tbi_hash2(key + round, right) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

static double latin(const tbi_design *design, int64_t run, int32_t coordinate) {
  uint64_t key = tbi_hash2(design->seed, ~(uint64_t)coordinate);
  uint64_t layer = permuted((uint64_t)run, (uint64_t)design->runs, key);
  return ((double)layer + unit(random_bits(design, run, coordinate))) / (double)design->runs;
}

/* Direction numbers of S. Joe and F. Y. Kuo (2008) for coordinates 1 to 31: degree and inner
 * coefficients of a primitive polynomial, and the first odd numbers. */
static const struct {
  uint32_t degree, inner, first[7];
} direction[TBI_SOBOL_DIMENSIONS - 1] = {
    {1, 0,  {1}                       },
    {2, 1,  {1, 3}                    },
    {3, 1,  {1, 3, 1}                 },
    {3, 2,  {1, 1, 1}                 },
    {4, 1,  {1, 1, 3, 3}              },
    {4, 4,  {1, 3, 5, 13}             },
    {5, 2,  {1, 1, 5, 5, 17}          },
    {5, 4,  {1, 1, 5, 5, 5}           },
    {5, 7,  {1, 1, 7, 11, 19}         },
    {5, 11, {1, 1, 5, 1, 1}           },
    {5, 13, {1, 1, 1, 3, 11}          },
    {5, 14, {1, 3, 5, 5, 31}          },
    {6, 1,  {1, 3, 3, 9, 7, 49}       },
    {6, 13, {1, 1, 1, 15, 21, 21}     },
    {6, 16, {1, 3, 1, 13, 27, 49}     },
    {6, 19, {1, 1, 1, 15, 7, 5}       },
    {6, 22, {1, 3, 1, 15, 13, 25}     },
    {6, 25, {1, 1, 5, 5, 19, 61}      },
    {7, 1,  {1, 3, 7, 11, 23, 15, 103}},
    {7, 4,  {1, 3, 7, 13, 13, 15, 69} },
    {7, 7,  {1, 1, 3, 13, 7, 35, 63}  },
    {7, 8,  {1, 3, 5, 9, 1, 25, 53}   },
    {7, 14, {1, 3, 1, 13, 9, 35, 107} },
    {7, 19, {1, 3, 1, 5, 27, 61, 31}  },
    {7, 21, {1, 1, 5, 11, 19, 41, 61} },
    {7, 28, {1, 3, 5, 3, 3, 13, 69}   },
    {7, 31, {1, 1, 7, 13, 1, 19, 1}   },
    {7, 32, {1, 3, 7, 5, 13, 19, 59}  },
    {7, 37, {1, 1, 3, 9, 25, 29, 41}  },
    {7, 41, {1, 3, 5, 13, 23, 1, 55}  },
    {7, 42, {1, 3, 7, 3, 13, 59, 17}  },
};

/* The 32 direction numbers of a coordinate but the first, by the recurrence of its polynomial. */
static void directions(int32_t coordinate, uint32_t v[32]) {
  const uint32_t degree = direction[coordinate - 1].degree;
  const uint32_t inner = direction[coordinate - 1].inner;
  for (uint32_t i = 0; i < 32; ++i) {
    if (i < degree) {
      v[i] = direction[coordinate - 1].first[i] << (31 - i);
      continue;
    }
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (uint32_t k = 1; k < degree; ++k)
      v[i] ^= ((inner >> (degree - 1 - k)) & 1) * v[i - k];
  }
}

uint32_t tbi_sobol(uint32_t index, int32_t coordinate) {
  TBI_ASSERT(coordinate >= 0 && coordinate < TBI_SOBOL_DIMENSIONS);
  uint32_t v[32];
  for (uint32_t i = 0; i < 32; ++i)
    v[i] = (uint32_t)1 << (31 - i);
  if (coordinate > 0) directions(coordinate, v);
  uint32_t gray = index ^ (index >> 1);
  uint32_t x = 0;
  for (uint32_t i = 0; i < 32; ++i)
    x ^= ((gray >> i) & 1) * v[i];
  return x;
}

/* shifted digit by digit, so that no point is at the edge and seeds differ */
static double sobol(const tbi_design *design, int64_t index, int32_t coordinate) {
  uint32_t shift = (uint32_t)tbi_hash2(design->seed, (uint64_t)coordinate);
  return ((double)(tbi_sobol((uint32_t)index, coordinate) ^ shift) + 0.5) * 0x1p-32;
}

static double saltelli(const tbi_design *design, int64_t run, int32_t coordinate) {
  const int32_t width = design->dimension + 2;
  int64_t base = run / width;
  int32_t which = (int32_t)(run % width); /* A, B, or A with coordinate which - 2 of B */
  bool of_b = which == 1 || which - 2 == coordinate;
  return sobol(design, base, of_b ? design->dimension + coordinate : coordinate);
}

/* the last coordinate runs fastest */
static double grid(const tbi_design *design, int64_t run, int32_t coordinate) {
  for (int32_t i = design->dimension - 1; i > coordinate; --i)
    run /= design->levels[i];
  int64_t level = run % design->levels[coordinate];
  return ((double)level + 0.5) / (double)design->levels[coordinate];
}

double tbi_design_point(const tbi_design *design, int64_t run, int32_t coordinate) {
  TBI_ASSERT(run >= 0 && run < design->runs);
  TBI_ASSERT(coordinate >= 0 && coordinate < design->dimension);
  switch (design->sampling) {
  case TBI_SAMPLING_LATIN:
    return latin(design, run, coordinate);
  case TBI_SAMPLING_SOBOL:
    return sobol(design, run, coordinate);
  case TBI_SAMPLING_GRID:
    return grid(design, run, coordinate);
  case TBI_SAMPLING_SALTELLI:
    return saltelli(design, run, coordinate);
  default:
    return unit(random_bits(design, run, coordinate));
  }
}
