/* view_input.c - recognises files by their first bytes, and loads the scene to show. */
#include "view/view_input.h"

#include "common/input.h"
#include "try/try_robot.h"

#include <stdlib.h>

bool tbi_view_input_kind_of(const char *path, tbi_view_input_kind *kind) {
  tabi_error err;
  FILE *file = tbi_input_open(path, &err);
  if (!file) {
    (void)tbi_print_error(&err);
    return false;
  }
  (void)fclose(file);
  tbi_input_kind found = tbi_input_kind_of(path);
  *kind = TBI_VIEW_INPUT_SCENE;
  bool is_model = found == TBI_INPUT_MODEL && !tabi_scene_recognise(path);
  if (is_model) *kind = TBI_VIEW_INPUT_MODEL;
  if (found == TBI_INPUT_LOG) *kind = TBI_VIEW_INPUT_LOG;
  return true;
}

/* -- scenes */

tabi_scene *tbi_view_input_load_scene(const char *path, const tabi_scene_def *def, int *code) {
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load(path, def, &err);
  if (scene) return scene;
  tbi_input_explain(path, TBI_INPUT_SCENE, &err);
  *code = tbi_print_error(&err);
  return NULL;
}

static tabi_scene *load_made(const tbi_try_scene *made, const char *path, const tabi_scene_def *def,
                             int *code) {
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(made->text, made->size, path, def, &err);
  if (!scene) *code = tbi_print_error(&err);
  return scene;
}

tabi_scene *tbi_view_input_load_robot(const char *path, const char *keyframe, const tbi_args *args,
                                      const tabi_scene_def *def, int *code) {
  char *absolute = realpath(path, NULL);
  if (!absolute) {
    *code = tbi_out_of_memory();
    return NULL;
  }
  tbi_try_scene made = {.command = "view",
                        .model_path = absolute,
                        .duration = "5",
                        .contact = "cone",
                        .keyframe = keyframe};
  /* told when the scene is read, once more */
  tbi_findings findings = {0};
  tabi_model *model = tbi_try_robot_open(path, &made, args, &findings, code);
  bool good = model && tbi_try_scene_make(&made, model, code);
  tabi_scene *scene = good ? load_made(&made, path, def, code) : NULL;
  tabi_model_destroy(model);
  tbi_findings_free(&findings);
  free(made.text);
  free(absolute);
  return scene;
}
