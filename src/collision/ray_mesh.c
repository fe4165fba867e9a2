/* ray_mesh.c - rays against hulls, triangles and height fields.
 *
 * A hull is given by its vertices alone.  Seen along the ray, each is a point (a, b) of the plane
 * square to it and a height h along it, and the ray is the point (0, 0): it enters where the lowest
 * face over that point is.  A triangle of vertices around (0, 0) walks down to that face: while
 * some vertex is below its plane, the lowest takes the place of one corner (the simplex method). */
#include "collision/ray.h"

#include "base/assertion.h"
#include "collision/closest.h"
#include "collision/trimesh.h"

enum { MAX_PIVOTS = 200 };

#define BELOW 1e-12 /* relative to the distance of the face: rounding */

/* How vertices are seen along a ray. */
typedef struct view {
  const tabi_mesh_def *mesh;
  v3 origin, across[2], along;
} view;

static v3 seen(const view *w, int32_t vertex) {
  v3 from = v3_sub(v3_load(w->mesh->vertices + 3 * (size_t)vertex), w->origin);
  return v3_make(v3_dot(w->across[0], from), v3_dot(w->across[1], from), v3_dot(w->along, from));
}

static double cross2(v3 p, v3 q) { return p.x * q.y - p.y * q.x; }
static double dot2(v3 p, v3 q) { return p.x * q.x + p.y * q.y; }

/* whether q is farther round from p than zero, counter-clockwise and by at most half a turn */
static bool is_left(v3 p, v3 q) {
  double side = cross2(p, q);
  return side > 0 || (side == 0 && dot2(p, q) < 0);
}

/* Three vertices around (0, 0), counter-clockwise: any one, and those that are farthest round to
 * its left and to its right.  False where all are on one side. */
static bool surround(const view *w, v3 corner[3]) {
  int32_t first = 0;
  while (first < w->mesh->nvertex && dot2(seen(w, first), seen(w, first)) == 0)
    ++first;
  if (first == w->mesh->nvertex) return false;
  v3 start = seen(w, first);
  v3 left = start;
  v3 right = start;
  for (int32_t i = 0; i < w->mesh->nvertex; ++i) {
    v3 p = seen(w, i);
    if (is_left(start, p)) {
      if (is_left(left, p)) left = p;
    } else if (cross2(right, p) < 0) {
      right = p;
    }
  }
  corner[0] = start;
  corner[1] = left;
  corner[2] = right;
  return cross2(left, right) > 0 || (cross2(left, right) == 0 && dot2(left, right) < 0);
}

/* the plane of the corners: its normal, upwards */
static v3 normal_of(const v3 corner[3]) {
  return v3_cross(v3_sub(corner[1], corner[0]), v3_sub(corner[2], corner[0]));
}

/* Puts a vertex in the place of the corner without which (0, 0) is still surrounded; where the ray
 * passes an edge of two such triangles, the larger one is taken. */
static bool exchange(v3 next, v3 corner[3]) {
  int out = -1;
  double largest = 0;
  for (int k = 0; k < 3; ++k) {
    v3 a = corner[k];
    v3 b = corner[(k + 1) % 3];
    if (cross2(next, a) < 0 || cross2(next, b) > 0) continue;
    double area = cross2(v3_sub(a, next), v3_sub(b, next));
    if (area <= largest) continue;
    largest = area;
    out = (k + 2) % 3;
  }
  if (out < 0) return false;
  corner[out] = next;
  return true;
}

/* Goes on to the triangle with the lowest vertex; false where none is below the plane of this one.
 */
static bool pivot(const view *w, v3 corner[3]) {
  v3 n = normal_of(corner);
  double lowest = -BELOW * v3_norm(n) * (1 + v3_norm(corner[0]));
  v3 next = corner[0];
  bool found = false;
  for (int32_t i = 0; i < w->mesh->nvertex; ++i) {
    v3 p = seen(w, i);
    double height = v3_dot(n, v3_sub(p, corner[0]));
    if (height < lowest) {
      lowest = height;
      next = p;
      found = true;
    }
  }
  return found && exchange(next, corner);
}

/* Where the line of the ray has its lowest point in the hull, and the normal there, in the view. */
static bool descend(const view *w, v3 corner[3], double *height, v3 *normal) {
  for (int i = 0; i < MAX_PIVOTS && pivot(w, corner); ++i) {
  }
  v3 n = normal_of(corner);
  if (!(n.z > 0)) return false; /* seen from the side, it has no area */
  *height = v3_dot(n, corner[0]) / n.z;
  *normal = v3_scale(-1 / v3_norm(n), n);
  return true;
}

