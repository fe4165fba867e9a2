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
/* The scene of a scene file, or one in which the robot of a model file is put on a floor in its
 * initial posture, without control.  NULL and the exit code after an error was printed. */
tabi_scene *tbi_view_input_load(const char *path, tbi_view_input_kind kind,
                                const tabi_scene_def *def, int *code);

/* Whether a model brings ground of its own. */
bool tbi_view_input_has_ground(const tabi_model *model);
/* As YAML, between quotation marks. */
void tbi_view_input_write_text(FILE *out, const char *text);

#endif
