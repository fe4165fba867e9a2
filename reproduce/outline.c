/* outline.c - the outline of a convex shape is the hull of its points in the picture.
 *
 * Round parts are circles of a few points: those of balls and caps lie in the plane of the picture,
 * those of cylinders where their rims are. */
#include "outline.h"

#include <math.h>
#include <stdlib.h>

enum { CIRCLE = 12, MAX_POINTS = 512 };

const tbi_camera tbi_camera_side = {
    .right = {1, 0, 0},
      .up = {0, 0, 1}
};
const tbi_camera tbi_camera_front = {
    .right = {0, -1, 0},
      .up = {0, 0,  1}
};

typedef struct point {
  double x, y;
} point;

/* A frame in the world: place and axes (columns). */
typedef struct frame {
  double pos[3], axis[3][3];
} frame;

typedef struct outline {
  int count;
  point at[MAX_POINTS];
} outline;

typedef struct item {
  int32_t shape;
  double depth; /* towards the camera */
} item;

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void axes_of(const double *q, double axis[3][3]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  const double a[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y + w * z),     2 * (x * z - w * y)    },
      {2 * (x * y - w * z),     1 - 2 * (x * x + z * z), 2 * (y * z + w * x)    },
      {2 * (x * z + w * y),     2 * (y * z - w * x),     1 - 2 * (x * x + y * y)}
  };
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      axis[i][k] = a[i][k];
}

static void to_world(const frame *f, const double *local, double *world) {
  for (int k = 0; k < 3; ++k) {
    world[k] = f->pos[k];
    for (int i = 0; i < 3; ++i)
      world[k] += f->axis[i][k] * local[i];
  }
}

static frame frame_of(tabi_world *world, const tabi_shape_def *shape) {
  double pos[3], quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(world), shape->link, pos, quat);
  frame link, f;
  for (int k = 0; k < 3; ++k)
    link.pos[k] = pos[k];
  axes_of(quat, link.axis);
  to_world(&link, shape->pos, f.pos);
  double local[3][3];
  axes_of(shape->quat, local);
  for (int i = 0; i < 3; ++i) {
    to_world(&link, local[i], f.axis[i]);
    for (int k = 0; k < 3; ++k)
      f.axis[i][k] -= link.pos[k];
  }
  return f;
}

static void add(const tbi_camera *camera, const double *world, double dx, double dy, outline *o) {
  if (o->count == MAX_POINTS) return;
  o->at[o->count++] = (point){dot(camera->right, world) + camera->shift[0] + dx,
                              dot(camera->up, world) + camera->shift[1] + dy};
}

/* A circle in the picture, around a point of the shape. */
static void add_disc(const tbi_camera *camera, const frame *f, double z, double radius,
                     outline *o) {
  const double local[3] = {0, 0, z};
  double world[3];
  to_world(f, local, world);
  for (int i = 0; i < CIRCLE; ++i) {
    double angle = 6.283185307179586 * i / CIRCLE;
    add(camera, world, radius * cos(angle), radius * sin(angle), o);
  }
}

static void add_rim(const tbi_camera *camera, const frame *f, double z, double radius, outline *o) {
  for (int i = 0; i < CIRCLE; ++i) {
    double angle = 6.283185307179586 * i / CIRCLE;
    const double local[3] = {radius * cos(angle), radius * sin(angle), z};
    double world[3];
    to_world(f, local, world);
    add(camera, world, 0, 0, o);
  }
}

static void add_box(const tbi_camera *camera, const frame *f, const double *size, outline *o) {
  for (int corner = 0; corner < 8; ++corner) {
    double local[3], world[3];
    for (int k = 0; k < 3; ++k)
      local[k] = ((corner >> k & 1) ? 0.5 : -0.5) * size[k];
    to_world(f, local, world);
    add(camera, world, 0, 0, o);
  }
}

static void add_mesh(const tbi_camera *camera, const frame *f, const tabi_mesh_def *mesh,
                     outline *o) {
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    double world[3];
    to_world(f, mesh->vertices + 3 * (size_t)i, world);
    add(camera, world, 0, 0, o);
  }
}

static void add_shape(const tbi_camera *camera, const tabi_model *model, const tabi_shape_def *s,
                      const frame *f, outline *o) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    add_disc(camera, f, 0, s->size[0], o);
    break;
  case TABI_SHAPE_CAPSULE:
    add_disc(camera, f, 0.5 * s->size[1], s->size[0], o);
    add_disc(camera, f, -0.5 * s->size[1], s->size[0], o);
    break;
  case TABI_SHAPE_CYLINDER:
    add_rim(camera, f, 0.5 * s->size[1], s->size[0], o);
    add_rim(camera, f, -0.5 * s->size[1], s->size[0], o);
    break;
  case TABI_SHAPE_BOX:
    add_box(camera, f, s->size, o);
    break;
  case TABI_SHAPE_MESH: {
    tabi_mesh_def mesh = tabi_model_mesh(model, s->mesh);
    add_mesh(camera, f, &mesh, o);
    break;
  }
  default:
    break; /* ground has no outline */
  }
}

