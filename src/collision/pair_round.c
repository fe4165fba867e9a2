/* pair_round.c - spheres and capsules among themselves and against boxes.
 *
 * A capsule is a ball drawn along a segment, so every ball of it gives a true gap.  Beside the
 * nearest one, the two at the ends of the stretch where the partners lie side by side are
 * reported: two points for a capsule that lies, one where it only touches.
 *
 *   feature 0, 1: lower and upper end of that stretch on the capsule's axis;  2: nearest point */
#include "collision/closest.h"
#include "collision/pair_table.h"

/* capsules that make a smaller angle than this (its sine) may touch along a line */
#define SIDE_BY_SIDE 0.1
/* the nearest point is worth its place if it is deeper than the ends by this part of the radii */
#define DEEPER 1e-9
/* a face is preferred to an edge whose overlap is smaller by less than this part, or whose normal
 * is less than this off the face's */
#define FACE_BIAS 0.05

enum { LOWER_END, UPPER_END, NEAREST };

/* two balls; the direction where their middles coincide is `spare` */
static int32_t put_balls(v3 p, double radius_p, v3 q, double radius_q, v3 spare,
                         tbi_pair_point *out) {
  v3 apart = v3_sub(q, p);
  double distance = v3_norm(apart);
  bool told = distance > TBI_COINCIDENT;
  out->normal = told ? v3_scale(1 / distance, apart) : spare;
  out->gap = (told ? distance : 0) - radius_p - radius_q;
  out->point = v3_axpy(p, radius_p + 0.5 * out->gap, out->normal);
  out->feature = 0;
  return 1;
}

int32_t tbi_sphere_sphere(const tbi_solid *a, const tbi_solid *b, double margin,
                          tbi_pair_point *out) {
  put_balls(a->pos, a->half[0], b->pos, b->half[0], v3_make(0, 0, 1), out);
  return out->gap <= margin;
}

static tbi_segment axis_of(const tbi_solid *capsule) {
  return (tbi_segment){capsule->pos, capsule->axis[2], capsule->half[2]};
}

int32_t tbi_sphere_capsule(const tbi_solid *a, const tbi_solid *b, double margin,
                           tbi_pair_point *out) {
  tbi_segment axis = axis_of(b);
  v3 near = tbi_segment_at(&axis, tbi_segment_nearest(&axis, a->pos));
  put_balls(a->pos, a->half[0], near, b->half[0], tbi_perpendicular(axis.along), out);
  return out->gap <= margin;
}

/* The points of a capsule at the ends of a stretch, [0] and [1], and at its nearest point, [2]:
 * keeps those within the margin, and the last only where it says something new. */
static int32_t keep_points(const tbi_pair_point found[3], double radius, double margin,
                           tbi_pair_point *out) {
  int32_t count = 0;
  double min = INFINITY;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!(found[i].gap <= margin)) continue;
    if (i == NEAREST && !(found[i].gap < min - DEEPER * radius)) continue;
    min = fmin(min, found[i].gap);
    out[count] = found[i];
    out[count++].feature = i;
  }
  return count;
}

/* The stretch of a's axis that b's axis lies along; false when there is none. */
static bool overlap_along(const tbi_segment *a, const tbi_segment *b, double range[2]) {
  double middle = v3_dot(a->along, v3_sub(b->middle, a->middle));
  double half = b->half * fabs(v3_dot(a->along, b->along));
  range[0] = fmax(-a->half, middle - half);
  range[1] = fmin(a->half, middle + half);
  return range[0] < range[1];
}

int32_t tbi_capsule_capsule(const tbi_solid *a, const tbi_solid *b, double margin,
                            tbi_pair_point *out) {
  tbi_segment axis_a = axis_of(a);
  tbi_segment axis_b = axis_of(b);
  v3 across = v3_cross(axis_a.along, axis_b.along);
  double sine = v3_norm(across);
  /* where the axes meet, only leaving the plane of both parts them with certainty */
  v3 spare = sine > 1e-6 ? v3_scale(1 / sine, across) : tbi_perpendicular(axis_a.along);

  double t[2];
  tbi_nearest_segments(&axis_a, &axis_b, t);
  tbi_pair_point found[3] = {{.gap = INFINITY}, {.gap = INFINITY}, {.gap = 0}};
  put_balls(tbi_segment_at(&axis_a, t[0]), a->half[0], tbi_segment_at(&axis_b, t[1]), b->half[0],
            spare, &found[NEAREST]);
  if (!(found[NEAREST].gap <= margin)) return 0;

  double range[2];
  if (sine < SIDE_BY_SIDE && overlap_along(&axis_a, &axis_b, range)) {
    for (int i = 0; i < 2; ++i) {
      v3 p = tbi_segment_at(&axis_a, range[i]);
      v3 q = tbi_segment_at(&axis_b, tbi_segment_nearest(&axis_b, p));
      put_balls(p, a->half[0], q, b->half[0], found[NEAREST].normal, &found[i]);
    }
  }
  return keep_points(found, a->half[0] + b->half[0], margin, out);
}

