/* shape_bounds.c - axis-aligned boxes around shapes.
 *
 * A rotated shape reaches, along a world axis, as far as its support in that axis: closed forms
 * for the round shapes and the box, the farthest vertex for what is made of triangles. */
#include "base/assertion.h"
#include "dynamics/dynamics.h"
#include "math/quat.h"
#include "model/model.h"

#include <math.h>

/* Half the width of a shape along a world axis whose direction in the shape is d. */
static double half_width(const tabi_shape_def *s, const double d[3]) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return s->size[0];
  case TABI_SHAPE_CAPSULE:
    return s->size[0] + s->size[1] / 2 * fabs(d[2]);
  case TABI_SHAPE_CYLINDER:
    return s->size[0] * sqrt(d[0] * d[0] + d[1] * d[1]) + s->size[1] / 2 * fabs(d[2]);
  case TABI_SHAPE_ELLIPSOID:
    return sqrt(s->size[0] * s->size[0] * d[0] * d[0] + s->size[1] * s->size[1] * d[1] * d[1] +
                s->size[2] * s->size[2] * d[2] * d[2]);
  default:
    return (s->size[0] * fabs(d[0]) + s->size[1] * fabs(d[1]) + s->size[2] * fabs(d[2])) / 2;
  }
}

static bool has_mesh(tabi_shape_type type) {
  return type == TABI_SHAPE_MESH || type == TABI_SHAPE_TRIANGLES || type == TABI_SHAPE_HEIGHTFIELD;
}

static void mesh_bounds(const tabi_mesh_def *mesh, const tbi_frame *f, double lower[3],
                        double upper[3]) {
  v3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  v3 high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    v3 p = v3_add(f->pos, m3_mulv(&f->rot, v3_load(mesh->vertices + 3 * (size_t)i)));
    low = (v3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
    high = (v3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
  }
  v3_store(low, lower);
  v3_store(high, upper);
}

static tbi_frame shape_frame(const tabi_dynamics *d, const tabi_shape_def *shape) {
  tbi_frame link = {.rot = m3_identity()};
  if (shape->link != TABI_WORLD) link = tbi_link_frame(d, shape->link);
  m3 turn = q_matrix(q_load(shape->quat));
  return (tbi_frame){.rot = m3_mul(&link.rot, &turn),
                     .pos = v3_add(link.pos, m3_mulv(&link.rot, v3_load(shape->pos)))};
}

bool tabi_dynamics_shape_bounds(const tabi_dynamics *d, int32_t shape, double lower[3],
                                double upper[3]) {
  TBI_ASSERT(d && shape >= 0 && shape < d->model->nshape && lower && upper);
  const tabi_shape_def *def = &d->model->shape[shape];
  if (def->type == TABI_SHAPE_PLANE) return false;
  tbi_frame f = shape_frame(d, def);
  if (has_mesh(def->type)) {
    mesh_bounds(&d->model->mesh[def->mesh], &f, lower, upper);
    return true;
  }
  double centre[3];
  v3_store(f.pos, centre);
  for (int axis = 0; axis < 3; ++axis) {
    double half = half_width(def, f.rot.m[axis]);
    lower[axis] = centre[axis] - half;
    upper[axis] = centre[axis] + half;
  }
  return true;
}
