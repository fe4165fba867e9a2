/* source.c - what a scene was read from, for logs that can be continued; and what has to move
 * when a run goes on in another scene. */
#include "base/error.h"
#include "io/path.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

/* Where the scene stands, whatever the working folder is later. */
static const char *keep_path(tbi_scene_reader *r) {
  char whole[TBI_PATH_SIZE];
  return tbi_text_add(&r->scene->text, realpath(r->path, whole) ? whole : r->path);
}

bool tbi_scene_keep_source(tbi_scene_reader *r, const char *text, size_t size) {
  tabi_scene *scene = r->scene;
  int32_t nset = r->def->nset;
  scene->source = malloc(size + 1);
  scene->set = calloc((size_t)nset + 1, sizeof *scene->set);
  const char *path = keep_path(r);
  if (!scene->source || !scene->set || !path) return tbi_fail_memory(r->error);
  memcpy(scene->source, text, size);
  scene->source[size] = '\0';
  for (int32_t i = 0; i < nset; ++i) {
    scene->set[i] = tbi_text_add(&scene->text, r->def->set[i]);
    if (!scene->set[i]) return tbi_fail_memory(r->error);
  }
  scene->read = (tabi_scene_source){
      .text = scene->source, .path = path, .size = size, .set = scene->set, .nset = nset};
  return true;
}

tabi_scene_source tabi_scene_get_source(const tabi_scene *scene) { return scene->read; }

bool tabi_scene_remembers(const tabi_scene *scene) {
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (robot->controller && robot->control->reset) return true;
  }
  return false;
}

static bool same_robot(const tbi_scene_robot *a, const tbi_scene_robot *b) {
  return strcmp(a->name, b->name) == 0 && a->first_link == b->first_link && a->nlink == b->nlink &&
         a->first_joint == b->first_joint && a->njoint == b->njoint;
}

tabi_status tabi_scene_swap_controllers(tabi_scene *scene, tabi_scene *other, tabi_error *err) {
  bool same = scene->nrobot == other->nrobot;
  for (int32_t i = 0; i < scene->nrobot && same; ++i)
    same = same_robot(&scene->robots[i], &other->robots[i]);
  if (!same) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "the scenes have different robots");
  }
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    tbi_scene_robot *a = &scene->robots[i];
    tbi_scene_robot *b = &other->robots[i];
    tbi_scene_robot kept = *a;
    a->control = b->control;
    a->controller = b->controller;
    b->control = kept.control;
    b->controller = kept.controller;
  }
  return TABI_OK;
}
