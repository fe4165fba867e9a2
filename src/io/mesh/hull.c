/* hull.c - convex hulls by qhull.
 *
 * Qhull reports to a stream, which here is a little memory that is thrown away: what it says is for
 * those who study hulls.  It is given coordinates around the middle of the points in units of their
 * extent, so that its measures of precision mean the same for a screw and for a house.
 *
 * Of very many points most are inside.  Those that are clearly inside the hull of a few extreme
 * ones are left out before qhull sees them, which does not change the hull. */
#include "io/mesh/hull.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/mesh/hull_cache.h"
#include "math/vec.h"

#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* thinner than this part of its extent, a body is flat */
#define FLAT 1e-6
/* with fewer points qhull is fast enough alone */
#define MANY       20000
#define DIRECTIONS 128
/* how far inside a point must be to be left out, as part of the extent: far beyond rounding */
#define INSIDE 1e-9

typedef struct extent {
  double middle[3], size; /* size: of the longest edge of the box around the points */
} extent;

static extent measure(const double *points, size_t npoint) {
  double low[3], high[3];
  extent e = {.size = 0};
  memcpy(low, points, sizeof low);
  memcpy(high, points, sizeof high);
  for (size_t i = 3; i < 3 * npoint; ++i) {
    low[i % 3] = fmin(low[i % 3], points[i]);
    high[i % 3] = fmax(high[i % 3], points[i]);
  }
  for (int k = 0; k < 3; ++k) {
    e.middle[k] = 0.5 * low[k] + 0.5 * high[k];
    e.size = fmax(e.size, high[k] - low[k]);
  }
  return e;
}

static bool all_finite(const double *points, size_t npoint) {
  for (size_t i = 0; i < 3 * npoint; ++i) {
    // beyond 1e100 the extent of the points may not be a number
    if (!(fabs(points[i]) < 1e100)) return false;
  }
  return true;
}

/* Points of which a hull is made: some of a longer list, or all of it. */
typedef struct selection {
  const double *points; /* of the whole list, npoint x 3 */
  int32_t npoint;
  int32_t *index; /* of those that count; NULL: all */
  int32_t count;
  bool is_rough; /* its hull is smaller than that of the whole list */
} selection;

static int32_t selected(const selection *s, int32_t i) { return s->index ? s->index[i] : i; }

/* Copies corners and triangles out of qhull.  number[] is the corner that a selected point became,
 * corner[] the point of a corner in the whole list. */
static void copy_hull(qhT *qh, const selection *s, int32_t *number, int32_t *corner,
                      tbi_mesh *hull) {
  vertexT *vertex;
  facetT *facet;
  FORALLvertices {
    int point = qh_pointid(qh, vertex->point);
    number[point] = hull->nvertex;
    corner[hull->nvertex] = selected(s, point);
    memcpy(hull->vertices + 3 * (size_t)hull->nvertex, s->points + 3 * (size_t)selected(s, point),
           3 * sizeof *s->points);
    ++hull->nvertex;
  }
  FORALLfacets {
    int32_t *face = hull->faces + 3 * (size_t)hull->nface;
    vertexT **vertexp;
    int k = 0;
    FOREACHvertex_(facet->vertices) {
      if (k < 3) face[k++] = number[qh_pointid(qh, vertex->point)];
    }
    // qhull keeps the way round in a flag
    if (facet->toporient ^ qh_ORIENTclock) {
      int32_t swap = face[1];
      face[1] = face[2];
      face[2] = swap;
    }
    ++hull->nface;
  }
}

/* Whether some face has all corners as close as FLAT to its plane.  The direction in which a hull
 * is thinnest is square to a face or to two edges; faces are enough to tell a plate. */
