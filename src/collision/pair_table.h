/* pair_table.h - two shapes in the world, and the points where they meet.
 *
 *   shape type x shape type --> function, for a.type <= b.type; tbi_pair_collide swaps
 *
 * A function reports every point of its manifold with a gap of at most `margin`, in any number up
 * to TBI_PAIR_ROOM; the caller keeps the best eight.  Points of a face contact share their normal.
 */
#ifndef TBI_PAIR_TABLE_H
#define TBI_PAIR_TABLE_H

#include "model/model.h"

#define TBI_PAIR_ROOM 64 /* points that a function may write */

/* A shape at its place in the world. */
typedef struct tbi_solid {
  tabi_shape_type type;
  v3 axis[3]; /* unit: the shape's x, y, z in the world */
  v3 pos;     /* its origin */
  /* box: half edges; sphere: radius in all three; capsule and cylinder: radius, radius, half the
   * length of the cylindrical part; ellipsoid: semi-axes; mesh: unused */
  double half[3];
  const tabi_mesh_def *mesh;        /* of TABI_SHAPE_MESH: stands for the hull of its vertices, */
  const tbi_hull *hull;             /* and how to climb it; NULL: not known */
  const struct tbi_trimesh *ground; /* of TABI_SHAPE_TRIANGLES and TABI_SHAPE_HEIGHTFIELD */
} tbi_solid;

/* One point of a manifold. */
typedef struct tbi_pair_point {
  v3 point;         /* halfway between the two surfaces */
  v3 normal;        /* unit, from a to b */
  double gap;       /* along the normal, negative when they overlap */
  uint32_t feature; /* tells the points of a pair apart, and stays while they rest */
} tbi_pair_point;

/* Returns the number of points written to out[TBI_PAIR_ROOM]. */
typedef int32_t tbi_pair_fn(const tbi_solid *a, const tbi_solid *b, double margin,
                            tbi_pair_point *out);

tbi_pair_fn tbi_plane_sphere, tbi_plane_capsule, tbi_plane_cylinder, tbi_plane_box, tbi_plane_mesh;
tbi_pair_fn tbi_plane_ellipsoid;
tbi_pair_fn tbi_sphere_sphere, tbi_sphere_capsule, tbi_sphere_box;
tbi_pair_fn tbi_capsule_capsule, tbi_capsule_box;
tbi_pair_fn tbi_box_box;
/* Cylinder, mesh or ellipsoid against each other, sphere, capsule or box. */
tbi_pair_fn tbi_convex_convex;
/* Any of these against triangles or a height field. */
tbi_pair_fn tbi_shape_triangles;

/* For any two shapes: looks the function up, swaps where needed, and reduces to TBI_PAIR_POINTS of
 * collision.h, ordered by feature. */
tbi_pair_fn tbi_pair_collide;

/* Keeps the best `keep` of count points: the deepest, then always the one farthest from those kept
 * in place and normal, of those that overlap before those that are near, and never two at one place
 * with one normal.  Returns how many are left. */
int32_t tbi_manifold_reduce(tbi_pair_point *points, int32_t count, int32_t keep);

/* a in the axes of a solid, and a vector in these axes in the world's */
static inline v3 tbi_solid_local(const tbi_solid *s, v3 a) {
  return (v3){v3_dot(s->axis[0], a), v3_dot(s->axis[1], a), v3_dot(s->axis[2], a)};
}
static inline v3 tbi_solid_world(const tbi_solid *s, v3 a) {
  return v3_axpy(v3_axpy(v3_scale(a.x, s->axis[0]), a.y, s->axis[1]), a.z, s->axis[2]);
}

#endif
