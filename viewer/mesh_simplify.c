/* mesh_simplify.c - fewer triangles by meshoptimizer, which collapses edges in the order of their
 * quadric error (Garland and Heckbert 1997).  Every vertex that is left is one of the original, so
 * nothing leaves the bounds of a mesh. */
#include "mesh_simplify.h"

#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE = 3 * sizeof(float) };

/* -- one mesh */

void tbi_simple_mesh_destroy(tbi_simple_mesh *simple) {
  free(simple->vertices);
  free(simple->triangles);
  *simple = (tbi_simple_mesh){0};
}

static bool has_area(const float *vertices, const uint32_t *corner) {
  const float *a = vertices + 3 * (size_t)corner[0];
  const float *b = vertices + 3 * (size_t)corner[1];
  const float *c = vertices + 3 * (size_t)corner[2];
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    double cross = ((double)b[i] - (double)a[i]) * ((double)c[j] - (double)a[j]) -
                   ((double)b[j] - (double)a[j]) * ((double)c[i] - (double)a[i]);
    square += cross * cross;
  }
  return square > 0;
}

/* Takes over corners[3 * ntriangle] of vertices, and leaves out what nobody sees or uses. */
static bool pack(tbi_simple_mesh *m, float *vertices, size_t nvertex, uint32_t *corners,
                 size_t ntriangle) {
  size_t kept = 0;
  for (size_t i = 0; i < ntriangle; ++i) {
    if (!has_area(vertices, corners + 3 * i)) continue;
    memmove(corners + 3 * kept++, corners + 3 * i, 3 * sizeof *corners);
  }
  float *used = malloc((nvertex + 1) * STRIDE);
  if (!used) {
    free(vertices);
    free(corners);
    return false;
  }
  size_t count =
      kept > 0 ? meshopt_optimizeVertexFetch(used, corners, 3 * kept, vertices, nvertex, STRIDE)
               : 0;
  free(vertices);
  m->vertices = used;
  m->triangles = corners;
  m->nvertex = count;
  m->ntriangle = kept;
  return true;
}

/* Corners by the first vertex at their place; seams and borders would hold the simplifier up. */
static void weld(const float *vertices, size_t nvertex, uint32_t *corners, size_t count) {
  if (count > 0)
    meshopt_generateShadowIndexBuffer(corners, corners, count, vertices, nvertex, STRIDE, STRIDE);
}

bool tbi_simple_mesh_create(tbi_simple_mesh *simple, const tabi_mesh_def *mesh) {
  size_t nvertex = (size_t)mesh->nvertex, ncorner = 3 * (size_t)mesh->nface;
  *simple = (tbi_simple_mesh){0};
  float *vertices = malloc((nvertex + 1) * STRIDE);
  uint32_t *corners = malloc((ncorner + 1) * sizeof *corners);
  if (!vertices || !corners) {
    free(vertices);
    free(corners);
    return false;
  }
  // + 0 makes -0 the same place as 0
  for (size_t i = 0; i < 3 * nvertex; ++i)
    vertices[i] = (float)mesh->vertices[i] + 0.0f;
  for (size_t i = 0; i < ncorner; ++i)
    corners[i] = (uint32_t)mesh->faces[i];
  weld(vertices, nvertex, corners, ncorner);
  return pack(simple, vertices, nvertex, corners, ncorner / 3);
}

double tbi_simple_mesh_size(const tbi_simple_mesh *simple) {
  return simple->nvertex > 0
             ? (double)meshopt_simplifyScale(simple->vertices, simple->nvertex, STRIDE)
             : 0;
}

/* Puts a result of the simplifier, which it takes over, in the place of a mesh. */
static bool replace(tbi_simple_mesh *m, uint32_t *corners, size_t count) {
  float *vertices = m->vertices;
  free(m->triangles);
  m->vertices = NULL;
  m->triangles = NULL;
  bool packed = pack(m, vertices, m->nvertex, corners, count / 3);
  if (!packed) *m = (tbi_simple_mesh){0};
  return packed;
}

bool tbi_simple_mesh_reduce(tbi_simple_mesh *simple, size_t ntriangle, double error) {
  double size = tbi_simple_mesh_size(simple);
  if (simple->ntriangle <= ntriangle || !(size > 0)) return true;
  uint32_t *corners = malloc((3 * simple->ntriangle + 1) * sizeof *corners);
  if (!corners) return false;
  float relative = 0;
  size_t count =
      meshopt_simplify(corners, simple->triangles, 3 * simple->ntriangle, simple->vertices,
                       simple->nvertex, STRIDE, 3 * ntriangle, (float)(error / size), 0, &relative);
  simple->error += (double)relative * size;
  return replace(simple, corners, count);
}

/* The finest grid that is coarse enough, or else the coarsest that leaves anything; 0: none.  What
 * meshoptimizer finds by itself may be far from both. */
