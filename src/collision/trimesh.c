/* trimesh.c - faces, edges and what may touch them.
 *
 * Edges are found by sorting all sides of all faces by their two vertices, so that the sides of
 * one edge come together; all in memory that was counted beforehand. */
#include "collision/trimesh.h"

#include "base/assertion.h"

/* how near to its end a place on an edge is taken for the vertex, as a part of the edge */
#define AT_VERTEX 1e-6

void tbi_trimesh_place(tbi_layout *at, const tabi_mesh_def *mesh, tbi_trimesh *t) {
  int64_t nface = mesh->nface;
  t->mesh = mesh;
  t->nface = mesh->nface;
  t->face = tbi_layout_take(at, nface, sizeof *t->face);
  t->edge = tbi_layout_take(at, 3 * nface, sizeof *t->edge);
  t->node = tbi_layout_take(at, 2 * nface, sizeof *t->node);
  t->order = tbi_layout_take(at, nface, sizeof *t->order);
  t->first = tbi_layout_take(at, (int64_t)mesh->nvertex + 2, sizeof *t->first);
  t->spoke = tbi_layout_take(at, 6 * nface, sizeof *t->spoke);
}

static void make_face(const tbi_trimesh *t, int32_t index) {
  tbi_trimesh_face *face = &t->face[index];
  v3 corner[3];
  for (int k = 0; k < 3; ++k) {
    face->vertex[k] = t->mesh->faces[3 * (size_t)index + (size_t)k];
    TBI_ASSERT(face->vertex[k] >= 0 && face->vertex[k] < t->mesh->nvertex);
    corner[k] = tbi_trimesh_vertex(t, face->vertex[k]);
  }
  v3 a = v3_sub(corner[1], corner[0]);
  v3 b = v3_sub(corner[2], corner[0]);
  v3 across = v3_cross(a, b);
  double area = v3_norm(across);
  double size = v3_dot(a, a) + v3_dot(b, b);
  face->normal = area > 1e-14 * size ? v3_scale(1 / area, across) : v3_zero();
}

static int compare_sides(const tbi_trimesh_edge *a, const tbi_trimesh_edge *b) {
  const int32_t key_a[3] = {a->vertex[0] < a->vertex[1] ? a->vertex[0] : a->vertex[1],
                            a->vertex[0] < a->vertex[1] ? a->vertex[1] : a->vertex[0], a->face[0]};
  const int32_t key_b[3] = {b->vertex[0] < b->vertex[1] ? b->vertex[0] : b->vertex[1],
                            b->vertex[0] < b->vertex[1] ? b->vertex[1] : b->vertex[0], b->face[0]};
  for (int i = 0; i < 3; ++i) {
    if (key_a[i] != key_b[i]) return key_a[i] < key_b[i] ? -1 : 1;
  }
  return 0;
}

/* by heap: in place, and never slow */
static void sort_sides(tbi_trimesh_edge *sides, int32_t count) {
  for (int32_t start = count / 2, end = count; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      tbi_trimesh_edge top = sides[0];
      sides[0] = sides[end];
      sides[end] = top;
    }
    int32_t hole = start;
    tbi_trimesh_edge moved = sides[hole];
    for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
      if (child + 1 < end && compare_sides(&sides[child + 1], &sides[child]) > 0) ++child;
      if (compare_sides(&sides[child], &moved) <= 0) break;
      sides[hole] = sides[child];
      hole = child;
    }
    sides[hole] = moved;
  }
}

static bool same_edge(const tbi_trimesh_edge *a, const tbi_trimesh_edge *b) {
  return (a->vertex[0] == b->vertex[0] && a->vertex[1] == b->vertex[1]) ||
         (a->vertex[0] == b->vertex[1] && a->vertex[1] == b->vertex[0]);
}

/* the corner of a face that is not on an edge */
static v3 opposite(const tbi_trimesh *t, int32_t face, const tbi_trimesh_edge *edge) {
  const int32_t *vertex = t->face[face].vertex;
  int k = 0;
  while (k < 2 && (vertex[k] == edge->vertex[0] || vertex[k] == edge->vertex[1]))
    ++k;
  return tbi_trimesh_vertex(t, vertex[k]);
}

static tbi_edge_kind kind_of(const tbi_trimesh *t, const tbi_trimesh_edge *edge) {
  v3 n0 = t->face[edge->face[0]].normal;
  v3 n1 = t->face[edge->face[1]].normal;
  /* a triangle without area lies between two that have one, and says nothing about them */
  if (v3_dot(n0, n0) == 0 || v3_dot(n1, n1) == 0) return TBI_EDGE_FLAT;
  v3 away = v3_sub(opposite(t, edge->face[1], edge), tbi_trimesh_vertex(t, edge->vertex[0]));
  double sine = v3_norm(v3_cross(n0, n1));
  if (v3_dot(n0, n1) > 0 && sine < TBI_EDGE_FLATNESS) return TBI_EDGE_FLAT;
  return v3_dot(n0, away) > 0 ? TBI_EDGE_CONCAVE : TBI_EDGE_CONVEX;
}

/* Makes one edge of `sides` neighbours in the sorted list. */
static void join_sides(const tbi_trimesh *t, const tbi_trimesh_edge *side, int32_t sides,
                       tbi_trimesh_edge *edge) {
  tbi_trimesh_edge made = side[0];
  made.kind = TBI_EDGE_BORDER;
  /* sides that run the same way belong to faces that look opposite ways */
  if (sides == 2 && side[0].vertex[0] == side[1].vertex[1]) {
    made.face[1] = side[1].face[0];
    made.kind = kind_of(t, &made);
  }
  *edge = made;
}

