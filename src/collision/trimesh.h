/* trimesh.h - ground made of triangles: its faces with their neighbours, and a tree of boxes.
 *
 * Triangles are counter-clockwise seen from the free side; behind them the ground is solid.  What
 * two triangles make of the edge between them decides what may touch it:
 *
 *   convex  /\   the edge itself can be touched, from any side between the two normals
 *   concave \/   only the faces can be touched, and both of them reach into the corner
 *   flat    --   there is nothing to touch: what slides from face to face must not feel it
 *   border       like convex, with nothing behind it */
#ifndef TBI_TRIMESH_H
#define TBI_TRIMESH_H

#include "base/layout.h"
#include "model/model.h"

typedef enum tbi_edge_kind {
  TBI_EDGE_FLAT,
  TBI_EDGE_CONCAVE,
  TBI_EDGE_CONVEX,
  TBI_EDGE_BORDER,
} tbi_edge_kind;

/* the sine of the angle between two faces below which their edge is flat */
#define TBI_EDGE_FLATNESS 1e-5

typedef struct tbi_trimesh_edge {
  int32_t vertex[2];  /* the first face has them in this order */
  int32_t face[2];    /* the second is TABI_NONE at a border */
  tbi_edge_kind kind; /* of several faces that share it, the first two count, as border */
} tbi_trimesh_edge;

typedef struct tbi_trimesh_face {
  v3 normal; /* unit; zero for a triangle without area, which touches nothing */
  int32_t vertex[3];
  int32_t edge[3]; /* from a vertex to the next */
} tbi_trimesh_face;

/* A leaf has 1 to TBI_TRIMESH_LEAF faces, order[link] and on.  Of an inner node (count 0) one child
 * is the next node and the other is node[link]. */
typedef struct tbi_trimesh_node {
  double low[3], high[3];
  int32_t count, link;
} tbi_trimesh_node;

#define TBI_TRIMESH_LEAF  2
#define TBI_TRIMESH_DEPTH 64 /* levels of the tree at most: it is split in the middle */

typedef struct tbi_trimesh {
  const tabi_mesh_def *mesh;
  int32_t nface, nedge, nnode;
  tbi_trimesh_face *face; /* [nface] */
  tbi_trimesh_edge *edge; /* [nedge] of 3 nface */
  tbi_trimesh_node *node; /* [nnode] of 2 nface */
  int32_t *order;         /* [nface] faces as the leaves list them */
  int32_t *first, *spoke; /* edges at vertex i: spoke[first[i]] to spoke[first[i + 1] - 1] */
} tbi_trimesh;

/* Takes room for the mesh's arrays; then makes them.  Allocates nothing. */
void tbi_trimesh_place(tbi_layout *at, const tabi_mesh_def *mesh, tbi_trimesh *t);
void tbi_trimesh_make(tbi_trimesh *t);
/* trimesh_tree.c: the part of making that sorts faces into boxes. */
void tbi_trimesh_make_tree(tbi_trimesh *t);

static inline v3 tbi_trimesh_vertex(const tbi_trimesh *t, int32_t i) {
  return v3_load(t->mesh->vertices + 3 * (size_t)i);
}

/* Walks over the faces whose boxes meet a box, in an order that hangs on the mesh alone. */
typedef struct tbi_trimesh_walk {
  const tbi_trimesh *t;
  double low[3], high[3];
  int32_t stack[TBI_TRIMESH_DEPTH];
  int32_t depth;
  int32_t next, end; /* faces of the present leaf, in order[] */
  int32_t visited;   /* nodes looked at so far */
} tbi_trimesh_walk;

tbi_trimesh_walk tbi_trimesh_begin(const tbi_trimesh *t, const double low[3], const double high[3]);
/* The next face, or TABI_NONE. */
int32_t tbi_trimesh_next(tbi_trimesh_walk *walk);

/* Whether a unit direction is one in which the ground can push at a place on an edge, to a slack in
 * its sine.  `at` is where on the edge: 0 and 1 are its vertices. */
bool tbi_trimesh_allows(const tbi_trimesh *t, int32_t edge, double at, v3 direction, double slack);
/* The point of a face nearest to p. */
v3 tbi_trimesh_nearest(const tbi_trimesh *t, int32_t face, v3 p);

#endif
