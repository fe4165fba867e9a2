/* box_ridge.c - parallel edges of two boxes.
 *
 * Where an edge meets a parallel one, a whole fan of directions parts the boxes, from the normal of
 * one face to that of another.  The separating-axis test takes one end of it by rounding or order;
 * the contact normal has to be the middle, for all else would prefer one of the boxes.
 *
 * So the edges meet as if they were rounded off a little: halfway between both faces when they
 * touch, turning steadily into a face's normal as one slides onto the other, along the shortest
 * line when they are apart; with a point at both ends of what they have in common.  Gaps are those
 * of the sharp edges. */
#include "collision/two_boxes.h"

/* sine of the angle up to which edges count as parallel, and faces as one */
#define PARALLEL 0.02
/* parallel edges meet as if they were rounded off by this part of the thinner side's half width, */
#define ROUNDED 1e-2
/* unless they overlap by more than so many of these radii */
#define SHALLOW 10
/* or lie aside of each other, from end to end, by more than this part of what is between them */
#define CROSSING 0.5

/* Two edges side by side, axis i of a and axis j of b, and the faces between whose normals that of
 * the contact lies: the best face and the one next to it around the edges. */
typedef struct ridge {
  int i, j;
  v3 best, next;
  double best_gap, next_gap; /* along these */
  double round;              /* m, radius of the edges as they meet */
} ridge;

static double lane(v4 a, int i) {
  double all[4];
  v4_save(a, all);
  return all[i];
}

static bool are_parallel(const tbi_two_boxes *p, int i, int j) {
  return lane(p->size[i], j) > 1 - 0.5 * PARALLEL * PARALLEL;
}

/* An axis of either box, towards b, as the face next to the best. */
static void try_next(ridge *r, const tbi_solid *box, int axis, v4 to, v4 gap) {
  v3 normal = v3_scale(lane(to, axis) < 0 ? -1 : 1, box->axis[axis]);
  double cosine = v3_dot(normal, r->best);
  if (cosine > 1 - 0.5 * PARALLEL * PARALLEL || cosine < -PARALLEL) return;
  if (!(lane(gap, axis) > r->next_gap)) return;
  r->next = normal;
  r->next_gap = lane(gap, axis);
}

static double thinnest(const tbi_solid *box, int edge) {
  return tbi_min(box->half[(edge + 1) % 3], box->half[(edge + 2) % 3]);
}

/* m, as which the edges are round at the gap of the better face: it grows with their overlap, and
 * soon ends where they are apart, for then the nearest points tell. */
static double radius_at(const ridge *r, double gap) {
  return gap < 0 ? r->round - 2 * gap : tbi_max(r->round - 100 * gap, 0);
}

/* Whether the best face ends near where b's edge is above it.  In the plane across the edges, from
 * a's to b's, d = (best_gap, t) along the best normal and square to it. */
static bool is_near_end(const ridge *r) {
  double cosine = v3_dot(r->best, r->next);
  double sine = sqrt(tbi_max(1 - cosine * cosine, 0));
  double t = (r->next_gap - r->best_gap * cosine) / sine;
  double gap = tbi_max(r->best_gap, r->next_gap);
  if (-gap > SHALLOW * r->round) return false;
  return t + radius_at(r, gap) * sine / (1 + cosine) > 0;
}

/* Axis i of a and axis j of b with the face next to the best around them, if there is one. */
static ridge make_ridge(const tbi_two_boxes *p, const tbi_box_direction *best, int i, int j) {
  ridge r = {i, j, best->normal, v3_zero(), best->gap, -INFINITY, 0};
  for (int k = 1; k < 3; ++k) {
    try_next(&r, p->a, (i + k) % 3, p->to_a, p->gap_a);
    try_next(&r, p->b, (j + k) % 3, p->to_b, p->gap_b);
  }
  r.round = ROUNDED * tbi_min(thinnest(p->a, i), thinnest(p->b, j));
  return r;
}

/* The parallel edges that the best face ends at; false if there are none. */
static bool find_ridge(const tbi_two_boxes *p, const tbi_box_direction *best, ridge *found) {
  bool of_b = best->axis >= 3;
  int k = best->axis % 3;
  *found = (ridge){.next_gap = -INFINITY};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (k == (of_b ? j : i) || !are_parallel(p, i, j)) continue;
      ridge r = make_ridge(p, best, i, j);
      if (r.next_gap > found->next_gap && is_near_end(&r)) *found = r;
    }
  }
  return !isinf(found->next_gap);
}

