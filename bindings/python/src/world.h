/* world.h - the object of a world, and its step. */
#ifndef TBI_PYTHON_WORLD_H
#define TBI_PYTHON_WORLD_H

#include "binding.h"

/* Numbers that Python writes and that the next step takes; NULL until they are asked for. */
typedef struct tbi_py_drive {
  PyObject *array;
  double *data;
} tbi_py_drive;

struct tbi_py_world {
  PyObject_HEAD PyObject *owner; /* the capsule of the world, which keeps model, scene and gait */
  tabi_world *world;
  const tabi_model *model;
  tbi_py_scene *scene;  /* whose controllers work before every step, or NULL; kept by the capsule */
  PyObject *q, *v;      /* views */
  tbi_py_drive tau;     /* [nv] */
  tbi_py_drive control; /* [nactuator], NAN: left alone */
  tbi_py_drive target;  /* [njoint] of servos */
  double *known;        /* [njoint] targets as the world has them */
  bool *ours;           /* [njoint] a target that Python has changed stays until the next reset */
  bool busy;            /* while another thread steps it */
};

/* NULL and an exception if it was not made, or if another thread is stepping it. */
tabi_world *tbi_py_world_use(PyObject *self);
tbi_py_world *tbi_py_world_check(PyObject *object);
/* Around steps without the interpreter's lock; false and an exception. */
bool tbi_py_world_enter(tbi_py_world *w);
void tbi_py_world_leave(tbi_py_world *w);
/* Controllers, what Python wrote, and one step.  Needs no lock. */
tabi_status tbi_py_world_advance(tbi_py_world *w);
PyObject *tbi_py_world_raise(const tbi_py_world *w);

/* world_drive.c */
extern PyGetSetDef tbi_py_drive_getset[];
extern PyMethodDef tbi_py_drive_methods[];
void tbi_py_drive_push(tbi_py_world *w);
/* Takes targets from the world, after a reset. */
void tbi_py_drive_pull(tbi_py_world *w);
void tbi_py_drive_free(tbi_py_world *w);

/* world_look.c */
bool tbi_py_look_ready(void);
extern PyMethodDef tbi_py_look_methods[];

#endif
