/* convex.c - pairs of convex shapes without a closed form.
 *
 * First the direction.  The overlap of two shapes along a unit normal n (from a to b) is
 *
 *   f(n) = max n.x over a  -  min n.x over b
 *
 * and the contact normal is where it is smallest; below zero it is the distance with a minus.  A
 * few natural directions (axes, the line of centres) are tried, and if none parts the cores,
 * libccd's portal refinement (MPR) on slightly fattened shapes gives one more.  The best is then
 * improved: b is moved out along n until a little air is between the cores, and the direction of
 * the shortest line back takes the place of n while f falls.  Where the cores are apart this is
 * exact; where they overlap it ends in a minimum near the start.  Of polyhedra depth.c tells
 * whether that is the least of all, and which is.
 *
 *        a's face  __________          the faces that both show along n are clipped
 *                 |   .------|--.      against each other in the plane square to n;
 *                 |   |//////|  |      each corner of what is left has a gap of its
 *                 '---|------'  |      own between the two faces
 *                     '---------' b's face
 *
 * Where parallel edges of two polyhedra meet, a whole cone of directions parts them, and the best
 * is that of one body's face by chance.  There the direction is that of the shortest line between
 * both made a little smaller around their centres, which does not depend on their order and turns
 * with them steadily.
 *
 * Then the points: see the picture.  The one deepest pair of points, which round shapes may have
 * between the corners, is added when no corner is as deep.  No gap is below -f(n). */
#include "collision/depth.h"
#include "collision/gjk.h"
#include "collision/smooth.h"

#include <ccd/ccd.h>
#include <float.h>

#define CLIPPED_ROOM (2 * TBI_FACE_CORNERS)
#define DEEPEST      0xffffu /* feature of the deepest pair */
#define STARTS       4       /* directions that are followed to their ends, */
#define HOPELESS     3       /* unless they begin so many times deeper than another ended */
#define SMALLER      1e-2    /* by which polyhedra are shrunk to tell how parallel edges meet, */
#define MEETING      1e-5    /* m of air up to which they do */
#define PARALLEL     0.02    /* sine of the angle between edges that count as parallel */

typedef struct query {
  const tbi_solid *a, *b;
  double radius; /* of both together */
  v3 centre_a, centre_b;
  double margin;
} query;

static bool is_polyhedron(const tbi_solid *s) {
  return s->type == TABI_SHAPE_BOX || s->type == TABI_SHAPE_MESH;
}

static double core_overlap(const query *q, v3 n) {
  return v3_dot(n, v3_sub(tbi_support(q->a, n), tbi_support(q->b, v3_neg(n))));
}

/* A direction and the overlap of the cores along it. */
typedef struct direction {
  v3 n;
  double overlap;
} direction;

/* The best few that are not almost the same, the best one first. */
typedef struct directions {
  direction direction[STARTS];
  int32_t count;
} directions;

static bool same_direction(v3 a, v3 b) { return v3_dot(a, b) > 0.999; }

static void keep_direction(directions *kept, direction found) {
  int32_t at = 0;
  while (at < kept->count && kept->direction[at].overlap <= found.overlap) {
    if (same_direction(kept->direction[at++].n, found.n)) return;
  }
  // what is worse moves back and over the first that is the same
  for (int32_t i = at; i < kept->count; ++i) {
    direction worse = kept->direction[i];
    kept->direction[i] = found;
    found = worse;
    if (same_direction(kept->direction[at].n, found.n)) return;
  }
  if (kept->count < STARTS) kept->direction[kept->count++] = found;
}

/* A direction of any length; one without length is the worst of all. */
static direction measure(const query *q, v3 dir) {
  double length = v3_norm(dir);
  if (!(length > 0) || !isfinite(length)) return (direction){v3_make(0, 0, 1), DBL_MAX};
  v3 n = v3_scale(1 / length, dir);
  return (direction){n, core_overlap(q, n)};
}

static void try_direction(const query *q, v3 dir, directions *kept) {
  keep_direction(kept, measure(q, dir));
}