static void name_side(tbi_trimesh_face *face, const tbi_trimesh_edge *side, int32_t edge) {
  for (int k = 0; k < 3; ++k) {
    if (face->vertex[k] == side->vertex[0] && face->vertex[(k + 1) % 3] == side->vertex[1])
      face->edge[k] = edge;
  }
}

static void make_edges(tbi_trimesh *t) {
  int32_t count = 0;
  for (int32_t i = 0; i < t->nface; ++i) {
    const int32_t *vertex = t->face[i].vertex;
    for (int k = 0; k < 3; ++k)
      t->edge[count++] = (tbi_trimesh_edge){
          {vertex[k], vertex[(k + 1) % 3]},
          {i,         TABI_NONE          },
          TBI_EDGE_BORDER
      };
  }
  sort_sides(t->edge, count);
  t->nedge = 0;
  for (int32_t i = 0; i < count;) {
    int32_t end = i + 1;
    while (end < count && same_edge(&t->edge[i], &t->edge[end]))
      ++end;
    for (int32_t k = i; k < end; ++k)
      name_side(&t->face[t->edge[k].face[0]], &t->edge[k], t->nedge);
    join_sides(t, &t->edge[i], end - i, &t->edge[t->nedge++]);
    i = end;
  }
}

static void make_spokes(const tbi_trimesh *t) {
  int32_t nvertex = t->mesh->nvertex;
  for (int32_t i = 0; i < t->nedge; ++i) {
    for (int k = 0; k < 2; ++k)
      t->first[t->edge[i].vertex[k] + 2]++;
  }
  for (int32_t i = 0; i < nvertex; ++i)
    t->first[i + 2] += t->first[i + 1];
  /* first[i + 1] now says where the spokes of i begin, and moves to where they end */
  for (int32_t i = 0; i < t->nedge; ++i) {
    for (int k = 0; k < 2; ++k)
      t->spoke[t->first[t->edge[i].vertex[k] + 1]++] = i;
  }
}

void tbi_trimesh_make(tbi_trimesh *t) {
  for (int32_t i = 0; i < t->nface; ++i)
    make_face(t, i);
  make_edges(t);
  make_spokes(t);
  tbi_trimesh_make_tree(t);
}

/* No edge may lead from the vertex to where it is nearer, and one of the faces must look there. */
static bool vertex_allows(const tbi_trimesh *t, int32_t vertex, v3 direction, double slack) {
  bool seen = false;
  v3 from = tbi_trimesh_vertex(t, vertex);
  for (int32_t i = t->first[vertex]; i < t->first[vertex + 1]; ++i) {
    const tbi_trimesh_edge *edge = &t->edge[t->spoke[i]];
    int32_t other = edge->vertex[edge->vertex[0] == vertex ? 1 : 0];
    v3 along = v3_sub(tbi_trimesh_vertex(t, other), from);
    if (v3_dot(along, direction) > slack * v3_norm(along)) return false;
    for (int k = 0; k < 2; ++k) {
      if (edge->face[k] == TABI_NONE) continue;
      seen = seen || v3_dot(t->face[edge->face[k]].normal, direction) > 0;
    }
  }
  return seen;
}

bool tbi_trimesh_allows(const tbi_trimesh *t, int32_t edge, double at, v3 direction, double slack) {
  const tbi_trimesh_edge *e = &t->edge[edge];
  if (at < AT_VERTEX) return vertex_allows(t, e->vertex[0], direction, slack);
  if (at > 1 - AT_VERTEX) return vertex_allows(t, e->vertex[1], direction, slack);
  if (e->kind == TBI_EDGE_FLAT || e->kind == TBI_EDGE_CONCAVE) return false;
  v3 from = tbi_trimesh_vertex(t, e->vertex[0]);
  v3 along = v3_sub(tbi_trimesh_vertex(t, e->vertex[1]), from);
  if (fabs(v3_dot(along, direction)) > fmax(slack, 1e-6) * v3_norm(along)) return false;
  bool seen = false;
  for (int k = 0; k < 2; ++k) {
    if (e->face[k] == TABI_NONE) continue;
    /* into the face and square to the edge, where it must not come nearer */
    v3 normal = t->face[e->face[k]].normal;
    v3 inward = v3_cross(normal, k == 0 ? along : v3_neg(along));
    if (v3_dot(inward, direction) > slack * v3_norm(inward)) return false;
    seen = seen || v3_dot(normal, direction) > 0;
  }
  return seen;
}

v3 tbi_trimesh_nearest(const tbi_trimesh *t, int32_t face, v3 p) {
  TBI_ASSERT(face >= 0 && face < t->nface);
  const int32_t *vertex = t->face[face].vertex;
  v3 normal = t->face[face].normal;
  v3 best = v3_zero();
  double min = INFINITY;
  bool over = true;
  for (int k = 0; k < 3; ++k) {
    v3 from = tbi_trimesh_vertex(t, vertex[k]);
    v3 along = v3_sub(tbi_trimesh_vertex(t, vertex[(k + 1) % 3]), from);
    v3 to = v3_sub(p, from);
    if (v3_dot(v3_cross(normal, along), to) >= 0) continue;
    over = false;
    double length2 = v3_dot(along, along);
    double share = length2 > 0 ? v3_dot(along, to) / length2 : 0;
    v3 at = v3_axpy(from, share < 0 ? 0 : share > 1 ? 1 : share, along);
    v3 apart = v3_sub(p, at);
    double distance2 = v3_dot(apart, apart);
    if (distance2 < min) {
      min = distance2;
      best = at;
    }
  }
  if (!over) return best;
  v3 from = tbi_trimesh_vertex(t, vertex[0]);
  return v3_axpy(p, -v3_dot(normal, v3_sub(p, from)), normal);
}
