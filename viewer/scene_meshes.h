/* scene_meshes.h - the meshes of a scene description. */
#ifndef TBI_VIEWER_SCENE_MESHES_H
#define TBI_VIEWER_SCENE_MESHES_H

#include "tabi/tabi.h"

#include <jansson.h>

/* What the meshes of a scene may have together; where they have more, they are simplified. */
enum { TBI_MAX_TRIANGLES = 200000 };

/* [{vertices, triangles}], as docs/viewer.md says; NULL when there is no memory. */
json_t *tbi_scene_meshes_json(const tabi_model *model);

#endif