static int compare_points(const void *a, const void *b) {
  const point *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

static double turn(point a, point b, point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Convex hull: the lower chain from left to right, then the upper one back. */
static void make_hull(outline *o, outline *hull) {
  hull->count = 0;
  if (o->count < 3) return;
  qsort(o->at, (size_t)o->count, sizeof o->at[0], compare_points);
  for (int pass = 0; pass < 2; ++pass) {
    int bottom = hull->count;
    for (int i = 0; i < o->count; ++i) {
      point p = o->at[pass == 0 ? i : o->count - 1 - i];
      while (hull->count >= bottom + 2 &&
             turn(hull->at[hull->count - 2], hull->at[hull->count - 1], p) <= 1e-12) {
        --hull->count;
      }
      if (hull->count < MAX_POINTS) hull->at[hull->count++] = p;
    }
    --hull->count; /* the next chain begins where this one ends */
  }
}

static unsigned channel(double value) { return (unsigned)lround(255 * fmin(fmax(value, 0), 1)); }

static unsigned colour_of(const tbi_camera *camera, const tabi_model *model,
                          const tabi_shape_def *s) {
  static const unsigned palette[] = {0x5b8fc9, 0xe08e0b, 0x6aa84f, 0xd1495b, 0x8e6bb0};
  if (camera->by_body) return palette[tabi_model_link_body(model, s->link) % 5];
  return channel(s->rgba[0]) << 16 | channel(s->rgba[1]) << 8 | channel(s->rgba[2]);
}

static void write_polygon(const outline *hull, unsigned colour, bool lines, int number,
                          FILE *script) {
  (void)fprintf(script, "set object %d polygon from ", number);
  for (int i = 0; i <= hull->count; ++i) {
    point p = hull->at[i % hull->count];
    (void)fprintf(script, "%s%.4g,%.4g", i > 0 ? " to " : "", p.x, p.y);
  }
  if (lines) {
    (void)fprintf(script, " front fs empty border lc rgb '#%06x' lw 1\n", colour);
  } else {
    (void)fprintf(script, " front fc rgb '#%06x' fs solid border lc rgb '#333333' lw 0.5\n",
                  colour);
  }
}

/* How far a shape reaches towards the camera from its centre. */
static double reach(const tabi_model *model, const tabi_shape_def *s, const frame *f,
                    const double toward[3]) {
  double along[3], mesh_reach = 0;
  for (int i = 0; i < 3; ++i)
    along[i] = fabs(dot(f->axis[i], toward));
  switch (s->type) {
  case TABI_SHAPE_CAPSULE:
    return s->size[0] + 0.5 * along[2] * s->size[1];
  case TABI_SHAPE_CYLINDER:
    return hypot(along[0], along[1]) * s->size[0] + 0.5 * along[2] * s->size[1];
  case TABI_SHAPE_BOX:
    return 0.5 * dot(along, s->size);
  case TABI_SHAPE_MESH: {
    tabi_mesh_def mesh = tabi_model_mesh(model, s->mesh);
    for (int32_t i = 0; i < mesh.nvertex; ++i) {
      const double *local = mesh.vertices + 3 * (size_t)i;
      double at = 0;
      for (int k = 0; k < 3; ++k)
        at += dot(f->axis[k], toward) * local[k];
      mesh_reach = fmax(mesh_reach, at);
    }
    return mesh_reach;
  }
  default:
    return s->size[0];
  }
}

static int compare_items(const void *a, const void *b) {
  double x = ((const item *)a)->depth, y = ((const item *)b)->depth;
  return (x > y) - (x < y);
}

static bool is_seen(const tabi_model *model, const tabi_shape_def *s) {
  bool moves = s->link != TABI_WORLD && tabi_model_link_body(model, s->link) != TABI_WORLD;
  return moves && s->visible;
}

int tbi_outline_draw(const tbi_camera *camera, tabi_world *world, int first, FILE *script) {
  const tabi_model *model = tabi_world_model(world);
  int32_t nshape = tabi_model_nshape(model), count = 0;
  item *items = malloc(sizeof *items * (size_t)(nshape + 1));
  outline *points = malloc(2 * sizeof *points);
  const double *r = camera->right, *u = camera->up;
  const double toward[3] = {r[1] * u[2] - r[2] * u[1], r[2] * u[0] - r[0] * u[2],
                            r[0] * u[1] - r[1] * u[0]};
  for (int32_t i = 0; i < nshape && items && points; ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    if (!is_seen(model, &s)) continue;
    frame f = frame_of(world, &s);
    /* of shapes with one centre, as a head and its ears, the wider is nearer; among equals the
     * order of the model decides, in every picture alike */
    double depth = dot(toward, f.pos) + 0.2 * reach(model, &s, &f, toward) + 1e-7 * i;
    items[count++] = (item){i, depth};
  }
  if (count > 0) qsort(items, (size_t)count, sizeof *items, compare_items);
  for (int32_t i = 0; i < count; ++i) {
    tabi_shape_def s = tabi_model_shape(model, items[i].shape);
    frame f = frame_of(world, &s);
    points[0].count = 0;
    add_shape(camera, model, &s, &f, &points[0]);
    make_hull(&points[0], &points[1]);
    if (points[1].count < 3) continue;
    write_polygon(&points[1], colour_of(camera, model, &s), camera->lines, first++, script);
  }
  free(points);
  free(items);
  return first;
}
