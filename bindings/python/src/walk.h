/* walk.h - the object of a planned walk. */
#ifndef TBI_PYTHON_WALK_H
#define TBI_PYTHON_WALK_H

#include "binding.h"

#include "tabi/tabi_control.h"

typedef struct tbi_py_walk {
  PyObject_HEAD PyObject *owner;
  tabi_walk *walk;
  const tabi_model *model;
} tbi_py_walk;

/* NULL and an exception. */
tbi_py_walk *tbi_py_walk_check(PyObject *object);
/* "left", "right". */
const char *tbi_py_side_word(int i);

#endif
