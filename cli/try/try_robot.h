/* try_robot.h - the model of a robot's file, with the base that suits it, for `tabi try` and
 * `tabi view`. */
#ifndef TBI_TRY_ROBOT_H
#define TBI_TRY_ROBOT_H

#include "try/try_scene.h"

/* The word for the format of a file, by its root element. */
const char *tbi_try_format(const char *path);
/* Loads and checks the model of a file.  Where neither scene->base nor the file says whether the
 * base is free, that is decided, and scene->base_why tells.  NULL and the exit code after an error
 * was printed. */
tabi_model *tbi_try_robot_open(const char *path, tbi_try_scene *scene, const tbi_args *args,
                               tbi_findings *findings, int *code);

#endif
