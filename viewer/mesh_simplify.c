/* mesh_simplify.c - fewer triangles by clustering: all vertices in a cell of a grid become one in
 * their middle, and triangles that keep less than three corners vanish.  The grid grows coarser
 * until few enough are left. */
#include "mesh_simplify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CELLS = 4 };

typedef struct member {
  uint64_t cell;
  int32_t vertex;
} member;

static int compare_members(const void *a, const void *b) {
  const member *p = a, *q = b;
  if (p->cell != q->cell) return p->cell < q->cell ? -1 : 1;
  return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

typedef struct extent {
  double low[3], size; /* size: of the longest edge */
} extent;

static extent measure(const tabi_mesh_def *mesh) {
  extent e = {.size = 0};
  for (int k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < (size_t)mesh->nvertex; ++i) {
      low = fmin(low, mesh->vertices[3 * i + (size_t)k]);
      high = fmax(high, mesh->vertices[3 * i + (size_t)k]);
    }
    e.low[k] = low;
    e.size = fmax(e.size, high - low);
  }
  return e;
}

static uint64_t cell_of(const extent *e, const double *point, int cells) {
  uint64_t cell = 0;
  for (int k = 0; k < 3; ++k) {
    double at = e->size > 0 ? (point[k] - e->low[k]) / e->size * cells : 0;
    cell = cell << 20 | (uint64_t)fmin(at, cells - 1);
  }
  return cell;
}

/* One vertex for every cell; becomes[nvertex] tells which. */
static void gather(const tabi_mesh_def *mesh, const extent *e, int cells, member *members,
                   tbi_simple_mesh *simple, int32_t *becomes) {
  size_t count = (size_t)mesh->nvertex;
  for (size_t i = 0; i < count; ++i)
    members[i] = (member){cell_of(e, mesh->vertices + 3 * i, cells), (int32_t)i};
  qsort(members, count, sizeof *members, compare_members);
  simple->nvertex = 0;
  for (size_t from = 0, to = 0; from < count; from = to) {
    double *middle = simple->vertices + 3 * (size_t)simple->nvertex;
    memset(middle, 0, 3 * sizeof *middle);
    for (to = from; to < count && members[to].cell == members[from].cell; ++to) {
      for (size_t k = 0; k < 3; ++k)
        middle[k] += mesh->vertices[3 * (size_t)members[to].vertex + k];
      becomes[members[to].vertex] = simple->nvertex;
    }
    for (size_t k = 0; k < 3; ++k)
      middle[k] /= (double)(to - from);
    ++simple->nvertex;
  }
}

static void keep_faces(const tabi_mesh_def *mesh, const int32_t *becomes, tbi_simple_mesh *simple) {
  simple->nface = 0;
  for (size_t i = 0; i < (size_t)mesh->nface; ++i) {
    const int32_t *face = mesh->faces + 3 * i;
    int32_t *kept = simple->faces + 3 * (size_t)simple->nface;
    for (int k = 0; k < 3; ++k)
      kept[k] = becomes[face[k]];
    if (kept[0] != kept[1] && kept[1] != kept[2] && kept[2] != kept[0]) ++simple->nface;
  }
}

bool tbi_mesh_simplify(const tabi_mesh_def *mesh, int32_t max_faces, tbi_simple_mesh *simple) {
  size_t nvertex = (size_t)mesh->nvertex, nface = (size_t)mesh->nface;
  *simple = (tbi_simple_mesh){.vertices = malloc((3 * nvertex + 1) * sizeof *simple->vertices),
                              .faces = malloc((3 * nface + 1) * sizeof *simple->faces)};
  member *members = malloc((nvertex + 1) * sizeof *members);
  int32_t *becomes = malloc((nvertex + 1) * sizeof *becomes);
  bool room = simple->vertices && simple->faces && members && becomes;
  if (room) {
    extent e = measure(mesh);
    // a sheet of so many cells a side has twice their square of triangles
    int cells = MIN_CELLS + (int)sqrt((double)max_faces);
    do {
      gather(mesh, &e, cells, members, simple, becomes);
      keep_faces(mesh, becomes, simple);
      cells = cells * 4 / 5;
    } while (simple->nface > max_faces && cells >= MIN_CELLS);
  }
  free(members);
  free(becomes);
  if (!room) tbi_simple_mesh_free(simple);
  return room;
}

void tbi_simple_mesh_free(tbi_simple_mesh *simple) {
  free(simple->vertices);
  free(simple->faces);
  *simple = (tbi_simple_mesh){0};
}
