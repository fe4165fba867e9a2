/* world.c - _tabi.World: a world, its state, its step and its snapshots. */
#include "world.h"

#include <string.h>

PyTypeObject *tbi_py_world_type;

#define CHUNK 256 /* steps between two looks at signals, such as Ctrl-C */

/* -- the object */

static void destroy(void *world) { tabi_world_destroy(world); }

static bool is_scene(PyObject *object) { return PyObject_TypeCheck(object, tbi_py_scene_type); }

/* The def of a scene or of a model with settings. */
static bool make_def(PyObject *source, PyObject *settings, tabi_world_def *def) {
  if (is_scene(source)) {
    *def = tabi_scene_world_def(((tbi_py_scene *)source)->scene);
    if (!settings || PyDict_Size(settings) == 0) return true;
    PyErr_SetString(PyExc_TypeError,
                    "the settings of a scene's world are the scene's; change them by set={...}");
    return false;
  }
  const tabi_model *model = tbi_py_model_of(source);
  if (!model) return false;
  *def = tabi_world_def_default(model);
  return tbi_py_world_def_fill(def, settings);
}

/* The views of its state, and the initial state of a scene. */
static int begin(tbi_py_world *w, PyObject *source) {
  w->q = tbi_py_look(w->owner, tabi_world_q(w->world), tabi_model_nq(w->model), false);
  w->v = tbi_py_look(w->owner, tabi_world_v(w->world), tabi_model_nv(w->model), false);
  if (!w->q || !w->v) return -1;
  if (!is_scene(source)) return 0;
  w->scene = (tbi_py_scene *)source;
  tabi_error err = {0};
  if (tabi_scene_reset(w->scene->scene, w->world, &err) == TABI_OK) return 0;
  (void)tbi_py_raise(&err);
  return -1;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model", "settings", "gait", NULL};
  tbi_py_world *w = (tbi_py_world *)self;
  PyObject *source = NULL;
  PyObject *settings = NULL;
  PyObject *gait = Py_None;
  tabi_world_def def;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O!O", keys, &source, &PyDict_Type, &settings,
                                   &gait)) {
    return -1;
  }
  if (w->owner) {
    PyErr_SetString(PyExc_RuntimeError, "a world is made once");
    return -1;
  }
  if (!make_def(source, settings, &def)) return -1;
  if (gait != Py_None && !(def.gait.biped = tbi_py_gait_of(gait))) return -1;
  w->model = is_scene(source) ? tabi_scene_model(((tbi_py_scene *)source)->scene)
                              : tbi_py_model_of(source);
  tabi_error err = {0};
  w->world = tabi_world_create(w->model, &def, &err);
  if (!w->world) {
    (void)tbi_py_raise(&err);
    return -1;
  }
  PyObject *keeps = PyTuple_Pack(2, source, gait);
  w->owner = keeps ? tbi_py_own(w->world, destroy, keeps) : NULL;
  Py_XDECREF(keeps);
  return w->owner ? begin(w, source) : -1;
}

static void dealloc(PyObject *self) {
  tbi_py_world *w = (tbi_py_world *)self;
  tbi_py_drive_free(w);
  Py_CLEAR(w->q);
  Py_CLEAR(w->v);
  Py_CLEAR(w->owner);
  tbi_py_free(self);
}

tabi_world *tbi_py_world_use(PyObject *self) {
  tbi_py_world *w = (tbi_py_world *)self;
  if (w->q && !w->busy) return w->world;
  PyErr_SetString(PyExc_RuntimeError, w->q ? "the world is stepping in another thread"
                                           : "World.__init__ was not called");
  return NULL;
}

tbi_py_world *tbi_py_world_check(PyObject *object) {
  if (PyObject_TypeCheck(object, tbi_py_world_type)) {
    return tbi_py_world_use(object) ? (tbi_py_world *)object : NULL;
  }
  PyErr_SetString(PyExc_TypeError, "a tabi.World is needed here");
  return NULL;
}

