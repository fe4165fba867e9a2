/* ground.h - meshes for the tests of ground made of triangles. */
#ifndef TEST_GROUND_H
#define TEST_GROUND_H

#include "math/vec.h"
#include "support/rng.h"
#include "tabi/tabi.h"

/* A mesh that owns its arrays. */
typedef struct ground {
  double *vertices;
  int32_t *faces;
  int32_t nvertex, nface;
} ground;

typedef double height_fn(double x, double y);

/* A rectangle around the origin of nx x ny cells, each cut along the one or the other diagonal by
 * chance, inner vertices moved by up to `jitter` of a cell in the plane; z by the function, or 0
 * when it is NULL. */
ground ground_grid(rng *r, double size_x, double size_y, int32_t nx, int32_t ny, double jitter,
                   height_fn *height);
/* The inside of a ball's lower part: radius, height of its rim, cells around and up. */
ground ground_bowl(double radius, double rim, int32_t around, int32_t up);
/* A closed box of that size, 12 triangles that look outward. */
ground ground_box(v3 size);
void ground_free(ground *g);

/* Adds the mesh and a shape of it that stands in the world; frees it.  quat may be NULL. */
int32_t ground_add(tabi_builder *builder, ground *g, tabi_shape_type type, const double *quat,
                   int32_t material);

#endif