static int first_axis(const tbi_solid *s) {
  return s->type == TABI_SHAPE_CAPSULE || s->type == TABI_SHAPE_CYLINDER ? 2 : 0;
}

static void try_both(const query *q, v3 dir, directions *kept) {
  try_direction(q, dir, kept);
  try_direction(q, v3_neg(dir), kept);
}

/* The directions in which a shape is flat, and for a round one its side. */
static void try_axes(const query *q, const tbi_solid *s, directions *kept) {
  if (s->type == TABI_SHAPE_SPHERE) return;
  for (int k = first_axis(s); k < 3; ++k)
    try_both(q, s->axis[k], kept);
  if (first_axis(s) == 0) return;
  v3 line = v3_sub(q->centre_b, q->centre_a);
  try_direction(q, v3_axpy(line, -v3_dot(line, s->axis[2]), s->axis[2]), kept);
}

/* Edges that cross meet square to both. */
static void try_edges(const query *q, directions *kept) {
  if (q->a->type == TABI_SHAPE_SPHERE || q->b->type == TABI_SHAPE_ELLIPSOID) return;
  for (int i = first_axis(q->a); i < 3; ++i) {
    for (int j = first_axis(q->b); j < 3; ++j) {
      v3 square = v3_cross(q->a->axis[i], q->b->axis[j]);
      if (v3_dot(square, square) > 1e-8) try_both(q, square, kept);
    }
  }
}

/* libccd asks for points of a shape fattened by a margin.  It has no limit of its own on the number
 * of questions: when too many were asked, a point behind the origin ends the search. */
typedef struct fat_shape {
  const tbi_solid *solid;
  v3 centre;
  double margin;
  int *questions;
} fat_shape;

static v3 from_ccd(const ccd_vec3_t *v) { return v3_make(v->v[0], v->v[1], v->v[2]); }

static void fat_support(const void *object, const ccd_vec3_t *dir, ccd_vec3_t *to) {
  const fat_shape *shape = object;
  v3 d = from_ccd(dir);
  double length = v3_norm(d);
  v3 p = --*shape->questions < 0 ? v3_neg(d) : tbi_support(shape->solid, d);
  if (length > 0 && *shape->questions >= 0) p = v3_axpy(p, shape->margin / length, d);
  ccdVec3Set(to, p.x, p.y, p.z);
}

static void fat_centre(const void *object, ccd_vec3_t *to) {
  const fat_shape *shape = object;
  ccdVec3Set(to, shape->centre.x, shape->centre.y, shape->centre.z);
}

/* The direction out by portal refinement; the worst of all if it fails. */
static direction find_portal(const query *q) {
  int questions = 400;
  double grown = 0.5 * (q->radius + q->margin) + 1e-6;
  fat_shape a = {q->a, q->centre_a, grown, &questions};
  fat_shape b = {q->b, q->centre_b, grown, &questions};
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = fat_support;
  ccd.support2 = fat_support;
  ccd.center1 = fat_centre;
  ccd.center2 = fat_centre;
  ccd.max_iterations = 60;
  ccd.mpr_tolerance = 1e-6;
  ccd_real_t depth = 0;
  ccd_vec3_t dir, pos;
  bool found = ccdMPRPenetration(&a, &b, &ccd, &depth, &dir, &pos) == 0;
  return measure(q, found ? from_ccd(&dir) : v3_zero());
}

/* The faces that both show along the best direction so far. */
static void try_faces(const query *q, directions *kept) {
  tbi_face face;
  v3 n = kept->direction[0].n;
  if (q->a->type == TABI_SHAPE_MESH) {
    tbi_support_face(q->a, n, &face);
    try_direction(q, face.normal, kept);
  }
  if (q->b->type == TABI_SHAPE_MESH) {
    tbi_support_face(q->b, v3_neg(n), &face);
    try_direction(q, v3_neg(face.normal), kept);
  }
}

