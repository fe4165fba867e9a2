/* view_input.h - what `tabi view` shows: a scene, a model in a scene of its own, or logs. */
#ifndef TBI_VIEW_INPUT_H
#define TBI_VIEW_INPUT_H

#include "common/cli.h"

typedef enum tbi_view_input_kind {
  TBI_VIEW_INPUT_SCENE,
  TBI_VIEW_INPUT_MODEL,
  TBI_VIEW_INPUT_LOG
} tbi_view_input_kind;

/* By what is in the file; false after an error was printed. */
bool tbi_view_input_kind_of(const char *path, tbi_view_input_kind *kind);
/* Both: NULL and the exit code after an error was printed. */
tabi_scene *tbi_view_input_load_scene(const char *path, const tabi_scene_def *def, int *code);
/* The scene that `tabi try` makes of a robot: on a floor, at a keyframe (NULL: the usual one), held
 * by its actuators or by gains. */
tabi_scene *tbi_view_input_load_robot(const char *path, const char *keyframe, const tbi_args *args,
                                      const tabi_scene_def *def, int *code);

#endif
