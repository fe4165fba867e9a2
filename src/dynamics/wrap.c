/* wrap.c - see wrap.h.
 *
 * In the plane of the circle let a point be l from the centre, s = sqrt(l^2 - r^2) from where it
 * touches, and at the angle phi.  The length of a path around the circle is
 *
 *   L = f(l_a) + f(l_b) + r |phi_b - phi_a|,   f(l) = s - r acos(r/l),   f' = s/l,   f'' = r^2/(l^2
 * s).
 *
 * A path around a sphere lies in the plane of the ends and the centre, which turns as they leave
 * it: on the unit sphere, with u and w their speeds across it, that adds ((u^2 + w^2) cos - 2 u w)
 * / sin of the angle between them to its second derivative.  A path around a cylinder, unrolled, is
 * straight: its length is sqrt(L^2 + dz^2), L being that of its projection.
 *
 * Through the inside the path has a corner at a point p of the surface where L = |p - a| + |b - p|
 * is stationary; as the ends move, p moves so that it stays so. */
#include "dynamics/wrap.h"

#include <math.h>
#include <stddef.h>

#define TINY 1e-15 /* MuJoCo's, so that both wrap alike */

typedef struct v2 {
  double x, y;
} v2;

static v2 v2_axpy(v2 a, double s, v2 b) { return (v2){a.x + s * b.x, a.y + s * b.y}; }
static v2 v2_sub(v2 a, v2 b) { return v2_axpy(a, -1, b); }
static double v2_dot(v2 a, v2 b) { return a.x * b.x + a.y * b.y; }
static double v2_cross(v2 a, v2 b) { return a.x * b.y - a.y * b.x; }
static double v2_norm(v2 a) { return sqrt(v2_dot(a, a)); }
static v2 v2_scale(double s, v2 a) { return (v2){s * a.x, s * a.y}; }
static v2 v2_unit(v2 a) {
  double norm = v2_norm(a);
  return norm < TINY ? (v2){1, 0} : v2_scale(1 / norm, a);
}

/* -- circles */

static bool segments_meet(v2 a, v2 b, v2 c, v2 d) {
  v2 ab = v2_sub(b, a);
  v2 cd = v2_sub(d, c);
  v2 ca = v2_sub(a, c);
  double det = v2_cross(ab, cd);
  if (fabs(det) < TINY) return false;
  double along_ab = v2_cross(cd, ca) / det;
  double along_cd = v2_cross(ab, ca) / det;
  return along_ab >= 0 && along_ab <= 1 && along_cd >= 0 && along_cd <= 1;
}

/* Where a straight line from d touches the circle; turn 1: which then goes on counter-clockwise. */
static v2 touch_point(v2 d, double r, double turn) {
  double square = v2_dot(d, d);
  double s = sqrt(tbi_max(0, square - r * r));
  v2 across = {-d.y, d.x};
  return v2_scale(1 / square, v2_axpy(v2_scale(r * r, d), turn * r * s, across));
}

static double arc_length(v2 from, v2 to, double turn, double r) {
  double angle = acos(tbi_max(-1, tbi_min(1, v2_dot(v2_unit(from), v2_unit(to)))));
  if (turn * v2_cross(from, to) < 0) angle = 2 * M_PI - angle;
  return r * angle;
}

/* The point of the straight line between both that is nearest to the centre. */
static v2 nearest(v2 a, v2 b) {
  v2 way = v2_sub(b, a);
  double along = -v2_dot(way, a) / v2_dot(way, way);
  return v2_axpy(a, tbi_max(0, tbi_min(1, along)), way);
}

/* How good a path with these touching points is: both towards the side, else short. */
static double goodness(v2 a, v2 b, const v2 touch[2], const v2 *side) {
  if (segments_meet(a, touch[0], b, touch[1])) return -10000;
  if (side) return tbi_min(v2_dot(touch[0], *side), v2_dot(touch[1], *side));
  v2 between = v2_sub(touch[0], touch[1]);
  return -v2_dot(between, between);
}

/* Whether the straight line from a to b passes the centre on the side opposite to `side`. */
static bool passes_opposite(v2 a, v2 b, v2 side) {
  double across_a = v2_cross(side, a);
  double across_b = v2_cross(side, b);
  if (across_a * across_b > 0 || across_a == across_b) return false;
  v2 between = v2_axpy(a, across_a / (across_a - across_b), v2_sub(b, a));
  return v2_dot(between, side) < 0;
}