bool tbi_ray_hull(const tabi_mesh_def *mesh, const tbi_ray *ray, tbi_ray_hit *hit) {
  v3 across = tbi_perpendicular(ray->direction);
  view ahead = {
      mesh, ray->origin, {across, v3_cross(ray->direction, across)},
        ray->direction
  };
  v3 corner[3];
  if (!surround(&ahead, corner)) return false;
  /* from the other side, where the line leaves the hull */
  view back = ahead;
  back.along = v3_neg(ray->direction);
  v3 turned[3];
  for (int k = 0; k < 3; ++k)
    turned[k] = v3_make(corner[k].x, corner[k].y, -corner[k].z);
  v3 normal;
  double enter;
  double leave; /* counted backwards */
  if (!descend(&back, turned, &leave, &normal) || leave > 0) return false;
  if (!descend(&ahead, corner, &enter, &normal)) return false;
  if (enter <= 0) return tbi_ray_inside(ray, hit);
  hit->distance = enter;
  hit->normal = v3_axpy(v3_axpy(v3_scale(normal.x, ahead.across[0]), normal.y, ahead.across[1]),
                        normal.z, ahead.along);
  return true;
}

/* Whether a ray meets a box before a distance. */
static bool meets_box(const tbi_trimesh_node *node, const tbi_ray *ray, double before) {
  const double o[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
  const double u[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
  double enter = 0;
  double exit = before;
  for (int i = 0; i < 3; ++i) {
    if (u[i] == 0) {
      if (o[i] < node->low[i] || o[i] > node->high[i]) return false;
      continue;
    }
    double low = (node->low[i] - o[i]) / u[i];
    double high = (node->high[i] - o[i]) / u[i];
    enter = fmax(enter, fmin(low, high));
    exit = fmin(exit, fmax(low, high));
  }
  /* a little wider than it is, for what rounding takes away */
  return enter <= exit * (1 + 1e-12) + 1e-12;
}

/* The distance at which a ray meets a face, from its free side or from behind; infinite: not. Faces
 * that share an edge find the same number for it, with opposite signs: no ray slips through. */
static double meet_face(const tbi_trimesh *t, int32_t face, const tbi_ray *ray, bool behind) {
  const tbi_trimesh_face *f = &t->face[face];
  double rate = v3_dot(f->normal, ray->direction);
  if (behind ? rate <= 0 : rate >= 0) return INFINITY;
  v3 corner[3];
  for (int k = 0; k < 3; ++k)
    corner[k] = v3_sub(tbi_trimesh_vertex(t, f->vertex[k]), ray->origin);
  for (int k = 0; k < 3; ++k) {
    double side = v3_dot(ray->direction, v3_cross(corner[k], corner[(k + 1) % 3]));
    if (behind ? side < 0 : side > 0) return INFINITY;
  }
  double distance = v3_dot(f->normal, corner[0]) / rate;
  return distance >= 0 ? distance : (double)INFINITY;
}

/* The first face along the ray, or TABI_NONE. */
static int32_t first_face(const tbi_trimesh *t, const tbi_ray *ray, bool behind, double *distance) {
  int32_t stack[TBI_TRIMESH_DEPTH];
  int32_t depth = 0;
  int32_t first = TABI_NONE;
  *distance = INFINITY;
  if (t->nnode > 0) stack[depth++] = 0;
  while (depth > 0) {
    int32_t index = stack[--depth];
    const tbi_trimesh_node *node = &t->node[index];
    if (!meets_box(node, ray, *distance)) continue;
    if (node->count == 0) {
      TBI_ASSERT(depth + 2 <= TBI_TRIMESH_DEPTH);
      stack[depth++] = node->link;
      stack[depth++] = index + 1;
    }
    for (int32_t i = node->link; i < node->link + node->count; ++i) {
      double found = meet_face(t, t->order[i], ray, behind);
      if (found >= *distance) continue;
      *distance = found;
      first = t->order[i];
    }
  }
  return first;
}

bool tbi_ray_triangles(const tbi_trimesh *t, const tbi_ray *ray, tbi_ray_hit *hit) {
  int32_t face = first_face(t, ray, false, &hit->distance);
  if (face == TABI_NONE) return false;
  hit->normal = t->face[face].normal;
  return true;
}

bool tbi_ray_heightfield(const tbi_trimesh *t, const tbi_ray *ray, tbi_ray_hit *hit) {
  const tbi_ray up = {ray->origin, v3_make(0, 0, 1)};
  double above;
  if (first_face(t, &up, true, &above) != TABI_NONE) return tbi_ray_inside(ray, hit);
  return tbi_ray_triangles(t, ray, hit);
}
