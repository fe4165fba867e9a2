/* geometry.h - geometry that the scene description tells besides shapes: inertia boxes, robots,
 * feet. */
#ifndef TBI_VIEWER_GEOMETRY_H
#define TBI_VIEWER_GEOMETRY_H

#include "tabi/tabi_io.h"

/* The solid box with a link's mass and inertia, around its centre of mass: its axes in the link's
 * frame and half its edges.  All zero for a link without mass. */
typedef struct tbi_inertia_box {
  double quat[4], half[3];
} tbi_inertia_box;
tbi_inertia_box tbi_inertia_box_of(const tabi_link_def *link);

/* The robot to whose tree a link belongs, or TABI_NONE. */
int32_t tbi_robot_of(const tabi_scene *scene, int32_t link);

/* What robots stand on: of each robot the shapes as low as its lowest at the start, and their
 * links. Only what collides counts. */
typedef struct tbi_feet {
  bool *link, *shape; /* [nlink], [nshape] */
} tbi_feet;

bool tbi_feet_find(tbi_feet *feet, const tabi_scene *scene); /* false when there is no memory */
void tbi_feet_free(tbi_feet *feet);

#endif