/* -- steps */

bool tbi_py_world_enter(tbi_py_world *w) {
  if (!tbi_py_world_use((PyObject *)w)) return false;
  if (w->scene && w->scene->busy) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the scene controls another world in another thread; load it once for each");
    return false;
  }
  w->busy = true;
  if (w->scene) w->scene->busy = true;
  return true;
}

void tbi_py_world_leave(tbi_py_world *w) {
  w->busy = false;
  if (w->scene) w->scene->busy = false;
}

tabi_status tbi_py_world_advance(tbi_py_world *w) {
  if (w->scene) tabi_scene_control(w->scene->scene, w->world);
  if (w->target.data || w->control.data) tbi_py_drive_push(w);
  return tabi_world_step_or_grow(w->world, w->tau.data);
}

PyObject *tbi_py_world_raise(const tbi_py_world *w) {
  return tbi_py_raise(tabi_world_error(w->world));
}

static tabi_status advance_chunk(tbi_py_world *w, long count) {
  tabi_status status = TABI_OK;
  for (long i = 0; i < count && status == TABI_OK; ++i)
    status = tbi_py_world_advance(w);
  return status;
}

static bool step_many(tbi_py_world *w, long count) {
  for (long done = 0; done < count; done += CHUNK) {
    tabi_status status = TABI_OK;
    long now = count - done < CHUNK ? count - done : CHUNK;
    if (!tbi_py_world_enter(w)) return false;
    Py_BEGIN_ALLOW_THREADS status = advance_chunk(w, now);
    Py_END_ALLOW_THREADS tbi_py_world_leave(w);
    if (status != TABI_OK) {
      (void)tbi_py_world_raise(w);
      return false;
    }
    if (PyErr_CheckSignals() != 0) return false;
  }
  return true;
}

/* step(n=1), by hand: it is called a million times */
static PyObject *step(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  Py_ssize_t nkey = kwnames ? PyTuple_Size(kwnames) : 0;
  long count = 1;
  bool named = nkey == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, 0), "n") == 0;
  if (nargs + nkey > 1 || (nkey == 1 && !named)) {
    PyErr_SetString(PyExc_TypeError, "step takes one argument, n");
    return NULL;
  }
  if (nargs + nkey == 1) count = PyLong_AsLong(args[0]);
  if (count < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "n: must not be negative");
    return NULL;
  }
  if (!step_many((tbi_py_world *)self, count)) return NULL;
  Py_RETURN_NONE;
}

/* -- state */

static PyObject *set_state(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"q", "v", NULL};
  PyObject *q = NULL;
  PyObject *v = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", keys, &q, &v)) return NULL;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  const tabi_model *model = ((tbi_py_world *)self)->model;
  tbi_py_numbers position;
  tbi_py_numbers velocity = {0};
  double *zero = NULL;
  if (!tbi_py_numbers_take(&position, q, tabi_model_nq(model), "q")) return NULL;
  tabi_error err = {.status = TABI_ERR_MEMORY};
  tabi_status status = TABI_ERR_MEMORY;
  if (v == Py_None) {
    zero = PyMem_Calloc((size_t)tabi_model_nv(model) + 1, sizeof *zero);
    if (zero) status = tabi_world_set_state(world, position.data, zero, &err);
  } else if (tbi_py_numbers_take(&velocity, v, tabi_model_nv(model), "v")) {
    status = tabi_world_set_state(world, position.data, velocity.data, &err);
  }
  PyMem_Free(zero);
  tbi_py_numbers_drop(&velocity);
  tbi_py_numbers_drop(&position);
  if (PyErr_Occurred()) return NULL;
  if (status != TABI_OK) return tbi_py_raise(&err);
  Py_RETURN_NONE;
}

