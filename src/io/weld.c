/* weld.c - vertices are joined by a hash of their coordinates, which must agree exactly. */
#include "io/weld.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_point(const double point[3]) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 3; ++i) {
    uint64_t bits;
    memcpy(&bits, &point[i], sizeof bits);
    h = (h ^ bits) * 0xff51afd7ed558ccdu;
    h ^= h >> 33;
  }
  return (uint32_t)(h ^ (h >> 32));
}

/* as many vertices as corners at most */
bool tbi_weld_begin(tbi_weld *w, tbi_mesh *mesh, size_t nface) {
  TBI_ASSERT(nface > 0 && nface <= INT32_MAX / 3);
  size_t slots = 64;
  while (slots < 6 * nface)
    slots *= 2;
  *mesh = (tbi_mesh){0};
  mesh->vertices = malloc(9 * nface * sizeof *mesh->vertices);
  mesh->faces = malloc(3 * nface * sizeof *mesh->faces);
  w->mesh = mesh;
  w->slots = calloc(slots, sizeof *w->slots);
  w->mask = (uint32_t)(slots - 1);
  return mesh->vertices && mesh->faces && w->slots;
}

static int32_t weld_vertex(tbi_weld *w, const double corner[3]) {
  // adding zero makes -0 and 0 the same
  double point[3] = {corner[0] + 0.0, corner[1] + 0.0, corner[2] + 0.0};
  uint32_t slot = hash_point(point) & w->mask;
  for (; w->slots[slot] != 0; slot = (slot + 1) & w->mask) {
    int32_t known = (int32_t)(w->slots[slot] - 1);
    const double *v = w->mesh->vertices + 3 * (size_t)known;
    if (v[0] == point[0] && v[1] == point[1] && v[2] == point[2]) return known;
  }
  int32_t vertex = w->mesh->nvertex++;
  memcpy(w->mesh->vertices + 3 * (size_t)vertex, point, sizeof point);
  w->slots[slot] = (uint32_t)vertex + 1;
  return vertex;
}

void tbi_weld_face(tbi_weld *w, const double corners[9]) {
  TBI_ASSERT(w->slots);
  int32_t a = weld_vertex(w, corners);
  int32_t b = weld_vertex(w, corners + 3);
  int32_t c = weld_vertex(w, corners + 6);
  if (a == b || b == c || c == a) return;
  int32_t *face = w->mesh->faces + 3 * (size_t)w->mesh->nface++;
  face[0] = a;
  face[1] = b;
  face[2] = c;
}

tabi_status tbi_weld_finish(tbi_weld *w, tbi_first_error *error, const char *name,
                            tabi_place place) {
  free(w->slots);
  w->slots = NULL;
  if (w->mesh->nface == 0)
    tbi_fail_at(error, TABI_ERR_PARSE, place, "mesh '%s': no face with area", name);
  if (!tbi_ok(error)) tbi_mesh_free(w->mesh);
  return error->status;
}
