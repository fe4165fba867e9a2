/* lock.h - joints that a scene fixes at their start. */
#ifndef TBI_SCENE_LOCK_H
#define TBI_SCENE_LOCK_H

#include "scene/scene.h"

/* Fixes the joints of a list of names, and all that are coupled to them, in the builder. */
bool tbi_scene_lock(tbi_scene_reader *r, int32_t index, const char *what,
                    const tbi_yaml_node *list);

#endif