static size_t cluster(const tbi_simple_mesh *m, size_t ncorner, uint32_t *corners, double *error) {
  enum { GRIDS = 17 };
  size_t count = 0;
  float cell = 1e-3f;
  for (int k = 0; k < GRIDS && (count == 0 || count > ncorner); ++k) {
    float relative = 0;
    size_t found = meshopt_simplifySloppy(corners, m->triangles, 3 * m->ntriangle, m->vertices,
                                          m->nvertex, STRIDE, ncorner, cell, &relative);
    if (found == 0) break;
    count = found;
    *error = (double)relative;
    cell *= 1.5f;
  }
  return count;
}

bool tbi_simple_mesh_reduce_roughly(tbi_simple_mesh *simple, size_t ntriangle) {
  double size = tbi_simple_mesh_size(simple);
  if (simple->ntriangle <= ntriangle || !(size > 0)) return true;
  uint32_t *corners = malloc((3 * simple->ntriangle + 1) * sizeof *corners);
  if (!corners) return false;
  double relative = 0;
  size_t count = cluster(simple, 3 * ntriangle, corners, &relative);
  if (count == 0) {
    // rather too much than nothing
    free(corners);
    return true;
  }
  simple->error += relative * size;
  return replace(simple, corners, count);
}

/* -- many meshes */

/* From where on the error is invisible up to where little is left, as parts of the largest mesh. */
static const double errors[] = {1e-4, 4e-4, 1.6e-3, 6.4e-3, 2.5e-2, 0.1};

static size_t total(const tbi_simple_mesh *mesh, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += mesh[i].ntriangle;
  return sum;
}

static double largest(const tbi_simple_mesh *mesh, size_t count) {
  double size = 0;
  for (size_t i = 0; i < count; ++i)
    size = fmax(size, tbi_simple_mesh_size(&mesh[i]));
  return size;
}

static bool copy(tbi_simple_mesh *to, const tbi_simple_mesh *from) {
  *to = *from;
  to->vertices = malloc((from->nvertex + 1) * STRIDE);
  to->triangles = malloc((3 * from->ntriangle + 1) * sizeof *to->triangles);
  if (!to->vertices || !to->triangles) {
    tbi_simple_mesh_destroy(to);
    return false;
  }
  // the analyzer does not see that meshes change places before they are freed
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
  memcpy(to->vertices, from->vertices, from->nvertex * STRIDE);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
  memcpy(to->triangles, from->triangles, 3 * from->ntriangle * sizeof *to->triangles);
  return true;
}

static void destroy_all(tbi_simple_mesh *mesh, size_t count) {
  for (size_t i = 0; mesh && i < count; ++i)
    tbi_simple_mesh_destroy(&mesh[i]);
  free(mesh);
}

/* coarse[count]: the meshes reduced to an error; NULL when there is no memory. */
static tbi_simple_mesh *reduced(const tbi_simple_mesh *mesh, size_t count, double error) {
  tbi_simple_mesh *coarse = calloc(count + 1, sizeof *coarse);
  for (size_t i = 0; coarse && i < count; ++i) {
    if (copy(&coarse[i], &mesh[i]) && tbi_simple_mesh_reduce(&coarse[i], 0, error)) continue;
    destroy_all(coarse, count);
    return NULL;
  }
  return coarse;
}

/* The fine meshes have too many triangles, the coarse ones fewer than they may: each mesh gives up
 * the same part of what lies between. */
static bool meet(tbi_simple_mesh *fine, const tbi_simple_mesh *coarse, size_t count,
                 size_t ntriangle, double error) {
  double most = (double)total(fine, count), least = (double)total(coarse, count);
  double part = ((double)ntriangle - least) / (most - least);
  for (size_t i = 0; i < count; ++i) {
    double between = (double)fine[i].ntriangle - (double)coarse[i].ntriangle;
    size_t wanted = coarse[i].ntriangle + (size_t)(part * between);
    if (!tbi_simple_mesh_reduce(&fine[i], wanted, error)) return false;
  }
  return true;
}

/* What topology keeps too fine. */
static bool fit_roughly(tbi_simple_mesh *mesh, size_t count, size_t ntriangle) {
  double part = (double)ntriangle / (double)total(mesh, count);
  for (size_t i = 0; i < count && part < 1; ++i) {
    size_t wanted = (size_t)(part * (double)mesh[i].ntriangle);
    if (!tbi_simple_mesh_reduce_roughly(&mesh[i], wanted)) return false;
  }
  return true;
}

bool tbi_simple_meshes_fit(tbi_simple_mesh *mesh, size_t count, size_t ntriangle) {
  double size = largest(mesh, count);
  for (size_t k = 0; k < sizeof errors / sizeof *errors && total(mesh, count) > ntriangle; ++k) {
    tbi_simple_mesh *coarse = reduced(mesh, count, errors[k] * size);
    if (!coarse) return false;
    if (total(coarse, count) <= ntriangle) {
      bool met = meet(mesh, coarse, count, ntriangle, errors[k] * size);
      destroy_all(coarse, count);
      return met;
    }
    for (size_t i = 0; i < count; ++i) {
      tbi_simple_mesh fine = mesh[i];
      mesh[i] = coarse[i];
      coarse[i] = fine;
    }
    destroy_all(coarse, count);
  }
  return total(mesh, count) <= ntriangle || fit_roughly(mesh, count, ntriangle);
}
