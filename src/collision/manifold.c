/* manifold.c - which points of a pair are kept.
 *
 * The deepest, because it must not sink; then always the one farthest from those kept, which
 * spreads them over the area: first of those that overlap, since these bear the load and a sole
 * that lacks one of them in every other step rocks, then of those that are only near.  What is
 * nearer than the deepest point is deep counts as overlapping: on springs points come and go by as
 * much, and one that takes the place of another brings the energy of its spring along.  Of points
 * that are equally good the one with the lower feature is taken, so the outcome does not hang on
 * the order in which they were found. */
#include "collision/pair_table.h"

#include "base/assertion.h"

/* points nearer to each other than this part of the manifold's width say the same thing */
#define SAME_PLACE 1e-6

static void swap(tbi_pair_point *points, int32_t i, int32_t j) {
  tbi_pair_point moved = points[i];
  points[i] = points[j];
  points[j] = moved;
}

static bool deeper(const tbi_pair_point *a, const tbi_pair_point *b) {
  return a->gap < b->gap || (a->gap == b->gap && a->feature < b->feature);
}

/* a floor and a wall that meet in one place are told apart by their normals */
static double distance2(const tbi_pair_point *a, const tbi_pair_point *b, double width2) {
  v3 apart = v3_sub(a->point, b->point);
  v3 turned = v3_sub(a->normal, b->normal);
  return v3_dot(apart, apart) + width2 * v3_dot(turned, turned);
}

/* the distance to the nearest of the first `kept` points */
static double room_around(const tbi_pair_point *points, int32_t kept, const tbi_pair_point *p,
                          double width2) {
  double min = INFINITY;
  for (int32_t i = 0; i < kept; ++i)
    min = fmin(min, distance2(&points[i], p, width2));
  return min;
}

/* the square of how far points lie from the first */
static double square_width(const tbi_pair_point *points, int32_t count) {
  double width2 = 0;
  for (int32_t i = 1; i < count; ++i)
    width2 = fmax(width2, distance2(&points[i], &points[0], 0));
  return width2;
}

/* How much a point adds to those kept: rank 0 says the same as one of them. */
typedef struct worth {
  int rank;
  double room;
  uint32_t feature;
} worth;

static worth worth_of(const tbi_pair_point *points, int32_t kept, int32_t i, double width2) {
  double room = room_around(points, kept, &points[i], width2);
  bool apart = room > SAME_PLACE * SAME_PLACE * width2;
  int rank = !apart ? 0 : points[i].gap < -points[0].gap ? 2 : 1;
  return (worth){rank, room, points[i].feature};
}

static bool is_better(const worth *a, const worth *b) {
  if (a->rank != b->rank) return a->rank > b->rank;
  if (a->room != b->room) return a->room > b->room;
  return a->feature < b->feature;
}

int32_t tbi_manifold_reduce(tbi_pair_point *points, int32_t count, int32_t keep) {
  TBI_ASSERT(count >= 0 && keep > 0);
  if (count < 2) return count;
  for (int32_t i = 1; i < count; ++i) {
    if (deeper(&points[i], &points[0])) swap(points, 0, i);
  }
  const double width2 = square_width(points, count);
  int32_t kept = 1;
  while (kept < keep && kept < count) {
    int32_t best = kept;
    worth most = worth_of(points, kept, kept, width2);
    for (int32_t i = kept + 1; i < count; ++i) {
      worth w = worth_of(points, kept, i, width2);
      if (is_better(&w, &most)) {
        best = i;
        most = w;
      }
    }
    if (most.rank == 0) break;
    swap(points, kept++, best);
  }
  return kept;
}
