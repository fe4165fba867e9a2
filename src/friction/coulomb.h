/* coulomb.h - one contact alone: the impulse that obeys Coulomb's law exactly. */
#ifndef TBI_COULOMB_H
#define TBI_COULOMB_H

#include "math/vec.h"

/* The impulse p = (normal, tangent, tangent) with u = w p + b such that
 *   p.x >= 0,  u.x >= 0,  p.x u.x = 0
 *   |p_t| <= mu p.x, and where u_t is not zero, |p_t| = mu p.x against u_t.
 * w is 3x3, symmetric and positive definite. */
v3 tbi_coulomb(const double (*w)[3], v3 b, double mu);

#endif
