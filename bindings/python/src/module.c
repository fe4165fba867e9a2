/* module.c - the module `_tabi`: its types, its functions, and what they have in common. */
#include "binding.h"

#include <string.h>

/* -- capsules */

typedef struct ownership {
  void (*destroy)(void *);
  PyObject *keeps;
} ownership;

static void release(PyObject *capsule) {
  ownership *o = PyCapsule_GetContext(capsule);
  void *object = PyCapsule_GetPointer(capsule, "tabi");
  if (!o) return;
  o->destroy(object);
  Py_XDECREF(o->keeps);
  PyMem_Free(o);
}

PyObject *tbi_py_own(void *object, void (*destroy)(void *), PyObject *keeps) {
  ownership *o = PyMem_Malloc(sizeof *o);
  PyObject *capsule = o ? PyCapsule_New(object, "tabi", release) : NULL;
  if (!capsule) {
    PyMem_Free(o);
    destroy(object);
    if (!PyErr_Occurred()) (void)PyErr_NoMemory();
    return NULL;
  }
  Py_XINCREF(keeps);
  *o = (ownership){destroy, keeps};
  (void)PyCapsule_SetContext(capsule, o);
  return capsule;
}

/* -- types */

PyTypeObject *tbi_py_add_type(PyObject *module, PyType_Spec *spec) {
  PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
  if (type && PyModule_AddType(module, type) != 0) Py_CLEAR(type);
  return type;
}

void tbi_py_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release_memory = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release_memory(self);
  Py_DECREF(type);
}

/* -- functions */

static PyObject *contact_methods(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  PyObject *list = PyList_New(TABI_CONTACT_COUNT);
  for (int i = 0; i < TABI_CONTACT_COUNT && list; ++i) {
    const tabi_contact_info *info = tabi_contact_describe((tabi_contact_kind)i);
    PyObject *pair = Py_BuildValue("(ss)", info->name, info->summary);
    if (!pair || PyList_SetItem(list, i, pair) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *sensor_sizes(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  PyObject *list = PyList_New(TABI_SENSOR_COUNT);
  for (int i = 0; i < TABI_SENSOR_COUNT && list; ++i) {
    PyObject *pair = Py_BuildValue("(si)", tabi_sensor_type_name((tabi_sensor_type)i),
                                   (int)tabi_sensor_type_size((tabi_sensor_type)i));
    if (!pair || PyList_SetItem(list, i, pair) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyMethodDef functions[] = {
    {"rollout",          (PyCFunction)(void (*)(void))tbi_py_rollout, METH_VARARGS | METH_KEYWORDS,
     "Many worlds on many threads."                                                                                                            },
    {"_contact_methods", contact_methods,                             METH_NOARGS,                  "Name and summary of every contact method."},
    {"_sensor_sizes",    sensor_sizes,                                METH_NOARGS,
     "Name and number of values of every type of sensor."                                                                                      },
    {NULL,               NULL,                                        0,                            NULL                                       },
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_tabi",
    .m_doc = "tabi's C library, seen from Python; use the package tabi.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__tabi(void); // NOLINT(readability-identifier-naming)

// the interpreter looks for this name
PyMODINIT_FUNC PyInit__tabi(void) { // NOLINT(readability-identifier-naming)
  static bool (*const ready[])(PyObject *) = {
      tbi_py_array_ready, tbi_py_model_ready,   tbi_py_builder_ready,  tbi_py_scene_ready,
      tbi_py_gait_ready,  tbi_py_world_ready,   tbi_py_dynamics_ready, tbi_py_run_ready,
      tbi_py_log_ready,   tbi_py_problem_ready, tbi_py_walk_ready,     tbi_py_stabiliser_ready,
      tbi_py_batch_ready};
  PyObject *module = PyModule_Create(&definition);
  bool good = module && tbi_py_error_ready();
  for (size_t i = 0; i < sizeof ready / sizeof *ready && good; ++i)
    good = ready[i](module);
  good = good && PyModule_AddIntConstant(module, "VERSION", TABI_VERSION) == 0;
  if (!good) Py_CLEAR(module);
  return module;
}
