/* shape_solid.c - see shape_solid.h. */
#include "io/shape_solid.h"

#include "io/mesh/hull.h"
#include "math/quat.h"
#include "model/builder.h"

#include <string.h>

#define PI 3.14159265358979323846

static tbi_solid box_solid(const double d[3]) {
  double v = d[0] * d[1] * d[2];
  double x = d[0] * d[0];
  double y = d[1] * d[1];
  double z = d[2] * d[2];
  return (tbi_solid){
      .volume = v, .inertia = {v / 12 * (y + z), v / 12 * (x + z), v / 12 * (x + y), 0, 0, 0}
  };
}

static tbi_solid ellipsoid_solid(const double d[3]) {
  double v = 4.0 / 3 * PI * d[0] * d[1] * d[2];
  double x = d[0] * d[0];
  double y = d[1] * d[1];
  double z = d[2] * d[2];
  return (tbi_solid){
      .volume = v, .inertia = {v / 5 * (y + z), v / 5 * (x + z), v / 5 * (x + y), 0, 0, 0}
  };
}

static tbi_solid round_solid(double r, double l, bool caps) {
  double c = PI * r * r * l;
  double h = caps ? PI * r * r * r * 2 / 3 : 0; // one half sphere
  double axial = c * r * r / 2 + 2 * h * r * r * 2 / 5;
  double side = c * (3 * r * r + l * l) / 12 + 2 * h * (r * r * 2 / 5 + l * l / 4 + 3 * l * r / 8);
  return (tbi_solid){
      .volume = c + 2 * h, .inertia = {side, side, axial, 0, 0, 0}
  };
}

/* By the hull, because meshes for the eye are rarely closed. */
static tabi_status mesh_solid(const tabi_mesh_def *def, tabi_place place, tbi_solid *solid,
                              tabi_error *err) {
  tbi_mesh hull = {0};
  tabi_error why = {0};
  tabi_status status = tbi_hull_mesh(def->vertices, def->nvertex, "of a shape", place, &hull, &why);
  if (status == TABI_OK) status = tbi_mesh_solid(&hull, "of a shape", place, solid, &why);
  tbi_mesh_free(&hull);
  if (status == TABI_ERR_MODEL) *solid = (tbi_solid){0}; // flat: no volume
  if (status == TABI_ERR_MODEL || status == TABI_OK) return TABI_OK;
  if (err) *err = why;
  return status;
}

tabi_status tbi_shape_solid(const tabi_builder *builder, const tabi_shape_def *shape,
                            tbi_solid *solid, tabi_error *err) {
  const double *d = shape->size;
  *solid = (tbi_solid){0};
  switch (shape->type) {
  case TABI_SHAPE_BOX:
    *solid = box_solid(d);
    break;
  case TABI_SHAPE_SPHERE:
    *solid = round_solid(d[0], 0, true);
    break;
  case TABI_SHAPE_CYLINDER:
    *solid = round_solid(d[0], d[1], false);
    break;
  case TABI_SHAPE_CAPSULE:
    *solid = round_solid(d[0], d[1], true);
    break;
  case TABI_SHAPE_ELLIPSOID:
    *solid = ellipsoid_solid(d);
    break;
  case TABI_SHAPE_MESH:
    return mesh_solid((const tabi_mesh_def *)builder->meshes.items + shape->mesh, shape->place,
                      solid, err);
  default:
    break;
  }
  return TABI_OK;
}

static s3 scaled(double f, s3 a) {
  return (s3){f * a.xx, f * a.yy, f * a.zz, f * a.xy, f * a.xz, f * a.yz};
}

void tbi_solid_add(const tbi_solid *solid, double density, const double pos[3],
                   const double quat[4], tabi_link_def *sum) {
  m3 r = q_matrix(q_load(quat));
  v3 com = v3_add(v3_load(pos), m3_mulv(&r, v3_load(solid->com)));
  double mass = density * solid->volume;
  s3 turned = s3_rotate(&r, scaled(density, s3_load(solid->inertia)));
  s3 about = s3_add(turned, s3_point_mass(mass, com));
  s3_store(s3_add(s3_load(sum->inertia), about), sum->inertia);
  v3_store(v3_axpy(v3_load(sum->com), mass, com), sum->com);
  sum->mass += mass;
}

void tbi_solid_finish(tabi_link_def *sum) {
  if (!(sum->mass > 0)) return;
  v3 com = v3_scale(1 / sum->mass, v3_load(sum->com));
  s3 shift = scaled(-1, s3_point_mass(sum->mass, com));
  s3_store(s3_add(s3_load(sum->inertia), shift), sum->inertia);
  v3_store(com, sum->com);
}
