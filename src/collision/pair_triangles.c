/* pair_triangles.c - every shape against ground made of triangles.
 *
 * A shape touches a surface where nothing of either is nearer, and there the normal is one that
 * the surface has: a face's own, or at an edge or vertex one between those of the faces around it
 * (trimesh.h).  So the points are looked for by where the surface is touched:
 *
 *   on a face     corners of the shape above it, as against a plane
 *   on an edge    the edge as a line without width against the shape, if it is convex; what meets
 *   or a vertex   it in a direction that its faces do not allow is theirs, and is left out
 *
 *        x             x over the left face only: one point, with its normal, as on a plane.
 *    ____|___.___      The edge is flat: it is no edge to the shape, nor is its right face, which
 *                      x is not above.
 *
 * A corner under several faces of a convex edge leaves by the nearest.  In a concave corner it is
 * beyond both faces by a little where it touches both, so faces reach a little over such edges.
 * A shape with its middle behind the surface is pushed out by the nearest face as by a plane; a
 * height field, solid below without end, does so at any depth.
 *
 * Everything happens in the axes of the ground. */
#include "base/assertion.h"
#include "collision/closest.h"
#include "collision/collision.h"
#include "collision/support.h"
#include "collision/trimesh.h"

#define ROOM       48   /* points held before the best of them are chosen */
#define ROOM_LEFT  16   /* after that */
#define BEYOND     0.01 /* how far faces reach over a concave edge, in sizes of the shape */
#define SAME_PLACE 1e-6 /* in sizes of the shape */
#define SAME_WAY   0.999
/* a flat shape's own normal is good for an edge that it misses by this sine; a round one's is not,
 * since what it would touch beside the edge is the face */
#define SLACK       1e-2
#define SLACK_ROUND 1e-9

#define NO_CORNER    (-1)
#define EDGE_FEATURE 0x8000u

/* A point in the axes of the ground; its normal points from the ground to the shape. */
typedef struct candidate {
  tbi_pair_point p;
  double height;  /* of a corner of the shape's core over the face */
  int32_t corner; /* its number, or NO_CORNER at an edge */
  bool over;      /* right over the face, not beyond its border */
} candidate;

typedef struct gathering {
  const tbi_trimesh *t;
  const tbi_solid *shape;
  v3 centre;
  double radius, size, margin;
  double low[3], high[3]; /* of the shape, margin included */
  bool below;             /* solid below without end */
  bool behind;            /* the shape's centre is behind some face */
  candidate item[ROOM];
  int32_t count;
} gathering;

static tbi_solid in_axes_of(const tbi_solid *ground, const tbi_solid *shape) {
  tbi_solid s = *shape;
  s.pos = tbi_solid_local(ground, v3_sub(shape->pos, ground->pos));
  for (int i = 0; i < 3; ++i)
    s.axis[i] = tbi_solid_local(ground, shape->axis[i]);
  return s;
}

static void set_bounds(gathering *g) {
  double half2 = 0;
  for (int i = 0; i < 3; ++i) {
    v3 axis = {i == 0 ? 1 : 0, i == 1 ? 1 : 0, i == 2 ? 1 : 0};
    double high = v3_dot(axis, tbi_support(g->shape, axis)) + g->radius;
    double low = v3_dot(axis, tbi_support(g->shape, v3_neg(axis))) - g->radius;
    half2 += 0.25 * (high - low) * (high - low);
    g->high[i] = high + g->margin;
    g->low[i] = low - g->margin;
  }
  g->size = sqrt(half2);
}

/* Keeps the best of so many points that there is no room for more. */
static void make_room(gathering *g) {
  tbi_pair_point points[ROOM];
  candidate kept[ROOM_LEFT];
  for (int32_t i = 0; i < g->count; ++i) {
    points[i] = g->item[i].p;
    points[i].feature = (uint32_t)i;
  }
  int32_t count = tbi_manifold_reduce(points, g->count, ROOM_LEFT);
  for (int32_t i = 0; i < count; ++i)
    kept[i] = g->item[points[i].feature];
  for (int32_t i = 0; i < count; ++i)
    g->item[i] = kept[i];
  g->count = count;
}

static bool same_place(const gathering *g, v3 a, v3 b) {
  v3 apart = v3_sub(a, b);
  double near = SAME_PLACE * g->size;
  return v3_dot(apart, apart) < near * near;
}

static bool says_the_same(const gathering *g, const candidate *a, const candidate *b) {
  return same_place(g, a->p.point, b->p.point) && v3_dot(a->p.normal, b->p.normal) > SAME_WAY;
}

