/* support.c - farthest points and faces of the convex shapes.
 *
 * A mesh stands for the hull of its vertices.  Its face in a direction is found from the triangles
 * at the farthest vertex: the one that looks most that way gives the plane, and all vertices in
 * that plane are corners of the face, however the file cut it into triangles.  On a hull with a
 * graph these are found from that vertex by neighbours. */
#include "collision/support.h"

#include "base/assertion.h"

#include <float.h>

#define FLAT 64 /* vertices of one face that are found by neighbours; with more, all are asked */

static v3 vertex_of(const tabi_mesh_def *mesh, int32_t i) {
  return v3_load(mesh->vertices + 3 * (size_t)i);
}

/* by neighbours that are farther, until there are none */
static int32_t climb(const tabi_mesh_def *mesh, const tbi_hull *hull, v3 dir) {
  int32_t best = hull->start[tbi_hull_cell(dir)];
  double max = v3_dot(vertex_of(mesh, best), dir);
  for (int32_t at = TABI_NONE; at != best;) {
    at = best;
    for (int32_t e = hull->first[at]; e < hull->first[at + 1]; ++e) {
      double along = v3_dot(vertex_of(mesh, hull->neighbour[e]), dir);
      if (along > max) {
        max = along;
        best = hull->neighbour[e];
      }
    }
  }
  return best;
}

/* dir in the mesh's own axes */
static int32_t farthest_vertex(const tbi_solid *s, v3 dir) {
  const tabi_mesh_def *mesh = s->mesh;
  if (s->hull && s->hull->first) return climb(mesh, s->hull, dir);
  int32_t best = 0;
  double max = -DBL_MAX;
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    double along = v3_dot(vertex_of(mesh, i), dir);
    if (along > max) {
      max = along;
      best = i;
    }
  }
  return best;
}

/* the direction square to the axis of a cylinder in which its side looks along dir, own axes */
static v3 radial(v3 dir) {
  double length = sqrt(dir.x * dir.x + dir.y * dir.y); /* hypot takes ten times as long */
  return length > 0 ? v3_make(dir.x / length, dir.y / length, 0) : v3_make(1, 0, 0);
}

/* Of an ellipsoid with semi-axes a, b, c: A d / sqrt(d A d), A = diag(a^2, b^2, c^2). */
static v3 ellipsoid_point(const double half[3], v3 d) {
  v3 scaled = v3_make(half[0] * d.x, half[1] * d.y, half[2] * d.z);
  double length = v3_norm(scaled);
  if (!(length > 0)) return v3_make(half[0], 0, 0);
  return v3_make(half[0] * scaled.x / length, half[1] * scaled.y / length,
                 half[2] * scaled.z / length);
}

/* in the shape's own axes, from its origin */
static v3 local_support(const tbi_solid *s, v3 d) {
  double z = d.z < 0 ? -s->half[2] : s->half[2];
  switch (s->type) {
  case TABI_SHAPE_CAPSULE:
    return v3_make(0, 0, z);
  case TABI_SHAPE_CYLINDER: {
    v3 r = radial(d);
    return v3_make(s->half[0] * r.x, s->half[0] * r.y, z);
  }
  case TABI_SHAPE_BOX:
    return v3_make(d.x < 0 ? -s->half[0] : s->half[0], d.y < 0 ? -s->half[1] : s->half[1], z);
  case TABI_SHAPE_MESH:
    return vertex_of(s->mesh, farthest_vertex(s, d));
  case TABI_SHAPE_ELLIPSOID:
    return ellipsoid_point(s->half, d);
  default:
    TBI_ASSERT(s->type == TABI_SHAPE_SPHERE);
    return v3_zero();
  }
}

v3 tbi_support(const tbi_solid *s, v3 dir) {
  return v3_add(s->pos, tbi_solid_world(s, local_support(s, tbi_solid_local(s, dir))));
}

double tbi_support_radius(const tbi_solid *s) {
  return s->type == TABI_SHAPE_SPHERE || s->type == TABI_SHAPE_CAPSULE ? s->half[0] : 0;
}

