/* pair_table.c - shape type x shape type -> function. */
#include "collision/pair_table.h"

#include "base/assertion.h"
#include "collision/collision.h"

static void turn_normals(tbi_pair_point *points, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    points[i].normal = v3_neg(points[i].normal);
}

/* the one shape whose type comes after the ground's */
static int32_t triangles_ellipsoid(const tbi_solid *a, const tbi_solid *b, double margin,
                                   tbi_pair_point *out) {
  int32_t count = tbi_shape_triangles(b, a, margin, out);
  turn_normals(out, count);
  return count;
}

static tbi_pair_fn *const pair_table[TABI_SHAPE_COUNT][TABI_SHAPE_COUNT] = {
    [TABI_SHAPE_PLANE] = {[TABI_SHAPE_SPHERE] = tbi_plane_sphere,
                          [TABI_SHAPE_CAPSULE] = tbi_plane_capsule,
                          [TABI_SHAPE_CYLINDER] = tbi_plane_cylinder,
                          [TABI_SHAPE_BOX] = tbi_plane_box,
                          [TABI_SHAPE_MESH] = tbi_plane_mesh,
                          [TABI_SHAPE_ELLIPSOID] = tbi_plane_ellipsoid},
    [TABI_SHAPE_SPHERE] = {[TABI_SHAPE_SPHERE] = tbi_sphere_sphere,
                          [TABI_SHAPE_CAPSULE] = tbi_sphere_capsule,
                          [TABI_SHAPE_CYLINDER] = tbi_convex_convex,
                          [TABI_SHAPE_BOX] = tbi_sphere_box,
                          [TABI_SHAPE_MESH] = tbi_convex_convex,
                          [TABI_SHAPE_TRIANGLES] = tbi_shape_triangles,
                          [TABI_SHAPE_HEIGHTFIELD] = tbi_shape_triangles,
                          [TABI_SHAPE_ELLIPSOID] = tbi_convex_convex},
    [TABI_SHAPE_CAPSULE] = {[TABI_SHAPE_CAPSULE] = tbi_capsule_capsule,
                          [TABI_SHAPE_CYLINDER] = tbi_convex_convex,
                          [TABI_SHAPE_BOX] = tbi_capsule_box,
                          [TABI_SHAPE_MESH] = tbi_convex_convex,
                          [TABI_SHAPE_TRIANGLES] = tbi_shape_triangles,
                          [TABI_SHAPE_HEIGHTFIELD] = tbi_shape_triangles,
                          [TABI_SHAPE_ELLIPSOID] = tbi_convex_convex},
    [TABI_SHAPE_CYLINDER] = {[TABI_SHAPE_CYLINDER] = tbi_convex_convex,
                          [TABI_SHAPE_BOX] = tbi_convex_convex,
                          [TABI_SHAPE_MESH] = tbi_convex_convex,
                          [TABI_SHAPE_TRIANGLES] = tbi_shape_triangles,
                          [TABI_SHAPE_HEIGHTFIELD] = tbi_shape_triangles,
                          [TABI_SHAPE_ELLIPSOID] = tbi_convex_convex},
    [TABI_SHAPE_BOX] = {[TABI_SHAPE_BOX] = tbi_box_box,
                          [TABI_SHAPE_MESH] = tbi_convex_convex,
                          [TABI_SHAPE_TRIANGLES] = tbi_shape_triangles,
                          [TABI_SHAPE_HEIGHTFIELD] = tbi_shape_triangles,
                          [TABI_SHAPE_ELLIPSOID] = tbi_convex_convex},
    [TABI_SHAPE_MESH] = {[TABI_SHAPE_MESH] = tbi_convex_convex,
                          [TABI_SHAPE_TRIANGLES] = tbi_shape_triangles,
                          [TABI_SHAPE_HEIGHTFIELD] = tbi_shape_triangles,
                          [TABI_SHAPE_ELLIPSOID] = tbi_convex_convex},
    [TABI_SHAPE_TRIANGLES] = {[TABI_SHAPE_ELLIPSOID] = triangles_ellipsoid},
    [TABI_SHAPE_HEIGHTFIELD] = {[TABI_SHAPE_ELLIPSOID] = triangles_ellipsoid  },
    [TABI_SHAPE_ELLIPSOID] = {[TABI_SHAPE_ELLIPSOID] = tbi_convex_convex  },
};

/* few and mostly in order: by insertion */
static void sort_by_feature(tbi_pair_point *points, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    if (points[i - 1].feature <= points[i].feature) continue;
    tbi_pair_point moved = points[i];
    int32_t j = i;
    for (; j > 0 && points[j - 1].feature > moved.feature; --j)
      points[j] = points[j - 1];
    points[j] = moved;
  }
}

static bool are_alike(const tbi_solid *a, const tbi_solid *b) {
  return a->half[0] == b->half[0] && a->half[1] == b->half[1] && a->half[2] == b->half[2];
}

/* Functions for two shapes of one type prefer the first where both are as good, a face to rest on
 * for one.  So that the order of a file does not decide between shapes that are alike, the first is
 * the lower one, in a direction to which hardly anything is built square.  Balls have no choice. */
static bool comes_first(const tbi_solid *a, const tbi_solid *b) {
  if (a->type != b->type) return a->type < b->type;
  if (a->type == TABI_SHAPE_SPHERE || !are_alike(a, b)) return true;
  return v3_dot(v3_make(0.013, 0.087, 0.996), v3_sub(b->pos, a->pos)) >= 0;
}

int32_t tbi_pair_collide(const tbi_solid *a, const tbi_solid *b, double margin,
                         tbi_pair_point *out) {
  TBI_ASSERT((unsigned)a->type < TABI_SHAPE_COUNT && (unsigned)b->type < TABI_SHAPE_COUNT);
  bool swapped = !comes_first(a, b);
  tbi_pair_fn *function = swapped ? pair_table[b->type][a->type] : pair_table[a->type][b->type];
  if (!function) return 0;
  int32_t count = swapped ? function(b, a, margin, out) : function(a, b, margin, out);
  TBI_ASSERT(count >= 0 && count <= TBI_PAIR_ROOM);
  if (count > TBI_PAIR_POINTS) count = tbi_manifold_reduce(out, count, TBI_PAIR_POINTS);
  if (swapped) turn_normals(out, count);
  sort_by_feature(out, count);
  return count;
}