/* where the corner itself is */
static v3 corner_of(const gathering *g, const candidate *c) {
  return v3_axpy(c->p.point, 0.5 * c->p.gap + g->radius, c->p.normal);
}

/* Whether both tell the same corner, which is below the surface, how to get out. */
static bool are_exits(const gathering *g, const candidate *a, const candidate *b) {
  if (!(a->over && b->over && a->height < 0 && b->height < 0)) return false;
  return same_place(g, corner_of(g, a), corner_of(g, b));
}

static void add(gathering *g, const candidate *found) {
  if (!(found->p.gap <= g->margin)) return;
  for (int32_t i = 0; i < g->count; ++i) {
    candidate *known = &g->item[i];
    if (says_the_same(g, known, found)) {
      /* a corner's id lives longer than an edge's */
      if (known->corner == NO_CORNER && found->corner != NO_CORNER) *known = *found;
      return;
    }
    if (are_exits(g, known, found)) {
      if (found->height > known->height) *known = *found;
      return;
    }
  }
  if (g->count == ROOM) make_room(g);
  g->item[g->count++] = *found;
}

/* How far p is beyond an edge of a face, seen along the face's normal, or negative within; times
 * the length of the edge, whose square is *length2. */
static double beyond_edge(const tbi_trimesh *t, const tbi_trimesh_face *f, int k, v3 p,
                          double *length2) {
  v3 from = tbi_trimesh_vertex(t, f->vertex[k]);
  v3 along = v3_sub(tbi_trimesh_vertex(t, f->vertex[(k + 1) % 3]), from);
  *length2 = v3_dot(along, along);
  return v3_dot(v3_cross(along, f->normal), v3_sub(p, from));
}

static bool is_right_over(const tbi_trimesh *t, const tbi_trimesh_face *f, v3 p) {
  double length2;
  return beyond_edge(t, f, 0, p, &length2) <= 0 && beyond_edge(t, f, 1, p, &length2) <= 0 &&
         beyond_edge(t, f, 2, p, &length2) <= 0;
}

/* Whether a point beyond a concave edge still is the face's: it lies in the corner, or it is over
 * the other face and may come over this one in the step. */
static bool is_in_corner(const gathering *g, const candidate *c, int32_t face,
                         const tbi_trimesh_edge *edge, double beyond) {
  if (g->radius == 0 && beyond <= BEYOND * g->size) return true;
  if (c->p.gap <= 0 || beyond > g->margin) return false;
  const tbi_trimesh_face *other = &g->t->face[edge->face[edge->face[0] == face ? 1 : 0]];
  return is_right_over(g->t, other, c->p.point);
}

/* Whether p is over a face, seen along its normal; *over is false where it is in a corner. */
static bool is_over(const gathering *g, int32_t face, const candidate *c, bool *over) {
  const tbi_trimesh *t = g->t;
  const tbi_trimesh_face *f = &t->face[face];
  *over = true;
  for (int k = 0; k < 3; ++k) {
    const tbi_trimesh_edge *edge = &t->edge[f->edge[k]];
    double length2;
    double beyond = beyond_edge(t, f, k, c->p.point, &length2);
    if (beyond <= 0) continue;
    double noise = 1e-9 * g->size;
    if (edge->kind == TBI_EDGE_FLAT) noise += 4 * TBI_EDGE_FLATNESS * fabs(c->height);
    if (beyond * beyond <= noise * noise * length2) continue;
    if (edge->kind != TBI_EDGE_CONCAVE) return false;
    if (!is_in_corner(g, c, face, edge, beyond / sqrt(length2))) return false;
    *over = false;
  }
  return true;
}

/* with its normal only, which is all that shapes ask of a plane */
static tbi_solid plane_of(const gathering *g, int32_t face) {
  const tbi_trimesh_face *f = &g->t->face[face];
  tbi_solid plane = {.type = TABI_SHAPE_PLANE, .pos = tbi_trimesh_vertex(g->t, f->vertex[0])};
  plane.axis[2] = f->normal;
  return plane;
}

/* Adds a point of the shape against the plane of a face, if it is over the face. */
static void add_over(gathering *g, int32_t face, const tbi_pair_point *p) {
  candidate c = {*p, p->gap + g->radius, (int32_t)p->feature, true};
  if (is_over(g, face, &c, &c.over)) add(g, &c);
}

