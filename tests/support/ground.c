/* ground.c - see ground.h. */
#include "support/ground.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

static ground make(int32_t nvertex, int32_t nface) {
  ground g = {.nvertex = nvertex, .nface = nface};
  g.vertices = malloc(3 * sizeof *g.vertices * (size_t)nvertex);
  g.faces = malloc(3 * sizeof *g.faces * (size_t)nface);
  assert_non_null(g.vertices);
  assert_non_null(g.faces);
  return g;
}

void ground_free(ground *g) {
  free(g->vertices);
  free(g->faces);
  *g = (ground){0};
}

static void put_face(ground *g, int32_t face, int32_t a, int32_t b, int32_t c) {
  int32_t *to = g->faces + 3 * (size_t)face;
  to[0] = a;
  to[1] = b;
  to[2] = c;
}

/* two faces for a cell with corners a b c d around it */
static void put_cell(ground *g, int32_t cell, const int32_t corner[4], bool flipped) {
  const int32_t *c = corner;
  if (flipped) {
    put_face(g, 2 * cell, c[0], c[1], c[3]);
    put_face(g, 2 * cell + 1, c[1], c[2], c[3]);
  } else {
    put_face(g, 2 * cell, c[0], c[1], c[2]);
    put_face(g, 2 * cell + 1, c[0], c[2], c[3]);
  }
}

ground ground_grid(rng *r, double size_x, double size_y, int32_t nx, int32_t ny, double jitter,
                   height_fn *height) {
  ground g = make((nx + 1) * (ny + 1), 2 * nx * ny);
  for (int32_t j = 0; j <= ny; ++j) {
    for (int32_t i = 0; i <= nx; ++i) {
      bool inner = i > 0 && i < nx && j > 0 && j < ny;
      double *v = g.vertices + 3 * (size_t)(j * (nx + 1) + i);
      v[0] = size_x * ((i + (inner ? rng_between(r, -jitter, jitter) : 0)) / nx - 0.5);
      v[1] = size_y * ((j + (inner ? rng_between(r, -jitter, jitter) : 0)) / ny - 0.5);
      v[2] = height ? height(v[0], v[1]) : 0;
    }
  }
  for (int32_t j = 0; j < ny; ++j) {
    for (int32_t i = 0; i < nx; ++i) {
      int32_t a = j * (nx + 1) + i;
      const int32_t corner[4] = {a, a + 1, a + nx + 2, a + nx + 1};
      put_cell(&g, j * nx + i, corner, rng_below(r, 2) == 1);
    }
  }
  return g;
}

ground ground_bowl(double radius, double rim, int32_t around, int32_t up) {
  const double pi = acos(-1);
  double last = acos(1 - rim / radius);
  ground g = make(around * up + 1, around * (2 * up - 1));
  double *bottom = g.vertices + 3 * (size_t)(around * up);
  bottom[0] = bottom[1] = bottom[2] = 0;
  int32_t face = 0;
  for (int32_t j = 0; j < up; ++j) {
    double angle = last * (j + 1) / up;
    for (int32_t i = 0; i < around; ++i) {
      double turn = 2 * pi * i / around;
      double *v = g.vertices + 3 * (size_t)(j * around + i);
      v[0] = radius * sin(angle) * cos(turn);
      v[1] = radius * sin(angle) * sin(turn);
      v[2] = radius * (1 - cos(angle));
      int32_t here = j * around + i;
      int32_t next = j * around + (i + 1) % around;
      if (j == 0) {
        put_face(&g, face++, around * up, here, next);
      } else {
        put_face(&g, face++, here - around, here, next);
        put_face(&g, face++, here - around, next, next - around);
      }
    }
  }
  return g;
}

ground ground_box(v3 size) {
  static const int32_t side[6][4] = {
      {0, 2, 3, 1},
      {4, 5, 7, 6},
      {0, 1, 5, 4},
      {2, 6, 7, 3},
      {0, 4, 6, 2},
      {1, 3, 7, 5}
  };
  ground g = make(8, 12);
  for (int32_t i = 0; i < 8; ++i) {
    double *v = g.vertices + 3 * (size_t)i;
    v[0] = (i & 1 ? 0.5 : -0.5) * size.x;
    v[1] = (i & 2 ? 0.5 : -0.5) * size.y;
    v[2] = (i & 4 ? 0.5 : -0.5) * size.z;
  }
  for (int32_t i = 0; i < 6; ++i)
    put_cell(&g, i, side[i], false);
  return g;
}

int32_t ground_add(tabi_builder *builder, ground *g, tabi_shape_type type, const double *quat,
                   int32_t material) {
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.name = "ground";
  mesh.nvertex = g->nvertex;
  mesh.nface = g->nface;
  mesh.vertices = g->vertices;
  mesh.faces = g->faces;
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = type;
  shape.link = TABI_WORLD;
  shape.mesh = tabi_builder_add_mesh(builder, &mesh);
  shape.material = material;
  if (quat) memcpy(shape.quat, quat, sizeof shape.quat);
  ground_free(g);
  return tabi_builder_add_shape(builder, &shape);
}
