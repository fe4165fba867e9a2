/* msh.c - reads MuJoCo's own mesh format, all numbers of 4 bytes, the least byte first:
 *
 *   counts of vertices, normals, texture coordinates, faces
 *   3 numbers for each vertex, 3 for each normal, 2 for each texture coordinate
 *   3 vertices for each face
 *
 * Without faces the mesh is the convex hull of its vertices. */
#include "io/mesh/mesh_file.h"

#include "base/error.h"
#include "io/first_error.h"
#include "io/mesh/hull.h"
#include "io/weld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 16

typedef struct source {
  const unsigned char *vertices, *faces;
  uint32_t nvertex, nface;
  const char *name;
  tabi_place place;
  tbi_first_error *error;
} source;

static uint32_t load_u32(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double load_f32(const unsigned char *b) {
  uint32_t bits = load_u32(b);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static bool read_head(source *s, const unsigned char *bytes, size_t size) {
  if (size < HEAD_BYTES) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': MSH file of %zu bytes is "
                       "too short",
                       s->name, size);
  }
  uint64_t n[4];
  for (size_t i = 0; i < 4; ++i)
    n[i] = load_u32(bytes + 4 * i);
  if (n[0] > TBI_MESH_MAX_VERTICES || n[3] > TBI_MESH_MAX_FACES) {
    return tbi_fail_at(
        s->error, TABI_ERR_PARSE, s->place,
        "mesh '%s': MSH file declares %llu vertices and %llu faces, limits %d and %d", s->name,
        (unsigned long long)n[0], (unsigned long long)n[3], TBI_MESH_MAX_VERTICES,
        TBI_MESH_MAX_FACES);
  }
  uint64_t needed = HEAD_BYTES + 12 * n[0] + 12 * n[1] + 8 * n[2] + 12 * n[3];
  if (needed != size) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': MSH file should have %llu bytes by its head, but has %zu",
                       s->name, (unsigned long long)needed, size);
  }
  s->nvertex = (uint32_t)n[0];
  s->nface = (uint32_t)n[3];
  s->vertices = bytes + HEAD_BYTES;
  s->faces = bytes + size - 12 * (size_t)s->nface;
  return true;
}

static bool load_vertex(const source *s, uint32_t i, double vertex[3]) {
  for (size_t k = 0; k < 3; ++k) {
    vertex[k] = load_f32(s->vertices + 12 * (size_t)i + 4 * k);
    if (isfinite(vertex[k])) continue;
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%s': vertex %u not finite",
                       s->name, (unsigned)i + 1);
  }
  return true;
}

static bool read_face(const source *s, tbi_weld *w, uint32_t face) {
  double corners[9];
  for (size_t k = 0; k < 3; ++k) {
    uint32_t vertex = load_u32(s->faces + 12 * (size_t)face + 4 * k);
    if (vertex >= s->nvertex) {
      return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                         "mesh '%s': face %u uses vertex %u of %u", s->name, (unsigned)face + 1,
                         (unsigned)vertex, (unsigned)s->nvertex);
    }
    if (!load_vertex(s, vertex, corners + 3 * k)) return false;
  }
  return tbi_weld_face(w, corners);
}

static tabi_status read_points(const source *s, tbi_mesh *mesh) {
  double *points = malloc(((size_t)s->nvertex * 3 + 1) * sizeof *points);
  if (!points) {
    tbi_fail_memory(s->error);
    return s->error->status;
  }
  for (uint32_t i = 0; i < s->nvertex && tbi_ok(s->error); ++i)
    (void)load_vertex(s, i, points + 3 * (size_t)i);
  if (tbi_ok(s->error)) {
    tbi_take(s->error,
             tbi_hull_mesh(points, (int32_t)s->nvertex, s->name, s->place, mesh, s->error->err));
  }
  free(points);
  return s->error->status;
}

tabi_status tbi_msh_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {.name = name, .place = place, .error = &error};
  tbi_weld w;
  *mesh = (tbi_mesh){0};
  if (!read_head(&s, bytes, size)) return error.status;
  if (s.nface == 0) return read_points(&s, mesh);
  tbi_weld_begin(&w, mesh, s.nface);
  for (uint32_t i = 0; i < s.nface && read_face(&s, &w, i); ++i) {
  }
  return tbi_weld_finish(&w, &error, name, place);
}
