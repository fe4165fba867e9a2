/* pair_box.c - box against box.
 *
 *   15 axes --separating axis--> farther apart than the margin: nothing
 *     a face is the best --------> the other box's facing side, clipped by the face's borders
 *     an edge of each is best ---> overlapping: one point between the edges
 *     apart, and neither says it - one point from the exact distance
 *     parallel edges meet -------> both ends of what they have in common, box_ridge.c
 *
 * Faces are preferred to edges whose normal is almost the face's: clipping finds the points where
 * the edges cross anyway, and more of them.  All biases are fixed, nothing depends on the past. */
#include "collision/two_boxes.h"

/* differences below this part of the smaller box's size decide nothing */
#define NOISE 1e-6
/* an edge is taken when its overlap is smaller than the face's by this part */
#define EDGE_BIAS 0.05
/* ... and when it points elsewhere than the face: cosine of the angle between them */
#define EDGE_APART 0.99
/* the face of the smaller box is taken when its overlap is smaller by this part */
#define FACE_BIAS 1e-3
/* points nearer to a corner or a line than this part of the side's width are taken for it */
#define SNAP 1e-2

/* squares of distances apart by more than that factor differ whatever their rounding */
#define SURELY (1 + 1e-9)

/* where on a face: corner of the other box, edge of it x border of the face, corner of the face */
enum { AT_CORNER = 0, AT_CROSSING = 8, AT_FACE_CORNER = 56 };

/* x, y and z of three vectors: so combined they give the dot products with one */
static m4 rows_of(v3 a, v3 b, v3 c) {
  return (m4){v4_make(a.x, b.x, c.x), v4_make(a.y, b.y, c.y), v4_make(a.z, b.z, c.z)};
}

static double largest(const double half[3]) { return tbi_max(tbi_max(half[0], half[1]), half[2]); }

/* into memory of the caller: it is too large to be passed about */
static void make_pair(const tbi_solid *a, const tbi_solid *b, tbi_two_boxes *p) {
  p->a = a;
  p->b = b;
  p->half_a = v4_from(v3_load(a->half));
  p->half_b = v4_from(v3_load(b->half));
  v3 apart = v3_sub(b->pos, a->pos);
  m4 rows_a = rows_of(a->axis[0], a->axis[1], a->axis[2]);
  m4 rows_b = rows_of(b->axis[0], b->axis[1], b->axis[2]);
  p->to_a = m4_mulv3(&rows_a, apart);
  p->to_b = m4_mulv3(&rows_b, apart);
  for (int i = 0; i < 3; ++i) {
    p->turn[i] = m4_mulv3(&rows_b, a->axis[i]);
    p->size[i] = v4_abs(p->turn[i]);
  }
  double size_a = largest(a->half);
  double size_b = largest(b->half);
  p->scale = tbi_min(size_a, size_b);
  p->b_larger = size_b > 1.01 * size_a;
}

/* half the width of the other box along the axes of one */
static v4 shadow(const tbi_two_boxes *p, bool on_b) {
  if (on_b) return m4_mulv3(&(m4){p->size[0], p->size[1], p->size[2]}, v3_load(p->a->half));
  m4 columns = rows_of(v4_to(p->size[0]), v4_to(p->size[1]), v4_to(p->size[2]));
  return m4_mulv3(&columns, v3_load(p->b->half));
}

/* the best face of one box; false when it parts them by more than the margin */
static bool best_face(tbi_two_boxes *p, bool of_b, double margin, tbi_box_direction *best) {
  const tbi_solid *box = of_b ? p->b : p->a;
  v4 to = of_b ? p->to_b : p->to_a;
  v4 gap = v4_sub(v4_sub(v4_abs(to), of_b ? p->half_b : p->half_a), shadow(p, of_b));
  *(of_b ? &p->gap_b : &p->gap_a) = gap;
  if (!v4_all_le(gap, v4_splat(margin))) return false;
  int i = v4_y(gap) > v4_x(gap) ? 1 : 0;
  best->gap = i == 1 ? v4_y(gap) : v4_x(gap);
  double along = i == 1 ? v4_y(to) : v4_x(to);
  if (v4_z(gap) > best->gap) {
    i = 2;
    best->gap = v4_z(gap);
    along = v4_z(to);
  }
  best->axis = of_b ? 3 + i : i;
  best->normal = v3_scale(along < 0 ? -1 : 1, box->axis[i]);
  return true;
}