/* Around a circle: false if the straight line is free. */
static bool around(v2 a, v2 b, const v2 *side, double r, v2 touch[2], tbi_wrap *wrap) {
  v2 way = v2_sub(b, a);
  if (v2_dot(a, a) < r * r || v2_dot(b, b) < r * r || r < TINY || v2_dot(way, way) < TINY)
    return false;
  v2 near = nearest(a, b);
  if (v2_dot(near, near) > r * r && (!side || !passes_opposite(a, b, *side))) return false;
  // the clockwise path must be better to be taken
  v2 clockwise[2] = {touch_point(a, r, -1), touch_point(b, r, 1)};
  v2 counter[2] = {touch_point(a, r, 1), touch_point(b, r, -1)};
  bool first = goodness(a, b, clockwise, side) > goodness(a, b, counter, side);
  wrap->turn = first ? -1 : 1;
  for (int i = 0; i < 2; ++i)
    touch[i] = first ? clockwise[i] : counter[i];
  if (segments_meet(a, touch[0], b, touch[1])) return false;
  wrap->length = arc_length(touch[0], touch[1], wrap->turn, r);
  return true;
}

/* The angle between the radius at the corner and both parts of the path: the root of
 * asin(A sin x) + asin(B sin x) - 2 x + G, which is concave and falls, so that Newton's method
 * comes from the right on. */
static double corner_angle(double A, double B, double G) {
  double x = M_PI / 2;
  for (int i = 0; i < 60; ++i) {
    double sine = sin(x);
    double f = asin(A * sine) + asin(B * sine) - 2 * x + G;
    double slope =
        cos(x) * (A / sqrt(1 - A * A * sine * sine) + B / sqrt(1 - B * B * sine * sine)) - 2;
    double next = x - f / slope;
    if (!(next < x)) break; // rounding
    x = next;
  }
  return x;
}

/* Through a circle, by a corner on it: false if the straight line is free. */
static bool through(v2 a, v2 b, double r, v2 *corner) {
  double len_a = v2_norm(a);
  double len_b = v2_norm(b);
  v2 way = v2_sub(b, a);
  double square = v2_dot(way, way);
  if (len_a <= r || len_b <= r || r < TINY) return false;
  if (square > TINY) {
    double along = -v2_dot(way, a) / square;
    if (along > 0 && along < 1 && v2_norm(v2_axpy(a, along, way)) <= r) return false;
  }
  *corner = v2_scale(r, v2_unit(v2_axpy(a, 1, b)));
  double cosine = (len_a * len_a + len_b * len_b - square) / (2 * len_a * len_b);
  if (cosine < -1 + TINY) return false;
  if (cosine > 1 - TINY) return true;
  double x = corner_angle(r / len_a, r / len_b, acos(cosine));
  bool ahead = v2_cross(a, b) > 0;
  v2 from = v2_unit(ahead ? a : b);
  double angle = x - asin(r * sin(x) / (ahead ? len_a : len_b));
  corner->x = r * (cos(angle) * from.x - sin(angle) * from.y);
  corner->y = r * (sin(angle) * from.x + cos(angle) * from.y);
  return true;
}

/* -- spheres and cylinders */

/* The plane of both ends and the centre; if all are on a line, any plane through it. */
static void choose_plane(v3 a, v3 b, v3 axis[2]) {
  axis[0] = v3_scale(1 / v3_norm(a), a);
  v3 normal = v3_cross(a, b);
  double norm = v3_norm(normal);
  if (norm < TINY) {
    v3 other = {1, 1, 1};
    double x = fabs(axis[0].x);
    double y = fabs(axis[0].y);
    double z = fabs(axis[0].z);
    *(x > y && x > z ? &other.x : y > z ? &other.y : &other.z) = 0;
    normal = v3_cross(axis[0], other);
    norm = v3_norm(normal);
  }
  axis[1] = v3_cross(v3_scale(1 / norm, normal), axis[0]);
  axis[1] = v3_scale(1 / v3_norm(axis[1]), axis[1]);
}

static v2 project(const tbi_wrap *wrap, v3 x) {
  return (v2){v3_dot(x, wrap->axis[0]), v3_dot(x, wrap->axis[1])};
}

static v3 lift(const tbi_wrap *wrap, v2 x) {
  return v3_axpy(v3_scale(x.x, wrap->axis[0]), x.y, wrap->axis[1]);
}

