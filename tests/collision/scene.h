/* scene.h - small models for the tests of the whole pass over all shapes. */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "collision/collision.h"
#include "collision/pair_table.h"

#define SCENE_CANDIDATES 20000

/* A model with its state and workspace. */
typedef struct scene {
  tabi_model *model;
  tabi_dynamics *dynamics;
  tbi_collision *collision;
  void *memory;
  double *margin; /* [nshape] */
  double *q, *v;
  tbi_candidate *candidate; /* [SCENE_CANDIDATES] */
  int32_t ncandidate;
} scene;

/* A link of 1 kg; on a joint of that type under the parent, or standing when it is fixed. */
int32_t scene_link(tabi_builder *builder, int32_t parent, tabi_joint_type type);
/* A shape of that type and size in the middle of a link. */
int32_t scene_shape(tabi_builder *builder, int32_t link, tabi_shape_type type, double x, double y,
                    double z);

/* Builds the model and destroys the builder. */
void scene_make(scene *s, tabi_builder *builder, double margin);
void scene_free(scene *s);
/* Puts the free body of a link at a place; its joint must be the link's own number. */
void scene_put(scene *s, int32_t link, v3 pos, q4 quat);
/* Collides at the present q. */
void scene_collide(scene *s);
/* Where a shape is. */
tbi_solid scene_solid(const scene *s, int32_t shape);

#endif
