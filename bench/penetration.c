/* penetration.c - shortest moves that part planes, spheres, capsules and boxes.
 *
 * A sphere is a point, a capsule a segment, with a radius around it; a box and a segment are
 * polytopes.  Two polytopes that overlap are parted with the shortest move along a normal of a face
 * or across two edges, so trying all of these directions is exact.  Apart from each other, the
 * radius reaches over their distance.  Cylinders are measured against planes only. */
#include "penetration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; ++i)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void column(const tbi_solid *s, int k, double x[3]) {
  for (int i = 0; i < 3; ++i)
    x[i] = s->rot[i][k];
}

/* Half edges of the polytope inside: a box, a segment along z, or a point. */
static void half_edges(const tbi_solid *s, double half[3]) {
  for (int k = 0; k < 3; ++k)
    half[k] = s->kind == TBI_NEUTRAL_BOX ? s->size[k] / 2 : 0;
  if (s->kind == TBI_NEUTRAL_CAPSULE) half[2] = s->size[1] / 2;
}

static double radius(const tbi_solid *s) { return s->kind == TBI_NEUTRAL_BOX ? 0 : s->size[0]; }

/* How far the polytope reaches from its middle along a direction of length one. */
static double reach(const tbi_solid *s, const double along[3]) {
  double half[3], sum = 0;
  half_edges(s, half);
  for (int k = 0; k < 3; ++k) {
    double axis[3];
    column(s, k, axis);
    sum += half[k] * fabs(dot(axis, along));
  }
  return sum;
}

/* The same of a whole shape. */
static double full_reach(const tbi_solid *s, const double along[3]) {
  if (s->kind != TBI_NEUTRAL_CYLINDER) return reach(s, along) + radius(s);
  double axis[3];
  column(s, 2, axis);
  double up = dot(axis, along);
  return s->size[1] / 2 * fabs(up) + s->size[0] * sqrt(fmax(0, 1 - up * up));
}

static double in_plane(const tbi_solid *plane, const tbi_solid *s) {
  double normal[3], off[3];
  column(plane, 2, normal);
  for (int i = 0; i < 3; ++i)
    off[i] = s->pos[i] - plane->pos[i];
  return fmax(0, full_reach(s, normal) - dot(off, normal));
}

/* How far the polytopes overlap along a direction of any length; infinite if it has none. */
static double overlap_along(const tbi_solid *a, const tbi_solid *b, const double along[3]) {
  double length = sqrt(dot(along, along)), unit[3], off[3];
  if (length < 1e-9) return HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    unit[i] = along[i] / length;
    off[i] = b->pos[i] - a->pos[i];
  }
  return reach(a, unit) + reach(b, unit) - fabs(dot(off, unit));
}

/* The min overlap over all directions that matter; negative: the polytopes are apart. */
static double least_overlap(const tbi_solid *a, const tbi_solid *b) {
  double min = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    double x[3], y[3], across[3];
    column(a, i, x);
    column(b, i, y);
    if (a->kind == TBI_NEUTRAL_BOX) min = fmin(min, overlap_along(a, b, x));
    if (b->kind == TBI_NEUTRAL_BOX) min = fmin(min, overlap_along(a, b, y));
    for (int j = 0; j < 3; ++j) {
      column(b, j, y);
      cross(x, y, across);
      bool edges = (a->kind == TBI_NEUTRAL_BOX || i == 2) && (b->kind == TBI_NEUTRAL_BOX || j == 2);
      if (edges) min = fmin(min, overlap_along(a, b, across));
    }
  }
  return min;
}

/* The distance from a point to a solid's polytope; 0 inside. */
static double distance_to(const tbi_solid *s, const double point[3]) {
  double half[3], off[3], square = 0;
  half_edges(s, half);
  for (int i = 0; i < 3; ++i)
    off[i] = point[i] - s->pos[i];
  for (int k = 0; k < 3; ++k) {
    double axis[3];
    column(s, k, axis);
    double out = fmax(0, fabs(dot(axis, off)) - half[k]);
    square += out * out;
  }
  return sqrt(square);
}

/* From a segment (or point) to a polytope: the distance is convex along it, so thirds close in. */
static double distance_from_segment(const tbi_solid *segment, const tbi_solid *s) {
  double half[3], axis[3], low = -1, high = 1, best = HUGE_VAL;
  half_edges(segment, half);
  column(segment, 2, axis);
  for (int n = 0; n < 120; ++n) {
    const double at[2] = {low + (high - low) / 3, high - (high - low) / 3};
    double distance[2];
    for (int k = 0; k < 2; ++k) {
      double point[3];
      for (int i = 0; i < 3; ++i)
        point[i] = segment->pos[i] + at[k] * half[2] * axis[i];
      distance[k] = distance_to(s, point);
    }
    best = fmin(best, fmin(distance[0], distance[1]));
    if (distance[0] <= distance[1])
      high = at[1];
    else
      low = at[0];
  }
  return best;
}

