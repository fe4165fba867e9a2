/* sole.c - see sole.h.
 *
 * Every shape is taken by points that hold its lowest face in any direction near `up`: the corners
 * of a box, the vertices of a mesh, the lowest point of a sphere, both ends of a capsule, eight
 * points of the rims of a cylinder.  Those at the height of the lowest one touch level ground. */
#include "control/sole.h"

#include "base/array.h"
#include "base/assertion.h"

#include <string.h>

enum { RIM = 8, MAX_HULL = 256 };
#define PI 3.14159265358979323846

static bool add(tbi_cloud *cloud, v3 point) {
  void *items = cloud->point;
  bool good = tbi_array_reserve(&items, &cloud->capacity, cloud->count, 1, sizeof *cloud->point);
  cloud->point = items;
  if (good) cloud->point[cloud->count++] = point;
  return good;
}

static v3 place(const tbi_frame *frame, v3 point) {
  return v3_add(frame->pos, m3_mulv(&frame->rot, point));
}

static bool add_box(tbi_cloud *cloud, const tbi_frame *frame, const double *size) {
  bool good = true;
  for (int i = 0; i < 8; ++i) {
    v3 corner = {(i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                 (i & 4 ? 0.5 : -0.5) * size[2]};
    good = good && add(cloud, place(frame, corner));
  }
  return good;
}

/* Both rims; of a cylinder that lies, only its lowest line is one. */
static bool add_cylinder(tbi_cloud *cloud, const tbi_frame *frame, const double *size, v3 up) {
  v3 local = m3_tmulv(&frame->rot, up);
  double across = hypot(local.x, local.y);
  bool good = true;
  for (int i = 0; i < 2 * RIM; ++i) {
    int around = i / 2;
    double angle = 2 * PI * around / RIM;
    if (across > 1e-6) angle += atan2(-local.y, -local.x);
    v3 point = {size[0] * cos(angle), size[0] * sin(angle), (i & 1 ? 0.5 : -0.5) * size[1]};
    good = good && add(cloud, place(frame, point));
  }
  return good;
}

static bool add_mesh(tbi_cloud *cloud, const tabi_mesh_def *mesh, const tbi_frame *frame) {
  bool good = true;
  for (int32_t i = 0; i < mesh->nvertex && good; ++i)
    good = add(cloud, place(frame, v3_load(mesh->vertices + 3 * (ptrdiff_t)i)));
  return good;
}

/* The lowest point: along -S S up for semi-axes S. */
static v3 lowest_of_ellipsoid(const double *size, v3 up) {
  v3 scaled = {size[0] * up.x, size[1] * up.y, size[2] * up.z};
  double norm = v3_norm(scaled);
  return (v3){-size[0] * scaled.x / norm, -size[1] * scaled.y / norm, -size[2] * scaled.z / norm};
}

bool tbi_cloud_add(tbi_cloud *cloud, const tabi_model *model, const tabi_shape_def *shape,
                   const tbi_frame *frame, v3 up) {
  v3 low = v3_scale(-shape->size[0], up);
  v3 end = v3_scale(0.5 * shape->size[1], m3_column(&frame->rot, 2));
  switch (shape->type) {
  case TABI_SHAPE_SPHERE:
    return add(cloud, v3_add(frame->pos, low));
  case TABI_SHAPE_CAPSULE:
    return add(cloud, v3_add(v3_add(frame->pos, low), end)) &&
           add(cloud, v3_sub(v3_add(frame->pos, low), end));
  case TABI_SHAPE_CYLINDER:
    return add_cylinder(cloud, frame, shape->size, up);
  case TABI_SHAPE_BOX:
    return add_box(cloud, frame, shape->size);
  case TABI_SHAPE_ELLIPSOID:
    return add(cloud, place(frame, lowest_of_ellipsoid(shape->size, m3_tmulv(&frame->rot, up))));
  case TABI_SHAPE_MESH:
    return add_mesh(cloud, &model->mesh[shape->mesh], frame);
  default:
    return true;
  }
}

double tbi_cloud_lowest(const tbi_cloud *cloud, v3 up) {
  double lowest = HUGE_VAL;
  for (int32_t i = 0; i < cloud->count; ++i)
    lowest = fmin(lowest, v3_dot(cloud->point[i], up));
  return lowest;
}

/* -- outline */

static double turn(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double distance2(const double *a, const double *b) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
}

/* The point with all others on the left of the way to it; the farther where several are. */
static int32_t next_corner(const double (*point)[2], int32_t n, int32_t at) {
  int32_t best = at;
  for (int32_t i = 0; i < n; ++i) {
    if (distance2(point[i], point[at]) < 1e-18) continue;
    double side = best == at ? -1 : turn(point[at], point[best], point[i]);
    bool farther =
        fabs(side) <= 1e-15 && distance2(point[i], point[at]) > distance2(point[best], point[at]);
    if (side < -1e-15 || farther) best = i;
  }
  return best;
}

/* Gift wrapping (Jarvis 1973). */
int32_t tbi_hull_2d(const double (*point)[2], int32_t n, double (*hull)[2], int32_t max) {
  TBI_ASSERT(max > 0);
  int32_t first = 0;
  for (int32_t i = 1; i < n; ++i) {
    bool lower = point[i][1] < point[first][1] ||
                 (point[i][1] == point[first][1] && point[i][0] < point[first][0]);
    if (lower) first = i;
  }
  int32_t count = 0;
  for (int32_t at = first; n > 0 && count < max;) {
    memcpy(hull[count++], point[at], sizeof *hull);
    at = next_corner(point, n, at);
    if (at == first || distance2(point[at], point[first]) < 1e-18) break;
  }
  return count;
}

/* Leaves out the corner that takes least area with it. */
static int32_t drop_least(double (*corner)[2], int32_t n) {
  int32_t least = 0;
  double area = HUGE_VAL;
  for (int32_t i = 0; i < n; ++i) {
    double own = turn(corner[(i + n - 1) % n], corner[i], corner[(i + 1) % n]);
    if (own < area) {
      area = own;
      least = i;
    }
  }
  memmove(corner + least, corner + least + 1, (size_t)(n - 1 - least) * sizeof *corner);
  return n - 1;
}

v3 tbi_sole_outline(tbi_cloud *cloud, const m3 *axes, double tolerance, tabi_leg *sole) {
  v3 up = m3_column(axes, 2);
  double lowest = tbi_cloud_lowest(cloud, up);
  double(*flat)[2] = (double(*)[2])cloud->point; /* narrower than what it overwrites */
  int32_t n = 0;
  for (int32_t i = 0; i < cloud->count; ++i) {
    v3 point = m3_tmulv(axes, cloud->point[i]);
    if (point.z > lowest + tolerance) continue;
    flat[n][0] = point.x;
    flat[n++][1] = point.y;
  }
  double hull[MAX_HULL][2];
  n = tbi_hull_2d((const double(*)[2])flat, n, hull, MAX_HULL);
  while (n > TABI_SOLE_MAX)
    n = drop_least(hull, n);
  double low[2] = {HUGE_VAL, HUGE_VAL};
  double high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (int32_t i = 0; i < n; ++i) {
    for (int k = 0; k < 2; ++k) {
      low[k] = fmin(low[k], hull[i][k]);
      high[k] = fmax(high[k], hull[i][k]);
    }
  }
  v3 middle = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), lowest};
  sole->ncorner = n;
  sole->length = high[0] - low[0];
  sole->width = high[1] - low[1];
  for (int32_t i = 0; i < n; ++i) {
    sole->corner[i][0] = hull[i][0] - middle.x;
    sole->corner[i][1] = hull[i][1] - middle.y;
  }
  return m3_mulv(axes, middle);
}