static bool is_flat(const tbi_mesh *hull, double size) {
  for (int32_t i = 0; i < hull->nface; ++i) {
    const int32_t *face = hull->faces + 3 * (size_t)i;
    v3 p = v3_load(hull->vertices + 3 * (size_t)face[0]);
    v3 n = v3_cross(v3_sub(v3_load(hull->vertices + 3 * (size_t)face[1]), p),
                    v3_sub(v3_load(hull->vertices + 3 * (size_t)face[2]), p));
    double area = v3_norm(n);
    if (!(area > 1e-3 * size * size)) continue;
    double deep = 0;
    for (int32_t k = 0; k < hull->nvertex && deep < FLAT * size; ++k) {
      v3 away = v3_sub(p, v3_load(hull->vertices + 3 * (size_t)k));
      deep = tbi_max(deep, v3_dot(n, away) / area);
    }
    if (deep < FLAT * size) return true;
  }
  return false;
}

/* TABI_ERR_MODEL: it has no volume.  A hull that has one is kept for the next time. */
static tabi_status keep_hull(qhT *qh, const selection *s, double size, tbi_mesh *hull) {
  int32_t *number = calloc((size_t)s->count + (size_t)qh->num_vertices, sizeof *number);
  hull->vertices = calloc(3 * (size_t)qh->num_vertices, sizeof *hull->vertices);
  hull->faces = calloc(3 * (size_t)qh->num_facets, sizeof *hull->faces);
  tabi_status status = number && hull->vertices && hull->faces ? TABI_OK : TABI_ERR_MEMORY;
  if (status == TABI_OK) {
    int32_t *corner = number + s->count;
    copy_hull(qh, s, number, corner, hull);
    if (is_flat(hull, size)) status = TABI_ERR_MODEL;
    if (status == TABI_OK && !s->is_rough) tbi_hull_cache_put(s->points, s->npoint, hull, corner);
  }
  free(number);
  if (status != TABI_OK) tbi_mesh_free(hull);
  return status;
}

static tabi_status run_qhull(const selection *s, double *scaled, double size, FILE *talk,
                             tbi_mesh *hull) {
  // triangles, no warnings of precision
  char options[] = "qhull Qt Pp";
  qhT *qh = malloc(sizeof *qh);
  if (!qh) return TABI_ERR_MEMORY;
  qh_zero(qh, talk);
  int failed = qh_new_qhull(qh, 3, s->count, scaled, False, options, talk, talk);
  tabi_status status = failed == qh_ERRmem ? TABI_ERR_MEMORY : TABI_ERR_MODEL;
  if (!failed) status = keep_hull(qh, s, size, hull);
  int left, rest;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &left, &rest);
  free(qh);
  return status;
}

/* Scales the points and gives qhull a stream for its messages. */
static tabi_status make_hull(const selection *s, const extent *e, tbi_mesh *hull) {
  tabi_status status = TABI_ERR_MEMORY;
  double *scaled = malloc((3 * (size_t)s->count + 1) * sizeof *scaled);
  FILE *talk = fmemopen(NULL, 4096, "w");
  if (scaled && talk) {
    for (int32_t i = 0; i < s->count; ++i) {
      const double *point = s->points + 3 * (size_t)selected(s, i);
      for (size_t k = 0; k < 3; ++k)
        scaled[3 * (size_t)i + k] = (point[k] - e->middle[k]) / e->size;
    }
    status = run_qhull(s, scaled, e->size, talk, hull);
  }
  if (talk) (void)fclose(talk);
  free(scaled);
  return status;
}

/* Directions spread evenly over the sphere, along a spiral. */
static v3 direction(int i) {
  double z = 1 - (2 * i + 1) / (double)DIRECTIONS;
  double angle = i * 2.399963229728653; // the golden angle
  double r = sqrt(1 - z * z);
  return v3_make(r * cos(angle), r * sin(angle), z);
}

/* The points that reach farthest in some direction, each once. */
static int32_t find_extremes(const double *points, int32_t npoint, int32_t *extreme) {
  int32_t count = 0;
  for (int k = 0; k < DIRECTIONS; ++k) {
    v3 d = direction(k);
    int32_t best = 0;
    double far = -(double)INFINITY;
    for (int32_t i = 0; i < npoint; ++i) {
      double reach = v3_dot(d, v3_load(points + 3 * (size_t)i));
      if (!(reach > far)) continue;
      far = reach;
      best = i;
    }
    int32_t known = 0;
    while (known < count && extreme[known] != best)
      ++known;
    if (known == count) extreme[count++] = best;
  }
  return count;
}

