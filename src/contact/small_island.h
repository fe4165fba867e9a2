/* small_island.h - the contact matrix of a small island written out: with few points, under the
 * feet of a robot, say, products and Newton steps are cheaper on it than on the factors. */
#ifndef TBI_SMALL_ISLAND_H
#define TBI_SMALL_ISLAND_H

#include "contact/factored.h"

enum { TBI_SMALL_ISLAND_UNKNOWNS = 32 }; /* at most */

typedef struct tbi_small_island {
  tbi_delassus w; /* laws and q of the island; it cannot sweep */
  double *matrix; /* W, row by row */
  double *lu;     /* 1 + D W */
  int32_t *pivot;
} tbi_small_island;

void tbi_small_island_place(tbi_layout *at, tbi_small_island *dense);
/* False: the island is too large. */
bool tbi_small_island_make(tbi_small_island *dense, const tbi_island *island);

#endif
