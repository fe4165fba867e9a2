/* walk.c - _tabi.Walk: a planned walk. */
#include "walk.h"

#include <stddef.h>

PyTypeObject *tbi_py_walk_type;

static void destroy(void *walk) { tabi_walk_destroy(walk); }

static void dealloc(PyObject *self) {
  Py_CLEAR(((tbi_py_walk *)self)->owner);
  tbi_py_free(self);
}

tbi_py_walk *tbi_py_walk_check(PyObject *object) {
  if (PyObject_TypeCheck(object, tbi_py_walk_type) && ((tbi_py_walk *)object)->owner)
    return (tbi_py_walk *)object;
  PyErr_SetString(PyExc_TypeError, "a tabi.Walk is needed here");
  return NULL;
}

static const tbi_py_field def_field[] = {
    {"waist",         offsetof(tabi_walk_def, waist),         NULL,             TBI_PY_LINK,   0},
    {"left_foot",     offsetof(tabi_walk_def, foot[0]),       NULL,             TBI_PY_LINK,   0},
    {"right_foot",    offsetof(tabi_walk_def, foot[1]),       NULL,             TBI_PY_LINK,   0},
    {"waist_height",  offsetof(tabi_walk_def, waist_height),  NULL,             TBI_PY_DOUBLE, 0},
    {"spacing",       offsetof(tabi_walk_def, spacing),       NULL,             TBI_PY_DOUBLE, 0},
    {"place",         offsetof(tabi_walk_def, place),         NULL,             TBI_PY_DOUBLE, 3},
    {"yaw",           offsetof(tabi_walk_def, yaw),           NULL,             TBI_PY_DOUBLE, 0},
    {"first",         offsetof(tabi_walk_def, first),         tbi_py_side_word, TBI_PY_WORD,   0},
    {"stand_before",  offsetof(tabi_walk_def, stand_before),  NULL,             TBI_PY_DOUBLE, 0},
    {"stand_after",   offsetof(tabi_walk_def, stand_after),   NULL,             TBI_PY_DOUBLE, 0},
    {"period",        offsetof(tabi_walk_def, period),        NULL,             TBI_PY_DOUBLE, 0},
    {"horizon",       offsetof(tabi_walk_def, horizon),       NULL,             TBI_PY_DOUBLE, 0},
    {"jerk_weight",   offsetof(tabi_walk_def, jerk_weight),   NULL,             TBI_PY_DOUBLE, 0},
    {"passes",        offsetof(tabi_walk_def, passes),        NULL,             TBI_PY_INT,    0},
    {"sample_period", offsetof(tabi_walk_def, sample_period), NULL,             TBI_PY_DOUBLE, 0},
};
static const tbi_py_fields def_fields = {"walk", def_field, sizeof def_field / sizeof *def_field};

static const tbi_py_field step_field[] = {
    {"forward",        offsetof(tabi_footstep, forward),        NULL, TBI_PY_DOUBLE, 0},
    {"sideways",       offsetof(tabi_footstep, sideways),       NULL, TBI_PY_DOUBLE, 0},
    {"turn",           offsetof(tabi_footstep, turn),           NULL, TBI_PY_DOUBLE, 0},
    {"double_support", offsetof(tabi_footstep, double_support), NULL, TBI_PY_DOUBLE, 0},
    {"single_support", offsetof(tabi_footstep, single_support), NULL, TBI_PY_DOUBLE, 0},
    {"lift",           offsetof(tabi_footstep, lift),           NULL, TBI_PY_DOUBLE, 0},
};
static const tbi_py_fields step_fields = {"footstep", step_field,
                                          sizeof step_field / sizeof *step_field};

const char *tbi_py_side_word(int i) {
  static const char *const words[] = {"left", "right"};
  return i >= 0 && i < 2 ? words[i] : NULL;
}

/* A list of dictionaries; to be freed. */
static tabi_footstep *take_steps(PyObject *list, const tbi_py_names *names) {
  Py_ssize_t count = PyList_Size(list);
  tabi_footstep *step = PyMem_Calloc((size_t)count + 1, sizeof *step);
  bool good = step != NULL;
  if (!good) (void)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && good; ++i) {
    step[i] = tabi_footstep_default();
    PyObject *item = PyList_GetItem(list, i);
    good = PyDict_Check(item) != 0;
    if (!good) PyErr_SetString(PyExc_TypeError, "steps: a list of dictionaries");
    good = good && tbi_py_fields_fill(&step_fields, &step[i], item, names);
  }
  if (good) return step;
  PyMem_Free(step);
  return NULL;
}

/* Plans without the interpreter's lock. */
static int plan(tbi_py_walk *self, PyObject *model, tabi_walk_def *def) {
  tabi_error err = {0};
  Py_BEGIN_ALLOW_THREADS self->walk = tabi_walk_create(self->model, def, &err);
  Py_END_ALLOW_THREADS if (!self->walk) {
    (void)tbi_py_raise(&err);
    return -1;
  }
  self->owner = tbi_py_own(self->walk, destroy, tbi_py_model_owner(model));
  return self->owner ? 0 : -1;
}

