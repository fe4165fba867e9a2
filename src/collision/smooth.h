/* smooth.h - the last digits of a normal on a smooth surface. */
#ifndef TBI_SMOOTH_H
#define TBI_SMOOTH_H

#include "collision/pair_table.h"

/* Improves the direction n, from a to b, in which a convex shape parts from an ellipsoid b; on_a is
 * the nearest point of a's core, or one close to it, which tells the feature of a that counts.
 * False, with n as it was, where b is none, a's feature is not known, or n was as good. */
bool tbi_smooth_refine(const tbi_solid *a, const tbi_solid *b, v3 on_a, v3 *n);

#endif
