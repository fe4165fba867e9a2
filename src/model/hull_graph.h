/* hull_graph.h - convex meshes as graphs of their vertices.
 *
 * On a convex mesh a vertex that is not the farthest in a direction has a neighbour that is
 * farther, so the farthest is found by climbing from a good start instead of asking all; and the
 * vertices above a plane hang together, so a face is found from one of its corners. */
#ifndef TBI_HULL_GRAPH_H
#define TBI_HULL_GRAPH_H

#include "math/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Directions are sorted into the cells of a cube whose six sides are cut into three by three. */
#define TBI_HULL_CELLS 54

/* Of a mesh that stands for its hull. */
typedef struct tbi_hull {
  v3 centre;                /* mean of the vertices */
  const int32_t *neighbour; /* of vertex i from first[i] to first[i + 1] */
  const int32_t *face;      /* the triangle to the left of each of these edges, ascending */
  const int32_t *first;     /* [nvertex + 1]; NULL: no graph, ask all vertices */
  const int32_t *start;     /* where to climb from: [TBI_HULL_CELLS] */
} tbi_hull;

/* The cell of a direction of any length. */
static inline int32_t tbi_hull_cell(v3 d) {
  double x = fabs(d.x);
  double y = fabs(d.y);
  double z = fabs(d.z);
  int32_t side = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  double size = side == 0 ? x : side == 1 ? y : z;
  double main = side == 0 ? d.x : side == 1 ? d.y : d.z;
  double u = 3 * (side == 0 ? d.y : side == 1 ? d.z : d.x);
  double v = 3 * (side == 0 ? d.z : side == 1 ? d.x : d.y);
  int32_t column = (u > -size) + (u > size);
  int32_t row = (v > -size) + (v > size);
  return 9 * (2 * side + (main < 0)) + 3 * column + row;
}

struct tabi_builder;
struct tabi_model;

/* Sets the counts of the arrays below in the model. */
void tbi_count_hulls(const struct tabi_builder *builder, struct tabi_model *model);
/* Fills hull, hull_first, hull_edge, hull_face and hull_start; needs shapes and meshes.  Graphs are
 * made of closed convex meshes with many vertices that a shape which collides uses. */
void tbi_fill_hulls(const struct tabi_builder *builder, struct tabi_model *model);
/* Makes these graphs once for all models to come.  The builder's shapes count its meshes from
 * `first` on; those before are not its own.  False: out of memory. */
bool tbi_keep_hull_graphs(struct tabi_builder *builder, int32_t first);

#endif