/* Axis i of a with all of b: how far each cross product goes along the way to b, and the gap along
 * it, both times its length. */
typedef struct crossings {
  v4 along, gap;
} crossings;

static crossings cross_axis(const tbi_two_boxes *p, int i) {
  const double to[3] = {v4_x(p->to_a), v4_y(p->to_a), v4_z(p->to_a)};
  int i1 = (i + 1) % 3;
  int i2 = (i + 2) % 3;
  v4 along = v4_sub(v4_scale(to[i2], p->turn[i1]), v4_scale(to[i1], p->turn[i2]));
  v4 a = v4_axpy(v4_scale(p->a->half[i1], p->size[i2]), p->a->half[i2], p->size[i1]);
  v4 half = v4_rotated(p->half_b);
  v4 size = v4_rotated(p->size[i]);
  v4 b = v4_add(v4_mul(half, v4_rotated(size)), v4_mul(v4_rotated(half), size));
  return (crossings){along, v4_sub(v4_sub(v4_abs(along), a), b)};
}

/* The best edges of b with axis i of a; false as below. */
static bool best_edges_with(const tbi_two_boxes *p, int i, const crossings *c, double margin,
                            double limit, tbi_box_direction *best) {
  const tbi_solid *a = p->a;
  double along[4];
  double scaled[4];
  double turn1[4];
  double turn2[4];
  v4_save(c->along, along);
  v4_save(c->gap, scaled);
  v4_save(p->turn[(i + 1) % 3], turn1);
  v4_save(p->turn[(i + 2) % 3], turn2);
  for (int j = 0; j < 3; ++j) {
    /* the length is 1 at most, so an overlap only grows by division */
    if (scaled[j] <= limit) continue;
    double sine = sqrt(turn1[j] * turn1[j] + turn2[j] * turn2[j]);
    if (sine < NOISE) continue;
    double gap = scaled[j] / sine;
    if (!(gap <= margin)) return false;
    if (gap <= limit || gap <= best->gap) continue;
    best->gap = gap;
    best->axis = 6 + 3 * i + j;
    best->normal = v3_scale((along[j] < 0 ? -1 : 1) / sine, v3_cross(a->axis[i], p->b->axis[j]));
  }
  return true;
}

/* The best pair of edges that parts the boxes more than limit does, which is not above zero; false
 * when one parts them by more than the margin. */
static bool best_edges(const tbi_two_boxes *p, double margin, double limit,
                       tbi_box_direction *best) {
  *best = (tbi_box_direction){.gap = -INFINITY, .axis = 6};
  for (int i = 0; i < 3; ++i) {
    crossings c = cross_axis(p, i);
    if (v4_all_le(c.gap, v4_make(limit, limit, limit))) continue;
    if (!best_edges_with(p, i, &c, margin, limit, best)) return false;
  }
  return true;
}

static int32_t put_edges(const tbi_two_boxes *p, const tbi_box_direction *d, tbi_pair_point *out) {
  int i = (d->axis - 6) / 3;
  int j = (d->axis - 6) % 3;
  unsigned corner_a = tbi_box_farthest(p->a, d->normal);
  unsigned corner_b = tbi_box_farthest(p->b, v3_neg(d->normal));
  tbi_segment a = tbi_box_edge_through(p->a, i, corner_a);
  tbi_segment b = tbi_box_edge_through(p->b, j, corner_b);
  double t[2];
  tbi_nearest_segments(&a, &b, t);
  v3 middle = v3_add(tbi_segment_at(&a, t[0]), tbi_segment_at(&b, t[1]));
  *out = (tbi_pair_point){v3_scale(0.5, middle), d->normal, d->gap,
                          TBI_BOX_EDGES + 12 * tbi_box_edge((unsigned)i, corner_a) +
                              tbi_box_edge((unsigned)j, corner_b)};
  return 1;
}

/* A corner of the polygon that is clipped, with the edge that leaves it. */
typedef struct vertex {
  double x, y, z; /* in the plane of the face, and above it */
  unsigned place; /* AT_... */
  unsigned edge;  /* edge of the other box, or 12 + the border that cut it off */
} vertex;

typedef struct polygon {
  int32_t count;
  vertex at[12]; /* four and one for each border at most */
} polygon;

