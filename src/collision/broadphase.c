/* broadphase.c - sweep and prune.
 *
 * The boxes stay sorted along the axis on which the fewest of them meet: from one step to the next
 * little changes, so insertion is almost free.  Planes have no box, and that of ground made of
 * triangles would meet all others along every axis; each of them is held against all boxes.
 * Pairs are then put in the order of their items, so that nothing seen from outside depends on the
 * axis or on the order that was left by earlier steps. */
#include "collision/workspace.h"

/* how many passes go by until the axis is chosen anew */
#define AXIS_EVERY 64u
/* how many moves for each box insertion may take before the order is made anew */
#define PATIENCE 16

void tbi_broadphase_make(tbi_collision *c) {
  for (int32_t item = 0; item < c->nitem; ++item) {
    if (c->solid[item].type == TABI_SHAPE_PLANE) {
      c->plane[c->nplane++] = item;
    } else if (!c->solid[item].ground) {
      c->swept[c->nswept++].item = item;
    }
  }
}

/* false when it gave up: the order is then any */
static bool sort_by_insertion(tbi_swept *swept, int32_t count, int32_t axis) {
  int64_t moves = (int64_t)PATIENCE * count;
  for (int32_t i = 1; i < count; ++i) {
    if (!(swept[i - 1].bounds.low[axis] > swept[i].bounds.low[axis])) continue;
    tbi_swept moved = swept[i];
    int32_t j = i;
    for (; j > 0 && swept[j - 1].bounds.low[axis] > moved.bounds.low[axis]; --j)
      swept[j] = swept[j - 1];
    swept[j] = moved;
    moves -= i - j;
    if (moves < 0) return false;
  }
  return true;
}

static void sort_by_heap(tbi_swept *swept, int32_t count, int32_t axis) {
  for (int32_t start = count / 2, end = count; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      tbi_swept top = swept[0];
      swept[0] = swept[end];
      swept[end] = top;
    }
    int32_t hole = start;
    tbi_swept moved = swept[hole];
    for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
      if (child + 1 < end && swept[child + 1].bounds.low[axis] > swept[child].bounds.low[axis]) {
        ++child;
      }
      if (!(swept[child].bounds.low[axis] > moved.bounds.low[axis])) break;
      swept[hole] = swept[child];
      hole = child;
    }
    swept[hole] = moved;
  }
}

