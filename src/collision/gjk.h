/* gjk.h - how far apart two convex cores are, and which way. */
#ifndef TBI_GJK_H
#define TBI_GJK_H

#include "collision/support.h"

/* Where two cores are nearest when b is first moved by `from`. */
typedef struct tbi_nearest {
  v3 a, b;  /* on the cores, b where it really is */
  v3 apart; /* from a to the moved b */
} tbi_nearest;

/* `guess` is a direction from a to b, of any length but zero.  When the cores overlap after the
 * move, apart is of no use: some direction. */
tbi_nearest tbi_gjk(const tbi_solid *a, const tbi_solid *b, v3 from, v3 guess);

/* Distance of two shapes along a unit direction from a to b; negative where they overlap there. */
double tbi_separation_along(const tbi_solid *a, const tbi_solid *b, v3 n);
/* The same along the shortest line, with a guess of its direction, which becomes that line's; of no
 * use but that it is not positive where they overlap. */
double tbi_shortest_separation(const tbi_solid *a, const tbi_solid *b, v3 *axis);

#endif
