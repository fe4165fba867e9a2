/* hull.c - convex hulls by qhull.
 *
 * Qhull reports to a stream, which here is a little memory that is thrown away: what it says is for
 * those who study hulls.  It is given coordinates around the middle of the points in units of their
 * extent, so that its measures of precision mean the same for a screw and for a house. */
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

/* Copies corners and triangles out of qhull.  number[npoint] is the corner that a point became,
 * corner[] the point of a corner. */
static void copy_hull(qhT *qh, const double *points, int32_t *number, int32_t *corner,
                      tbi_mesh *hull) {
  vertexT *vertex;
  facetT *facet;
  FORALLvertices {
    int point = qh_pointid(qh, vertex->point);
    number[point] = hull->nvertex;
    corner[hull->nvertex] = point;
    memcpy(hull->vertices + 3 * (size_t)hull->nvertex, points + 3 * (size_t)point,
           3 * sizeof *points);
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
static tabi_status keep_hull(qhT *qh, const double *points, int32_t npoint, double size,
                             tbi_mesh *hull) {
  int32_t *number = calloc((size_t)npoint + (size_t)qh->num_vertices, sizeof *number);
  hull->vertices = calloc(3 * (size_t)qh->num_vertices, sizeof *hull->vertices);
  hull->faces = calloc(3 * (size_t)qh->num_facets, sizeof *hull->faces);
  tabi_status status = number && hull->vertices && hull->faces ? TABI_OK : TABI_ERR_MEMORY;
  if (status == TABI_OK) {
    int32_t *corner = number + npoint;
    copy_hull(qh, points, number, corner, hull);
    if (is_flat(hull, size)) status = TABI_ERR_MODEL;
    if (status == TABI_OK) tbi_hull_cache_put(points, npoint, hull, corner);
  }
  free(number);
  if (status != TABI_OK) tbi_mesh_free(hull);
  return status;
}

static tabi_status run_qhull(const double *points, double *scaled, int32_t npoint, double size,
                             FILE *talk, tbi_mesh *hull) {
  // triangles, no warnings of precision
  char options[] = "qhull Qt Pp";
  qhT *qh = malloc(sizeof *qh);
  if (!qh) return TABI_ERR_MEMORY;
  qh_zero(qh, talk);
  int failed = qh_new_qhull(qh, 3, npoint, scaled, False, options, talk, talk);
  tabi_status status = failed == qh_ERRmem ? TABI_ERR_MEMORY : TABI_ERR_MODEL;
  if (!failed) status = keep_hull(qh, points, npoint, size, hull);
  int left, rest;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &left, &rest);
  free(qh);
  return status;
}

/* Scales the points and gives qhull a stream for its messages. */
static tabi_status make_hull(const double *points, int32_t npoint, const extent *e,
                             tbi_mesh *hull) {
  tabi_status status = TABI_ERR_MEMORY;
  double *scaled = malloc(3 * (size_t)npoint * sizeof *scaled);
  FILE *talk = fmemopen(NULL, 4096, "w");
  if (scaled && talk) {
    for (size_t i = 0; i < 3 * (size_t)npoint; ++i)
      scaled[i] = (points[i] - e->middle[i % 3]) / e->size;
    status = run_qhull(points, scaled, npoint, e->size, talk, hull);
  }
  if (talk) (void)fclose(talk);
  free(scaled);
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
  if (npoint >= 4) {
    extent e = measure(points, (size_t)npoint);
    if (e.size > 0) status = make_hull(points, npoint, &e, hull);
  }
  if (status == TABI_ERR_MEMORY) return tbi_error_memory(err);
  if (status == TABI_OK) return TABI_OK;
  return tbi_error_set(err, status, place,
                       "hull '%.200s': its %d points are flat; give four that span a volume", name,
                       (int)npoint);
}