/* Heights of the touching points: the path rises evenly. */
static void raise(v3 a, v3 b, tbi_wrap *wrap) {
  double before = hypot(a.x - wrap->touch[0].x, a.y - wrap->touch[0].y);
  double after = hypot(b.x - wrap->touch[1].x, b.y - wrap->touch[1].y);
  double slope = (b.z - a.z) / (before + wrap->length + after);
  wrap->touch[0].z = a.z + slope * before;
  wrap->touch[1].z = a.z + slope * (before + wrap->length);
  wrap->length = hypot(wrap->length, wrap->touch[1].z - wrap->touch[0].z);
}

bool tbi_wrap_find(const tbi_obstacle *obstacle, v3 a, v3 b, tbi_wrap *wrap) {
  *wrap = (tbi_wrap){
      .axis = {{1, 0, 0}, {0, 1, 0}},
        .turn = 1
  };
  if (v3_norm(a) < TINY || v3_norm(b) < TINY) return false;
  if (!obstacle->cylinder) choose_plane(a, b, wrap->axis);
  v2 a2 = project(wrap, a);
  v2 b2 = project(wrap, b);
  v2 side = v2_unit(project(wrap, obstacle->side));
  v2 touch[2];
  wrap->inside = obstacle->sided && v3_norm(obstacle->side) < obstacle->radius;
  bool wraps = wrap->inside
                   ? through(a2, b2, obstacle->radius, &touch[0])
                   : around(a2, b2, obstacle->sided ? &side : NULL, obstacle->radius, touch, wrap);
  if (!wraps) return false;
  if (wrap->inside) touch[1] = touch[0];
  for (int i = 0; i < 2; ++i)
    wrap->touch[i] = lift(wrap, touch[i]);
  if (obstacle->cylinder) raise(a, b, wrap);
  return true;
}

/* -- derivatives by time */

/* A number with its first and second derivative. */
typedef struct jet {
  double x, d, dd;
} jet;

static jet jet_add(jet a, double s, jet b) {
  return (jet){a.x + s * b.x, a.d + s * b.d, a.dd + s * b.dd};
}

static jet norm_of(v3 x, v3 v, v3 a) {
  double norm = v3_norm(x);
  double rate = v3_dot(x, v) / norm;
  return (jet){norm, rate, (v3_dot(v, v) + v3_dot(x, a) - rate * rate) / norm};
}

/* f(l) of the head of this file */
static jet lead_of(jet l, double r) {
  double s = sqrt(tbi_max(0, l.x * l.x - r * r));
  double slope = s / l.x;
  double bend = s > 0 ? r * r / (l.x * l.x * s) : 0;
  return (jet){s - r * acos(tbi_min(1, r / l.x)), slope * l.d, bend * l.d * l.d + slope * l.dd};
}

/* phi, whose value is not needed */
static jet angle_of(const tbi_wrap *wrap, const tbi_wrap_end *at) {
  v2 x = project(wrap, at->x);
  v2 v = project(wrap, at->v);
  double square = v2_dot(x, x);
  double rate = v2_cross(x, v) / square;
  double change = v2_cross(x, project(wrap, at->a)) / square - 2 * rate * v2_dot(x, v) / square;
  return (jet){0, rate, change};
}

/* what the turning plane adds to the angle between the ends */
static double plane_turn(const tbi_wrap *wrap, const tbi_wrap_end *a, const tbi_wrap_end *b) {
  v3 normal = v3_cross(wrap->axis[0], wrap->axis[1]);
  double cross = v3_dot(v3_cross(a->x, b->x), normal);
  double sine = cross / (v3_norm(a->x) * v3_norm(b->x));
  double cosine = v3_dot(a->x, b->x) / (v3_norm(a->x) * v3_norm(b->x));
  double u = v3_dot(a->v, normal) / v3_norm(a->x);
  double w = v3_dot(b->v, normal) / v3_norm(b->x);
  return fabs(sine) > 1e-9 ? ((u * u + w * w) * cosine - 2 * u * w) / sine : 0;
}

