/* log.c - _tabi.Log: a log that is read. */
#include "scene.h"
#include "world.h"

#include "tabi/tabi_record.h"

#include <string.h>

PyTypeObject *tbi_py_log_type;

typedef struct object {
  PyObject_HEAD tabi_recording *log;
} object;

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"path", NULL};
  object *o = (object *)self;
  const char *path = NULL;
  tabi_error err = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s", keys, &path)) return -1;
  if (o->log) {
    PyErr_SetString(PyExc_RuntimeError, "a log is opened once");
    return -1;
  }
  o->log = tabi_recording_open(path, &err);
  if (o->log) return 0;
  (void)tbi_py_raise(&err);
  return -1;
}

static void dealloc(PyObject *self) {
  tabi_recording_close(((object *)self)->log);
  tbi_py_free(self);
}

static tabi_recording *of(PyObject *self) {
  tabi_recording *log = ((object *)self)->log;
  if (!log) PyErr_SetString(PyExc_RuntimeError, "Log.__init__ was not called");
  return log;
}

static PyObject *info(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_recording *log = of(self);
  if (!log) return NULL;
  tabi_recording_info i = tabi_recording_get_info(log);
  return Py_BuildValue(
      "{sssssssdsisisisisLsLsLsOsI}", "scene", i.scene, "contact", tabi_contact_name(i.contact),
      "integrator", tabi_integrator_name(i.integrator), "timestep", i.timestep, "every",
      (int)i.every, "nq", (int)i.nq, "nv", (int)i.nv, "nsensor", (int)i.nsensor, "first",
      (long long)i.first, "last", (long long)i.last, "nsample", (long long)i.nsample, "complete",
      i.complete ? Py_True : Py_False, "tabi_version", (unsigned)i.tabi_version);
}

static PyObject *scene(PyObject *self, PyObject *args) {
  PyObject *type = NULL;
  PyObject *set = NULL;
  PyObject *found = NULL;
  int plugins = 0;
  tbi_py_settings settings;
  tabi_recording *log = of(self);
  if (!log || !PyArg_ParseTuple(args, "OO!O!p", &type, &PyList_Type, &set, &PyList_Type, &found,
                                &plugins)) {
    return NULL;
  }
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, tbi_py_scene_type)) {
    PyErr_SetString(PyExc_TypeError, "a class of scenes is needed here");
    return NULL;
  }
  if (!tbi_py_settings_take(&settings, set)) return NULL;
  tabi_scene_def def = tabi_scene_def_default();
  def.set = settings.text;
  def.nset = settings.count;
  def.plugins = plugins != 0;
  def.warn = tbi_py_collect;
  def.warn_user = found;
  tabi_error err = {0};
  tabi_scene *made = tabi_recording_scene(log, &def, &err);
  tbi_py_settings_drop(&settings);
  if (made && !PyErr_Occurred()) return tbi_py_scene_make(type, made, NULL);
  tabi_scene_destroy(made);
  return PyErr_Occurred() ? NULL : tbi_py_raise(&err);
}

/* -- samples as arrays */

/* The samples from the first up to, not including, the last index. */
static bool take_range(PyObject *args, const char *format, long long range[2], PyObject **other,
                       tabi_recording *log) {
  if (!PyArg_ParseTuple(args, format, &range[0], &range[1], other)) return false;
  int64_t count = tabi_recording_get_info(log).nsample;
  if (range[0] >= 0 && range[0] <= range[1] && range[1] <= count) return true;
  PyErr_Format(PyExc_IndexError, "samples %lld to %lld of %lld", range[0], range[1],
               (long long)count);
  return false;
}

