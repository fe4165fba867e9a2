/* support.h - convex shapes by their farthest points and the faces there.
 *
 * A shape is a core and a radius around it: a point for a sphere, a segment for a capsule, itself
 * and radius 0 for all others.  Cores part sooner than shapes do, and the direction between two
 * cores is the direction between their shapes. */
#ifndef TBI_SUPPORT_H
#define TBI_SUPPORT_H

#include "collision/pair_table.h"

#define TBI_FACE_CORNERS 16

/* A corner of a face, and the edge to the next one. */
typedef struct tbi_corner {
  v3 pos;
  uint32_t id, edge; /* the same whichever way round and from whichever face they are met */
} tbi_corner;

/* What a shape shows in a direction: a face, counter-clockwise around its normal, or where it is
 * round a line (2 corners) or a point (1). */
typedef struct tbi_face {
  tbi_corner corner[TBI_FACE_CORNERS];
  int32_t count;
  v3 normal; /* unit, outward; of a line or point the direction asked for */
} tbi_face;

/* The point of the core farthest along dir, which need not be unit. */
v3 tbi_support(const tbi_solid *s, v3 dir);
double tbi_support_radius(const tbi_solid *s);
/* A point inside. */
v3 tbi_support_centre(const tbi_solid *s);
/* The face at the support point that looks most along dir (unit), on the shape, not its core. */
void tbi_support_face(const tbi_solid *s, v3 dir, tbi_face *face);
/* Of a box or mesh, for a unit dir: from the support point to the corner that is most level with
 * it, and farthest where several are; false if the slope to it is larger. */
bool tbi_support_edge(const tbi_solid *s, v3 dir, double slope, v3 end[2]);

/* One name for two, in whichever order they come. */
static inline uint32_t tbi_loop(uint32_t a, uint32_t b) {
  uint64_t mixed = a < b ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b;
  for (int round = 0; round < 2; ++round) {
    mixed ^= mixed >> 31;
    mixed *= 0x9e3779b97f4a7c15u;
  }
  return (uint32_t)(mixed >> 32);
}

#endif
