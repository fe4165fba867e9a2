/* solids.c - shapes in the world for the tests. */
#include "collision/solids.h"

#include "support/near.h"

tbi_solid solid_make(tabi_shape_type type, double x, double y, double z) {
  tbi_solid solid = {.type = type};
  switch (type) {
  case TABI_SHAPE_SPHERE:
    solid.half[0] = solid.half[1] = solid.half[2] = x;
    break;
  case TABI_SHAPE_CAPSULE:
  case TABI_SHAPE_CYLINDER:
    solid.half[0] = solid.half[1] = x;
    solid.half[2] = 0.5 * y;
    break;
  case TABI_SHAPE_ELLIPSOID:
    solid.half[0] = x;
    solid.half[1] = y;
    solid.half[2] = z;
    break;
  default:
    solid.half[0] = 0.5 * x;
    solid.half[1] = 0.5 * y;
    solid.half[2] = 0.5 * z;
  }
  return solid_at(solid, v3_zero(), q_identity());
}

tbi_solid solid_at(tbi_solid solid, v3 pos, q4 quat) {
  m3 rot = q_matrix(quat);
  for (int i = 0; i < 3; ++i)
    solid.axis[i] = m3_column(&rot, i);
  solid.pos = pos;
  return solid;
}

tbi_solid solid_moved(const tbi_solid *solid, const tbi_frame *motion) {
  tbi_solid moved = *solid;
  for (int i = 0; i < 3; ++i)
    moved.axis[i] = m3_mulv(&motion->rot, solid->axis[i]);
  moved.pos = v3_add(motion->pos, m3_mulv(&motion->rot, solid->pos));
  return moved;
}

q4 random_rotation(rng *r) {
  double q[4];
  rng_direction(r, q, 4);
  return q_load(q);
}

tbi_frame random_motion(rng *r, double size) {
  double pos[3];
  rng_fill(r, size, pos, 3);
  return (tbi_frame){q_matrix(random_rotation(r)), v3_load(pos)};
}

tbi_solid random_solid(rng *r, tabi_shape_type type, double room) {
  double size[3];
  double pos[3];
  for (int i = 0; i < 3; ++i)
    size[i] = rng_between(r, 0.05, 0.5);
  rng_fill(r, room, pos, 3);
  return solid_at(solid_make(type, size[0], size[1], size[2]), v3_load(pos), random_rotation(r));
}

double solid_support(const tbi_solid *solid, v3 way) {
  v3 local = tbi_solid_local(solid, way);
  double middle = v3_dot(solid->pos, way);
  double radius = solid->half[0];
  switch (solid->type) {
  case TABI_SHAPE_PLANE:
    return local.z > 1 - 1e-9 ? middle : (double)INFINITY;
  case TABI_SHAPE_SPHERE:
    return middle + radius;
  case TABI_SHAPE_CAPSULE:
    return middle + radius + solid->half[2] * fabs(local.z);
  case TABI_SHAPE_CYLINDER:
    return middle + radius * hypot(local.x, local.y) + solid->half[2] * fabs(local.z);
  case TABI_SHAPE_ELLIPSOID:
    return middle + v3_norm(v3_make(solid->half[0] * local.x, solid->half[1] * local.y,
                                    solid->half[2] * local.z));
  case TABI_SHAPE_MESH: {
    double max = -INFINITY;
    for (int32_t i = 0; i < solid->mesh->nvertex; ++i)
      max = fmax(max, v3_dot(local, v3_load(solid->mesh->vertices + 3 * (ptrdiff_t)i)));
    return middle + max;
  }
  default:
    return middle + solid->half[0] * fabs(local.x) + solid->half[1] * fabs(local.y) +
           solid->half[2] * fabs(local.z);
  }
}

double solid_gap_along(const tbi_solid *a, const tbi_solid *b, v3 normal) {
  return -solid_support(b, v3_neg(normal)) - solid_support(a, normal);
}

double box_distance(const tbi_solid *box, v3 p) {
  v3 local = tbi_solid_local(box, v3_sub(p, box->pos));
  return v3_norm((v3){fmax(fabs(local.x) - box->half[0], 0), fmax(fabs(local.y) - box->half[1], 0),
                      fmax(fabs(local.z) - box->half[2], 0)});
}

double core_distance(const tbi_solid *round, v3 p) {
  v3 local = tbi_solid_local(round, v3_sub(p, round->pos));
  double half = round->type == TABI_SHAPE_CAPSULE ? round->half[2] : 0;
  return v3_norm((v3){local.x, local.y, fmax(fabs(local.z) - half, 0)});
}

double segment_distance(v3 p, v3 q, const tbi_solid *body,
                        double (*distance)(const tbi_solid *, v3)) {
  const double golden = 0.6180339887498949;
  double low = 0;
  double high = 1;
  v3 along = v3_sub(q, p);
  for (int i = 0; i < 60; ++i) {
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    if (distance(body, v3_axpy(p, left, along)) < distance(body, v3_axpy(p, right, along))) {
      high = right;
    } else {
      low = left;
    }
  }
  double ends = fmin(distance(body, p), distance(body, q));
  return fmin(ends, distance(body, v3_axpy(p, 0.5 * (low + high), along)));
}