static PyObject *states(PyObject *self, PyObject *args) {
  tabi_recording *log = of(self);
  long long range[2];
  PyObject *unused = NULL;
  if (!log || !take_range(args, "LL|O", range, &unused, log)) return NULL;
  tabi_recording_info i = tabi_recording_get_info(log);
  Py_ssize_t rows = (Py_ssize_t)(range[1] - range[0]);
  double *data[4];
  PyObject *array[4] = {
      tbi_py_new_array(rows, -1, &data[0]), tbi_py_new_array(rows, i.nq, &data[1]),
      tbi_py_new_array(rows, i.nv, &data[2]), tbi_py_new_array(rows, i.nsensor, &data[3])};
  bool good = array[0] && array[1] && array[2] && array[3];
  tabi_error err = {0};
  for (Py_ssize_t row = 0; row < rows && good; ++row) {
    tabi_sample sample;
    if (tabi_recording_sample(log, range[0] + row, &sample, &err) != TABI_OK) {
      good = tbi_py_raise(&err) != NULL;
      break;
    }
    data[0][row] = sample.time;
    memcpy(data[1] + row * i.nq, sample.q, sizeof(double) * (size_t)i.nq);
    memcpy(data[2] + row * i.nv, sample.v, sizeof(double) * (size_t)i.nv);
    if (i.nsensor > 0)
      memcpy(data[3] + row * i.nsensor, sample.sensor, sizeof(double) * (size_t)i.nsensor);
  }
  if (good) return Py_BuildValue("(NNNN)", array[0], array[1], array[2], array[3]);
  for (int k = 0; k < 4; ++k)
    Py_XDECREF(array[k]);
  return NULL;
}

static tabi_scene *scene_of(PyObject *given) {
  if (PyObject_TypeCheck(given, tbi_py_scene_type)) return ((tbi_py_scene *)given)->scene;
  PyErr_SetString(PyExc_TypeError, "a tabi.Scene is needed here");
  return NULL;
}

