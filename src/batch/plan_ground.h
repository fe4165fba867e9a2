/* plan_ground.h - the shapes that stand in the world and are no planes: blocks, stairs, height
 * fields, meshes of triangles.
 *
 *   surface of a moving shape and a standing one --> patch: a moving shape, and all standing ones
 *   with which it has the same surface
 *
 * The contacts of a patch have a fixed number of slots, however many shapes stand in the world. */
#ifndef TBI_PLAN_GROUND_H
#define TBI_PLAN_GROUND_H

#include "batch/plan_maker.h"

/* A shape of a body, in its frame. */
typedef struct tbi_plan_moving {
  int32_t item;
  tbi_solid solid;
} tbi_plan_moving;

/* The collision, whose standing shapes are at their places, and more for lane_ground.c. */
struct tbi_plan_ground {
  void *memory;
  tbi_collision *c;
  int32_t *stand;          /* items that stand: [nstand] */
  tbi_plan_moving *moving; /* of patches: [npatch] */
  int32_t room;
};

/* Fills stands, patches and their slots of a plan, and its ground, which takes the maker's memory.
 * False: a reason was found, or memory ran out. */
bool tbi_plan_ground_make(tbi_plan_maker *m);
void tbi_plan_ground_destroy(struct tbi_plan_ground *ground);

#endif
