/* small_island.h - the contact matrix of a small island, stored densely: with few points, such as
 * those under the feet of a robot, products and Newton steps are cheaper on it than on factors. */
#ifndef TBI_SMALL_ISLAND_H
#define TBI_SMALL_ISLAND_H

#include "contact/factored.h"

enum { TBI_SMALL_ISLAND_UNKNOWNS = 60 }; /* the largest small island */

typedef struct tbi_small_island {
  tbi_delassus w; /* laws and q of the island */
  const tbi_island *island;
  int32_t stride;  /* of the rows of W, which zeros fill up */
  double *matrix;  /* W, row by row */
  double *scratch; /* of 1 + D W, or while W is made */
  double *row;     /* as long as a row of W */
  int32_t *active; /* numbers of unknowns in a Newton step */
} tbi_small_island;

void tbi_small_island_place(tbi_layout *at, tbi_small_island *small);
/* False: the island is too large, or has couples.  Sweeps make projected steps where a contact does
 * not stick, as in lanes.h, instead of solving for its slip. */
bool tbi_small_island_make(tbi_small_island *small, const tbi_island *island);

#endif