/* how many pairs of boxes meet along one axis */
static int64_t crowding(tbi_collision *c, int32_t axis) {
  const tbi_swept *swept = c->swept;
  int64_t meetings = 0;
  sort_by_heap(c->swept, c->nswept, axis);
  for (int32_t k = 0; k < c->nswept; ++k) {
    /* the boxes that begin before this one ends: [k + 1, end) */
    int32_t begin = k + 1;
    int32_t end = c->nswept;
    while (begin < end) {
      int32_t middle = begin + (end - begin) / 2;
      if (swept[middle].bounds.low[axis] <= swept[k].bounds.high[axis]) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    meetings += end - k - 1;
  }
  return meetings;
}

/* Where things lie on a floor, the tallest of them would win by spread, and all others crowd. */
static int32_t least_crowded_axis(tbi_collision *c) {
  int32_t best = 0;
  int64_t least = INT64_MAX;
  for (int32_t axis = 0; axis < 3; ++axis) {
    int64_t meetings = crowding(c, axis);
    if (meetings < least) {
      best = axis;
      least = meetings;
    }
  }
  return best;
}

static void sort_boxes(tbi_collision *c) {
  for (int32_t k = 0; k < c->nswept; ++k)
    c->swept[k].bounds = c->bounds[c->swept[k].item];
  if (c->turn++ % AXIS_EVERY == 0) c->axis = least_crowded_axis(c);
  if (!sort_by_insertion(c->swept, c->nswept, c->axis)) {
    sort_by_heap(c->swept, c->nswept, c->axis);
  }
}

/* without a branch for every comparison: which of them fails is anybody's guess */
static bool boxes_meet(const tbi_bounds *a, const tbi_bounds *b) {
  return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) &
         (b->low[1] <= a->high[1]) & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

/* whether the lowest corner of a box is within reach of a plane */
static bool plane_meets(const tbi_solid *plane, double reach, const tbi_bounds *box) {
  v3 n = plane->axis[2];
  v3 lowest = {n.x < 0 ? box->high[0] : box->low[0], n.y < 0 ? box->high[1] : box->low[1],
               n.z < 0 ? box->high[2] : box->low[2]};
  return v3_dot(n, v3_sub(lowest, plane->pos)) <= reach;
}

bool tbi_broadphase_near(const tbi_collision *c, const double *reach, int32_t a, int32_t b) {
  bool plane_a = c->solid[a].type == TABI_SHAPE_PLANE;
  bool plane_b = c->solid[b].type == TABI_SHAPE_PLANE;
  if (plane_a && plane_b) return false;
  if (!tbi_filter_allows(c, a, b)) return false;
  if (!plane_a && !plane_b) return boxes_meet(&c->bounds[a], &c->bounds[b]);
  int32_t plane = plane_a ? a : b;
  return plane_meets(&c->solid[plane], reach[c->fitting[plane].shape], &c->bounds[plane_a ? b : a]);
}

static bool add_pair(tbi_collision *c, int32_t a, int32_t b) {
  if (!tbi_filter_allows(c, a, b)) return true;
  if (c->npair == c->max_pairs) return false;
  c->pair[c->npair++] = a < b ? (tbi_item_pair){a, b} : (tbi_item_pair){b, a};
  return true;
}

static bool find_on_planes(tbi_collision *c, const double *reach) {
  for (int32_t i = 0; i < c->nplane; ++i) {
    const tbi_solid *plane = &c->solid[c->plane[i]];
    double near = reach[c->fitting[c->plane[i]].shape];
    for (int32_t item = 0; item < c->nitem; ++item) {
      if (c->solid[item].type == TABI_SHAPE_PLANE) continue;
      if (!plane_meets(plane, near, &c->bounds[item])) continue;
      if (!add_pair(c, c->plane[i], item)) return false;
    }
  }
  return true;
}

static bool find_on_ground(tbi_collision *c) {
  for (int32_t i = 0; i < c->nground; ++i) {
    const tbi_bounds *ground = &c->bounds[c->ground[i]];
    for (int32_t k = 0; k < c->nswept; ++k) {
      if (!boxes_meet(ground, &c->swept[k].bounds)) continue;
      if (!add_pair(c, c->ground[i], c->swept[k].item)) return false;
    }
  }
  return true;
}

static bool sweep(tbi_collision *c) {
  int32_t axis = c->axis;
  for (int32_t i = 0; i < c->nswept; ++i) {
    const tbi_swept *first = &c->swept[i];
    double high = first->bounds.high[axis];
    for (int32_t j = i + 1; j < c->nswept && c->swept[j].bounds.low[axis] <= high; ++j) {
      if (!boxes_meet(&first->bounds, &c->swept[j].bounds)) continue;
      if (!add_pair(c, first->item, c->swept[j].item)) return false;
    }
  }
  return true;
}

static bool comes_after(tbi_item_pair p, tbi_item_pair q) {
  return p.a > q.a || (p.a == q.a && p.b > q.b);
}

static void insert_pairs(tbi_item_pair *pairs, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    tbi_item_pair moved = pairs[i];
    int32_t j = i;
    for (; j > 0 && comes_after(pairs[j - 1], moved); --j)
      pairs[j] = pairs[j - 1];
    pairs[j] = moved;
  }
}

/* Puts pairs in the order of one of their items; those with the same one stay in order. */
static void distribute(tbi_collision *c, const tbi_item_pair *from, tbi_item_pair *to, bool by_a) {
  memset(c->bucket, 0, ((size_t)c->nitem + 1) * sizeof *c->bucket);
  for (int32_t i = 0; i < c->npair; ++i)
    c->bucket[(by_a ? from[i].a : from[i].b) + 1]++;
  for (int32_t i = 0; i < c->nitem; ++i)
    c->bucket[i + 1] += c->bucket[i];
  for (int32_t i = 0; i < c->npair; ++i)
    to[c->bucket[by_a ? from[i].a : from[i].b]++] = from[i];
}

bool tbi_broadphase_find(tbi_collision *c, const double *reach) {
  c->npair = 0;
  sort_boxes(c);
  if (!find_on_planes(c, reach) || !find_on_ground(c) || !sweep(c)) return false;
  /* a few by insertion, many in time proportional to their number */
  if (c->npair <= 32) {
    insert_pairs(c->pair, c->npair);
  } else {
    distribute(c, c->pair, c->spare, false);
    distribute(c, c->spare, c->pair, true);
  }
  return true;
}
