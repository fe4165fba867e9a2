/* penalty_soft.h - the springs of an island as Coulomb's law between soft bodies, for the steps in
 * which Newton's method on the springs themselves goes in circles.
 *
 * r = cut(r0 - S u) is Coulomb's law with  u + C (r - r0)  instead of u, C = S^-1: the solver of
 * exact takes it as it is, with W + C instead of W. */
#ifndef TBI_PENALTY_SOFT_H
#define TBI_PENALTY_SOFT_H

#include "contact/factored.h"
#include "contact/penalty_couple.h"

typedef struct tbi_soft_island {
  tbi_delassus w; /* it cannot sweep */
  const tbi_island *island;
  tbi_law *law;
  double *q;
  double *softness; /* C; negative: a spring that does not act, and shall have no impulse */
  tbi_law_block *d; /* of Newton steps */
  double *g;
  void *newton; /* memory of tbi_newton_refine */
} tbi_soft_island;

void tbi_soft_island_place(tbi_layout *at, int64_t points, int64_t rows, tbi_soft_island *soft);
/* Improves r; returns the factorisations that it took. */
int32_t tbi_soft_island_solve(tbi_soft_island *soft, const tbi_island *island,
                              const tabi_world_def *def, double *r);

#endif
