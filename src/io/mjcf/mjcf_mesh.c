/* mjcf_mesh.c - what MuJoCo takes a mesh to weigh.
 *
 * By default it sums pyramids between a centre and every face, all taken as positive, which is
 * right for meshes that can be seen as a whole from their centre; a mesh may ask for signed
 * volumes, its hull or its surface instead. */
#include "io/mjcf/mjcf_reader.h"

#include <math.h>

typedef struct triangle {
  v3 a, b, c;
} triangle;

static triangle face_of(const tbi_mesh *mesh, int32_t face, v3 origin) {
  const int32_t *f = mesh->faces + 3 * (size_t)face;
  return (triangle){v3_sub(v3_load(mesh->vertices + 3 * (size_t)f[0]), origin),
                    v3_sub(v3_load(mesh->vertices + 3 * (size_t)f[1]), origin),
                    v3_sub(v3_load(mesh->vertices + 3 * (size_t)f[2]), origin)};
}

static v3 centre_of(triangle t) { return v3_scale(1.0 / 3, v3_add(t.a, v3_add(t.b, t.c))); }

static double pyramid(triangle t) { return fabs(v3_dot(t.a, v3_cross(t.b, t.c))) / 6; }

/* centre of the surface */
static v3 surface_centre(const tbi_mesh *mesh) {
  v3 sum = v3_zero();
  double area = 0;
  for (int32_t i = 0; i < mesh->nface; ++i) {
    triangle t = face_of(mesh, i, v3_zero());
    double a = 0.5 * v3_norm(v3_cross(v3_sub(t.b, t.a), v3_sub(t.c, t.a)));
    sum = v3_axpy(sum, a, centre_of(t));
    area += a;
  }
  return area > 0 ? v3_scale(1 / area, sum) : sum;
}

/* centre of the pyramids above `apex`; the apex itself where they have no volume */
static v3 pyramid_centre(const tbi_mesh *mesh, v3 apex) {
  v3 sum = v3_zero();
  double volume = 0;
  for (int32_t i = 0; i < mesh->nface; ++i) {
    triangle t = face_of(mesh, i, apex);
    double v = pyramid(t);
    sum = v3_axpy(sum, 0.75 * v, centre_of(t));
    volume += v;
  }
  return volume > 0 ? v3_axpy(apex, 1 / volume, sum) : apex;
}

/* integral of x x' over one pyramid */
static s3 second_moment(triangle t, double volume) {
  const v3 p[4] = {t.a, t.b, t.c, v3_add(t.a, v3_add(t.b, t.c))};
  s3 sum = s3_zero();
  for (int i = 0; i < 4; ++i) {
    double f = volume / 20;
    sum = s3_add(sum, (s3){f * p[i].x * p[i].x, f * p[i].y * p[i].y, f * p[i].z * p[i].z,
                           f * p[i].x * p[i].y, f * p[i].x * p[i].z, f * p[i].y * p[i].z});
  }
  return sum;
}

static void measure_signed(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  tbi_solid solid;
  tbi_take(&reader->error,
           tbi_mesh_solid(&mesh->triangles, mesh->name, mesh->place, &solid, reader->error.err));
  if (!tbi_ok(&reader->error)) return;
  s3 i = s3_load(solid.inertia);
  double f = 1 / solid.volume;
  mesh->volume = solid.volume;
  mesh->com = v3_load(solid.com);
  mesh->inertia = (s3){f * i.xx, f * i.yy, f * i.zz, f * i.xy, f * i.xz, f * i.yz};
}

static void measure_pyramids(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  const tbi_mesh *triangles = &mesh->triangles;
  mesh->com = pyramid_centre(triangles, surface_centre(triangles));
  double volume = 0;
  double size = 0;
  s3 e = s3_zero();
  for (int32_t i = 0; i < triangles->nface; ++i) {
    triangle t = face_of(triangles, i, mesh->com);
    double v = pyramid(t);
    volume += v;
    size = fmax(size, v3_norm(t.a));
    e = s3_add(e, second_moment(t, v));
  }
  if (!(volume > 1e-12 * size * size * size)) {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, mesh->place,
                "mesh '%.64s': volume is zero; give <inertial>", mesh->name);
    return;
  }
  double f = 1 / volume;
  mesh->volume = volume;
  mesh->inertia = (s3){f * (e.yy + e.zz), f * (e.xx + e.zz), f * (e.xx + e.yy),
                       -f * e.xy,         -f * e.xz,         -f * e.yz};
}

/* Mass on the surface: each triangle as three points of a third at the middles of its edges,
 * which has its first and second moments. */
static void measure_shell(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  const tbi_mesh *triangles = &mesh->triangles;
  double area = 0;
  s3 inertia = s3_zero();
  mesh->com = surface_centre(triangles);
  for (int32_t i = 0; i < triangles->nface; ++i) {
    triangle t = face_of(triangles, i, mesh->com);
    double a = 0.5 * v3_norm(v3_cross(v3_sub(t.b, t.a), v3_sub(t.c, t.a)));
    const v3 middle[3] = {v3_scale(0.5, v3_add(t.a, t.b)), v3_scale(0.5, v3_add(t.b, t.c)),
                          v3_scale(0.5, v3_add(t.c, t.a))};
    area += a;
    for (int k = 0; k < 3; ++k)
      inertia = s3_add(inertia, s3_point_mass(a / 3, middle[k]));
  }
  if (!(area > 0)) {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, mesh->place,
                "mesh '%.64s': area is zero; give <inertial>", mesh->name);
    return;
  }
  double f = 1 / area;
  mesh->volume = area;
  mesh->inertia = (s3){f * inertia.xx, f * inertia.yy, f * inertia.zz,
                       f * inertia.xy, f * inertia.xz, f * inertia.yz};
}

static void measure_hull(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  tbi_mesh hull = {0};
  tbi_mesh kept = mesh->triangles;
  tbi_take(&reader->error, tbi_mesh_hull(&mesh->triangles, mesh->name, mesh->place, reader->def,
                                         &hull, reader->error.err));
  if (tbi_ok(&reader->error)) {
    mesh->triangles = hull;
    measure_signed(reader, mesh);
    mesh->triangles = kept;
  }
  tbi_mesh_free(&hull);
}

void tbi_mjcf_measure_mesh(tbi_mjcf *reader, tbi_mjcf_mesh *mesh) {
  if (mesh->measured || !tbi_ok(&reader->error)) return;
  mesh->measured = true;
  switch (mesh->rule) {
  case TBI_MJCF_MESH_CONVEX:
    measure_hull(reader, mesh);
    break;
  case TBI_MJCF_MESH_EXACT:
    measure_signed(reader, mesh);
    break;
  case TBI_MJCF_MESH_SHELL:
    measure_shell(reader, mesh);
    break;
  default:
    measure_pyramids(reader, mesh);
  }
}
