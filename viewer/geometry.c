/* geometry.c - boxes of inertia, and feet by their height. */
#include "geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* feet are the links within this of the lowest one, m */
#define FOOT_HEIGHT 2e-3

static void matrix_of(const double q[4], double m[3][3]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y)    },
      {2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x)    },
      {2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)}
  };
  memcpy(m, rows, sizeof rows);
}

/* q turned on about one of its own axes. */
static void turn(double q[4], int axis, double angle) {
  int i = 1 + axis, j = 1 + (axis + 1) % 3, k = 1 + (axis + 2) % 3;
  double c = cos(angle / 2), s = sin(angle / 2);
  double old[4];
  memcpy(old, q, sizeof old);
  q[0] = c * old[0] - s * old[i];
  q[i] = c * old[i] + s * old[0];
  q[j] = c * old[j] + s * old[k];
  q[k] = c * old[k] - s * old[j];
}

/* The inertia in the axes of q. */
static void inertia_in(const tabi_link_def *link, const double q[4], double out[3][3]) {
  const double *i = link->inertia;
  const double a[3][3] = {
      {i[0], i[3], i[4]},
      {i[3], i[1], i[5]},
      {i[4], i[5], i[2]}
  };
  double r[3][3];
  matrix_of(q, r);
  for (int m = 0; m < 9; ++m) {
    double sum = 0;
    for (int n = 0; n < 9; ++n)
      sum += r[n / 3][m / 3] * a[n / 3][n % 3] * r[n % 3][m % 3];
    out[m / 3][m % 3] = sum;
  }
}

/* Principal axes by Jacobi's method: turns that clear one product of inertia after another. */
tbi_inertia_box tbi_inertia_box_of(const tabi_link_def *link) {
  enum { SWEEPS = 12 };
  tbi_inertia_box box = {
      .quat = {1, 0, 0, 0}
  };
  double a[3][3];
  for (int step = 0; step < 3 * SWEEPS; ++step) {
    int axis = step % 3, p = (axis + 1) % 3, q = (axis + 2) % 3;
    inertia_in(link, box.quat, a);
    // by the smaller of both angles; the other one exchanges axes for ever
    double apart = a[p][p] - a[q][q];
    double both = apart < 0 ? -2 * a[p][q] : 2 * a[p][q];
    if (both != 0) turn(box.quat, axis, 0.5 * atan2(both, fabs(apart)));
  }
  inertia_in(link, box.quat, a);
  for (int k = 0; k < 3 && link->mass > 0; ++k) {
    // of edges a, b, c: m (b^2 + c^2) / 12 about the first
    double square = a[(k + 1) % 3][(k + 1) % 3] + a[(k + 2) % 3][(k + 2) % 3] - a[k][k];
    box.half[k] = sqrt(fmax(1.5 * square / link->mass, 0));
  }
  return box;
}

/* Depth of a shape below its origin; `up` is z of the world in its axes. */
static double depth_below(const tabi_model *model, const tabi_shape_def *s, const double up[3]) {
  const double *size = s->size;
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return size[0];
  case TABI_SHAPE_CAPSULE:
    return size[0] + 0.5 * size[1] * fabs(up[2]);
  case TABI_SHAPE_CYLINDER:
    return size[0] * hypot(up[0], up[1]) + 0.5 * size[1] * fabs(up[2]);
  case TABI_SHAPE_BOX:
    return 0.5 * (size[0] * fabs(up[0]) + size[1] * fabs(up[1]) + size[2] * fabs(up[2]));
  case TABI_SHAPE_ELLIPSOID:
    return hypot(hypot(size[0] * up[0], size[1] * up[1]), size[2] * up[2]);
  case TABI_SHAPE_MESH: {
    tabi_mesh_def mesh = tabi_model_mesh(model, s->mesh);
    double deepest = -HUGE_VAL;
    for (size_t i = 0; i < (size_t)mesh.nvertex; ++i) {
      const double *v = mesh.vertices + 3 * i;
      deepest = fmax(deepest, -(up[0] * v[0] + up[1] * v[1] + up[2] * v[2]));
    }
    return deepest;
  }
  default:
    return -HUGE_VAL;
  }
}

