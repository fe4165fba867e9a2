/* hull_graph.c - see hull_graph.h.
 *
 * The three edges of every triangle, each from one vertex to the next, are put in the order of the
 * vertices that they leave.  A mesh is a hull if each edge has one that runs back, the triangles of
 * both do not rise above each other, and it has the edges of a ball (Euler). */
#include "model/hull_graph.h"

#include "model/builder.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define FEW   24   /* vertices that are asked faster than climbed */
#define LEVEL 1e-7 /* of the mesh's size, by which triangles may rise above each other */

/* A mesh while its graph is made. */
typedef struct graph {
  const tabi_mesh_def *mesh;
  int32_t *first, *neighbour, *face;
  double level; /* m */
} graph;

static bool is_climbed(const tabi_shape_def *shape, const tabi_mesh_def *mesh) {
  return shape->collides && shape->type == TABI_SHAPE_MESH && mesh[shape->mesh].nvertex > FEW;
}

void tbi_count_hulls(const tabi_builder *builder, tabi_model *model) {
  const tabi_shape_def *shape = builder->shapes.items;
  const tabi_mesh_def *mesh = builder->meshes.items;
  for (int32_t i = 0; i < builder->shapes.count; ++i) {
    if (!is_climbed(&shape[i], mesh)) continue;
    model->nhull_first += (int64_t)mesh[shape[i].mesh].nvertex + 1;
    model->nhull_edge += 3 * (int64_t)mesh[shape[i].mesh].nface;
    model->nhull_start += TBI_HULL_CELLS;
  }
}

static v3 vertex_of(const tabi_mesh_def *mesh, int32_t i) {
  return v3_load(mesh->vertices + 3 * (ptrdiff_t)i);
}

static v3 mean_of(const tabi_mesh_def *mesh) {
  v3 sum = v3_zero();
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    sum = v3_add(sum, vertex_of(mesh, i));
  return v3_scale(1.0 / mesh->nvertex, sum);
}

static void sort_edges(graph *g) {
  const int32_t *face = g->mesh->faces;
  int32_t nedge = 3 * g->mesh->nface;
  for (int32_t e = 0; e < nedge; ++e)
    ++g->first[face[e] + 1];
  for (int32_t i = 0; i < g->mesh->nvertex; ++i)
    g->first[i + 1] += g->first[i];
  for (int32_t e = nedge - 1; e >= 0; --e) {
    int32_t triangle = e - e % 3;
    int32_t at = --g->first[face[e] + 1]; /* moves from the end of its vertex to the beginning */
    g->neighbour[at] = face[triangle + (e + 1) % 3];
    g->face[at] = e / 3;
  }
  /* every entry now tells where the vertex before it begins */
  for (int32_t i = 0; i < g->mesh->nvertex; ++i)
    g->first[i] = g->first[i + 1];
  g->first[g->mesh->nvertex] = nedge;
}

/* The edge from one vertex to another; TABI_NONE if there is none or more than one. */
static int32_t find_edge(const graph *g, int32_t from, int32_t to) {
  int32_t found = TABI_NONE;
  for (int32_t e = g->first[from]; e < g->first[from + 1]; ++e) {
    if (g->neighbour[e] != to) continue;
    if (found != TABI_NONE) return TABI_NONE;
    found = e;
  }
  return found;
}

/* the third vertex of an edge's triangle */
static v3 apex_of(const graph *g, int32_t from, int32_t edge) {
  const int32_t *f = g->mesh->faces + 3 * (ptrdiff_t)g->face[edge];
  int k = 0;
  while (k < 2 && (f[k] != from || f[k + 1] != g->neighbour[edge]))
    ++k;
  return vertex_of(g->mesh, f[(k + 2) % 3]);
}

/* Whether the triangles on both sides of an edge do not rise above each other. */
static bool is_ridge(const graph *g, int32_t from, int32_t edge) {
  int32_t back = find_edge(g, g->neighbour[edge], from);
  if (back == TABI_NONE || find_edge(g, from, g->neighbour[edge]) != edge) return false;
  v3 p = vertex_of(g->mesh, from);
  v3 along = v3_sub(vertex_of(g->mesh, g->neighbour[edge]), p);
  v3 n = v3_cross(along, v3_sub(apex_of(g, from, edge), p));
  double above = v3_dot(n, v3_sub(apex_of(g, g->neighbour[edge], back), p));
  return above <= g->level * v3_norm(n);
}

static bool is_hull(const graph *g) {
  int64_t nface = g->mesh->nface;
  if (g->mesh->nvertex - nface / 2 != 2 || nface % 2 != 0) return false;
  for (int32_t i = 0; i < g->mesh->nvertex; ++i) {
    if (g->first[i + 1] - g->first[i] < 3) return false;
    for (int32_t e = g->first[i]; e < g->first[i + 1]; ++e) {
      if (!is_ridge(g, i, e)) return false;
    }
  }
  return true;
}