static v3 corner(const tbi_solid *box, int number) {
  v3 p = box->pos;
  for (int i = 0; i < 3; ++i)
    p = v3_axpy(p, number >> i & 1 ? box->half[i] : -box->half[i], box->axis[i]);
  return p;
}

/* from every edge of one to the other */
static double edges_distance(const tbi_solid *edges, const tbi_solid *box) {
  double min = INFINITY;
  for (int number = 0; number < 8; ++number) {
    for (int i = 0; i < 3; ++i) {
      if (number >> i & 1) continue;
      v3 p = corner(edges, number);
      v3 q = corner(edges, number | 1 << i);
      min = fmin(min, segment_distance(p, q, box, box_distance));
    }
  }
  return min;
}

double box_box_distance(const tbi_solid *a, const tbi_solid *b) {
  return fmin(edges_distance(a, b), edges_distance(b, a));
}

double box_box_separation(const tbi_solid *a, const tbi_solid *b) {
  double max = -INFINITY;
  for (int i = 0; i < 15; ++i) {
    v3 way = i < 3   ? a->axis[i]
             : i < 6 ? b->axis[i - 3]
                     : v3_cross(a->axis[(i - 6) / 3], b->axis[(i - 6) % 3]);
    double length = v3_norm(way);
    if (length < 1e-7) continue;
    way = v3_scale(1 / length, way);
    max = fmax(max, fmax(solid_gap_along(a, b, way), solid_gap_along(a, b, v3_neg(way))));
  }
  return max;
}

void check_manifold(const tbi_solid *a, const tbi_solid *b, double margin, const tbi_pair_point *p,
                    int32_t count) {
  assert_in_range(count, 0, TBI_PAIR_POINTS);
  for (int32_t i = 0; i < count; ++i) {
    assert_near(v3_norm(p[i].normal), 1, 1e-9);
    assert_true(p[i].gap <= margin);
    /* features are unique and in order */
    if (i > 0) assert_true(p[i].feature > p[i - 1].feature);
    if (p[i].gap < 0) {
      double gap = solid_gap_along(a, b, p[i].normal);
      if (p[i].gap < gap) assert_near(p[i].gap, gap, 1e-9);
    }
  }
}

double min_gap(const tbi_pair_point *p, int32_t count) {
  double min = INFINITY;
  for (int32_t i = 0; i < count; ++i)
    min = fmin(min, p[i].gap);
  return min;
}

void check_swap(const tbi_solid *a, const tbi_solid *b, double margin, double tolerance) {
  tbi_pair_point p[TBI_PAIR_ROOM];
  tbi_pair_point q[TBI_PAIR_ROOM];
  int32_t n = tbi_pair_collide(a, b, margin, p);
  int32_t m = tbi_pair_collide(b, a, margin, q);
  assert_int_equal(n > 0, m > 0);
  if (n == 0) return;
  double min = min_gap(p, n);
  assert_near(min, min_gap(q, m), tolerance * fmax(fabs(min), 0.01));
}

/* each point has a twin among the moved ones, with the same id */
void check_motion(const tbi_solid *a, const tbi_solid *b, double margin, const tbi_frame *motion) {
  tbi_pair_point p[TBI_PAIR_ROOM];
  tbi_pair_point q[TBI_PAIR_ROOM];
  tbi_solid a2 = solid_moved(a, motion);
  tbi_solid b2 = solid_moved(b, motion);
  int32_t n = tbi_pair_collide(a, b, margin, p);
  int32_t m = tbi_pair_collide(&a2, &b2, margin, q);
  assert_int_equal(n, m);
  for (int32_t i = 0; i < n; ++i) {
    assert_int_equal(p[i].feature, q[i].feature);
    assert_near(p[i].gap, q[i].gap, 1e-9);
    v3 point = v3_add(motion->pos, m3_mulv(&motion->rot, p[i].point));
    assert_near(v3_norm(v3_sub(point, q[i].point)), 0, 1e-7);
    assert_near(v3_norm(v3_sub(m3_mulv(&motion->rot, p[i].normal), q[i].normal)), 0, 1e-7);
  }
}

void check_ids(rng *r, const tbi_solid *a, const tbi_solid *b, double margin) {
  tbi_pair_point p[TBI_PAIR_ROOM];
  int32_t n = tbi_pair_collide(a, b, margin, p);
  for (int trial = 0; trial < 100; ++trial) {
    double shift[3];
    double turn[3];
    rng_fill(r, 1e-9, shift, 3);
    rng_fill(r, 1e-9, turn, 3);
    tbi_frame motion = {q_matrix(q_exp(v3_load(turn))), v3_load(shift)};
    tbi_solid moved = solid_moved(b, &motion);
    tbi_pair_point q[TBI_PAIR_ROOM];
    int32_t m = tbi_pair_collide(a, &moved, margin, q);
    assert_int_equal(n, m);
    for (int32_t i = 0; i < n; ++i)
      assert_int_equal(p[i].feature, q[i].feature);
  }
}
