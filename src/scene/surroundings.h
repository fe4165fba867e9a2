/* surroundings.h - what of a robot's file is not the robot. */
#ifndef TBI_SURROUNDINGS_H
#define TBI_SURROUNDINGS_H

#include "tabi/tabi.h"

typedef struct tbi_surroundings {
  tabi_builder *builder;
  int32_t first_link; /* of the robot, which is the last in the builder */
  int32_t *top;       /* per link from there: the one of its tree that hangs on the world */
  bool *own;          /* of such links: the tree is part of the robot */
} tbi_surroundings;

/* False: out of memory.  The caller frees. */
bool tbi_surroundings_find(tbi_surroundings *s, tabi_builder *builder, int32_t first_link,
                           int32_t base);
void tbi_surroundings_free(tbi_surroundings *s);

/* Whether a link of the file, or the world, is none of the robot's. */
bool tbi_surroundings_hold(const tbi_surroundings *s, int32_t link);

/* Excludes links of the robot from those that they may not touch by the groups and masks of the
 * file's shapes. */
void tbi_surroundings_exclude(const tbi_surroundings *s, const tabi_shape_def *shape,
                              int32_t count);

#endif