/* All vertices of a hull: those that a plane would choose may not be over the face. */
static void hull_on_face(gathering *g, int32_t face, const tbi_solid *plane) {
  const tbi_solid *s = g->shape;
  v3 up = plane->axis[2];
  v3 normal = tbi_solid_local(s, up);
  double middle = v3_dot(up, v3_sub(s->pos, plane->pos));
  for (int32_t i = 0; i < s->mesh->nvertex; ++i) {
    v3 vertex = v3_load(s->mesh->vertices + 3 * (size_t)i);
    double gap = middle + v3_dot(normal, vertex);
    if (!(gap <= g->margin)) continue;
    v3 at = v3_add(s->pos, tbi_solid_world(s, vertex));
    tbi_pair_point p = {v3_axpy(at, -0.5 * gap, up), up, gap, (uint32_t)i};
    add_over(g, face, &p);
  }
}

/* One point of a rim that crosses an edge, numbered after those that a plane sees. */
static void add_crossing(gathering *g, int32_t face, const tbi_solid *plane, v3 at, uint32_t id) {
  v3 up = plane->axis[2];
  double gap = v3_dot(up, v3_sub(at, plane->pos));
  candidate c = {
      {v3_axpy(at, -0.5 * gap, up), up, gap, 0},
      gap, (int32_t)(16 + id % 4096), false
  };
  bool over;
  if (is_over(g, face, &c, &over)) add(g, &c);
}

/* Where the rims of a cylinder cross a concave edge, seen along the face's normal.  Of two faces
 * like a gutter, each may have the rim's lowest point over the other, and its own lowest there:
 * x cos + y sin = z along the rim, with x, y and z measured across the edge. */
static void rims_on_edge(gathering *g, int32_t face, const tbi_solid *plane, int k) {
  const tbi_solid *s = g->shape;
  const tbi_trimesh_face *f = &g->t->face[face];
  v3 from = tbi_trimesh_vertex(g->t, f->vertex[k]);
  v3 along = v3_sub(tbi_trimesh_vertex(g->t, f->vertex[(k + 1) % 3]), from);
  v3 out = v3_cross(along, f->normal);
  double x = s->half[0] * v3_dot(out, s->axis[0]);
  double y = s->half[0] * v3_dot(out, s->axis[1]);
  double span2 = x * x + y * y;
  for (uint32_t end = 0; end < 2; ++end) {
    v3 centre = v3_axpy(s->pos, end == 0 ? -s->half[2] : s->half[2], s->axis[2]);
    double z = v3_dot(out, v3_sub(from, centre));
    if (!(z * z < span2)) continue;
    double root = sqrt(span2 - z * z);
    for (uint32_t side = 0; side < 2; ++side) {
      double turn = side == 0 ? root : -root;
      double cosine = (z * x - turn * y) / span2;
      double sine = (z * y + turn * x) / span2;
      v3 arm = v3_axpy(v3_scale(s->half[0] * cosine, s->axis[0]), s->half[0] * sine, s->axis[1]);
      uint32_t id = 4 * (uint32_t)f->edge[k] + 2 * end + side;
      add_crossing(g, face, plane, v3_add(centre, arm), id);
    }
  }
}

static void meet_face(gathering *g, int32_t face) {
  tbi_solid plane = plane_of(g, face);
  for (int k = 0; k < 3 && g->shape->type == TABI_SHAPE_CYLINDER; ++k) {
    if (g->t->edge[g->t->face[face].edge[k]].kind == TBI_EDGE_CONCAVE)
      rims_on_edge(g, face, &plane, k);
  }
  if (g->shape->type == TABI_SHAPE_MESH) {
    hull_on_face(g, face, &plane);
    return;
  }
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(&plane, g->shape, g->margin, points);
  for (int32_t i = 0; i < count; ++i)
    add_over(g, face, &points[i]);
}

/* an edge as a capsule without radius */
static tbi_solid line_of(const tbi_trimesh *t, const tbi_trimesh_edge *edge, double *length) {
  v3 from = tbi_trimesh_vertex(t, edge->vertex[0]);
  v3 to = tbi_trimesh_vertex(t, edge->vertex[1]);
  v3 along = v3_sub(to, from);
  *length = v3_norm(along);
  tbi_solid line = {.type = TABI_SHAPE_CAPSULE, .pos = v3_scale(0.5, v3_add(from, to))};
  line.half[2] = 0.5 * *length;
  line.axis[2] = *length > 0 ? v3_scale(1 / *length, along) : v3_make(0, 0, 1);
  line.axis[0] = tbi_perpendicular(line.axis[2]);
  line.axis[1] = v3_cross(line.axis[2], line.axis[0]);
  return line;
}

