/* hulls.c - convex meshes for the tests. */
#include "collision/hulls.h"

#include "io/mesh/hull.h"
#include "math/quat.h"
#include "support/near.h"

#include <stdlib.h>

tabi_mesh_def hull_make(const double *points, int32_t npoint) {
  tbi_mesh hull;
  tabi_error err;
  tabi_status status = tbi_hull_mesh(points, npoint, "hull", (tabi_place){NULL, 0}, &hull, &err);
  if (status != TABI_OK) fail_msg("%s", err.message);
  tabi_mesh_def def = tabi_mesh_def_default();
  def.nvertex = hull.nvertex;
  def.nface = hull.nface;
  def.vertices = hull.vertices;
  def.faces = hull.faces;
  return def;
}

void hull_free(tabi_mesh_def *hull) {
  free((void *)hull->vertices);
  free((void *)hull->faces);
}

tabi_mesh_def hull_box(double x, double y, double z, const double quat[4]) {
  double points[24];
  m3 rot = q_matrix(q_load(quat));
  for (size_t i = 0; i < 8; ++i) {
    v3 corner = {i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2};
    v3_store(m3_mulv(&rot, corner), points + 3 * i);
  }
  return hull_make(points, 8);
}

tabi_mesh_def hull_random(rng *r, double radius) {
  double points[3 * 40];
  int32_t npoint = 6 + rng_below(r, 35);
  for (int32_t i = 0; i < npoint; ++i) {
    double *p = points + 3 * (size_t)i;
    rng_direction(r, p, 3);
    double inside = radius * cbrt(rng_unit(r));
    for (int k = 0; k < 3; ++k)
      p[k] *= inside;
  }
  return hull_make(points, npoint);
}
