/* wrap.h - the shortest path between two points around a sphere or a cylinder, or through it.
 *
 * All is in the frame of the obstacle: its centre is the origin, the axis of a cylinder is z.  The
 * path is straight to a point where it touches, follows the surface to another such point, and is
 * straight again; where it passes through the inside the two points are one.  The choice of side is
 * that of MuJoCo, whose models say how tendons run. */
#ifndef TBI_WRAP_H
#define TBI_WRAP_H

#include "math/vec.h"

#include <stdbool.h>

/* What is in the way. */
typedef struct tbi_obstacle {
  double radius;
  bool cylinder; /* of any length; else a sphere */
  bool sided;    /* the path passes on the side of this point; if it is inside, so does the path */
  v3 side;
} tbi_obstacle;

typedef struct tbi_wrap {
  v3 touch[2];   /* towards each end */
  double length; /* m, along the surface */
  v3 axis[2];    /* of the plane in which the surface is a circle */
  double turn;   /* 1: from the first axis to the second, -1: the other way round */
  bool inside;
} tbi_wrap;

/* A point that moves: position, velocity and acceleration against the obstacle. */
typedef struct tbi_wrap_end {
  v3 x, v, a;
} tbi_wrap_end;

/* False: the path from a to b is straight. */
bool tbi_wrap_find(const tbi_obstacle *obstacle, v3 a, v3 b, tbi_wrap *wrap);
/* The second derivative of the length from a to b by time. */
double tbi_wrap_drift(const tbi_obstacle *obstacle, const tbi_wrap *wrap, const tbi_wrap_end *a,
                      const tbi_wrap_end *b);

#endif