static bool edge_allows(const gathering *g, int32_t edge, const tbi_solid *line,
                        const tbi_pair_point *p) {
  v3 on_edge = v3_axpy(p->point, -0.5 * p->gap, p->normal);
  double at = 0.5 + 0.5 * v3_dot(line->axis[2], v3_sub(on_edge, line->pos)) / line->half[2];
  return tbi_trimesh_allows(g->t, edge, at, p->normal, g->radius > 0 ? SLACK_ROUND : SLACK);
}

static bool box_misses(const gathering *g, v3 a, v3 b) {
  return tbi_max(a.x, b.x) < g->low[0] || tbi_min(a.x, b.x) > g->high[0] ||
         tbi_max(a.y, b.y) < g->low[1] || tbi_min(a.y, b.y) > g->high[1] ||
         tbi_max(a.z, b.z) < g->low[2] || tbi_min(a.z, b.z) > g->high[2];
}

/* Points of a flat shape share their normal and stand or fall with the deepest; those of a round
 * one are looked at one by one. */
static void meet_edge(gathering *g, int32_t index) {
  const tbi_trimesh_edge *edge = &g->t->edge[index];
  if (edge->kind == TBI_EDGE_FLAT || edge->kind == TBI_EDGE_CONCAVE) return;
  if (box_misses(g, tbi_trimesh_vertex(g->t, edge->vertex[0]),
                 tbi_trimesh_vertex(g->t, edge->vertex[1])))
    return;
  double length;
  tbi_solid line = line_of(g->t, edge, &length);
  if (!(length > 0)) return;
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(&line, g->shape, g->margin, points);
  int32_t deepest = 0;
  for (int32_t i = 1; i < count; ++i) {
    if (points[i].gap < points[deepest].gap) deepest = i;
  }
  bool all = g->radius == 0 && count > 0 && edge_allows(g, index, &line, &points[deepest]);
  for (int32_t i = 0; i < count; ++i) {
    if (!all && !(g->radius > 0 && edge_allows(g, index, &line, &points[i]))) continue;
    candidate c = {points[i], 0, NO_CORNER, false};
    c.p.feature = tbi_loop((uint32_t)index, points[i].feature ^ 0x40000000u);
    add(g, &c);
  }
}

/* whether a face is level with the shape or only above it, where a height field is asked too */
static bool is_level(const gathering *g, const tbi_trimesh_face *f) {
  if (!g->below) return true;
  double lowest = INFINITY;
  for (int k = 0; k < 3; ++k)
    lowest = tbi_min(lowest, tbi_trimesh_vertex(g->t, f->vertex[k]).z);
  return lowest <= g->high[2];
}

static void meet(gathering *g, int32_t index) {
  const tbi_trimesh_face *f = &g->t->face[index];
  if (v3_dot(f->normal, f->normal) == 0) return;
  double height = v3_dot(f->normal, v3_sub(g->centre, tbi_trimesh_vertex(g->t, f->vertex[0])));
  if (!(height > 0)) g->behind = true;
  if (!is_level(g, f)) return;
  if (height > 0) meet_face(g, index);
  for (int k = 0; k < 3; ++k) {
    /* each edge once, with its first face, which is near if the edge is */
    if (g->t->edge[f->edge[k]].face[0] == index) meet_edge(g, f->edge[k]);
  }
}

static tbi_trimesh_walk begin(const gathering *g) {
  double high[3] = {g->high[0], g->high[1], g->high[2]};
  if (g->below) high[2] = INFINITY;
  return tbi_trimesh_begin(g->t, g->low, high);
}

/* whether a face of a height field is right above p */
static bool is_above(const tbi_trimesh *t, const tbi_trimesh_face *f, v3 p) {
  for (int k = 0; k < 3; ++k) {
    v3 from = v3_sub(tbi_trimesh_vertex(t, f->vertex[k]), p);
    v3 to = v3_sub(tbi_trimesh_vertex(t, f->vertex[(k + 1) % 3]), p);
    if (from.x * to.y - from.y * to.x < 0) return false;
  }
  return v3_dot(f->normal, v3_sub(p, tbi_trimesh_vertex(t, f->vertex[0]))) < 0;
}

/* Whether the centre is beyond a border of the ground, where there is no inside. */
static bool is_beside(const gathering *g, const tbi_trimesh_face *f) {
  for (int k = 0; k < 3; ++k) {
    if (g->t->edge[f->edge[k]].kind != TBI_EDGE_BORDER) continue;
    double length2;
    double beyond = beyond_edge(g->t, f, k, g->centre, &length2);
    if (beyond > 1e-9 * g->size * sqrt(length2)) return true;
  }
  return false;
}