/* The reference face: its box and outward normal. */
typedef struct face {
  const tbi_solid *box, *other;
  int axis; /* of the box; x and y of the face are the next two */
  double sign;
} face;

static face face_of(const tbi_two_boxes *p, const tbi_box_direction *d) {
  bool of_b = d->axis >= 3;
  face f = {of_b ? p->b : p->a, of_b ? p->a : p->b, d->axis % 3, 0};
  double along = v3_dot(f.box->axis[f.axis], d->normal);
  f.sign = (along < 0) != of_b ? -1 : 1;
  return f;
}

/* The side of the other box that looks at the face, as a polygon in the face's axes. */
static void facing_side(const face *f, polygon *poly) {
  v3 outward = v3_scale(f->sign, f->box->axis[f->axis]);
  unsigned side = 0;
  double max = -1;
  double signs[3];
  for (unsigned i = 0; i < 3; ++i) {
    signs[i] = -v3_dot(f->other->axis[i], outward);
    /* of two sides that look equally at it the first is taken, whatever the noise says */
    if (fabs(signs[i]) > max + NOISE) {
      max = fabs(signs[i]);
      side = i;
    }
  }
  unsigned i1 = (side + 1) % 3;
  unsigned i2 = (side + 2) % 3;
  unsigned base = signs[side] >= 0 ? 1u << side : 0;
  unsigned around[4] = {base, base | 1u << i1, base | 1u << i1 | 1u << i2, base | 1u << i2};
  m4 rows = rows_of(f->box->axis[(f->axis + 1) % 3], f->box->axis[(f->axis + 2) % 3], outward);
  v4 half[3];
  for (int i = 0; i < 3; ++i)
    half[i] = v4_scale(f->other->half[i], v4_from(f->other->axis[i]));
  poly->count = 4;
  for (int k = 0; k < 4; ++k) {
    v4 p = v4_from(f->other->pos);
    for (int i = 0; i < 3; ++i)
      p = v4_axpy(p, around[k] >> i & 1 ? 1 : -1, half[i]);
    p = m4_mulv(&rows, v4_sub(p, v4_from(f->box->pos)));
    poly->at[k] = (vertex){v4_x(p), v4_y(p), v4_z(p) - f->box->half[f->axis], AT_CORNER + around[k],
                           tbi_box_edge(k & 1 ? i2 : i1, around[k])};
  }
}

/* where an edge of the polygon crosses a border */
static vertex crossing(const vertex *from, const vertex *to, double t, unsigned border) {
  vertex v = {from->x + t * (to->x - from->x), from->y + t * (to->y - from->y),
              from->z + t * (to->z - from->z), AT_CROSSING + 4 * from->edge + border, from->edge};
  /* two borders meet in a corner of the face; borders 0 and 1 are the sides in x, 2 and 3 in y */
  if (from->edge >= 12) v.place = AT_FACE_CORNER + (from->edge - 12) + 2 * (border - 2);
  return v;
}

/* What is on the inner side of a border, sign * (x or y) <= limit.  False when that is all: then it
 * is not written. */
static bool clip(const polygon *from, polygon *to, unsigned border, double limit) {
  double sign = border & 1 ? -1 : 1;
  double over[12];
  bool inside = true;
  for (int32_t k = 0; k < from->count; ++k) {
    over[k] = sign * (border < 2 ? from->at[k].x : from->at[k].y) - limit;
    inside = inside && over[k] <= 0;
  }
  if (inside) return false;

  to->count = 0;
  for (int32_t k = 0; k < from->count; ++k) {
    int32_t next = k + 1 == from->count ? 0 : k + 1;
    if (over[k] <= 0) to->at[to->count++] = from->at[k];
    if ((over[k] <= 0) == (over[next] <= 0)) continue;
    double t = over[k] / (over[k] - over[next]);
    vertex cut = crossing(&from->at[k], &from->at[next], t, border);
    /* on the way out, the border itself is what follows */
    if (over[k] <= 0) cut.edge = 12 + border;
    to->at[to->count++] = cut;
  }
  return true;
}

/* What is left of a corner that was cut off by less than `near` gets its id, and only the deepest
 * such point stays. */
