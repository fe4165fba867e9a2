/* broadphase.c - sweep and prune.
 *
 * Pairs are listed for boxes that are wider than needed, so that a list serves until something has
 * left its wide box; who is near is asked of the listed pairs alone, in every pass.
 *
 * The boxes stay sorted along the axis on which the fewest of them meet: from one list to the next
 * little changes, so insertion is almost free.  Planes have no box, and that of ground made of
 * triangles would meet all others along every axis; each of them is held against all boxes.
 * Pairs are then put in the order of their items, so that nothing seen from outside depends on the
 * axis, on the order that was left by earlier steps or on when the list was made. */
#include "collision/workspace.h"

#include "base/assertion.h"

/* how many lists are made until the axis is chosen anew */
#define AXIS_EVERY 16u
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
    if (!(swept[i - 1].low[axis] > swept[i].low[axis])) continue;
    tbi_swept moved = swept[i];
    int32_t j = i;
    for (; j > 0 && swept[j - 1].low[axis] > moved.low[axis]; --j)
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
      if (child + 1 < end && swept[child + 1].low[axis] > swept[child].low[axis]) {
        ++child;
      }
      if (!(swept[child].low[axis] > moved.low[axis])) break;
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
      if (swept[middle].low[axis] <= swept[k].high[axis]) {
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
  int64_t min = INT64_MAX;
  for (int32_t axis = 0; axis < 3; ++axis) {
    int64_t meetings = crowding(c, axis);
    if (meetings < min) {
      best = axis;
      min = meetings;
    }
  }
  return best;
}

static void sort_boxes(tbi_collision *c) {
  for (int32_t k = 0; k < c->nswept; ++k) {
    const tbi_bounds *wide = &c->wide[c->swept[k].item];
    v3_store(v4_to(wide->low), c->swept[k].low);
    v3_store(v4_to(wide->high), c->swept[k].high);
  }
  if (c->lists++ % AXIS_EVERY == 0) c->axis = least_crowded_axis(c);
  if (!sort_by_insertion(c->swept, c->nswept, c->axis)) {
    sort_by_heap(c->swept, c->nswept, c->axis);
  }
}

static bool boxes_meet(const tbi_bounds *a, const tbi_bounds *b) {
  return v4_all_le(a->low, b->high) && v4_all_le(b->low, a->high);
}

/* whether the lowest corner of a box is within the margin of a plane */
static bool plane_meets(const tbi_solid *plane, const tbi_bounds *margin, const tbi_bounds *box) {
  v3 n = plane->axis[2];
  v3 lowest = {v4_x(n.x < 0 ? box->high : box->low), v4_y(n.y < 0 ? box->high : box->low),
               v4_z(n.z < 0 ? box->high : box->low)};
  return v3_dot(n, v3_sub(lowest, plane->pos)) <= v4_x(margin->high);
}

static bool meet(const tbi_collision *c, const tbi_bounds *bounds, tbi_item_pair pair) {
  bool plane_a = c->solid[pair.a].type == TABI_SHAPE_PLANE;
  bool plane_b = c->solid[pair.b].type == TABI_SHAPE_PLANE;
  if (plane_a && plane_b) return false;
  if (!plane_a && !plane_b) return boxes_meet(&bounds[pair.a], &bounds[pair.b]);
  int32_t plane = plane_a ? pair.a : pair.b;
  return plane_meets(&c->solid[plane], &bounds[plane], &bounds[plane_a ? pair.b : pair.a]);
}

bool tbi_broadphase_near(const tbi_collision *c, tbi_item_pair pair) {
  return meet(c, c->bounds, pair);
}

static bool add_pair(tbi_collision *c, int32_t a, int32_t b) {
  TBI_CHECK_SLOW(a != b && a >= 0 && a < c->nitem && b >= 0 && b < c->nitem);
  if ((c->idle[a] && c->idle[b]) || !tbi_filter_allows(c, a, b)) return true;
  if (c->npair == c->max_pairs) return false;
  c->pair[c->npair++] = a < b ? (tbi_item_pair){a, b} : (tbi_item_pair){b, a};
  return true;
}

static bool list_with(tbi_collision *c, int32_t item) {
  for (int32_t k = 0; k < c->nswept; ++k) {
    if (!meet(c, c->wide, (tbi_item_pair){item, c->swept[k].item})) continue;
    if (!add_pair(c, item, c->swept[k].item)) return false;
  }
  return true;
}

/* without a branch for every comparison: which of them fails is anybody's guess */
static bool cross(const tbi_swept *a, const tbi_swept *b, int32_t y, int32_t z) {
  return (a->low[y] <= b->high[y]) & (b->low[y] <= a->high[y]) & (a->low[z] <= b->high[z]) &
         (b->low[z] <= a->high[z]);
}

static bool sweep(tbi_collision *c) {
  int32_t x = c->axis;
  int32_t y = (x + 1) % 3;
  int32_t z = (x + 2) % 3;
  for (int32_t i = 0; i < c->nswept; ++i) {
    const tbi_swept *first = &c->swept[i];
    for (int32_t j = i + 1; j < c->nswept && c->swept[j].low[x] <= first->high[x]; ++j) {
      if (!cross(first, &c->swept[j], y, z)) continue;
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

bool tbi_broadphase_list(tbi_collision *c) {
  c->npair = 0;
  sort_boxes(c);
  TBI_ASSERT(c->axis >= 0 && c->axis < 3);
  for (int32_t i = 0; i < c->nplane; ++i)
    if (!list_with(c, c->plane[i])) return false;
  for (int32_t i = 0; i < c->nground; ++i)
    if (!list_with(c, c->ground[i])) return false;
  if (!sweep(c)) return false;
  /* a few by insertion, many in time proportional to their number */
  if (c->npair <= 32) {
    insert_pairs(c->pair, c->npair);
  } else {
    distribute(c, c->pair, c->spare, false);
    distribute(c, c->spare, c->pair, true);
  }
  return true;
}