/* From edge a to edge b at both ends of what they have in common; false if that is nothing. */
static bool span_edges(const tbi_segment *a, const tbi_segment *b, v3 on_a[2], v3 on_b[2]) {
  double turned = v3_dot(a->along, b->along) < 0 ? -1 : 1;
  v3 sum = v3_axpy(a->along, turned, b->along);
  v3 along = v3_scale(1 / v3_norm(sum), sum);
  double step_a = v3_dot(along, a->along);
  double step_b = v3_dot(along, b->along);
  double from_b = v3_dot(along, v3_sub(b->middle, a->middle)); /* a's middle is at 0 */
  double low = tbi_max(-a->half * step_a, from_b - b->half * fabs(step_b));
  double high = tbi_min(a->half * step_a, from_b + b->half * fabs(step_b));
  if (!(low < high)) return false;
  for (int k = 0; k < 2; ++k) {
    double at = k == 0 ? low : high;
    on_a[k] = tbi_segment_at(a, at / step_a);
    on_b[k] = tbi_segment_at(b, (at - from_b) / step_b);
  }
  return true;
}

/* The vector nearest to zero of those from start to start + step. */
static v3 nearest_way(v3 start, v3 step) {
  double square = v3_dot(step, step);
  double at = square > 0 ? -v3_dot(start, step) / square : 0;
  return v3_axpy(start, tbi_min(tbi_max(at, 0), 1), step);
}

/* Whether a direction is between the normals of both faces. */
static bool is_between_faces(const ridge *r, v3 way) {
  double cosine = v3_dot(r->best, r->next);
  double to_best = v3_dot(way, r->best);
  double to_next = v3_dot(way, r->next);
  return to_next > cosine * to_best && to_best > cosine * to_next;
}

/* The normal of edges that are d[0] and d[1] apart at their ends, b's from a's, as if they were
 * round: from middle to middle of the arcs where these are nearest, which is halfway between both
 * faces when the edges meet and the direction of d when they are apart.  Neither depends on the
 * order of the boxes.  False where one of the faces takes over, or where the edges cross. */
static bool round_normal(const ridge *r, const v3 d[2], v3 *normal) {
  double radius = radius_at(r, tbi_max(r->best_gap, r->next_gap));
  v3 round = v3_scale(radius / (1 + v3_dot(r->best, r->next)), v3_add(r->best, r->next));
  v3 step = v3_sub(d[1], d[0]);
  v3 way = nearest_way(v3_add(d[0], round), step);
  double length = v3_norm(way);
  if (!(length > TBI_COINCIDENT && is_between_faces(r, way))) return false;
  *normal = v3_scale(1 / length, way);
  v3 aside = v3_axpy(step, -v3_dot(step, *normal), *normal);
  return v3_dot(aside, aside) < CROSSING * CROSSING * length * length;
}

/* The gap below which no point is: the distance of edges that are apart, else the least way by
 * which the boxes can be parted, which is shorter than along the normal of round edges. */
static double least_gap(const ridge *r, const v3 d[2], double apart) {
  v3 way = nearest_way(d[0], v3_sub(d[1], d[0]));
  return apart > 0 && is_between_faces(r, way) ? v3_norm(way) : apart;
}

/* Parallel edges that meet or are nearest: -1 if there are none. */
static int32_t put_parallel(const tbi_two_boxes *p, const ridge *r, double apart, double margin,
                            tbi_pair_point *out) {
  v3 middle = v3_add(r->best, r->next);
  unsigned corner_a = tbi_box_farthest(p->a, middle);
  unsigned corner_b = tbi_box_farthest(p->b, v3_neg(middle));
  tbi_segment a = tbi_box_edge_through(p->a, r->i, corner_a);
  tbi_segment b = tbi_box_edge_through(p->b, r->j, corner_b);
  v3 on_a[2];
  v3 on_b[2];
  v3 normal;
  if (!span_edges(&a, &b, on_a, on_b)) return -1;
  const v3 d[2] = {v3_sub(on_b[0], on_a[0]), v3_sub(on_b[1], on_a[1])};
  if (!round_normal(r, d, &normal)) return -1;
  double least = least_gap(r, d, apart);
  unsigned feature = TBI_BOX_PARALLEL + 2 * (12 * tbi_box_edge((unsigned)r->i, corner_a) +
                                             tbi_box_edge((unsigned)r->j, corner_b));
  int32_t count = 0;
  for (unsigned k = 0; k < 2; ++k) {
    double gap = tbi_max(v3_dot(normal, d[k]), least);
    if (!(gap <= margin)) continue;
    v3 point = v3_scale(0.5, v3_add(on_a[k], on_b[k]));
    out[count++] = (tbi_pair_point){point, normal, gap, feature + k};
  }
  return count;
}

int32_t tbi_box_ridge(const tbi_two_boxes *p, const tbi_box_direction *best, int crossing,
                      double apart, double margin, tbi_pair_point *out) {
  ridge r;
  if (!find_ridge(p, best, &r)) return -1;
  if (crossing >= 0 && crossing != 6 + 3 * r.i + r.j) return -1;
  return put_parallel(p, &r, apart, margin, out);
}