v3 tbi_support_centre(const tbi_solid *s) {
  if (s->type != TABI_SHAPE_MESH) return s->pos;
  TBI_ASSERT(s->mesh);
  if (s->hull) return v3_add(s->pos, tbi_solid_world(s, s->hull->centre));
  v3 sum = v3_zero();
  for (int32_t i = 0; i < s->mesh->nvertex; ++i)
    sum = v3_add(sum, vertex_of(s->mesh, i));
  return v3_add(s->pos, tbi_solid_world(s, v3_scale(1.0 / s->mesh->nvertex, sum)));
}

static void add_corner(const tbi_solid *s, v3 local, uint32_t id, tbi_face *face) {
  TBI_ASSERT(face->count < TBI_FACE_CORNERS);
  face->corner[face->count++] = (tbi_corner){v3_add(s->pos, tbi_solid_world(s, local)), id, 0};
}

static void box_face(const tbi_solid *s, v3 d, tbi_face *face) {
  double part[3] = {d.x, d.y, d.z};
  int k = fabs(d.x) >= fabs(d.y) ? 0 : 1;
  if (fabs(d.z) > fabs(part[k])) k = 2;
  int i = (k + 1) % 3;
  int j = (k + 2) % 3;
  double sign = part[k] < 0 ? -1 : 1;
  face->normal = v3_scale(sign, s->axis[k]);
  static const double around[4][2] = {
      {1,  1 },
      {-1, 1 },
      {-1, -1},
      {1,  -1}
  };
  for (int corner = 0; corner < 4; ++corner) {
    double p[3];
    p[k] = sign * s->half[k];
    // seen from outside a negative face, the other way round
    p[i] = around[corner][0] * s->half[i];
    p[j] = sign * around[corner][1] * s->half[j];
    uint32_t id = (p[0] > 0 ? 1u : 0u) | (p[1] > 0 ? 2u : 0u) | (p[2] > 0 ? 4u : 0u);
    add_corner(s, v3_load(p), id, face);
  }
}

/* A cap by eight points of its rim that turn with the cylinder, or the line along its side. */
static void cylinder_face(const tbi_solid *s, v3 d, tbi_face *face) {
  if (fabs(d.z) < 0.7) {
    v3 r = v3_scale(s->half[0], radial(d));
    add_corner(s, v3_make(r.x, r.y, -s->half[2]), 16, face);
    add_corner(s, v3_make(r.x, r.y, s->half[2]), 17, face);
    return;
  }
  double sign = d.z < 0 ? -1 : 1;
  face->normal = v3_scale(sign, s->axis[2]);
  const double c = 0.70710678118654752;
  const double rim[8][2] = {
      {1,  0 },
      {c,  c },
      {0,  1 },
      {-c, c },
      {-1, 0 },
      {-c, -c},
      {0,  -1},
      {c,  -c}
  };
  for (uint32_t k = 0; k < 8; ++k) {
    double x = s->half[0] * rim[k][0];
    double y = sign * s->half[0] * rim[k][1];
    add_corner(s, v3_make(x, y, sign * s->half[2]), k + (sign > 0 ? 8 : 0), face);
  }
}

/* The triangle at a vertex that looks most along a direction. */
typedef struct facing {
  double along; /* cosine */
  v3 normal;
} facing;

static void face_triangle(const tabi_mesh_def *mesh, int32_t triangle, v3 d, facing *best) {
  const int32_t *f = mesh->faces + 3 * (size_t)triangle;
  v3 p = vertex_of(mesh, f[0]);
  v3 m = v3_cross(v3_sub(vertex_of(mesh, f[1]), p), v3_sub(vertex_of(mesh, f[2]), p));
  double length = v3_norm(m);
  double along = length > 0 ? v3_dot(m, d) / length : -DBL_MAX;
  if (along > best->along) *best = (facing){along, v3_scale(1 / length, m)};
}

/* The normal of the triangle at a vertex that looks most along d; false if all are degenerate. */
static bool triangle_normal(const tbi_solid *s, int32_t vertex, v3 d, v3 *normal) {
  const tabi_mesh_def *mesh = s->mesh;
  facing best = {.along = -DBL_MAX, .normal = d};
  if (s->hull && s->hull->first) {
    for (int32_t e = s->hull->first[vertex]; e < s->hull->first[vertex + 1]; ++e)
      face_triangle(mesh, s->hull->face[e], d, &best);
  } else {
    for (int32_t i = 0; i < mesh->nface; ++i) {
      const int32_t *f = mesh->faces + 3 * (size_t)i;
      if (f[0] == vertex || f[1] == vertex || f[2] == vertex) face_triangle(mesh, i, d, &best);
    }
  }
  *normal = best.normal;
  return best.along > -DBL_MAX;
}