/* A direction and the deepest pair of points along it. */
typedef struct result {
  direction direction;
  tbi_nearest pair;
} result;

/* Follows a direction until the overlap falls no more. */
static result improve(const query *q, direction start) {
  result r = {.direction = start};
  double size = start.overlap + v3_dot(start.n, v3_sub(q->centre_b, q->centre_a));
  double air = 0.1 * fmax(size, 1e-3);
  for (int i = 0; i < 12; ++i) {
    r.pair = tbi_gjk(q->a, q->b, v3_scale(r.direction.overlap + air, r.direction.n), r.direction.n);
    direction found = measure(q, r.pair.apart);
    if (!(found.overlap < r.direction.overlap - 1e-10 * air)) break;
    r.direction = found;
  }
  return r;
}

/* Takes the normal of a's face in place of one that is hardly better, or else that of b's: a face
 * at rest keeps its normal to the last bit, and two faces on each other do not take turns. */
static void snap(const query *q, direction *best) {
  const double hardly = 1e-6; /* m */
  for (int i = 0; i < 2; ++i) {
    tbi_face face;
    double sign = i == 0 ? 1 : -1;
    tbi_support_face(i == 0 ? q->a : q->b, v3_scale(sign, best->n), &face);
    if (face.count < 3 || v3_dot(face.normal, best->n) * sign < 0.999) continue;
    direction found = measure(q, v3_scale(sign, face.normal));
    if (found.overlap > best->overlap + hardly) continue;
    *best = found;
    return;
  }
}

static tbi_solid shrink(const tbi_solid *s, v3 centre, double factor) {
  tbi_solid small = *s;
  small.pos = v3_axpy(centre, factor, v3_sub(s->pos, centre));
  for (int k = 0; k < 3; ++k)
    small.axis[k] = v3_scale(factor, s->axis[k]);
  return small;
}

/* The direction of the shortest line between both cores, each made smaller by a share. */
static direction shrunk_direction(const query *q, v3 guess, double share) {
  tbi_solid a = shrink(q->a, q->centre_a, 1 - share);
  tbi_solid b = shrink(q->b, q->centre_b, 1 - share);
  return measure(q, tbi_gjk(&a, &b, v3_zero(), guess).apart);
}

/* Where the overlap is shallow, both cores are made smaller around their centres, so much that the
 * given direction parts them; the shortest line between these is as good as sure to be near the
 * best. */
static direction find_shrunk(const query *q, direction known) {
  double size = known.overlap + v3_dot(known.n, v3_sub(q->centre_b, q->centre_a));
  double share = 1.1 * known.overlap / size;
  if (!(share > 0 && share < 0.5)) return (direction){known.n, DBL_MAX};
  return shrunk_direction(q, known.n, share);
}

static bool is_shallow(const query *q, direction w) {
  double size = w.overlap + v3_dot(w.n, v3_sub(q->centre_b, q->centre_a));
  return w.overlap < 0.01 * size;
}

/* Whether the cores end in parallel edges along n, which lie side by side. */
static bool end_in_parallel(const query *q, v3 n) {
  v3 a[2], b[2];
  if (!tbi_support_edge(q->a, n, PARALLEL, a) || !tbi_support_edge(q->b, v3_neg(n), PARALLEL, b))
    return false;
  v3 along = v3_sub(a[1], a[0]);
  v3 other = v3_sub(b[1], b[0]);
  double length = v3_dot(along, along);
  v3 across = v3_cross(along, other);
  if (v3_dot(across, across) > PARALLEL * PARALLEL * length * v3_dot(other, other)) return false;
  double from = v3_dot(along, v3_sub(b[0], a[0]));
  double to = v3_dot(along, v3_sub(b[1], a[0]));
  return fmax(from, to) > 0 && fmin(from, to) < length;
}

/* Where parallel edges meet: between the faces around them.  The share by which the bodies are
 * shrunk grows with their overlap, and ends where they are apart. */
