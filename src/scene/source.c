/* source.c - what a scene was read from, for logs that can be continued. */
#include "base/assertion.h"
#include "io/path.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

/* The path of the scene, whatever the working folder is later. */
static const char *keep_path(tbi_scene_reader *r) {
  char whole[TBI_PATH_SIZE];
  return tbi_text_add(&r->scene->text, realpath(r->path, whole) ? whole : r->path);
}

bool tbi_scene_keep_source(tbi_scene_reader *r, const char *text, size_t size) {
  TBI_ASSERT(!r->scene->source && r->def->nset >= 0);
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

tabi_scene_source tabi_scene_get_source(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->read;
}
