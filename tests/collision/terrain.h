/* terrain.h - ground made of triangles with its tree, as one solid at the origin. */
#ifndef TEST_TERRAIN_H
#define TEST_TERRAIN_H

#include "collision/solids.h"
#include "collision/trimesh.h"
#include "support/ground.h"

typedef struct terrain {
  ground g;
  tabi_mesh_def mesh;
  void *memory;
  tbi_trimesh trimesh;
  tbi_solid solid;
} terrain;

/* Takes the ground over. */
void terrain_make(terrain *t, ground g, tabi_shape_type type);
void terrain_free(terrain *t);

#endif
