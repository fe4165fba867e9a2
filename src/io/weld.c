/* weld.c - vertices are joined by a hash of their coordinates, which must agree exactly. */
#include "io/weld.h"

#include "base/array.h"
#include "io/mesh/mesh_file.h"

#include <stdlib.h>
#include <string.h>

#define VERTEX_SIZE (3 * sizeof(double))
#define FACE_SIZE   (3 * sizeof(int32_t))

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

static bool make_slots(tbi_weld *w, size_t count) {
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots) return false;
  free(w->slots);
  w->slots = slots;
  w->mask = (uint32_t)(count - 1);
  return true;
}

/* A closed mesh has half as many vertices as faces. */
void tbi_weld_begin(tbi_weld *w, tbi_mesh *mesh, size_t nface) {
  if (nface > TBI_MESH_MAX_FACES) nface = TBI_MESH_MAX_FACES;
  int32_t room = (int32_t)nface + 16;
  size_t slots = 64;
  while (slots < (size_t)room)
    slots *= 2;
  *mesh = (tbi_mesh){0};
  *w = (tbi_weld){.mesh = mesh};
  void *vertices = NULL;
  void *faces = NULL;
  w->no_memory = !tbi_array_reserve(&vertices, &w->cap_vertex, 0, room / 2, VERTEX_SIZE) ||
                 !tbi_array_reserve(&faces, &w->cap_face, 0, room, FACE_SIZE) ||
                 !make_slots(w, slots);
  mesh->vertices = vertices;
  mesh->faces = faces;
}

static uint32_t free_slot(const tbi_weld *w, const double point[3]) {
  uint32_t slot = hash_point(point) & w->mask;
  while (w->slots[slot] != 0)
    slot = (slot + 1) & w->mask;
  return slot;
}

/* Room for three more vertices and a face. */
static bool grow(tbi_weld *w) {
  tbi_mesh *mesh = w->mesh;
  void *vertices = mesh->vertices;
  void *faces = mesh->faces;
  bool room = tbi_array_reserve(&vertices, &w->cap_vertex, mesh->nvertex, 3, VERTEX_SIZE);
  mesh->vertices = vertices;
  room = tbi_array_reserve(&faces, &w->cap_face, mesh->nface, 1, FACE_SIZE) && room;
  mesh->faces = faces;
  if (!room) return false;
  // at most half of the slots are taken
  if (2 * ((size_t)mesh->nvertex + 3) <= (size_t)w->mask + 1) return true;
  if (!make_slots(w, 2 * ((size_t)w->mask + 1))) return false;
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    w->slots[free_slot(w, mesh->vertices + 3 * (size_t)i)] = (uint32_t)i + 1;
  return true;
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

bool tbi_weld_face(tbi_weld *w, const double corners[9]) {
  if (w->no_memory || w->too_many) return false;
  w->too_many = w->mesh->nface >= TBI_MESH_MAX_FACES;
  w->no_memory = !w->too_many && !grow(w);
  if (w->no_memory || w->too_many) return false;
  int32_t a = weld_vertex(w, corners);
  int32_t b = weld_vertex(w, corners + 3);
  int32_t c = weld_vertex(w, corners + 6);
  if (a == b || b == c || c == a) return true;
  int32_t *face = w->mesh->faces + 3 * (size_t)w->mesh->nface++;
  face[0] = a;
  face[1] = b;
  face[2] = c;
  return true;
}

tabi_status tbi_weld_finish(tbi_weld *w, tbi_first_error *error, const char *name,
                            tabi_place place) {
  free(w->slots);
  w->slots = NULL;
  if (w->no_memory) tbi_fail_memory(error);
  if (w->too_many) {
    tbi_fail_at(error, TABI_ERR_PARSE, place, "mesh '%.200s': more than %d faces; simplify it",
                name, TBI_MESH_MAX_FACES);
  }
  if (w->mesh->nface == 0)
    tbi_fail_at(error, TABI_ERR_PARSE, place, "mesh '%.200s': no face with area", name);
  if (!tbi_ok(error)) tbi_mesh_free(w->mesh);
  return error->status;
}
