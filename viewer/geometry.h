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

/* Sets foot[nlink] of all links of robots that are as low as the robot's lowest, at the start.
 * False when there is no memory. */
bool tbi_find_feet(const tabi_scene *scene, bool *foot);

#endif