/* the point of a ball against a box, in the box's axes, from the ball to the box */
static void put_in_world(const tbi_solid *box, v3 point, v3 normal, double gap,
                         tbi_pair_point *out) {
  out->point = v3_add(box->pos, tbi_solid_world(box, point));
  out->normal = tbi_solid_world(box, normal);
  out->gap = gap;
  out->feature = 0;
}

/* A ball with its middle at p outside of the box.  False when p is not outside. */
static bool put_ball_outside(const tbi_solid *box, v3 p, double radius, tbi_pair_point *out) {
  v3 excess = tbi_box_excess(box->half, p);
  double distance = v3_norm(excess);
  if (!(distance > TBI_COINCIDENT)) return false;
  v3 normal = v3_scale(-1 / distance, excess);
  double gap = distance - radius;
  v3 surface = v3_sub(p, excess);
  put_in_world(box, v3_axpy(surface, -0.5 * gap, normal), normal, gap, out);
  return true;
}

static double get(v3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
static v3 unit(int i, double sign) {
  return (v3){i == 0 ? sign : 0, i == 1 ? sign : 0, i == 2 ? sign : 0};
}

int32_t tbi_sphere_box(const tbi_solid *a, const tbi_solid *b, double margin, tbi_pair_point *out) {
  v3 p = tbi_solid_local(b, v3_sub(a->pos, b->pos));
  double radius = a->half[0];
  if (put_ball_outside(b, p, radius, out)) return out->gap <= margin;

  /* from inside, the way out leads through the nearest face */
  int face = 0;
  double depth = INFINITY;
  for (int i = 0; i < 3; ++i) {
    double below = b->half[i] - fabs(get(p, i));
    if (below < depth) {
      depth = below;
      face = i;
    }
  }
  v3 outward = unit(face, get(p, face) < 0 ? -1 : 1);
  double gap = -depth - radius;
  put_in_world(b, v3_axpy(p, depth + 0.5 * gap, outward), v3_neg(outward), gap, out);
  return isfinite(gap) && gap <= margin;
}

/* The stretch of the segment above the face or edge of the box that p is nearest to.  At a border
 * the direction decides: almost a face's normal means the face. */
static bool stretch_above(const tbi_segment *s, const double half[3], v3 p, double range[2]) {
  v3 excess = tbi_box_excess(half, p);
  double min = FACE_BIAS * v3_norm(excess);
  range[0] = -s->half;
  range[1] = s->half;
  int beyond = 0;
  for (int i = 0; i < 3; ++i) {
    if (fabs(get(excess, i)) > min) {
      ++beyond;
    } else if (!tbi_clip_slab(get(s->middle, i), get(s->along, i), half[i], range)) {
      return false;
    }
  }
  return beyond < 3 && range[0] < range[1];
}

/* How far a segment reaches into a box along a unit direction of the box's axes, pointing out. */
static double overlap_along_normal(const tbi_segment *s, const double half[3], v3 outward) {
  double box = half[0] * fabs(outward.x) + half[1] * fabs(outward.y) + half[2] * fabs(outward.z);
  return box + s->half * fabs(v3_dot(s->along, outward)) - v3_dot(s->middle, outward);
}

/* The direction in which the segment leaves the box soonest.  True for a face, which is preferred,
 * and false for an edge. */
static bool way_out(const tbi_segment *s, const double half[3], v3 *outward, double *overlap) {
  bool face = true;
  *outward = unit(2, 1);
  *overlap = INFINITY;
  for (int i = 0; i < 3; ++i) {
    v3 normal = unit(i, get(s->middle, i) < 0 ? -1 : 1);
    double inside = overlap_along_normal(s, half, normal);
    if (inside < *overlap) {
      *overlap = inside;
      *outward = normal;
    }
  }
  double limit = (1 - FACE_BIAS) * *overlap;
  for (int i = 0; i < 3; ++i) {
    v3 across = v3_cross(s->along, unit(i, 1));
    double sine = v3_norm(across);
    if (sine < 1e-6) continue;
    v3 normal = v3_scale((v3_dot(across, s->middle) < 0 ? -1 : 1) / sine, across);
    double inside = overlap_along_normal(s, half, normal);
    if (inside < limit) {
      face = false;
      limit = *overlap = inside;
      *outward = normal;
    }
  }
  return face;
}

/* The edge of the box that is farthest along a direction at right angles to it. */
static tbi_segment edge_along(const double half[3], v3 outward) {
  v3 size = {fabs(outward.x), fabs(outward.y), fabs(outward.z)};
  int i = size.x <= size.y ? (size.x <= size.z ? 0 : 2) : (size.y <= size.z ? 1 : 2);
  v3 corner = {copysign(half[0], outward.x), copysign(half[1], outward.y),
               copysign(half[2], outward.z)};
  v3 along = unit(i, 1);
  return (tbi_segment){v3_axpy(corner, -get(corner, i), along), along, half[i]};
}

/* Points of the capsule at the ends of the stretch inside the faces around the one it leaves by. */
static int32_t capsule_under_face(const tbi_segment *s, const tbi_solid *box, double radius,
                                  v3 outward, tbi_pair_point found[3]) {
  double range[2] = {-s->half, s->half};
  double top = 0;
  for (int i = 0; i < 3; ++i) {
    if (get(outward, i) != 0) {
      top = box->half[i];
    } else if (!tbi_clip_slab(get(s->middle, i), get(s->along, i), box->half[i], range)) {
      return 0;
    }
  }
  for (int i = 0; i < 2; ++i) {
    v3 p = tbi_segment_at(s, range[i]);
    double gap = v3_dot(outward, p) - top - radius;
    put_in_world(box, v3_axpy(p, -radius - 0.5 * gap, outward), v3_neg(outward), gap, &found[i]);
  }
  return range[1] - range[0] > DEEPER * radius ? 2 : 1;
}

/* The axis of the capsule meets the box: all points along one direction. */
static int32_t capsule_through_box(const tbi_segment *s, const tbi_solid *box, double radius,
                                   double margin, tbi_pair_point *out) {
  v3 outward;
  double overlap;
  tbi_pair_point found[3] = {{.gap = INFINITY}, {.gap = INFINITY}, {.gap = INFINITY}};
  bool face = way_out(s, box->half, &outward, &overlap);
  int32_t ends = face ? capsule_under_face(s, box, radius, outward, found) : 0;
  if (ends == 1) found[UPPER_END].gap = INFINITY;
  if (ends == 0) {
    tbi_segment edge = edge_along(box->half, outward);
    double t[2];
    tbi_nearest_segments(s, &edge, t);
    double gap = -overlap - radius;
    v3 middle = v3_axpy(tbi_segment_at(s, t[0]), -radius - 0.5 * gap, outward);
    put_in_world(box, middle, v3_neg(outward), gap, &found[NEAREST]);
  }
  return keep_points(found, radius, margin, out);
}

int32_t tbi_capsule_box(const tbi_solid *a, const tbi_solid *b, double margin,
                        tbi_pair_point *out) {
  tbi_segment s = {tbi_solid_local(b, v3_sub(a->pos, b->pos)), tbi_solid_local(b, a->axis[2]),
                   a->half[2]};
  double radius = a->half[0];
  v3 p = tbi_segment_at(&s, tbi_nearest_to_box(&s, b->half));
  tbi_pair_point found[3] = {{.gap = INFINITY}, {.gap = INFINITY}, {.gap = INFINITY}};
  if (!put_ball_outside(b, p, radius, &found[NEAREST])) {
    return capsule_through_box(&s, b, radius, margin, out);
  }
  if (!(found[NEAREST].gap <= margin)) return 0;

  double range[2];
  if (stretch_above(&s, b->half, p, range)) {
    for (int i = 0; i < 2; ++i)
      put_ball_outside(b, tbi_segment_at(&s, range[i]), radius, &found[i]);
  }
  return keep_points(found, radius, margin, out);
}