/* Sets q or v alone; the other stays. */
static int set_part(PyObject *self, PyObject *value, bool position) {
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return -1;
  if (!value) {
    PyErr_SetString(PyExc_AttributeError, "the state of a world cannot be deleted");
    return -1;
  }
  const tabi_model *model = ((tbi_py_world *)self)->model;
  Py_ssize_t count = position ? tabi_model_nq(model) : tabi_model_nv(model);
  tbi_py_numbers numbers;
  if (!tbi_py_numbers_take(&numbers, value, count, position ? "q" : "v")) return -1;
  tabi_error err = {0};
  tabi_status status = tabi_world_set_state(world, position ? numbers.data : tabi_world_q(world),
                                            position ? tabi_world_v(world) : numbers.data, &err);
  tbi_py_numbers_drop(&numbers);
  if (status == TABI_OK) return 0;
  (void)tbi_py_raise(&err);
  return -1;
}

static PyObject *share(PyObject *array) {
  if (!array) {
    PyErr_SetString(PyExc_RuntimeError, "World.__init__ was not called");
    return NULL;
  }
  Py_INCREF(array);
  return array;
}

static PyObject *get_q(PyObject *self, void *unused) {
  (void)unused;
  return share(((tbi_py_world *)self)->q);
}

static PyObject *get_v(PyObject *self, void *unused) {
  (void)unused;
  return share(((tbi_py_world *)self)->v);
}

static int set_q(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  return set_part(self, value, true);
}

static int set_v(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  return set_part(self, value, false);
}

static PyObject *get_time(PyObject *self, void *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  return world ? PyFloat_FromDouble(tabi_world_time(world)) : NULL;
}

static PyObject *get_steps(PyObject *self, void *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  return world ? PyLong_FromLongLong(tabi_world_steps(world)) : NULL;
}

static PyObject *get_hash(PyObject *self, void *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  return world ? PyLong_FromUnsignedLongLong(tabi_world_hash(world)) : NULL;
}

static PyObject *get_settings(PyObject *self, void *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  tabi_world_def def = tabi_world_get_def(world);
  return tbi_py_fields_dict(&tbi_py_world_fields, &def);
}

/* -- snapshots */

static PyObject *save(PyObject *self, PyObject *unused) {
  (void)unused;
  tbi_py_world *w = (tbi_py_world *)self;
  if (!tbi_py_world_use(self)) return NULL;
  if (w->target.data || w->control.data) tbi_py_drive_push(w);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)tabi_world_snapshot_size(w->world));
  if (bytes) tabi_world_save(w->world, PyBytes_AsString(bytes));
  return bytes;
}

static PyObject *restore(PyObject *self, PyObject *snapshot) {
  tbi_py_world *w = (tbi_py_world *)self;
  Py_buffer buffer;
  if (!tbi_py_world_use(self)) return NULL;
  if (PyObject_GetBuffer(snapshot, &buffer, PyBUF_SIMPLE) != 0) return NULL;
  tabi_status status = tabi_world_restore(w->world, buffer.buf, (size_t)buffer.len);
  PyBuffer_Release(&buffer);
  if (status == TABI_ERR_MEMORY) return PyErr_NoMemory();
  if (status != TABI_OK)
    return tbi_py_raise_status(status, "this is no snapshot of a world of this model and settings");
  tbi_py_drive_pull(w);
  Py_RETURN_NONE;
}

static PyObject *continue_from(PyObject *self, PyObject *other) {
  tbi_py_world *w = (tbi_py_world *)self;
  tbi_py_world *from = tbi_py_world_check(other);
  if (!from || !tbi_py_world_use(self)) return NULL;
  tabi_error err = {0};
  if (tabi_world_continue(w->world, from->world, &err) != TABI_OK) return tbi_py_raise(&err);
  tbi_py_drive_pull(w);
  Py_RETURN_NONE;
}

