/* robot_description.h - the text of a robot's URDF, as ROS programs expect it. */
#ifndef TBI_ROBOT_DESCRIPTION_H
#define TBI_ROBOT_DESCRIPTION_H

#include "tabi/tabi_record.h"

/* The text of the file that a robot was read from, if that is a URDF; the caller frees it.  NULL:
 * it is none, cannot be read, or there is no memory; *file is its path, or NULL where none is
 * known. */
char *tbi_robot_description(const tabi_scene *scene, int32_t robot, const char **file);

#endif