static jet around_length(const tbi_obstacle *obstacle, const tbi_wrap *wrap, const tbi_wrap_end *a,
                         const tbi_wrap_end *b) {
  tbi_wrap_end ends[2] = {*a, *b};
  if (obstacle->cylinder) {
    for (int i = 0; i < 2; ++i)
      ends[i].x.z = ends[i].v.z = ends[i].a.z = 0;
  }
  double r = obstacle->radius;
  jet length = {0};
  for (int i = 0; i < 2; ++i)
    length = jet_add(length, 1, lead_of(norm_of(ends[i].x, ends[i].v, ends[i].a), r));
  jet turned = jet_add(angle_of(wrap, &ends[1]), -1, angle_of(wrap, &ends[0]));
  if (!obstacle->cylinder) turned.dd += plane_turn(wrap, a, b);
  return jet_add(length, r * wrap->turn, turned);
}

/* The path around a cylinder: the one in the plane and the height between the ends. */
static double rising_drift(const tbi_wrap *wrap, jet flat, const tbi_wrap_end *a,
                           const tbi_wrap_end *b) {
  v3 first = v3_sub(wrap->touch[0], a->x);
  v3 last = v3_sub(b->x, wrap->touch[1]);
  double length = v3_norm(first) + wrap->length + v3_norm(last);
  jet height = {b->x.z - a->x.z, b->v.z - a->v.z, b->a.z - a->a.z};
  flat.x = sqrt(tbi_max(0, length * length - height.x * height.x));
  double rate = (flat.x * flat.d + height.x * height.d) / length;
  return (flat.d * flat.d + flat.x * flat.dd + height.d * height.d + height.x * height.dd -
          rate * rate) /
         length;
}

static v3 across(v3 x, v3 e) { return v3_axpy(x, -v3_dot(x, e), e); }

/* With the corner p moving in the directions t along the surface, of curvature 1/r along t[0] and,
 * of a sphere, along t[1]. */
static double corner_drift(const tbi_obstacle *obstacle, const tbi_wrap *wrap,
                           const tbi_wrap_end *a, const tbi_wrap_end *b) {
  v3 p = wrap->touch[0];
  v3 out = obstacle->cylinder ? v3_make(p.x, p.y, 0) : p;
  out = v3_scale(1 / v3_norm(out), out);
  v3 t[2];
  t[1] = obstacle->cylinder ? v3_make(0, 0, 1) : v3_cross(wrap->axis[0], wrap->axis[1]);
  t[0] = v3_cross(t[1], out);
  v3 in = v3_sub(p, a->x);
  v3 on = v3_sub(b->x, p);
  double len_in = v3_norm(in);
  double len_on = v3_norm(on);
  if (!(len_in > 0) || !(len_on > 0)) return 0;
  v3 e_in = v3_scale(1 / len_in, in);
  v3 e_on = v3_scale(1 / len_on, on);
  double bend = v3_dot(v3_sub(e_in, e_on), out) / obstacle->radius;
  v3 pull = v3_axpy(v3_scale(1 / len_in, across(a->v, e_in)), 1 / len_on, across(b->v, e_on));
  double h[2][2];
  for (int i = 0; i < 2; ++i) {
    v3 stretched =
        v3_axpy(v3_scale(1 / len_in, across(t[i], e_in)), 1 / len_on, across(t[i], e_on));
    for (int k = 0; k < 2; ++k)
      h[i][k] = v3_dot(stretched, t[k]);
  }
  h[0][0] -= bend;
  if (!obstacle->cylinder) h[1][1] -= bend;
  double f[2] = {v3_dot(pull, t[0]), v3_dot(pull, t[1])};
  double det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
  v3 moved = v3_zero();
  if (fabs(det) > TINY) {
    moved = v3_axpy(moved, (f[0] * h[1][1] - f[1] * h[0][1]) / det, t[0]);
    moved = v3_axpy(moved, (f[1] * h[0][0] - f[0] * h[1][0]) / det, t[1]);
  }
  v3 turn_in = v3_scale(1 / len_in, across(v3_sub(moved, a->v), e_in));
  v3 turn_on = v3_scale(1 / len_on, across(v3_sub(b->v, moved), e_on));
  return v3_dot(e_on, b->a) - v3_dot(e_in, a->a) + v3_dot(turn_on, b->v) - v3_dot(turn_in, a->v);
}

double tbi_wrap_drift(const tbi_obstacle *obstacle, const tbi_wrap *wrap, const tbi_wrap_end *a,
                      const tbi_wrap_end *b) {
  if (wrap->inside) return corner_drift(obstacle, wrap, a, b);
  jet flat = around_length(obstacle, wrap, a, b);
  return obstacle->cylinder ? rising_drift(wrap, flat, a, b) : flat.dd;
}
