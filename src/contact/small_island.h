/* small_island.h - the contact matrix of a small island, stored densely: with few points, such as
 * those under the feet of a robot, products and Newton steps are cheaper on it than on factors. */
#ifndef TBI_SMALL_ISLAND_H
#define TBI_SMALL_ISLAND_H

#include "contact/factored.h"

enum { TBI_SMALL_ISLAND_UNKNOWNS = 32 }; /* the largest small island */

typedef struct tbi_small_island {
  tbi_delassus w; /* laws and q of the island; it cannot sweep */
  double *matrix; /* W, row by row */
  double *lu;     /* factor of 1 + D W */
  int32_t *pivot; /* of lu */
} tbi_small_island;

void tbi_small_island_place(tbi_layout *at, tbi_small_island *small);
/* False: the island is too large, or has couples. */
bool tbi_small_island_make(tbi_small_island *small, const tbi_island *island);

#endif
