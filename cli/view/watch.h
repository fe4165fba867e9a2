/* watch.h - what `tabi view` shows: a scene, a model in a scene of its own, or logs. */
#ifndef TBI_WATCH_H
#define TBI_WATCH_H

#include "common/cli.h"

typedef enum tbi_watch_kind { TBI_WATCH_SCENE, TBI_WATCH_MODEL, TBI_WATCH_LOG } tbi_watch_kind;

/* By what is in the file; false after an error was printed. */
bool tbi_watch_kind_of(const char *path, tbi_watch_kind *kind);
/* The scene of a scene file, or one in which the robot of a model file stands or lies on a floor as
 * it starts, without control.  NULL and the exit code after an error was printed. */
tabi_scene *tbi_watch_load(const char *path, tbi_watch_kind kind, const tabi_scene_def *def,
                           int *code);

#endif