/* z of the lowest point of a shape in the world; infinite for one without end. */
static double lowest_point(const tabi_dynamics *dynamics, const tabi_model *model,
                           const tabi_shape_def *shape) {
  double pos[3] = {0}, quat[4] = {1, 0, 0, 0}, link[3][3], own[3][3], up[3];
  if (shape->link != TABI_WORLD) tabi_dynamics_link_pose(dynamics, shape->link, pos, quat);
  matrix_of(quat, link);
  matrix_of(shape->quat, own);
  double height = pos[2];
  for (int i = 0; i < 3; ++i) {
    height += link[2][i] * shape->pos[i];
    up[i] = link[2][0] * own[0][i] + link[2][1] * own[1][i] + link[2][2] * own[2][i];
  }
  return height - depth_below(model, shape, up);
}

/* low[nshape]: the lowest points of what collides. */
static void find_lowest(const tabi_model *model, const tabi_dynamics *dynamics, double *low) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    bool counts = s.link != TABI_WORLD && s.collides;
    low[i] = counts ? lowest_point(dynamics, model, &s) : HUGE_VAL;
  }
}

static int32_t parent_of(const tabi_model *model, int32_t link) {
  int32_t joint = tabi_model_link_joint(model, link);
  return joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
}

int32_t tbi_robot_of(const tabi_scene *scene, int32_t link) {
  const tabi_model *model = tabi_scene_model(scene);
  for (; link != TABI_WORLD; link = parent_of(model, link)) {
    for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
      if (tabi_scene_get_robot(scene, i).base == link) return i;
    }
  }
  return TABI_NONE;
}

/* robot[nshape] is that of each shape. */
static void mark_feet(const tabi_model *model, const int32_t *robot, int32_t which,
                      const double *low, tbi_feet *feet) {
  double floor = HUGE_VAL;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i)
    if (robot[i] == which) floor = fmin(floor, low[i]);
  for (int32_t i = 0; i < tabi_model_nshape(model) && floor < HUGE_VAL; ++i) {
    if (robot[i] != which || low[i] > floor + FOOT_HEIGHT) continue;
    feet->link[tabi_model_shape(model, i).link] = true;
    feet->shape[i] = true;
  }
}

static void mark_all(const tabi_scene *scene, const double *low, int32_t *robot, tbi_feet *feet) {
  const tabi_model *model = tabi_scene_model(scene);
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    int32_t link = tabi_model_shape(model, i).link;
    robot[i] = link == TABI_WORLD ? TABI_NONE : tbi_robot_of(scene, link);
  }
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i)
    mark_feet(model, robot, i, low, feet);
}

bool tbi_feet_find(tbi_feet *feet, const tabi_scene *scene) {
  const tabi_model *model = tabi_scene_model(scene);
  size_t nlink = (size_t)tabi_model_nlink(model), nshape = (size_t)tabi_model_nshape(model);
  size_t nq = (size_t)tabi_model_nq(model), nv = (size_t)tabi_model_nv(model);
  *feet =
      (tbi_feet){calloc(nlink + 1, sizeof *feet->link), calloc(nshape + 1, sizeof *feet->shape)};
  double *room = calloc(nshape + nq + nv + 1, sizeof *room);
  int32_t *robot = calloc(nshape + 1, sizeof *robot);
  tabi_dynamics *dynamics = tabi_dynamics_create(model, NULL);
  bool done = feet->link && feet->shape && room && robot && dynamics;
  if (done) {
    double *low = room, *q = room + nshape, *v = q + nq;
    tabi_model_initial_q(model, q);
    tabi_dynamics_set_state(dynamics, q, v);
    find_lowest(model, dynamics, low);
    mark_all(scene, low, robot, feet);
  } else {
    tbi_feet_free(feet);
  }
  tabi_dynamics_destroy(dynamics);
  free(robot);
  free(room);
  return done;
}

void tbi_feet_free(tbi_feet *feet) {
  free(feet->link);
  free(feet->shape);
  *feet = (tbi_feet){0};
}
