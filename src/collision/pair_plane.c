/* pair_plane.c - every shape on a plane.  The plane is a, its normal is a's z axis.
 *
 * Only points that can be lowest are looked at: the ends of a capsule, corners of a box, points on
 * the rims of a cylinder, vertices of a mesh, the lowest point of an ellipsoid.  A point's gap is
 * its height. */
#include "collision/collision.h"
#include "collision/support.h"

/* below this tilt the rim's lowest point is not told from the fixed ones */
#define FLAT_TILT 1e-6
/* above this tilt a cylinder does not rest on its face, so that the fixed points are not needed */
#define STEEP_TILT 0.02

/* p on the surface of b at a height of gap */
static void put(tbi_pair_point *out, const tbi_solid *plane, v3 p, double gap, uint32_t feature) {
  v3 normal = plane->axis[2];
  *out = (tbi_pair_point){v3_axpy(p, -0.5 * gap, normal), normal, gap, feature};
}

static double height(const tbi_solid *plane, v3 p) {
  return v3_dot(plane->axis[2], v3_sub(p, plane->pos));
}

int32_t tbi_plane_sphere(const tbi_solid *a, const tbi_solid *b, double margin,
                         tbi_pair_point *out) {
  double radius = b->half[0];
  double gap = height(a, b->pos) - radius;
  if (!(gap <= margin)) return 0;
  put(out, a, v3_axpy(b->pos, -radius, a->axis[2]), gap, 0);
  return 1;
}

int32_t tbi_plane_ellipsoid(const tbi_solid *a, const tbi_solid *b, double margin,
                            tbi_pair_point *out) {
  v3 lowest = tbi_support(b, v3_neg(a->axis[2]));
  double gap = height(a, lowest);
  if (!(gap <= margin)) return 0;
  put(out, a, lowest, gap, 0);
  return 1;
}

int32_t tbi_plane_capsule(const tbi_solid *a, const tbi_solid *b, double margin,
                          tbi_pair_point *out) {
  int32_t count = 0;
  double radius = b->half[0];
  for (uint32_t end = 0; end < 2; ++end) {
    v3 centre = v3_axpy(b->pos, end == 0 ? -b->half[2] : b->half[2], b->axis[2]);
    double gap = height(a, centre) - radius;
    if (gap <= margin) put(&out[count++], a, v3_axpy(centre, -radius, a->axis[2]), gap, end);
  }
  return count;
}

int32_t tbi_plane_box(const tbi_solid *a, const tbi_solid *b, double margin, tbi_pair_point *out) {
  v3 edge[3];
  double rise[3];
  for (int i = 0; i < 3; ++i) {
    edge[i] = v3_scale(b->half[i], b->axis[i]);
    rise[i] = v3_dot(a->axis[2], edge[i]);
  }
  double middle = height(a, b->pos);
  if (!(middle - fabs(rise[0]) - fabs(rise[1]) - fabs(rise[2]) <= margin)) return 0;

  /* bit i of a corner's number: on the positive side of axis i */
  int32_t count = 0;
  for (uint32_t corner = 0; corner < 8; ++corner) {
    double x = corner & 1 ? 1 : -1;
    double y = corner & 2 ? 1 : -1;
    double z = corner & 4 ? 1 : -1;
    double gap = middle + x * rise[0] + y * rise[1] + z * rise[2];
    if (!(gap <= margin)) continue;
    v3 p = v3_axpy(v3_axpy(v3_axpy(b->pos, x, edge[0]), y, edge[1]), z, edge[2]);
    put(&out[count++], a, p, gap, corner);
  }
  return count;
}

/* one of eight directions from the axis to a rim: along the axes, then between them */
static v3 rim_direction(const tbi_solid *b, uint32_t i) {
  if (i < 4) return v3_scale(i & 1 ? -1 : 1, b->axis[i >> 1]);
  v3 x = v3_scale(i & 1 ? -M_SQRT1_2 : M_SQRT1_2, b->axis[0]);
  return v3_axpy(x, i & 2 ? -M_SQRT1_2 : M_SQRT1_2, b->axis[1]);
}

/* Eight points of the lower rim at fixed angles, but not the one that is its lowest.  They bear the
 * body within 0.92 of its radius, so that loads seldom reach beyond them to the lowest point, which
 * moves on the rim. */
static int32_t put_fixed(const tbi_solid *a, const tbi_solid *b, double margin, v3 lowest,
                         tbi_pair_point *out) {
  bool up = v3_dot(a->axis[2], b->axis[2]) > 0;
  v3 centre = v3_axpy(b->pos, up ? -b->half[2] : b->half[2], b->axis[2]);
  int32_t count = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    v3 outward = rim_direction(b, i);
    if (v3_dot(outward, lowest) > 0.999) continue;
    v3 p = v3_axpy(centre, b->half[0], outward);
    double gap = height(a, p);
    if (gap <= margin) put(&out[count++], a, p, gap, 2 + (up ? 0u : 8u) + i);
  }
  return count;
}

int32_t tbi_plane_cylinder(const tbi_solid *a, const tbi_solid *b, double margin,
                           tbi_pair_point *out) {
  /* the direction from the axis to the lowest point of a rim, and the sine of the tilt */
  v3 lean = v3_axpy(v3_neg(a->axis[2]), v3_dot(a->axis[2], b->axis[2]), b->axis[2]);
  double tilt = v3_norm(lean);
  v3 lowest = tilt > FLAT_TILT ? v3_scale(1 / tilt, lean) : v3_zero();
  int32_t count = 0;
  if (tilt > FLAT_TILT) {
    for (uint32_t end = 0; end < 2; ++end) {
      v3 centre = v3_axpy(b->pos, end == 0 ? -b->half[2] : b->half[2], b->axis[2]);
      v3 p = v3_axpy(centre, b->half[0], lowest);
      double gap = height(a, p);
      if (gap <= margin) put(&out[count++], a, p, gap, end);
    }
  }
  if (tilt < STEEP_TILT) count += put_fixed(a, b, margin, lowest, out + count);
  return count;
}

int32_t tbi_plane_mesh(const tbi_solid *a, const tbi_solid *b, double margin, tbi_pair_point *out) {
  v3 normal = tbi_solid_local(b, a->axis[2]);
  double middle = height(a, b->pos);
  int32_t count = 0;
  for (int32_t i = 0; i < b->mesh->nvertex; ++i) {
    v3 vertex = v3_load(b->mesh->vertices + 3 * (size_t)i);
    double gap = middle + v3_dot(normal, vertex);
    if (!(gap <= margin)) continue;
    if (count == TBI_PAIR_ROOM) count = tbi_manifold_reduce(out, count, TBI_PAIR_POINTS);
    put(&out[count++], a, v3_add(b->pos, tbi_solid_world(b, vertex)), gap, (uint32_t)i);
  }
  return tbi_manifold_reduce(out, count, TBI_PAIR_POINTS);
}