/* two directions square to a unit vector and to each other, the three right-handed */
static void span(v3 n, v3 *x, v3 *y) {
  v3 other = fabs(n.x) < 0.7 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
  v3 raw = v3_cross(other, n);
  *x = v3_scale(1 / v3_norm(raw), raw);
  *y = v3_cross(n, *x);
}

/* What is found of the face of a mesh in a plane: the farthest vertices in as many directions as a
 * face may have corners, which are all of its corners unless two edges are almost in line. */
typedef struct plane {
  const tabi_mesh_def *mesh;
  v3 normal, x, y;
  double offset, thick; /* m */
  double max[TBI_FACE_CORNERS];
  int32_t corner[TBI_FACE_CORNERS];
} plane;

static plane plane_through(const tabi_mesh_def *mesh, v3 normal, v3 p, double thick) {
  plane of = {.mesh = mesh, .normal = normal, .offset = v3_dot(p, normal), .thick = thick};
  span(normal, &of.x, &of.y);
  for (int k = 0; k < TBI_FACE_CORNERS; ++k)
    of.max[k] = -DBL_MAX;
  return of;
}

/* Of vertices that are equally far the first is taken, in whichever order they are asked. */
static void keep_corner(plane *of, int k, double along, int32_t vertex) {
  if (along < of->max[k] || (along == of->max[k] && vertex > of->corner[k])) return;
  of->max[k] = along;
  of->corner[k] = vertex;
}

/* Where a vertex is: 1 above the plane, 0 in it, which may make it a corner, -1 below. */
static int place_vertex(plane *of, int32_t vertex) {
  /* half a turn from 0.1 rad, so that no common polygon has edges square to one of them */
  static const double turn[TBI_FACE_CORNERS / 2][2] = {
      {0.9950041652780258,   0.09983341664682815},
      {0.8810593885167033,   0.473005659486832  },
      {0.6329813066769582,   0.7741670784769464 },
      {0.2885375588854798,   0.9574685776109878 },
      {-0.09983341664682818, 0.9950041652780257 },
      {-0.4730056594868321,  0.8810593885167033 },
      {-0.7741670784769464,  0.6329813066769582 },
      {-0.9574685776109878,  0.2885375588854799 }
  };
  v3 p = vertex_of(of->mesh, vertex);
  double above = v3_dot(p, of->normal) - of->offset;
  if (above > of->thick) return 1;
  if (above < -of->thick) return -1;
  double px = v3_dot(p, of->x);
  double py = v3_dot(p, of->y);
  for (int k = 0; k < TBI_FACE_CORNERS / 2; ++k) {
    double along = turn[k][0] * px + turn[k][1] * py;
    keep_corner(of, k, along, vertex);
    keep_corner(of, k + TBI_FACE_CORNERS / 2, -along, vertex);
  }
  return 0;
}

/* False if some vertex is beyond the plane. */
static bool ask_all(plane *of) {
  for (int32_t i = 0; i < of->mesh->nvertex; ++i)
    if (place_vertex(of, i) > 0) return false;
  return true;
}

static bool is_among(const int32_t *vertex, int32_t count, int32_t i) {
  for (int32_t k = 0; k < count; ++k)
    if (vertex[k] == i) return true;
  return false;
}

/* The same by neighbours of a vertex in the plane: what is above or in it hangs together. */
static bool ask_neighbours(plane *of, const tbi_hull *hull, int32_t vertex) {
  int32_t found[FLAT] = {vertex};
  int32_t count = 1;
  (void)place_vertex(of, vertex);
  for (int32_t k = 0; k < count; ++k) {
    for (int32_t e = hull->first[found[k]]; e < hull->first[found[k] + 1]; ++e) {
      int32_t next = hull->neighbour[e];
      if (is_among(found, count, next)) continue;
      int where = place_vertex(of, next);
      if (where > 0) return false;
      if (where < 0) continue;
      if (count == FLAT) return ask_all(of);
      found[count++] = next;
    }
  }
  return true;
}

