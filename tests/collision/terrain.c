/* terrain.c - see terrain.h. */
#include "collision/terrain.h"

#include "support/near.h"

#include <stdlib.h>

void terrain_make(terrain *t, ground g, tabi_shape_type type) {
  tbi_layout counting = {NULL, 0};
  *t = (terrain){.g = g};
  t->mesh = tabi_mesh_def_default();
  t->mesh.nvertex = g.nvertex;
  t->mesh.nface = g.nface;
  t->mesh.vertices = g.vertices;
  t->mesh.faces = g.faces;
  tbi_trimesh_place(&counting, &t->mesh, &t->trimesh);
  t->memory = calloc(1, counting.used + 64);
  assert_non_null(t->memory);
  tbi_layout at = {t->memory, 0};
  tbi_trimesh_place(&at, &t->mesh, &t->trimesh);
  tbi_trimesh_make(&t->trimesh);
  t->solid = (tbi_solid){.type = type, .ground = &t->trimesh};
  t->solid.axis[0] = v3_make(1, 0, 0);
  t->solid.axis[1] = v3_make(0, 1, 0);
  t->solid.axis[2] = v3_make(0, 0, 1);
}

void terrain_free(terrain *t) {
  ground_free(&t->g);
  free(t->memory);
}
