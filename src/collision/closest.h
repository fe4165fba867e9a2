/* closest.h - nearest points of points, segments and boxes.
 *
 * A segment is its middle, a unit direction and half its length; a box stands at the origin of its
 * own axes. */
#ifndef TBI_CLOSEST_H
#define TBI_CLOSEST_H

#include "math/vec.h"

#include <stdbool.h>

/* nearer than this, in m, two points give no direction */
#define TBI_COINCIDENT 1e-12

typedef struct tbi_segment {
  v3 middle, along;
  double half;
} tbi_segment;

static inline double tbi_clamp(double x, double half) {
  return x > half ? half : x < -half ? -half : x;
}

static inline v3 tbi_segment_at(const tbi_segment *s, double t) {
  return v3_axpy(s->middle, t, s->along);
}

/* where on the segment p is nearest */
static inline double tbi_segment_nearest(const tbi_segment *s, v3 p) {
  return tbi_clamp(v3_dot(s->along, v3_sub(p, s->middle)), s->half);
}

/* any unit vector at right angles to a unit vector */
static inline v3 tbi_perpendicular(v3 a) {
  v3 across = fabs(a.z) < 0.9 ? v3_make(-a.y, a.x, 0) : v3_make(0, -a.z, a.y);
  return v3_scale(1 / v3_norm(across), across);
}

/* from the nearest point of a box to p; zero inside */
static inline v3 tbi_box_excess(const double half[3], v3 p) {
  return (v3){p.x - tbi_clamp(p.x, half[0]), p.y - tbi_clamp(p.y, half[1]),
              p.z - tbi_clamp(p.z, half[2])};
}

/* where on each segment they are nearest to each other */
void tbi_nearest_segments(const tbi_segment *a, const tbi_segment *b, double t[2]);
/* where on a segment, given in the axes of a box, it is nearest to the box */
double tbi_nearest_to_box(const tbi_segment *s, const double half[3]);
/* Narrows a range of t to where the coordinate middle + along t is within -half to half; false when
 * nothing is left. */
bool tbi_clip_slab(double middle, double along, double half, double range[2]);

#endif