/* the middle of a cell */
static v3 cell_direction(int32_t cell) {
  double part[3];
  int32_t side = cell / 9;
  int32_t axis = side / 2;
  part[axis] = side % 2 ? -1 : 1;
  int32_t column = cell % 9 / 3 - 1;
  int32_t row = cell % 3 - 1;
  part[(axis + 1) % 3] = column * 2.0 / 3;
  part[(axis + 2) % 3] = row * 2.0 / 3;
  return v3_load(part);
}

static int32_t farthest(const tabi_mesh_def *mesh, v3 dir) {
  int32_t best = 0;
  double most = v3_dot(vertex_of(mesh, 0), dir);
  for (int32_t i = 1; i < mesh->nvertex; ++i) {
    double along = v3_dot(vertex_of(mesh, i), dir);
    if (along <= most) continue;
    most = along;
    best = i;
  }
  return best;
}

static double size_of(const tabi_mesh_def *mesh) {
  v3 d = v3_make(1, 1, 1);
  v3 far = vertex_of(mesh, farthest(mesh, d));
  return v3_norm(v3_sub(far, vertex_of(mesh, farthest(mesh, v3_neg(d)))));
}

/* False if the mesh is no hull: nothing but speed is lost. */
static bool make_graph(graph *g, int32_t *start) {
  const tabi_mesh_def *mesh = g->mesh;
  g->level = LEVEL * size_of(mesh);
  sort_edges(g);
  bool hull = is_hull(g);
  for (int32_t cell = 0; hull && cell < TBI_HULL_CELLS; ++cell)
    start[cell] = farthest(mesh, cell_direction(cell));
  return hull;
}

/* A graph that was kept: whether there is one, then first, neighbour, face and start. */
static size_t graph_size(const tabi_mesh_def *mesh) {
  return 1 + ((size_t)mesh->nvertex + 1) + 6 * (size_t)mesh->nface + TBI_HULL_CELLS;
}

static bool keep_graph(const tabi_mesh_def *mesh, tbi_mesh_store *store) {
  if (store->graph) return true;
  store->graph = calloc(graph_size(mesh), sizeof *store->graph);
  if (!store->graph) return false;
  graph g = {.mesh = mesh, .first = store->graph + 1};
  g.neighbour = g.first + mesh->nvertex + 1;
  g.face = g.neighbour + 3 * (ptrdiff_t)mesh->nface;
  store->graph[0] = make_graph(&g, g.face + 3 * (ptrdiff_t)mesh->nface);
  return true;
}

bool tbi_keep_hull_graphs(tabi_builder *builder, int32_t first) {
  const tabi_shape_def *shapes = builder->shapes.items;
  const tabi_mesh_def *mesh = builder->meshes.items;
  tbi_mesh_store *store = builder->mesh_stores.items;
  for (int32_t i = 0; i < builder->shapes.count; ++i) {
    tabi_shape_def shape = shapes[i];
    shape.mesh -= first;
    if (shape.mesh < 0 || !is_climbed(&shape, mesh)) continue;
    if (!keep_graph(&mesh[shape.mesh], &store[shape.mesh])) return false;
  }
  return true;
}

static bool copy_graph(const int32_t *kept, const graph *g, int32_t *start) {
  size_t nfirst = (size_t)g->mesh->nvertex + 1;
  size_t nedge = 3 * (size_t)g->mesh->nface;
  if (kept[0] == 0) return false;
  memcpy(g->first, kept + 1, nfirst * sizeof *kept);
  memcpy(g->neighbour, kept + 1 + nfirst, nedge * sizeof *kept);
  memcpy(g->face, kept + 1 + nfirst + nedge, nedge * sizeof *kept);
  memcpy(start, kept + 1 + nfirst + 2 * nedge, TBI_HULL_CELLS * sizeof *kept);
  return true;
}

void tbi_fill_hulls(const tabi_builder *builder, tabi_model *model) {
  const tbi_mesh_store *store = builder->mesh_stores.items;
  int32_t *first = model->hull_first;
  int32_t *edge = model->hull_edge;
  int32_t *face = model->hull_face;
  int32_t *start = model->hull_start;
  for (int32_t i = 0; i < model->nmesh; ++i)
    model->hull[i].centre = model->mesh[i].nvertex > 0 ? mean_of(&model->mesh[i]) : v3_zero();
  for (int32_t i = 0; i < model->nshape; ++i) {
    if (!is_climbed(&model->shape[i], model->mesh)) continue;
    int32_t index = model->shape[i].mesh;
    const tabi_mesh_def *mesh = &model->mesh[index];
    tbi_hull *hull = &model->hull[index];
    graph g = {.mesh = mesh, .first = first, .neighbour = edge, .face = face};
    const int32_t *kept = store[index].graph;
    if (!hull->first && (kept ? copy_graph(kept, &g, start) : make_graph(&g, start))) {
      hull->first = first;
      hull->neighbour = edge;
      hull->face = face;
      hull->start = start;
    }
    first += mesh->nvertex + 1;
    edge += 3 * (ptrdiff_t)mesh->nface;
    face += 3 * (ptrdiff_t)mesh->nface;
    start += TBI_HULL_CELLS;
  }
}
