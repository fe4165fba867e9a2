/* gjk.c - distance between convex cores, by the method of Gilbert, Johnson and Keerthi.
 *
 * With b moved by `from`, the differences x = a - b - from of all pairs of points form a convex
 * set, and the cores are as far apart as that set is from the origin.  A simplex of at most four
 * of its corners walks towards the origin: the nearest point v of the simplex is found, corners
 * that do not carry it are dropped, and the corner farthest along -v is added, until none is
 * nearer to the origin than v.
 *
 * Callers keep the cores apart by a good distance, which spares this code all hard cases; what
 * remains is settled by taking the nearest of all edges and triangles, without cases by sign. */
#include "collision/gjk.h"

#include <float.h>

#define MAX_ITERATIONS 48
#define TOLERANCE      1e-10 /* of the square of the distance, between what is found and bound */

typedef struct corner {
  v3 x, a, b;
} corner;

typedef struct simplex {
  corner corner[4];
  double weight[4];
  int count;
} simplex;

/* The part of a simplex that is nearest to the origin. */
typedef struct part {
  int index[3];
  double weight[3];
  int count;
  double square; /* of the distance */
} part;

static void keep_nearer(part *best, const part *other) {
  if (other->square < best->square) *best = *other;
}

static void try_corner(const simplex *s, int i, part *best) {
  v3 x = s->corner[i].x;
  part p = {
      {i, 0, 0},
      {1, 0, 0},
      1, v3_dot(x, x)
  };
  keep_nearer(best, &p);
}

/* inside the edge only: its ends are tried by themselves */
static void try_edge(const simplex *s, int i, int j, part *best) {
  v3 x = s->corner[i].x;
  v3 along = v3_sub(s->corner[j].x, x);
  double length = v3_dot(along, along);
  double t = -v3_dot(x, along);
  if (!(t > 0 && t < length)) return;
  t /= length;
  v3 at = v3_axpy(x, t, along);
  part p = {
      {i,     j, 0},
      {1 - t, t, 0},
      2, v3_dot(at, at)
  };
  keep_nearer(best, &p);
}

static void try_triangle(const simplex *s, int i, int j, int k, part *best) {
  v3 x = s->corner[i].x;
  v3 y = s->corner[j].x;
  v3 z = s->corner[k].x;
  v3 n = v3_cross(v3_sub(y, x), v3_sub(z, x));
  double area = v3_dot(n, n);
  double wx = v3_dot(n, v3_cross(y, z));
  double wy = v3_dot(n, v3_cross(z, x));
  double wz = v3_dot(n, v3_cross(x, y));
  if (!(wx > 0 && wy > 0 && wz > 0 && area > 0)) return;
  double sum = wx + wy + wz;
  double height = v3_dot(n, x);
  part p = {
      {i,        j,        k       },
      {wx / sum, wy / sum, wz / sum},
      3, height * height / area
  };
  keep_nearer(best, &p);
}

/* Keeps the corners that carry the nearest point, and returns it.  The newest corner is one of
 * them: before it came, there was nothing nearer. */
static v3 reduce(simplex *s) {
  part best = {.square = DBL_MAX};
  int newest = s->count - 1;
  try_corner(s, newest, &best);
  for (int i = 0; i < newest; ++i) {
    try_edge(s, i, newest, &best);
    for (int j = i + 1; j < newest; ++j)
      try_triangle(s, i, j, newest, &best);
  }
  simplex kept = {.count = best.count};
  v3 nearest = v3_zero();
  for (int i = 0; i < best.count; ++i) {
    kept.corner[i] = s->corner[best.index[i]];
    kept.weight[i] = best.weight[i];
    nearest = v3_axpy(nearest, best.weight[i], kept.corner[i].x);
  }
  *s = kept;
  return nearest;
}

static corner farthest(const tbi_solid *a, const tbi_solid *b, v3 from, v3 dir) {
  corner c = {.a = tbi_support(a, dir), .b = tbi_support(b, v3_neg(dir))};
  c.x = v3_sub(v3_sub(c.a, c.b), from);
  return c;
}

tbi_nearest tbi_gjk(const tbi_solid *a, const tbi_solid *b, v3 from, v3 guess) {
  simplex s = {.count = 1};
  s.corner[0] = farthest(a, b, from, guess);
  s.weight[0] = 1;
  v3 v = s.corner[0].x;
  for (int i = 0; i < MAX_ITERATIONS; ++i) {
    double square = v3_dot(v, v);
    corner next = farthest(a, b, from, v3_neg(v));
    if (square - v3_dot(v, next.x) <= TOLERANCE * square) break;
    simplex before = s;
    s.corner[s.count++] = next;
    v3 nearer = reduce(&s);
    // rounding has eaten the progress
    if (!(v3_dot(nearer, nearer) < square)) {
      s = before;
      break;
    }
    v = nearer;
  }
  tbi_nearest found = {v3_zero(), v3_zero(), v3_neg(v)};
  for (int i = 0; i < s.count; ++i) {
    found.a = v3_axpy(found.a, s.weight[i], s.corner[i].a);
    found.b = v3_axpy(found.b, s.weight[i], s.corner[i].b);
  }
  return found;
}

double tbi_separation_along(const tbi_solid *a, const tbi_solid *b, v3 n) {
  double between = v3_dot(n, v3_sub(tbi_support(b, v3_neg(n)), tbi_support(a, n)));
  return between - tbi_support_radius(a) - tbi_support_radius(b);
}

double tbi_shortest_separation(const tbi_solid *a, const tbi_solid *b, v3 *axis) {
  v3 apart = tbi_gjk(a, b, v3_zero(), *axis).apart;
  double length = v3_norm(apart);
  if (!(length > 0)) return 0;
  *axis = v3_scale(1 / length, apart);
  return tbi_separation_along(a, b, *axis);
}