static PyObject *reset(PyObject *self, PyObject *unused) {
  (void)unused;
  tbi_py_world *w = (tbi_py_world *)self;
  if (!tbi_py_world_use(self)) return NULL;
  if (!w->scene) {
    return tbi_py_raise_status(TABI_ERR_ARGUMENT,
                               "only the world of a scene has a state to reset to; use set_state");
  }
  tabi_error err = {0};
  if (tabi_scene_reset(w->scene->scene, w->world, &err) != TABI_OK) return tbi_py_raise(&err);
  tbi_py_drive_pull(w);
  Py_RETURN_NONE;
}

/* -- the type */

static PyGetSetDef state_getset[] = {
    {"q",        get_q,        set_q,
     "Positions, m and rad: array [nq], a read-only view of the state that steps change.  "
     "Assign to set it.",                                                                   NULL},
    {"v",        get_v,        set_v, "Velocities, m/s and rad/s: array [nv], likewise.",   NULL},
    {"time",     get_time,     NULL,  "Time, s: steps times the time step.",                NULL},
    {"steps",    get_steps,    NULL,  "Number of steps so far.",                            NULL},
    {"hash",     get_hash,     NULL,  "A hash of q, v and the number of steps.",            NULL},
    {"settings", get_settings, NULL,  "The settings it was made with, defaults filled in.", NULL},
};

static PyMethodDef state_methods[] = {
    {"step",          (PyCFunction)(void (*)(void))step,      METH_FASTCALL | METH_KEYWORDS,
     "step(n=1)\n--\n\nAdvance n time steps.  Controllers of a scene, `target`, `control` and "
     "`tau` act in every one; other threads run meanwhile."                                                                                          },
    {"set_state",     (PyCFunction)(void (*)(void))set_state, METH_VARARGS | METH_KEYWORDS,
     "set_state(q, v=None)\n--\n\nPositions [nq] and velocities [nv]; v=None: at rest."                                                              },
    {"save",          save,                                   METH_NOARGS,
     "save()\n--\n\nA snapshot of all that decides the next step, as bytes."                                                                         },
    {"restore",       restore,                                METH_O,
     "restore(snapshot)\n--\n\nBack to a snapshot of this world, or of one of the same model and "
     "settings."                                                                                                                                     },
    {"continue_from", continue_from,                          METH_O,
     "continue_from(world)\n--\n\nContinue from the state of another world, under the settings of "
     "this one: another contact method, other masses or materials."                                                                                  },
    {"reset",         reset,                                  METH_NOARGS,                   "reset()\n--\n\nBack to the initial state of the scene."},
};

static PyGetSetDef getset[16];
static PyMethodDef methods[48];

/* One table of those of the three files. */
static void join_tables(void) {
  size_t n = sizeof state_getset / sizeof *state_getset;
  memcpy(getset, state_getset, sizeof state_getset);
  for (size_t i = 0; tbi_py_drive_getset[i].name; ++i)
    getset[n++] = tbi_py_drive_getset[i];
  n = sizeof state_methods / sizeof *state_methods;
  memcpy(methods, state_methods, sizeof state_methods);
  for (size_t i = 0; tbi_py_drive_methods[i].ml_name; ++i)
    methods[n++] = tbi_py_drive_methods[i];
  for (size_t i = 0; tbi_py_look_methods[i].ml_name; ++i)
    methods[n++] = tbi_py_look_methods[i];
}

static PyType_Slot slots[] = {
    {Py_tp_init,    init                                   },
    {Py_tp_dealloc, dealloc                                },
    {Py_tp_doc,     "A world: everything a step may write."},
    {Py_tp_methods, methods                                },
    {Py_tp_getset,  getset                                 },
    {0,             NULL                                   },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.World",
    .basicsize = sizeof(tbi_py_world),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_world_ready(PyObject *module) {
  join_tables();
  tbi_py_world_type = tbi_py_add_type(module, &spec);
  return tbi_py_world_type && tbi_py_look_ready();
}