double tbi_penetration(const tbi_solid *a, const tbi_solid *b) {
  if (b->kind == TBI_NEUTRAL_PLANE || (b->kind != TBI_NEUTRAL_BOX && a->kind == TBI_NEUTRAL_BOX)) {
    const tbi_solid *other = a;
    a = b;
    b = other;
  }
  if (b->kind == TBI_NEUTRAL_PLANE) return 0;
  if (a->kind == TBI_NEUTRAL_PLANE) return in_plane(a, b);
  if (a->kind == TBI_NEUTRAL_CYLINDER || b->kind == TBI_NEUTRAL_CYLINDER) return 0;
  if (a->kind == TBI_NEUTRAL_BOX) return fmax(0, least_overlap(a, b));
  // now a is round, and b may be
  double radii = radius(a) + radius(b);
  double apart = distance_from_segment(a, b);
  if (apart > 1e-12 || b->kind != TBI_NEUTRAL_BOX) return fmax(0, radii - apart);
  return radii + fmax(0, least_overlap(a, b));
}

/* R(quat) */
static void rotation(const double quat[4], double r[3][3]) {
  double w = quat[0];
  const double *u = quat + 1;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      int next = (i + 1) % 3;
      double turn = i == j ? 0 : w * (j == next ? -u[3 - i - j] : u[3 - i - j]);
      r[i][j] = 2 * (u[i] * u[j] + turn) + (i == j ? 2 * w * w - 1 : 0);
    }
}

static void rotate(double r[3][3], const double x[3], double y[3]) {
  for (int i = 0; i < 3; ++i)
    y[i] = dot(r[i], x);
}

tbi_solid tbi_solid_at(const tbi_neutral_scene *neutral, int32_t shape,
                       const tbi_neutral_state *state) {
  const tbi_neutral_shape *s = &neutral->shape[shape];
  tbi_solid solid = {.kind = s->kind};
  double own[3][3];
  memcpy(solid.size, s->size, sizeof solid.size);
  rotation(s->quat, own);
  if (s->body < 0) {
    memcpy(solid.pos, s->pos, sizeof solid.pos);
    memcpy(solid.rot, own, sizeof own);
    return solid;
  }
  const tbi_neutral_state *at = &state[s->body];
  double turn[3][3], from_com[3], off[3];
  rotation(at->quat, turn);
  for (int i = 0; i < 3; ++i)
    from_com[i] = s->pos[i] - neutral->body[s->body].com[i];
  rotate(turn, from_com, off);
  for (int i = 0; i < 3; ++i) {
    solid.pos[i] = at->com[i] + off[i];
    for (int j = 0; j < 3; ++j)
      solid.rot[i][j] = turn[i][0] * own[0][j] + turn[i][1] * own[1][j] + turn[i][2] * own[2][j];
  }
  return solid;
}

/* The radius of a sphere around it. */
static double bound(const tbi_solid *s) {
  double half[3];
  half_edges(s, half);
  return sqrt(dot(half, half)) + radius(s);
}

static bool near(const tbi_solid *a, const tbi_solid *b) {
  double off[3], reaches = bound(a) + bound(b);
  if (a->kind == TBI_NEUTRAL_PLANE || b->kind == TBI_NEUTRAL_PLANE) return true;
  for (int i = 0; i < 3; ++i)
    off[i] = b->pos[i] - a->pos[i];
  return dot(off, off) < reaches * reaches;
}

bool tbi_penetration_all(const tbi_neutral_scene *neutral, const tbi_neutral_state *state,
                         double *deepest, double *squares) {
  tbi_solid *solid = malloc(((size_t)neutral->nshape + 1) * sizeof *solid);
  *deepest = *squares = 0;
  if (!solid) return false;
  for (int32_t i = 0; i < neutral->nshape; ++i)
    solid[i] = tbi_solid_at(neutral, i, state);
  for (int32_t i = 0; i < neutral->nshape; ++i)
    for (int32_t j = i + 1; j < neutral->nshape; ++j) {
      if (!near(&solid[i], &solid[j]) || !tbi_neutral_may_collide(neutral, i, j)) continue;
      double depth = tbi_penetration(&solid[i], &solid[j]);
      *deepest = fmax(*deepest, depth);
      *squares += depth * depth;
    }
  free(solid);
  return true;
}
