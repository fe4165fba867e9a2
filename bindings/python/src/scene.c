/* scene.c - _tabi.Scene: a model with its initial state, controllers, forces and settings. */
#include "scene.h"

PyTypeObject *tbi_py_scene_type;

static void destroy(void *scene) { tabi_scene_destroy(scene); }

PyObject *tbi_py_scene_make(PyObject *type, tabi_scene *scene, PyObject *keeps) {
  allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  tbi_py_scene *self = (tbi_py_scene *)alloc((PyTypeObject *)type, 0);
  if (!self) {
    tabi_scene_destroy(scene);
    return NULL;
  }
  self->scene = scene;
  self->owner = tbi_py_own(scene, destroy, keeps);
  if (self->owner) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static void dealloc(PyObject *self) {
  Py_CLEAR(((tbi_py_scene *)self)->owner);
  tbi_py_free(self);
}

/* -- settings: a list of texts "path=value" */

void tbi_py_settings_drop(tbi_py_settings *s) {
  PyMem_Free((void *)s->text);
  s->text = NULL;
}

bool tbi_py_settings_take(tbi_py_settings *s, PyObject *list) {
  *s = (tbi_py_settings){0};
  Py_ssize_t count = PyList_Size(list);
  if (count < 0) return false;
  s->text = PyMem_Calloc((size_t)count + 1, sizeof *s->text);
  if (!s->text) {
    (void)PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    s->text[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
    if (!s->text[i]) {
      tbi_py_settings_drop(s);
      return false;
    }
  }
  s->count = (int32_t)count;
  return true;
}

/* -- loading */

typedef struct load_args {
  const char *path, *package_path;
  PyObject *text; /* bytes, or None */
  PyObject *set, *found;
  int strict, plugins, skip_plugins;
} load_args;

static tabi_scene *load_with(const load_args *a, const tbi_py_settings *settings, tabi_error *err) {
  tabi_scene_def def = tabi_scene_def_default();
  def.set = settings->text;
  def.nset = settings->count;
  def.package_path = a->package_path;
  def.strict = a->strict != 0;
  def.plugins = a->plugins != 0;
  def.skip_plugins = a->skip_plugins != 0;
  def.warn = tbi_py_collect;
  def.warn_user = a->found;
  if (a->text == Py_None) return tabi_scene_load(a->path, &def, err);
  char *bytes = NULL;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(a->text, &bytes, &size) != 0) return NULL;
  return tabi_scene_load_text(bytes, (size_t)size, a->path, &def, err);
}

static PyObject *load(PyObject *type, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"path",   "text",    "set",          "found", "package_path",
                         "strict", "plugins", "skip_plugins", NULL};
  load_args a = {.text = Py_None};
  tbi_py_settings settings;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sOO!O!|zppp", keys, &a.path, &a.text,
                                   &PyList_Type, &a.set, &PyList_Type, &a.found, &a.package_path,
                                   &a.strict, &a.plugins, &a.skip_plugins) ||
      !tbi_py_settings_take(&settings, a.set)) {
    return NULL;
  }
  tabi_error err = {0};
  tabi_scene *scene = load_with(&a, &settings, &err);
  tbi_py_settings_drop(&settings);
  if (scene && !PyErr_Occurred()) return tbi_py_scene_make(type, scene, NULL);
  tabi_scene_destroy(scene);
  return PyErr_Occurred() ? NULL : tbi_py_raise(&err);
}

/* -- what it holds */

static tabi_scene *of(PyObject *self) { return ((tbi_py_scene *)self)->scene; }

static PyObject *get_name(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(tabi_scene_name(of(self)));
}

static PyObject *get_duration(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(tabi_scene_duration(of(self)));
}

static PyObject *get_stateful(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(tabi_scene_is_stateful(of(self)));
}

static PyObject *get_settings(PyObject *self, void *unused) {
  (void)unused;
  tabi_world_def def = tabi_scene_world_def(of(self));
  return tbi_py_fields_dict(&tbi_py_world_fields, &def);
}

static PyObject *get_robots(PyObject *self, void *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  for (int32_t i = 0; i < tabi_scene_nrobot(of(self)) && list; ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(of(self), i);
    PyObject *item = Py_BuildValue("(sii)", robot.name, (int)robot.base, (int)robot.moving);
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *get_source(PyObject *self, void *unused) {
  (void)unused;
  tabi_scene_source source = tabi_scene_get_source(of(self));
  PyObject *set = PyList_New(0);
  for (int32_t i = 0; i < source.nset && set; ++i) {
    PyObject *text = PyUnicode_FromString(source.set[i]);
    if (!text || PyList_Append(set, text) != 0) Py_CLEAR(set);
    Py_XDECREF(text);
  }
  if (!set) return NULL;
  return Py_BuildValue("(zy#N)", source.path, source.text, (Py_ssize_t)source.size, set);
}

static PyObject *get_log(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_scene_get_log(of(self)).every);
}

static PyGetSetDef getset[] = {
    {"name",      get_name,     NULL, "Its name; \"\" if it has none.",                   NULL},
    {"duration",  get_duration, NULL, "How long it runs, s.",                             NULL},
    {"stateful",  get_stateful, NULL,
     "Whether a controller has state of its own, which snapshots of worlds do not hold.", NULL},
    {"settings",  get_settings, NULL, "Settings of its worlds: a dictionary.",            NULL},
    {"_robots",   get_robots,   NULL, "Name, root link and first moving link.",           NULL},
    {"_source",   get_source,   NULL, "Path, text and changes.",                          NULL},
    {"log_every", get_log,      NULL, "Steps between two samples of its logs.",           NULL},
    {NULL,        NULL,         NULL, NULL,                                               NULL},
};

static PyMethodDef methods[] = {
    {"_load", (PyCFunction)(void (*)(void))load, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "A scene from a file or from bytes."                                                       },
    {NULL,    NULL,                              0,                                         NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc                                    },
    {Py_tp_doc,     "A model with all that a simulation needs."},
    {Py_tp_methods, methods                                    },
    {Py_tp_getset,  getset                                     },
    {0,             NULL                                       },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Scene",
    .basicsize = sizeof(tbi_py_scene),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool tbi_py_scene_ready(PyObject *module) {
  tbi_py_scene_type = tbi_py_add_type(module, &spec);
  return tbi_py_scene_type != NULL;
}
