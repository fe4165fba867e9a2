/* stabiliser.c - _tabi.Stabiliser: keeps a walking robot from falling. */
#include "walk.h"
#include "world.h"

#include <stddef.h>

PyTypeObject *tbi_py_stabiliser_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_stabiliser *stabiliser;
  const tabi_model *model;
} object;

static void destroy(void *stabiliser) { tabi_stabiliser_destroy(stabiliser); }

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

static const tbi_py_field def_field[] = {
    {"left_force",      offsetof(tabi_stabiliser_def, force[0]),        NULL, TBI_PY_SENSOR, 0},
    {"right_force",     offsetof(tabi_stabiliser_def, force[1]),        NULL, TBI_PY_SENSOR, 0},
    {"gyro",            offsetof(tabi_stabiliser_def, gyro),            NULL, TBI_PY_SENSOR, 0},
    {"accelerometer",   offsetof(tabi_stabiliser_def, accelerometer),   NULL, TBI_PY_SENSOR, 0},
    {"pole",            offsetof(tabi_stabiliser_def, pole),            NULL, TBI_PY_DOUBLE, 2},
    {"delay",           offsetof(tabi_stabiliser_def, delay),           NULL, TBI_PY_DOUBLE, 0},
    {"foot_damping",    offsetof(tabi_stabiliser_def, foot_damping),    NULL, TBI_PY_DOUBLE, 0},
    {"height_damping",  offsetof(tabi_stabiliser_def, height_damping),  NULL, TBI_PY_DOUBLE, 0},
    {"return_standing", offsetof(tabi_stabiliser_def, return_standing), NULL, TBI_PY_DOUBLE, 0},
    {"return_lifted",   offsetof(tabi_stabiliser_def, return_lifted),   NULL, TBI_PY_DOUBLE, 0},
    {"speed_filter",    offsetof(tabi_stabiliser_def, speed_filter),    NULL, TBI_PY_DOUBLE, 0},
    {"attitude_time",   offsetof(tabi_stabiliser_def, attitude_time),   NULL, TBI_PY_DOUBLE, 0},
};
static const tbi_py_fields def_fields = {"stabiliser", def_field,
                                         sizeof def_field / sizeof *def_field};

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"walk", "settings", NULL};
  object *o = (object *)self;
  PyObject *given = NULL;
  PyObject *settings = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!", keys, &given, &PyDict_Type, &settings))
    return -1;
  tbi_py_walk *walk = tbi_py_walk_check(given);
  if (!walk) return -1;
  if (o->owner) {
    PyErr_SetString(PyExc_RuntimeError, "a stabiliser is made once");
    return -1;
  }
  o->model = walk->model;
  tabi_stabiliser_def def = tabi_stabiliser_def_default();
  def.walk = walk->walk;
  if (!tbi_py_fields_fill(&def_fields, &def, settings, &(tbi_py_names){.model = o->model}))
    return -1;
  tabi_error err = {0};
  o->stabiliser = tabi_stabiliser_create(o->model, &def, &err);
  if (!o->stabiliser) {
    (void)tbi_py_raise(&err);
    return -1;
  }
  o->owner = tbi_py_own(o->stabiliser, destroy, walk->owner);
  return o->owner ? 0 : -1;
}

static tabi_stabiliser *of(PyObject *self) {
  object *o = (object *)self;
  if (o->owner) return o->stabiliser;
  PyErr_SetString(PyExc_RuntimeError, "Stabiliser.__init__ was not called");
  return NULL;
}

static PyObject *update(PyObject *self, PyObject *arg) {
  tabi_stabiliser *s = of(self);
  tbi_py_world *w = s ? tbi_py_world_check(arg) : NULL;
  if (!w) return NULL;
  if (w->model != ((object *)self)->model)
    return tbi_py_raise_status(TABI_ERR_ARGUMENT, "the world is one of another model");
  tabi_stabiliser_update(s, w->world, tabi_world_get_def(w->world).timestep);
  Py_RETURN_NONE;
}

static PyObject *reset(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_stabiliser *s = of(self);
  if (!s) return NULL;
  tabi_stabiliser_reset(s);
  Py_RETURN_NONE;
}

static PyObject *get_target(PyObject *self, void *unused) {
  (void)unused;
  tabi_stabiliser *s = of(self);
  if (!s) return NULL;
  return tbi_py_look(((object *)self)->owner, tabi_stabiliser_target(s),
                     tabi_model_njoint(((object *)self)->model), false);
}

static PyObject *get_rate(PyObject *self, void *unused) {
  (void)unused;
  tabi_stabiliser *s = of(self);
  if (!s) return NULL;
  return tbi_py_look(((object *)self)->owner, tabi_stabiliser_rate(s),
                     tabi_model_njoint(((object *)self)->model), false);
}

static PyObject *state(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_stabiliser *s = of(self);
  if (!s) return NULL;
  tabi_stabiliser_state t = tabi_stabiliser_get_state(s);
  return Py_BuildValue("{sNsNsNsNsNsNsd}", "tilt", tbi_py_new_copy(t.tilt, 2), "com_error",
                       tbi_py_new_copy(t.com_error, 2), "com_rate_error",
                       tbi_py_new_copy(t.com_rate_error, 2), "zmp", tbi_py_new_copy(t.zmp, 2),
                       "zmp_desired", tbi_py_new_copy(t.zmp_desired, 2), "foot_turn",
                       tbi_py_new_copy(t.foot_turn[0], 4), "foot_height", t.foot_height);
}

static PyGetSetDef getset[] = {
    {"target", get_target, NULL, "Joint targets, rad or m: read-only view [njoint].", NULL},
    {"rate",   get_rate,   NULL, "Their rates: read-only view [njoint].",             NULL},
    {NULL,     NULL,       NULL, NULL,                                                NULL},
};

static PyMethodDef methods[] = {
    {"_update", update, METH_O,      "Read the sensors and compute targets of the next step."},
    {"reset",   reset,  METH_NOARGS, "reset()\n--\n\nBefore a walk is started again."        },
    {"_state",  state,  METH_NOARGS, "Estimates and outputs of the last update."             },
    {NULL,      NULL,   0,           NULL                                                    },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                                 },
    {Py_tp_dealloc, dealloc                              },
    {Py_tp_doc,     "Keeps a walking robot from falling."},
    {Py_tp_methods, methods                              },
    {Py_tp_getset,  getset                               },
    {0,             NULL                                 },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Stabiliser",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_stabiliser_ready(PyObject *module) {
  tbi_py_stabiliser_type = tbi_py_add_type(module, &spec);
  return tbi_py_stabiliser_type != NULL;
}