static bool round_off(const query *q, direction *best) {
  if (!is_polyhedron(q->a) || !is_polyhedron(q->b) || best->overlap < -MEETING) return false;
  double size = best->overlap + v3_dot(best->n, v3_sub(q->centre_b, q->centre_a));
  double deep = fmax(best->overlap, 0) / size;
  if (!(deep < 10 * SMALLER)) return false;
  double share = SMALLER * fmin(1 + best->overlap / MEETING, 1) + 2 * deep;
  direction found = shrunk_direction(q, best->n, share);
  bool same = v3_dot(found.n, best->n) > 1 - 0.5 * PARALLEL * PARALLEL;
  /* halfway between two faces that are square it is deeper by sqrt(2) */
  bool outside = found.overlap > fmax(1.5 * best->overlap, 0) + MEETING;
  /* one of the two may be that of a face, what is between them is not */
  v3 between = v3_add(best->n, found.n);
  if (same || outside || !end_in_parallel(q, v3_scale(1 / v3_norm(between), between))) return false;
  /* what parts them best still tells how deep they are */
  *best = (direction){found.n, fmin(best->overlap, found.overlap)};
  return true;
}

static void follow(const query *q, direction start, result *best) {
  if (start.overlap == DBL_MAX || same_direction(start.n, best->direction.n)) return;
  result end = improve(q, start);
  if (end.direction.overlap < best->direction.overlap - 1e-9) *best = end;
}

/* Of polyhedra that overlap, the least of all; false where that is not sure. */
static bool find_least(const query *q, result *best) {
  if (!is_polyhedron(q->a) || !is_polyhedron(q->b)) return false;
  v3 n = best->direction.n;
  bool sure = tbi_least_overlap(q->a, q->b, &n);
  direction least = measure(q, n);
  if (least.overlap < best->direction.overlap - 1e-9) *best = improve(q, least);
  return sure;
}

/* Cores that overlap: the best end of all starts. */
static result find_inside(const query *q, directions *starts) {
  result best = improve(q, starts->direction[0]);
  if (find_least(q, &best)) return best;
  follow(q, find_shrunk(q, best.direction), &best);
  if (is_shallow(q, best.direction)) return best;
  try_edges(q, starts);
  keep_direction(starts, find_portal(q));
  try_faces(q, starts);
  for (int32_t i = 0; i < starts->count; ++i) {
    if (starts->direction[i].overlap > HOPELESS * best.direction.overlap) break;
    follow(q, starts->direction[i], &best);
  }
  return best;
}

/* Cores that are apart: the shortest line between them. */
static result find_apart(const query *q, direction start) {
  result r = {start, tbi_gjk(q->a, q->b, v3_zero(), start.n)};
  direction found = measure(q, r.pair.apart);
  if (found.overlap < start.overlap) r.direction = found;
  return r;
}

/* What the descent leaves open. */
static void settle(const query *q, result *best) {
  v3 n = best->direction.n;
  if (tbi_smooth_refine(q->a, q->b, best->pair.a, &n)) {
    best->direction = measure(q, n);
  } else if (!round_off(q, &best->direction)) {
    snap(q, &best->direction);
  }
}

/* False where the shapes are farther apart than the margin. */
static bool find_direction(const query *q, result *best) {
  const double too_far = -(q->radius + q->margin);
  const double clear = -1e-6; /* m of air in which the shortest line is safe to find */
  directions starts = {.count = 0};
  try_direction(q, v3_sub(q->centre_b, q->centre_a), &starts);
  if (starts.direction[0].overlap >= too_far) try_axes(q, q->a, &starts);
  if (starts.direction[0].overlap >= too_far) try_axes(q, q->b, &starts);
  best->direction = starts.direction[0];
  if (best->direction.overlap < too_far) return false;
  if (best->direction.overlap >= clear) *best = find_inside(q, &starts);
  if (best->direction.overlap < clear) *best = find_apart(q, best->direction);
  settle(q, best);
  return best->direction.overlap >= too_far;
}