/* The corners of a mesh in the plane through a vertex; false if some vertex is beyond. */
static bool find_corners(const tbi_solid *s, int32_t vertex, plane *of) {
  if (s->hull && s->hull->first) return ask_neighbours(of, s->hull, vertex);
  return ask_all(of);
}

static void mesh_face(const tbi_solid *s, v3 d, tbi_face *face) {
  const tabi_mesh_def *mesh = s->mesh;
  int32_t vertex = farthest_vertex(s, d);
  v3 p = vertex_of(mesh, vertex);
  double thick = 1e-5 * v3_norm(v3_sub(p, vertex_of(mesh, farthest_vertex(s, v3_neg(d)))));
  v3 m = d;
  bool known = triangle_normal(s, vertex, d, &m);
  plane of = plane_through(mesh, m, p, thick);
  if (!known || !find_corners(s, vertex, &of)) {
    // not a face of the hull, which happens when a mesh is not convex: what is level with p
    m = d;
    of = plane_through(mesh, m, p, thick);
    (void)find_corners(s, vertex, &of);
  }
  face->normal = tbi_solid_world(s, m);
  for (int k = 0; k < TBI_FACE_CORNERS; ++k) {
    int32_t i = of.corner[k];
    // a corner holds for several neighbouring directions
    if (k > 0 && i == of.corner[k - 1]) continue;
    if (face->count > 1 && (uint32_t)i == face->corner[0].id) continue;
    add_corner(s, vertex_of(mesh, i), (uint32_t)i, face);
  }
}

static int32_t count_corners(const tbi_solid *s) {
  return s->type == TABI_SHAPE_BOX ? 8 : s->mesh->nvertex;
}

/* of a box bit i of the number tells the side along axis i */
static v3 corner_of(const tbi_solid *s, int32_t k) {
  if (s->type == TABI_SHAPE_MESH) return vertex_of(s->mesh, k);
  return v3_make(k & 1 ? s->half[0] : -s->half[0], k & 2 ? s->half[1] : -s->half[1],
                 k & 4 ? s->half[2] : -s->half[2]);
}

bool tbi_support_edge(const tbi_solid *s, v3 dir, double slope, v3 end[2]) {
  TBI_ASSERT(s->type == TABI_SHAPE_BOX || s->type == TABI_SHAPE_MESH);
  const double equal = 1e-4; /* slopes that do not tell corners of one edge apart */
  v3 d = tbi_solid_local(s, dir);
  v3 first = local_support(s, d);
  v3 last = first;
  double longest = 0;
  double least = slope + equal;
  for (int32_t k = 0; k < count_corners(s); ++k) {
    v3 along = v3_sub(corner_of(s, k), first);
    double length = v3_norm(along);
    double fall = fabs(v3_dot(along, d));
    bool longer = length > longest && fall <= (least + equal) * length;
    if (!(fall < (least - equal) * length || longer)) continue;
    least = fall / length;
    longest = length;
    last = corner_of(s, k);
  }
  end[0] = v3_add(s->pos, tbi_solid_world(s, first));
  end[1] = v3_add(s->pos, tbi_solid_world(s, last));
  return longest > 0 && least <= slope;
}

void tbi_support_face(const tbi_solid *s, v3 dir, tbi_face *face) {
  v3 d = tbi_solid_local(s, dir);
  face->count = 0;
  face->normal = dir;
  switch (s->type) {
  case TABI_SHAPE_BOX:
    box_face(s, d, face);
    break;
  case TABI_SHAPE_CYLINDER:
    cylinder_face(s, d, face);
    break;
  case TABI_SHAPE_MESH:
    mesh_face(s, d, face);
    break;
  case TABI_SHAPE_CAPSULE: {
    v3 out = v3_scale(s->half[0], d);
    add_corner(s, v3_make(out.x, out.y, out.z - s->half[2]), 0, face);
    add_corner(s, v3_make(out.x, out.y, out.z + s->half[2]), 1, face);
    break;
  }
  case TABI_SHAPE_ELLIPSOID:
    add_corner(s, ellipsoid_point(s->half, d), 0, face);
    break;
  default:
    add_corner(s, v3_scale(s->half[0], d), 0, face);
    break;
  }
  for (int32_t k = 0; k < face->count; ++k)
    face->corner[k].edge = tbi_loop(face->corner[k].id, face->corner[(k + 1) % face->count].id);
}
