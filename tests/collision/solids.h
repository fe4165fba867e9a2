/* solids.h - shapes in the world for the tests, and the plain way to measure them. */
#ifndef TEST_SOLIDS_H
#define TEST_SOLIDS_H

#include "collision/collision.h"
#include "collision/pair_table.h"
#include "support/rng.h"

/* At the origin, straight; sizes as in tabi_shape_def. */
tbi_solid solid_make(tabi_shape_type type, double x, double y, double z);
tbi_solid solid_at(tbi_solid solid, v3 pos, q4 quat);
/* Turned and moved with everything else. */
tbi_solid solid_moved(const tbi_solid *solid, const tbi_frame *motion);

q4 random_rotation(rng *r);
tbi_frame random_motion(rng *r, double size);
/* Edges and radii of 0.05 to 0.5 m, turned at random, in a cube of that half width. */
tbi_solid random_solid(rng *r, tabi_shape_type type, double room);

/* How far a solid extends from the world's origin along a direction. */
double solid_support(const tbi_solid *solid, v3 way);
/* What must be moved along a normal from a to b until they touch: negative when they overlap. */
double solid_gap_along(const tbi_solid *a, const tbi_solid *b, v3 normal);

/* Distance of a point from a box, 0 inside, and from the axis of a capsule or middle of a ball. */
double box_distance(const tbi_solid *box, v3 p);
double core_distance(const tbi_solid *round, v3 p);
/* Least distance of the segment from p to q to a convex body, by the golden section. */
double segment_distance(v3 p, v3 q, const tbi_solid *body,
                        double (*distance)(const tbi_solid *, v3));
/* Exact distance of two boxes, and the largest gap along any of the 15 axes. */
double box_box_distance(const tbi_solid *a, const tbi_solid *b);
double box_box_separation(const tbi_solid *a, const tbi_solid *b);

/* What holds for every manifold: units, normals, gaps within the margin, order, and no point deeper
 * than the solids are along its normal. */
void check_manifold(const tbi_solid *a, const tbi_solid *b, double margin, const tbi_pair_point *p,
                    int32_t count);
/* Least gap of some points; infinite for none. */
double min_gap(const tbi_pair_point *p, int32_t count);
/* The pair, the pair swapped, and the pair moved give the same points. */
void check_swap(const tbi_solid *a, const tbi_solid *b, double margin, double tolerance);
void check_motion(const tbi_solid *a, const tbi_solid *b, double margin, const tbi_frame *motion);
/* The ids do not change when b is moved and turned by about 1e-9. */
void check_ids(rng *r, const tbi_solid *a, const tbi_solid *b, double margin);

#endif