typedef struct polygon {
  tbi_corner corner[CLIPPED_ROOM];
  int32_t count;
} polygon;

static void append(polygon *p, v3 pos, uint32_t id, uint32_t edge) {
  if (p->count < CLIPPED_ROOM) p->corner[p->count++] = (tbi_corner){pos, id, edge};
}

/* Keeps what is on the inner side of a line through p: where out.(x - p) <= slack.  A line with two
 * corners stays one. */
static void clip(polygon *poly, v3 p, v3 out, uint32_t edge, double slack) {
  polygon kept = {.count = 0};
  int32_t nedge = poly->count == 2 ? 1 : poly->count;
  for (int32_t i = 0; i < poly->count; ++i) {
    const tbi_corner *here = &poly->corner[i];
    const tbi_corner *next = &poly->corner[(i + 1) % poly->count];
    double from = v3_dot(out, v3_sub(here->pos, p)) - slack;
    double to = v3_dot(out, v3_sub(next->pos, p)) - slack;
    if (from <= 0) append(&kept, here->pos, here->id, here->edge);
    if (i >= nedge || (from <= 0) == (to <= 0)) continue;
    v3 cut = v3_axpy(here->pos, from / (from - to), v3_sub(next->pos, here->pos));
    // on the way out the polygon goes on along the cutting line, on the way in along its own
    append(&kept, cut, tbi_loop(here->edge, edge), from <= 0 ? edge : here->edge);
  }
  *poly = kept;
}

/* What of face `inner` is above or below face `outer`, seen along n. */
static void clip_face(const tbi_face *outer, const tbi_face *inner, v3 n, polygon *left) {
  left->count = inner->count;
  for (int32_t i = 0; i < inner->count; ++i)
    left->corner[i] = inner->corner[i];
  // counter-clockwise around the outer face's normal, whichever way n looks at it
  v3 up = v3_dot(outer->normal, n) > 0 ? n : v3_neg(n);
  for (int32_t i = 0; i < outer->count && left->count > 0; ++i) {
    const tbi_corner *corner = &outer->corner[i];
    v3 along = v3_sub(outer->corner[(i + 1) % outer->count].pos, corner->pos);
    v3 out = v3_cross(along, up);
    double length = v3_norm(out);
    // corners that are level in alignment but for noise count as inside, so that they stay
    if (length > 0) clip(left, corner->pos, v3_scale(1 / length, out), corner->edge, 1e-6);
  }
}

typedef struct points {
  tbi_pair_point *out;
  int32_t count;
  v3 normal;
  double margin;
  double min; /* no gap is below */
} points;

static bool is_taken(const points *to, uint32_t feature) {
  for (int32_t i = 0; i < to->count; ++i) {
    if (to->out[i].feature == feature) return true;
  }
  return false;
}

/* Two bytes for a name, as ids of contacts have room for; the next one if they are taken. */
static uint32_t free_feature(const points *to, uint32_t name) {
  uint32_t feature = (name ^ name >> 16) & 0xffff;
  while (is_taken(to, feature))
    feature = (feature + 1) & 0xffff;
  return feature;
}

static void add_point(points *to, v3 on_a, double gap, uint32_t name) {
  gap = fmax(gap, to->min);
  if (gap > to->margin || to->count >= TBI_PAIR_ROOM) return;
  v3 middle = v3_axpy(on_a, 0.5 * gap, to->normal);
  to->out[to->count] = (tbi_pair_point){middle, to->normal, gap, free_feature(to, name)};
  ++to->count;
}

/* marks the names of b's corners and edges as its own */
static void name_as_b(tbi_face *face) {
  for (int32_t i = 0; i < face->count; ++i) {
    face->corner[i].id ^= 0x40000000u;
    face->corner[i].edge ^= 0x40000000u;
  }
}