static void snap_to_corners(polygon *poly, const polygon *side, double near) {
  int32_t count = 0;
  for (int32_t i = 0; i < poly->count; ++i) {
    vertex v = poly->at[i];
    for (int k = 0; k < 4 && v.place >= AT_CROSSING; ++k) {
      const vertex *corner = &side->at[k];
      bool beside = fabs(v.x - corner->x) < near && fabs(v.y - corner->y) < near;
      if (beside && fabs(v.z - corner->z) < near) v.place = corner->place;
    }
    int32_t same = 0;
    while (same < count && poly->at[same].place != v.place)
      ++same;
    if (same == count) {
      poly->at[count++] = v;
    } else if (v.z < poly->at[same].z) {
      poly->at[same] = v;
    }
  }
  poly->count = count;
}

/* Whether a point is so near to the line between two others that it adds nothing to them. */
static bool is_between(const vertex *v, const vertex *p, const vertex *q, double near) {
  double x = q->x - p->x;
  double y = q->y - p->y;
  double area = x * (v->y - p->y) - y * (v->x - p->x);
  return area * area < near * near * (x * x + y * y) && v->z > fmin(p->z, q->z) - SNAP * near;
}

/* Leaves out crossings of edges with borders that are almost parallel. */
static void drop_between(polygon *poly, double near) {
  for (int32_t i = 0; i < poly->count && poly->count > 2; ++i) {
    const vertex *before = &poly->at[i == 0 ? poly->count - 1 : i - 1];
    const vertex *after = &poly->at[i + 1 == poly->count ? 0 : i + 1];
    const vertex *v = &poly->at[i];
    if (v->place < AT_CROSSING || !is_between(v, before, after, near)) continue;
    for (int32_t k = i; k + 1 < poly->count; ++k)
      poly->at[k] = poly->at[k + 1];
    --poly->count;
    --i;
  }
}

/* without hypot, whose last bit is the library's own */
static double length_of(double x, double y) { return sqrt(x * x + y * y); }

/* Boxes that lie almost border on border are cut beside their corners and across their edges; at
 * rest they shall have the same four points, whichever way the borders miss each other. */
static void simplify(polygon *poly, const polygon *side) {
  const vertex *at = side->at;
  double width = length_of(at[1].x - at[0].x, at[1].y - at[0].y);
  double depth = length_of(at[2].x - at[1].x, at[2].y - at[1].y);
  double near = SNAP * 0.5 * fmin(width, depth);
  snap_to_corners(poly, side, near);
  drop_between(poly, near);
}

/* Points of the other box's side above the face; the least gap of all of them into *min. */
static int32_t put_face(const tbi_two_boxes *p, const tbi_box_direction *d, double margin,
                        tbi_pair_point *out, double *min) {
  face f = face_of(p, d);
  polygon side;
  polygon cut[2]; /* the last in turn */
  polygon *poly = &side;
  facing_side(&f, &side);
  int x = (f.axis + 1) % 3;
  int y = (f.axis + 2) % 3;
  double slack = NOISE * p->scale;
  for (unsigned border = 0; border < 4 && poly->count > 0; ++border) {
    polygon *rest = poly == &cut[0] ? &cut[1] : &cut[0];
    if (clip(poly, rest, border, f.box->half[border < 2 ? x : y] + slack)) poly = rest;
  }
  if (poly != &side) simplify(poly, &side);

  int32_t count = 0;
  *min = INFINITY;
  for (int32_t k = 0; k < poly->count; ++k) {
    const vertex *v = &poly->at[k];
    if (v->z < *min) *min = v->z;
    if (!(v->z <= margin)) continue;
    double height = f.sign * (f.box->half[f.axis] + 0.5 * v->z);
    v3 point = v3_axpy(f.box->pos, height, f.box->axis[f.axis]);
    point = v3_axpy(v3_axpy(point, v->x, f.box->axis[x]), v->y, f.box->axis[y]);
    out[count++] =
        (tbi_pair_point){point, d->normal, v->z,
                         TBI_BOX_FACE + ((unsigned)d->axis * 2 + (f.sign > 0)) * 64 + v->place};
  }
  return count;
}

/* Looks for a point nearer to a box than *min, along an edge of another; from is the nearest
 * point on the box, to on the edge.  No point of the edge is nearer than its middle by more than
 * half of it. */