static int init(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model", "steps", "posture", "settings", NULL};
  tbi_py_walk *self = (tbi_py_walk *)object;
  PyObject *model = NULL;
  PyObject *steps = NULL;
  PyObject *posture = NULL;
  PyObject *settings = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!OO!", keys, &model, &PyList_Type, &steps,
                                   &posture, &PyDict_Type, &settings)) {
    return -1;
  }
  self->model = tbi_py_model_of(model);
  if (!self->model || self->owner) {
    if (self->owner) PyErr_SetString(PyExc_RuntimeError, "a walk is planned once");
    return -1;
  }
  tabi_walk_def def = tabi_walk_def_default();
  const tbi_py_names names = {.model = self->model};
  tbi_py_numbers q = {0};
  if (!tbi_py_fields_fill(&def_fields, &def, settings, &names)) return -1;
  if (posture != Py_None &&
      !tbi_py_numbers_take(&q, posture, tabi_model_nq(self->model), "posture")) {
    return -1;
  }
  tabi_footstep *step = take_steps(steps, &names);
  def.step = step;
  def.nstep = (int32_t)PyList_Size(steps);
  def.posture = q.data;
  int status = step ? plan(self, model, &def) : -1;
  PyMem_Free(step);
  tbi_py_numbers_drop(&q);
  return status;
}

/* -- what was planned */

static tabi_walk *of(PyObject *self) {
  tbi_py_walk *walk = tbi_py_walk_check(self);
  return walk ? walk->walk : NULL;
}

static PyObject *get_initial_q(PyObject *self, void *unused) {
  (void)unused;
  double *q = NULL;
  tabi_walk *walk = of(self);
  PyObject *array =
      walk ? tbi_py_new_array(tabi_model_nq(((tbi_py_walk *)self)->model), -1, &q) : NULL;
  if (array) tabi_walk_initial_q(walk, q);
  return array;
}

static PyObject *get_duration(PyObject *self, void *unused) {
  (void)unused;
  tabi_walk *walk = of(self);
  return walk ? PyFloat_FromDouble(tabi_walk_duration(walk)) : NULL;
}

/* Target, rate and feed-forward torque of all joints. */
static PyObject *joints(PyObject *self, PyObject *arg) {
  tabi_walk *walk = of(self);
  double time = PyFloat_AsDouble(arg);
  if (!walk || PyErr_Occurred()) return NULL;
  Py_ssize_t njoint = tabi_model_njoint(((tbi_py_walk *)self)->model);
  double *data[3];
  PyObject *target = tbi_py_new_array(njoint, -1, &data[0]);
  PyObject *rate = tbi_py_new_array(njoint, -1, &data[1]);
  PyObject *torque = tbi_py_new_array(njoint, -1, &data[2]);
  if (target && rate && torque) {
    tabi_trajectory_sample(tabi_walk_trajectory(walk), time, data[0], data[1]);
    tabi_trajectory_sample(tabi_walk_torque(walk), time, data[2], NULL);
    return Py_BuildValue("(NNN)", target, rate, torque);
  }
  Py_XDECREF(target);
  Py_XDECREF(rate);
  Py_XDECREF(torque);
  return NULL;
}

static PyObject *at(PyObject *self, PyObject *arg) {
  tabi_walk *walk = of(self);
  double time = PyFloat_AsDouble(arg);
  if (!walk || PyErr_Occurred()) return NULL;
  tabi_walk_state s = tabi_walk_at(walk, time);
  return Py_BuildValue("{sNsNsNsdsNsNsNs(dd)s(OO)}", "com", tbi_py_new_copy(s.com, 3), "com_rate",
                       tbi_py_new_copy(s.com_rate, 3), "waist", tbi_py_new_copy(s.waist, 3),
                       "waist_yaw", s.waist_yaw, "zmp", tbi_py_new_copy(s.zmp, 2), "motion_zmp",
                       tbi_py_new_copy(s.motion_zmp, 2), "foot", tbi_py_new_copy(s.foot[0], 6),
                       "foot_yaw", s.foot_yaw[0], s.foot_yaw[1], "lifted",
                       s.lifted[0] ? Py_True : Py_False, s.lifted[1] ? Py_True : Py_False);
}

static PyGetSetDef getset[] = {
    {"initial_q", get_initial_q, NULL, "Positions at the start: new array [nq].", NULL},
    {"duration",  get_duration,  NULL, "Duration, s.",                            NULL},
    {NULL,        NULL,          NULL, NULL,                                      NULL},
};

static PyMethodDef methods[] = {
    {"joints", joints, METH_O,
     "joints(time)\n--\n\nTargets (rad or m), their rates and feed-forward torques (N m or N) of "
     "all joints at a time: three arrays [njoint]." },
    {"_at",    at,     METH_O, "The plan at a time."},
    {NULL,     NULL,   0,      NULL                 },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init             },
    {Py_tp_dealloc, dealloc          },
    {Py_tp_doc,     "A planned walk."},
    {Py_tp_methods, methods          },
    {Py_tp_getset,  getset           },
    {0,             NULL             },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Walk",
    .basicsize = sizeof(tbi_py_walk),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_walk_ready(PyObject *module) {
  tbi_py_walk_type = tbi_py_add_type(module, &spec);
  return tbi_py_walk_type != NULL;
}
