/* load.h - models, scenes and worlds from files and text.  What cannot be loaded, created or
 * stepped fails the test. */
#ifndef TABI_TESTS_LOAD_H
#define TABI_TESTS_LOAD_H

#include "tabi/tabi_io.h"

/* models/NAME.urdf and scenes/NAME.yaml, as they ship */
tabi_model *load_shipped_model(const char *name);
tabi_scene *load_shipped_scene(const char *name, const tabi_scene_def *def);

tabi_model *load_model(const char *path);
tabi_scene *load_scene(const char *path, const tabi_scene_def *def);
/* Files that the text names are looked for beside the path. */
tabi_scene *load_scene_text(const char *text, const char *path, const tabi_scene_def *def);

/* A world at the initial state of the scene; def NULL: as the scene asks. */
tabi_world *open_world(const tabi_scene *scene, const tabi_world_def *def);
tabi_world *open_world_with(const tabi_scene *scene, tabi_contact_kind contact);
/* Controllers and forces of the scene, then a step. */
void step_world(tabi_scene *scene, tabi_world *world);

/* What many tests keep together. */
typedef struct scene_world {
  tabi_scene *scene;
  tabi_world *world;
} scene_world;

/* Takes the scene over. */
scene_world scene_world_open(tabi_scene *scene);
void scene_world_close(scene_world *s);

#endif
