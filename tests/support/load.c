/* load.c - see load.h. */
#include "load.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

static void check_loaded(bool loaded, const tabi_error *err) {
  if (!loaded) fail_msg("%s:%d: %s", err->file, (int)err->line, err->message);
}

tabi_model *load_model(const char *path) {
  tabi_error err = {0};
  tabi_model *model = tabi_model_load(path, NULL, &err);
  check_loaded(model, &err);
  return model;
}

tabi_model *load_shipped_model(const char *name) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/models/%s.urdf", TABI_SOURCE_DIR, name);
  return load_model(path);
}

tabi_scene *load_shipped_scene(const char *name, const tabi_scene_def *def) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, name);
  return load_scene(path, def);
}

tabi_scene *load_scene(const char *path, const tabi_scene_def *def) {
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load(path, def, &err);
  check_loaded(scene, &err);
  return scene;
}

tabi_scene *load_scene_text(const char *text, const char *path, const tabi_scene_def *def) {
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(text, strlen(text), path, def, &err);
  check_loaded(scene, &err);
  return scene;
}

tabi_world *open_world(const tabi_scene *scene, const tabi_world_def *def) {
  tabi_error err = {0};
  tabi_world_def own = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), def ? def : &own, &err);
  if (!world || tabi_scene_reset(scene, world, &err) != TABI_OK) fail_msg("%s", err.message);
  return world;
}

tabi_world *open_world_with(const tabi_scene *scene, tabi_contact_kind contact) {
  tabi_world_def def = tabi_scene_world_def(scene);
  def.contact = contact;
  return open_world(scene, &def);
}

void step_world(tabi_scene *scene, tabi_world *world) {
  tabi_scene_control(scene, world);
  if (tabi_world_step_or_grow(world, NULL) != TABI_OK)
    fail_msg("%s", tabi_world_error(world)->message);
}

scene_world scene_world_open(tabi_scene *scene) {
  return (scene_world){scene, open_world(scene, NULL)};
}

void scene_world_close(scene_world *s) {
  tabi_world_destroy(s->world);
  tabi_scene_destroy(s->scene);
}