static void points_on_face(const tbi_face *outer, const tbi_face *inner, bool outer_is_a,
                           points *to) {
  polygon left;
  v3 n = to->normal;
  clip_face(outer, inner, n, &left);
  double slope = v3_dot(outer->normal, n);
  for (int32_t i = 0; i < left.count; ++i) {
    // from the inner face's corner along n to the plane of the outer face
    v3 x = left.corner[i].pos;
    double t = v3_dot(outer->normal, v3_sub(outer->corner[0].pos, x)) / slope;
    v3 on_a = outer_is_a ? v3_axpy(x, t, n) : x;
    add_point(to, on_a, outer_is_a ? -t : t, left.corner[i].id);
  }
}

/* Two lines that run side by side touch where both are; lines that cross have one deepest pair. */
static void points_on_lines(const tbi_face *a, const tbi_face *b, points *to) {
  v3 n = to->normal;
  v3 p = a->corner[0].pos;
  v3 along = v3_sub(a->corner[1].pos, p);
  v3 flat = v3_axpy(along, -v3_dot(along, n), n);
  v3 other = v3_sub(b->corner[1].pos, b->corner[0].pos);
  double length = v3_norm(flat);
  v3 side = v3_cross(n, flat);
  if (fabs(v3_dot(side, other)) > 0.02 * length * v3_norm(other) || !(length > 0)) return;
  v3 out = v3_scale(1 / length, flat);
  polygon left = {
      {b->corner[0], b->corner[1]},
      2
  };
  clip(&left, p, v3_neg(out), a->corner[0].id, 1e-6);
  if (left.count > 0) clip(&left, a->corner[1].pos, out, a->corner[1].id, 1e-6);
  for (int32_t i = 0; i < left.count; ++i) {
    v3 x = left.corner[i].pos;
    v3 on_a = v3_axpy(p, v3_dot(v3_sub(x, p), out) / length, along);
    add_point(to, on_a, v3_dot(v3_sub(x, on_a), n), left.corner[i].id);
  }
}

static void points_of_faces(const query *q, points *to) {
  const double steep = 0.1; /* of a face almost edge on, heights would be noise */
  v3 n = to->normal;
  tbi_face a, b;
  tbi_support_face(q->a, n, &a);
  tbi_support_face(q->b, v3_neg(n), &b);
  name_as_b(&b);
  double slope_a = a.count > 2 ? v3_dot(a.normal, n) : 0;
  double slope_b = b.count > 2 ? -v3_dot(b.normal, n) : 0;
  if (a.count < 2 || b.count < 2) return;
  if (slope_a >= slope_b && slope_a > steep) {
    points_on_face(&a, &b, true, to);
  } else if (slope_b > steep) {
    points_on_face(&b, &a, false, to);
  } else if (a.count == 2 && b.count == 2) {
    points_on_lines(&a, &b, to);
  }
}

static void add_deepest(const query *q, const tbi_nearest *pair, points *to) {
  const double enough = 1e-6; /* m, by which a corner may miss the deepest point */
  for (int32_t i = 0; i < to->count; ++i) {
    if (to->out[i].gap <= to->min + enough) return;
  }
  v3 on_a = v3_axpy(pair->a, tbi_support_radius(q->a), to->normal);
  if (q->b->type == TABI_SHAPE_ELLIPSOID)
    on_a = v3_axpy(tbi_support(q->b, v3_neg(to->normal)), -to->min, to->normal);
  if (to->count == TBI_PAIR_ROOM) --to->count;
  add_point(to, on_a, to->min, DEEPEST);
}

int32_t tbi_convex_convex(const tbi_solid *a, const tbi_solid *b, double margin,
                          tbi_pair_point *out) {
  query q = {.a = a, .b = b, .margin = margin};
  q.radius = tbi_support_radius(a) + tbi_support_radius(b);
  q.centre_a = tbi_support_centre(a);
  q.centre_b = tbi_support_centre(b);
  result best = {0};
  if (!find_direction(&q, &best)) return 0;
  points to = {out, 0, best.direction.n, margin, -(best.direction.overlap + q.radius)};
  points_of_faces(&q, &to);
  add_deepest(&q, &best.pair, &to);
  return to.count;
}
