/* two_boxes.h - two boxes in numbers, for the files that let them meet.
 *
 *   pair_box.c    which axis parts them; faces, edges that cross, corners
 *   box_ridge.c   parallel edges */
#ifndef TBI_TWO_BOXES_H
#define TBI_TWO_BOXES_H

#include "collision/closest.h"
#include "collision/pair_table.h"
#include "math/simd.h"

/* feature: what of a manifold, then where in it */
enum {
  TBI_BOX_FACE = 0,
  TBI_BOX_EDGES = 12 << 6,
  TBI_BOX_NEAREST = 13 << 8,
  TBI_BOX_PARALLEL = 14 << 8
};

/* Both boxes in numbers. */
typedef struct tbi_two_boxes {
  const tbi_solid *a, *b;
  v4 half_a, half_b;
  v4 to_a, to_b;       /* from a to b, in the axes of a and of b */
  v4 turn[3], size[3]; /* axis i of a along those of b, and its size */
  v4 gap_a, gap_b;     /* along the axes of a and of b, by best_face() */
  double scale;        /* m, of the smaller box */
  bool b_larger;
} tbi_two_boxes;

/* A direction and how far apart the boxes are along it. */
typedef struct tbi_box_direction {
  v3 normal; /* from a to b */
  double gap;
  int axis; /* 0 to 2: face of a; 3 to 5: face of b; 6 and up: edge of a x edge of b */
} tbi_box_direction;

/* bit i of a corner's number: on the positive side of axis i */
static inline v3 tbi_box_corner(const tbi_solid *box, unsigned corner) {
  v3 p = box->pos;
  for (int i = 0; i < 3; ++i)
    p = v3_axpy(p, corner >> i & 1 ? box->half[i] : -box->half[i], box->axis[i]);
  return p;
}

/* The corner farthest along a direction, as its number. */
static inline unsigned tbi_box_farthest(const tbi_solid *box, v3 along) {
  unsigned corner = 0;
  for (unsigned i = 0; i < 3; ++i)
    corner |= (v3_dot(box->axis[i], along) >= 0 ? 1u : 0u) << i;
  return corner;
}

/* edge through a corner along axis i; four of each axis */
static inline unsigned tbi_box_edge(unsigned i, unsigned corner) {
  unsigned low = i == 0 ? corner >> 1 & 1 : corner & 1;
  unsigned high = i == 2 ? corner >> 1 & 1 : corner >> 2 & 1;
  return 4 * i + 2 * high + low;
}

static inline tbi_segment tbi_box_edge_through(const tbi_solid *box, int i, unsigned corner) {
  v3 end = tbi_box_corner(box, corner);
  double back = corner >> i & 1 ? -box->half[i] : box->half[i];
  return (tbi_segment){v3_axpy(end, back, box->axis[i]), box->axis[i], box->half[i]};
}

/* Points of parallel edges around the best face, where these meet or are nearest; -1 if there are
 * none.  apart: the gap along the best of all axes.  Where the best is that of two edges, they must
 * be these: crossing is its number, else -1. */
int32_t tbi_box_ridge(const tbi_two_boxes *p, const tbi_box_direction *best, int crossing,
                      double apart, double margin, tbi_pair_point *out);

#endif
