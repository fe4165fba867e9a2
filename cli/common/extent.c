/* extent.c - an axis-aligned box around shapes.
 *
 * A rotated shape reaches, along a world axis, as far as its support in that axis: closed forms
 * for the round shapes and the box, the farthest vertex for a mesh. */
#include "common/extent.h"

#include <math.h>

typedef struct frame {
  double pos[3], rot[3][3];
} frame;

static frame frame_make(const double pos[3], const double quat[4]) {
  double w = quat[0];
  double x = quat[1];
  double y = quat[2];
  double z = quat[3];
  return (frame){
      {pos[0],                                                              pos[1], pos[2]},
      {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
       {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
       {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}                }
  };
}

static double along(const frame *f, int axis, const double point[3]) {
  const double *row = f->rot[axis];
  return f->pos[axis] + row[0] * point[0] + row[1] * point[1] + row[2] * point[2];
}

static frame frame_mul(const frame *a, const frame *b) {
  frame c;
  for (int i = 0; i < 3; ++i) {
    c.pos[i] = along(a, i, b->pos);
    for (int j = 0; j < 3; ++j) {
      c.rot[i][j] =
          a->rot[i][0] * b->rot[0][j] + a->rot[i][1] * b->rot[1][j] + a->rot[i][2] * b->rot[2][j];
    }
  }
  return c;
}

static void include(tbi_extent *e, int axis, double low, double high) {
  e->lower[axis] = fmin(e->lower[axis], low);
  e->upper[axis] = fmax(e->upper[axis], high);
  e->empty = false;
}

/* Half the width of a shape along a world axis whose direction in the shape is d. */
static double half_width(const tabi_shape_def *s, const double d[3]) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return s->size[0];
  case TABI_SHAPE_CAPSULE:
    return s->size[0] + s->size[1] / 2 * fabs(d[2]);
  case TABI_SHAPE_CYLINDER:
    return s->size[0] * hypot(d[0], d[1]) + s->size[1] / 2 * fabs(d[2]);
  case TABI_SHAPE_ELLIPSOID:
    return sqrt(s->size[0] * s->size[0] * d[0] * d[0] + s->size[1] * s->size[1] * d[1] * d[1] +
                s->size[2] * s->size[2] * d[2] * d[2]);
  default:
    return (s->size[0] * fabs(d[0]) + s->size[1] * fabs(d[1]) + s->size[2] * fabs(d[2])) / 2;
  }
}

static void include_mesh(tbi_extent *e, const tabi_mesh_def *mesh, const frame *f) {
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      double x = along(f, axis, mesh->vertices + 3 * (size_t)i);
      include(e, axis, x, x);
    }
  }
}

tbi_extent tbi_extent_of(const tabi_model *model, const tabi_dynamics *dynamics) {
  tbi_extent e = {
      {HUGE_VAL,  HUGE_VAL,  HUGE_VAL },
      {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL},
      true
  };
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (shape.type == TABI_SHAPE_PLANE) continue;
    double pos[3] = {0, 0, 0};
    double quat[4] = {1, 0, 0, 0};
    if (shape.link != TABI_WORLD) tabi_dynamics_link_pose(dynamics, shape.link, pos, quat);
    frame link = frame_make(pos, quat);
    frame local = frame_make(shape.pos, shape.quat);
    frame f = frame_mul(&link, &local);
    if (shape.type == TABI_SHAPE_MESH) {
      tabi_mesh_def mesh = tabi_model_mesh(model, shape.mesh);
      include_mesh(&e, &mesh, &f);
      continue;
    }
    for (int axis = 0; axis < 3; ++axis) {
      double half = half_width(&shape, f.rot[axis]);
      include(&e, axis, f.pos[axis] - half, f.pos[axis] + half);
    }
  }
  return e;
}