/* Keeps those that are not inside all faces of a hull by some margin. */
static int32_t keep_outer(const tbi_mesh *inner, const v3 *normal, const double *offset,
                          selection *s, double margin) {
  int32_t kept = 0;
  for (int32_t i = 0; i < s->npoint; ++i) {
    v3 p = v3_load(s->points + 3 * (size_t)i);
    int32_t face = 0;
    while (face < inner->nface && v3_dot(normal[face], p) < offset[face] - margin)
      ++face;
    if (face < inner->nface) s->index[kept++] = i;
  }
  return kept;
}

/* Planes of a hull's faces, looking outwards. */
static void make_planes(const tbi_mesh *hull, v3 *normal, double *offset) {
  for (int32_t i = 0; i < hull->nface; ++i) {
    const int32_t *face = hull->faces + 3 * (size_t)i;
    v3 a = v3_load(hull->vertices + 3 * (size_t)face[0]);
    v3 n = v3_cross(v3_sub(v3_load(hull->vertices + 3 * (size_t)face[1]), a),
                    v3_sub(v3_load(hull->vertices + 3 * (size_t)face[2]), a));
    double length = v3_norm(n);
    // a face without area lets every point pass
    normal[i] = length > 0 ? v3_scale(1 / length, n) : v3_zero();
    offset[i] = length > 0 ? v3_dot(normal[i], a) : -(double)INFINITY;
  }
}

/* Leaves out what is inside the hull of the extreme points; all stay where there is none. */
static tabi_status leave_out_inner(selection *s, const extent *e) {
  int32_t extreme[DIRECTIONS];
  selection few = {s->points, s->npoint, extreme, 0, true};
  tbi_mesh inner = {0};
  few.count = find_extremes(s->points, s->npoint, extreme);
  tabi_status status = few.count >= 4 ? make_hull(&few, e, &inner) : TABI_ERR_MODEL;
  if (status != TABI_OK) return status == TABI_ERR_MODEL ? TABI_OK : status;
  s->index = malloc((size_t)s->npoint * sizeof *s->index);
  v3 *normal = malloc((size_t)inner.nface * sizeof *normal);
  double *offset = malloc((size_t)inner.nface * sizeof *offset);
  if (s->index && normal && offset) {
    make_planes(&inner, normal, offset);
    s->count = keep_outer(&inner, normal, offset, s, INSIDE * e->size);
  } else {
    status = TABI_ERR_MEMORY;
  }
  free(normal);
  free(offset);
  tbi_mesh_free(&inner);
  return status;
}

static tabi_status hull_of(const double *points, int32_t npoint, tbi_mesh *hull) {
  selection s = {points, npoint, NULL, npoint, false};
  extent e = measure(points, (size_t)npoint);
  if (!(e.size > 0)) return TABI_ERR_MODEL;
  tabi_status status = npoint >= MANY ? leave_out_inner(&s, &e) : TABI_OK;
  if (status == TABI_OK) status = make_hull(&s, &e, hull);
  free(s.index);
  return status;
}

tabi_status tbi_hull_mesh(const double *points, int32_t npoint, const char *name, tabi_place place,
                          tbi_mesh *hull, tabi_error *err) {
  TBI_ASSERT(npoint >= 0 && (points || npoint == 0));
  *hull = (tbi_mesh){0};
  if (!all_finite(points, (size_t)npoint)) {
    return tbi_error_set(err, TABI_ERR_MODEL, place, "hull '%.200s': a point is not finite", name);
  }
  if (tbi_hull_cache_get(points, npoint, hull)) return TABI_OK;
  tabi_status status = TABI_ERR_MODEL;
  if (npoint >= 4) status = hull_of(points, npoint, hull);
  if (status == TABI_ERR_MEMORY) return tbi_error_memory(err);
  if (status == TABI_OK) return TABI_OK;
  return tbi_error_set(err, status, place,
                       "hull '%.200s': its %d points are flat; give four that span a volume", name,
                       (int)npoint);
}