/* The face by which the centre has to leave the ground, or TABI_NONE when it is not inside. */
static int32_t find_exit(const gathering *g) {
  const tbi_trimesh *t = g->t;
  int32_t best = TABI_NONE;
  double min = INFINITY;
  double steepest = 0;
  tbi_trimesh_walk walk = begin(g);
  for (int32_t i = tbi_trimesh_next(&walk); i != TABI_NONE; i = tbi_trimesh_next(&walk)) {
    const tbi_trimesh_face *f = &t->face[i];
    if (v3_dot(f->normal, f->normal) == 0) continue;
    if (g->below) {
      if (is_above(t, f, g->centre)) return i;
      continue;
    }
    v3 apart = v3_sub(g->centre, tbi_trimesh_nearest(t, i, g->centre));
    double distance = v3_norm(apart);
    double height = v3_dot(f->normal, apart);
    double noise = 1e-9 * g->size;
    /* faces that share the nearest point: the one that looks there most tells the side */
    bool nearer = distance < min - noise;
    if (!nearer && !(distance < min + noise && fabs(height) > fabs(steepest))) continue;
    min = tbi_min(min, distance);
    steepest = height;
    best = i;
  }
  if (g->below || best == TABI_NONE) return best;
  return steepest < 0 && !is_beside(g, &t->face[best]) ? best : TABI_NONE;
}

/* All of the shape is told to leave by the plane of one face. */
static void leave(gathering *g, int32_t face) {
  tbi_solid plane = plane_of(g, face);
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(&plane, g->shape, g->margin, points);
  TBI_ASSERT(count <= TBI_PAIR_ROOM);
  g->count = 0;
  for (int32_t i = 0; i < count; ++i) {
    candidate c = {points[i], points[i].gap, (int32_t)points[i].feature, false};
    g->item[g->count++] = c;
  }
}

/* Which way a normal looks most: 0 for up, so that a corner keeps its id from face to face. */
static uint32_t side_of(v3 normal) {
  double x = fabs(normal.x);
  double y = fabs(normal.y);
  if (normal.z >= 0.5 || (fabs(normal.z) >= x && fabs(normal.z) >= y))
    return normal.z > 0 ? 0u : 1u;
  if (x >= y) return normal.x > 0 ? 2 : 3;
  return normal.y > 0 ? 4 : 5;
}

static bool is_taken(const tbi_pair_point *out, int32_t count, uint32_t feature) {
  for (int32_t i = 0; i < count; ++i) {
    if (out[i].feature == feature) return true;
  }
  return false;
}

static uint32_t name_of(const candidate *c) {
  uint32_t name = c->p.feature;
  if (c->corner == NO_CORNER) return EDGE_FEATURE | ((name ^ name >> 16) & 0x7fff);
  name = 6 * (uint32_t)c->corner + side_of(c->p.normal);
  return (name ^ name >> 15) & 0x7fff;
}

int32_t tbi_shape_triangles(const tbi_solid *a, const tbi_solid *b, double margin,
                            tbi_pair_point *out) {
  TBI_ASSERT(b->ground && !a->ground);
  tbi_solid shape = in_axes_of(b, a);
  gathering g = {.t = b->ground, .shape = &shape, .margin = margin};
  g.centre = tbi_support_centre(&shape);
  g.radius = tbi_support_radius(&shape);
  g.below = b->type == TABI_SHAPE_HEIGHTFIELD;
  set_bounds(&g);
  tbi_trimesh_walk walk = begin(&g);
  for (int32_t i = tbi_trimesh_next(&walk); i != TABI_NONE; i = tbi_trimesh_next(&walk))
    meet(&g, i);
  int32_t exit = g.behind ? find_exit(&g) : TABI_NONE;
  if (exit != TABI_NONE) leave(&g, exit);

  for (int32_t i = 0; i < g.count; ++i) {
    const tbi_pair_point *p = &g.item[i].p;
    uint32_t feature = name_of(&g.item[i]);
    while (is_taken(out, i, feature))
      feature = (feature + 1) & 0xffff;
    out[i] = (tbi_pair_point){v3_add(b->pos, tbi_solid_world(b, p->point)),
                              v3_neg(tbi_solid_world(b, p->normal)), p->gap, feature};
  }
  return g.count;
}
