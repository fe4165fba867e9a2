/* sampling.h - which points of a unit cube the runs of a study are.
 *
 * A run's point follows from its number alone, so that any process can do any run.
 *
 *   random    independent points
 *   latin     one point in each of as many layers as there are runs, in every coordinate
 *   sobol     a low-discrepancy sequence (I. M. Sobol'), shifted at random
 *   grid      all combinations of given values, in the order of an odometer
 *   saltelli  for sensitivity indices: points A and B and, for every coordinate, A with that
 *             coordinate of B; dimension + 2 runs in a row belong together */
#ifndef TBI_SAMPLING_H
#define TBI_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tbi_sampling {
  TBI_SAMPLING_RANDOM,
  TBI_SAMPLING_LATIN,
  TBI_SAMPLING_SOBOL,
  TBI_SAMPLING_GRID,
  TBI_SAMPLING_SALTELLI,
  TBI_SAMPLING_COUNT,
} tbi_sampling;

#define TBI_SOBOL_DIMENSIONS 32 /* of the sequence; saltelli needs two for each coordinate */

typedef struct tbi_design {
  tbi_sampling sampling;
  int32_t dimension;
  int64_t runs;
  uint64_t seed;
  const int32_t *levels; /* of a grid: values in each coordinate */
} tbi_design;

/* The name in studies; NULL beyond the last. */
const char *tbi_sampling_name(int32_t sampling);

/* One coordinate of a run's point, in (0, 1). */
double tbi_design_point(const tbi_design *design, int64_t run, int32_t coordinate);

/* Coordinate of a point of Sobol's sequence, without a shift, in units of 2^-32. */
uint32_t tbi_sobol(uint32_t index, int32_t coordinate);

/* A number that looks random, of two others. */
uint64_t tbi_hash2(uint64_t a, uint64_t b);

#endif