static PyObject *signals(PyObject *self, PyObject *object_scene) {
  (void)self;
  tabi_scene *of_log = scene_of(object_scene);
  if (!of_log) return NULL;
  tabi_error err = {0};
  tabi_signals *s = tabi_signals_create(of_log, &err);
  if (!s) return tbi_py_raise(&err);
  PyObject *list = PyList_New(0);
  for (int32_t i = 0; i < tabi_signals_count(s) && list; ++i) {
    tabi_signal signal = tabi_signals_get(s, i);
    PyObject *item = Py_BuildValue("(sss)", signal.name, signal.unit, signal.about);
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  tabi_signals_destroy(s);
  return list;
}

/* The columns of the signals that a list of patterns means, in their order in the scene; < 0 after
 * an error. */
static int32_t choose(const tabi_signals *s, PyObject *patterns, bool *chosen) {
  int32_t count = 0;
  for (Py_ssize_t i = 0; i < PyList_Size(patterns); ++i) {
    const char *pattern = PyUnicode_AsUTF8AndSize(PyList_GetItem(patterns, i), NULL);
    if (!pattern) return -1;
    if (tabi_signals_match(s, pattern, chosen) > 0) continue;
    const char *near = tabi_signals_nearest(s, pattern);
    PyErr_Format(PyExc_KeyError, near ? "no signal '%s'; did you mean '%s'?" : "no signal '%s'%s",
                 pattern, near ? near : "");
    return -1;
  }
  for (int32_t i = 0; i < tabi_signals_count(s); ++i)
    count += chosen[i];
  return count;
}

static PyObject *name_list(const tabi_signals *s, const bool *chosen) {
  PyObject *names = PyList_New(0);
  for (int32_t i = 0; i < tabi_signals_count(s) && names; ++i) {
    if (!chosen[i]) continue;
    PyObject *name = PyUnicode_FromString(tabi_signals_get(s, i).name);
    if (!name || PyList_Append(names, name) != 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

/* Without the interpreter's lock. */
static tabi_status eval_all(tabi_recording *log, tabi_signals *s, const long long range[2],
                            const bool *chosen, double *value, double *to, tabi_error *err) {
  int32_t count = tabi_signals_count(s);
  for (long long i = range[0]; i < range[1]; ++i) {
    tabi_sample sample;
    tabi_status status = tabi_recording_sample(log, i, &sample, err);
    if (status != TABI_OK) return status;
    tabi_signals_eval(s, &sample, value);
    for (int32_t k = 0; k < count; ++k) {
      if (chosen[k]) *to++ = value[k];
    }
  }
  return TABI_OK;
}

static PyObject *eval_chosen(tabi_recording *log, tabi_signals *s, const long long range[2],
                             PyObject *patterns) {
  size_t count = (size_t)tabi_signals_count(s);
  bool *chosen = PyMem_Calloc(count + 1, sizeof *chosen);
  double *value = PyMem_Calloc(count + 1, sizeof *value);
  PyObject *array = NULL;
  PyObject *names = NULL;
  double *to = NULL;
  tabi_error err = {0};
  tabi_status status = TABI_OK;
  int32_t columns = chosen && value ? choose(s, patterns, chosen) : -1;
  if (!chosen || !value) (void)PyErr_NoMemory();
  if (columns >= 0) {
    array = tbi_py_new_array((Py_ssize_t)(range[1] - range[0]), columns, &to);
    names = name_list(s, chosen);
  }
  if (array && names) {
    Py_BEGIN_ALLOW_THREADS status = eval_all(log, s, range, chosen, value, to, &err);
    Py_END_ALLOW_THREADS
  }
  PyMem_Free(chosen);
  PyMem_Free(value);
  if (array && names && status == TABI_OK) return Py_BuildValue("(NN)", names, array);
  if (status != TABI_OK) (void)tbi_py_raise(&err);
  Py_XDECREF(names);
  Py_XDECREF(array);
  return NULL;
}

static PyObject *eval(PyObject *self, PyObject *args) {
  tabi_recording *log = of(self);
  PyObject *object_scene = NULL;
  PyObject *patterns = NULL;
  long long range[2];
  if (!log || !PyArg_ParseTuple(args, "OO!LL", &object_scene, &PyList_Type, &patterns, &range[0],
                                &range[1])) {
    return NULL;
  }
  tabi_scene *of_log = scene_of(object_scene);
  if (!of_log) return NULL;
  if (range[0] < 0 || range[1] < range[0] || range[1] > tabi_recording_get_info(log).nsample) {
    PyErr_SetString(PyExc_IndexError, "there are not so many samples");
    return NULL;
  }
  tabi_error err = {0};
  tabi_signals *s = tabi_signals_create(of_log, &err);
  if (!s) return tbi_py_raise(&err);
  PyObject *result = eval_chosen(log, s, range, patterns);
  tabi_signals_destroy(s);
  return result;
}

/* The last snapshot at or before a step. */
static PyObject *snapshot(PyObject *self, PyObject *arg) {
  tabi_recording *log = of(self);
  long long step = PyLong_AsLongLong(arg);
  if (!log || PyErr_Occurred()) return NULL;
  size_t size = tabi_recording_get_info(log).snapshot_size;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (!bytes) return NULL;
  tabi_error err = {0};
  int64_t at = 0;
  if (tabi_recording_snapshot(log, step, PyBytes_AsString(bytes), &at, &err) == TABI_OK)
    return Py_BuildValue("(NL)", bytes, (long long)at);
  Py_DECREF(bytes);
  return tbi_py_raise(&err);
}

static PyObject *find(PyObject *self, PyObject *arg) {
  tabi_recording *log = of(self);
  long long step = PyLong_AsLongLong(arg);
  if (!log || PyErr_Occurred()) return NULL;
  return PyLong_FromLongLong(tabi_recording_find(log, step));
}

static PyMethodDef methods[] = {
    {"_info",     info,     METH_NOARGS,  "What the log says of itself."                        },
    {"_scene",    scene,    METH_VARARGS, "The scene of the log."                               },
    {"_states",   states,   METH_VARARGS, "Time, q, v and sensors of samples."                  },
    {"_signals",  signals,  METH_O,       "Name, unit and meaning of all signals of a scene."   },
    {"_eval",     eval,     METH_VARARGS, "Names and values of signals."                        },
    {"_snapshot", snapshot, METH_O,       "The last snapshot at or before a step, and its step."},
    {"_find",     find,     METH_O,       "The index of the last sample at or before a step."   },
    {NULL,        NULL,     0,            NULL                                                  },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                 },
    {Py_tp_dealloc, dealloc              },
    {Py_tp_doc,     "A log that is read."},
    {Py_tp_methods, methods              },
    {0,             NULL                 },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Log",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_log_ready(PyObject *module) {
  tbi_py_log_type = tbi_py_add_type(module, &spec);
  return tbi_py_log_type != NULL;
}
