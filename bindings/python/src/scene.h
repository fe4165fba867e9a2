/* scene.h - making scenes, and the settings that change them. */
#ifndef TBI_PYTHON_SCENE_H
#define TBI_PYTHON_SCENE_H

#include "binding.h"

/* Takes the scene over, also on failure; `keeps` lives as long, or is NULL. */
PyObject *tbi_py_scene_make(PyObject *type, tabi_scene *scene, PyObject *keeps);

/* Texts "path=value" of a list, which must outlive them. */
typedef struct tbi_py_settings {
  const char **text;
  int32_t count;
} tbi_py_settings;
bool tbi_py_settings_take(tbi_py_settings *settings, PyObject *list);
void tbi_py_settings_drop(tbi_py_settings *settings);

#endif