static void nearest_on_edge(const tbi_solid *box, const tbi_segment *edge, double *min, v3 *from,
                            v3 *to) {
  tbi_segment local = {tbi_solid_local(box, v3_sub(edge->middle, box->pos)),
                       tbi_solid_local(box, edge->along), edge->half};
  double reach = *min + local.half;
  v3 off = tbi_box_excess(box->half, local.middle);
  if (v3_dot(off, off) > SURELY * reach * reach) return;
  v3 p = tbi_segment_at(&local, tbi_nearest_to_box(&local, box->half));
  v3 excess = tbi_box_excess(box->half, p);
  double distance = v3_norm(excess);
  if (!(distance < *min)) return;
  *min = distance;
  *to = v3_add(box->pos, tbi_solid_world(box, p));
  *from = v3_add(box->pos, tbi_solid_world(box, v3_sub(p, excess)));
}

/* The exact distance of boxes that are apart: some edge of b is nearest to a, or some corner of a,
 * which is on an edge of a, to b. */
static int32_t put_nearest(const tbi_two_boxes *p, double margin, tbi_pair_point *out) {
  static const unsigned start[3][4] = {
      {0, 2, 4, 6},
      {0, 1, 4, 5},
      {0, 1, 2, 3},
  };
  double min = SURELY * margin; /* nothing farther counts */
  v3 on_a = v3_zero();
  v3 on_b = v3_zero();
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) {
      tbi_segment edge = tbi_box_edge_through(p->b, i, start[i][k]);
      nearest_on_edge(p->a, &edge, &min, &on_a, &on_b);
    }
  }
  for (int k = 0; k < 4; ++k) {
    tbi_segment edge = tbi_box_edge_through(p->a, 0, start[0][k]);
    nearest_on_edge(p->b, &edge, &min, &on_b, &on_a);
  }
  if (!(min <= margin) || min < TBI_COINCIDENT) return 0;
  v3 apart = v3_sub(on_b, on_a);
  *out = (tbi_pair_point){v3_scale(0.5, v3_add(on_a, on_b)), v3_scale(1 / v3_norm(apart), apart),
                          min, TBI_BOX_NEAREST};
  return 1;
}

/* Overlapping boxes whose clipped side tells nothing of it: the overlap is beside that side, where
 * only edges meet. */
static int32_t put_beside(const tbi_two_boxes *p, double margin, int32_t count,
                          tbi_pair_point *out) {
  tbi_box_direction edges;
  if (!best_edges(p, margin, -INFINITY, &edges) || isinf(edges.gap)) return count;
  return put_edges(p, &edges, out);
}

int32_t tbi_box_box(const tbi_solid *a, const tbi_solid *b, double margin, tbi_pair_point *out) {
  tbi_two_boxes p;
  make_pair(a, b, &p);
  tbi_box_direction face_a;
  tbi_box_direction face_b;
  tbi_box_direction edges;
  if (!best_face(&p, false, margin, &face_a)) return 0;
  if (!best_face(&p, true, margin, &face_b)) return 0;
  double noise = NOISE * p.scale;
  /* the face of the larger box, if there is not much in it */
  double bias = FACE_BIAS * fabs(face_a.gap) + noise;
  bool by_b = face_b.gap > face_a.gap + (p.b_larger ? -bias : bias);
  const tbi_box_direction *best = by_b ? &face_b : &face_a;
  double limit = best->gap + EDGE_BIAS * fabs(best->gap) + noise;
  if (!best_edges(&p, margin, limit < 0 ? limit : 0, &edges)) return 0;

  bool by_edges = edges.gap > limit && v3_dot(edges.normal, best->normal) < EDGE_APART;
  double apart = fmax(edges.gap, fmax(face_a.gap, face_b.gap));
  int32_t parallel = tbi_box_ridge(&p, best, by_edges ? edges.axis : -1, apart, margin, out);
  if (parallel >= 0) return parallel;
  if (by_edges && apart <= 0) return put_edges(&p, &edges, out);
  double min = INFINITY;
  int32_t count = by_edges ? 0 : put_face(&p, best, margin, out, &min);
  if (apart <= 0) {
    bool told = count > 0 && min <= noise;
    return told ? count : put_beside(&p, margin, count, out);
  }

  /* apart: the face's points are good when they are about as near as the boxes can be */
  if (min <= apart + EDGE_BIAS * apart + noise) return count;
  tbi_pair_point nearest;
  if (put_nearest(&p, margin, &nearest) == 0) return count;
  if (count > 0 && min <= nearest.gap + EDGE_BIAS * nearest.gap + noise) return count;
  out[0] = nearest;
  return 1;
}
