/* depth.h - the shortest way out of each other for two polyhedra. */
#ifndef TBI_DEPTH_H
#define TBI_DEPTH_H

#include "collision/support.h"

/* Turns *n, a unit vector from a to b along which boxes or meshes overlap or almost touch, to where
 * they overlap least of all.  False where that is not sure, for hulls of too many corners: then *n
 * is the best of what was seen. */
bool tbi_least_overlap(const tbi_solid *a, const tbi_solid *b, v3 *n);

#endif
