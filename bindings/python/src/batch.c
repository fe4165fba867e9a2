/* batch.c - _tabi.Batch: many worlds of one model.
 *
 * Its arrays are views of the batch's own memory, of one dimension; the package gives them their
 * shape. */
#include "binding.h"
#include "tabi/tabi_batch.h"

#include <string.h>

PyTypeObject *tbi_py_batch_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_batch *batch;
  bool busy; /* while another thread steps it */
} object;

static void destroy(void *batch) { tabi_batch_destroy(batch); }

/* Arguments of __init__ that are arrays. */
typedef struct arrays {
  tbi_py_numbers kp, kd, feet;
} arrays;

static void drop_arrays(arrays *a) {
  tbi_py_numbers_drop(&a->kp);
  tbi_py_numbers_drop(&a->kd);
  tbi_py_numbers_drop(&a->feet);
}

static bool take_arrays(arrays *a, PyObject *kp, PyObject *kd, PyObject *feet, int32_t nv) {
  return tbi_py_numbers_take(&a->kp, kp, nv, "kp") && tbi_py_numbers_take(&a->kd, kd, nv, "kd") &&
         tbi_py_numbers_take(&a->feet, feet, -1, "feet");
}

static int make(object *o, PyObject *model, const tabi_world_def *world, tabi_batch_def *def,
                arrays *a) {
  tabi_error err = {0};
  int32_t *foot = PyMem_Calloc((size_t)a->feet.count + 1, sizeof *foot);
  if (!foot) {
    (void)PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < a->feet.count; ++i)
    foot[i] = (int32_t)a->feet.data[i];
  def->kp = a->kp.data;
  def->kd = a->kd.data;
  def->foot = foot;
  def->nfoot = (int32_t)a->feet.count;
  Py_BEGIN_ALLOW_THREADS o->batch = tabi_batch_create(tbi_py_model_of(model), world, def, &err);
  Py_END_ALLOW_THREADS PyMem_Free(foot);
  if (!o->batch) {
    (void)tbi_py_raise(&err);
    return -1;
  }
  o->owner = tbi_py_own(o->batch, destroy, tbi_py_model_owner(model));
  return o->owner ? 0 : -1;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model",          "worlds", "threads",  "lanes", "scalar",
                         "self_collision", "kp",     "kd",       "feet",  "push_link",
                         "max_delay",      "vary",   "settings", NULL};
  object *o = (object *)self;
  PyObject *model = NULL;
  PyObject *kp = NULL;
  PyObject *kd = NULL;
  PyObject *feet = NULL;
  PyObject *settings = NULL;
  int worlds = 0;
  int threads = 0;
  int lanes = 0;
  int scalar = 0;
  int self_collision = 0;
  int push_link = 0;
  unsigned vary = 0;
  tabi_batch_def def = tabi_batch_def_default();
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OiiippOOOidIO!", keys, &model, &worlds, &threads,
                                   &lanes, &scalar, &self_collision, &kp, &kd, &feet, &push_link,
                                   &def.max_delay, &vary, &PyDict_Type, &settings))
    return -1;
  if (o->owner) {
    PyErr_SetString(PyExc_RuntimeError, "a Batch is made once");
    return -1;
  }
  const tabi_model *of = tbi_py_model_of(model);
  if (!of) return -1;
  tabi_world_def world = tabi_world_def_default(of);
  if (!tbi_py_world_def_fill(&world, settings)) return -1;
  def.worlds = worlds;
  def.threads = threads;
  def.lanes = lanes;
  def.scalar = scalar != 0;
  def.self_collision = self_collision != 0;
  def.push_link = push_link;
  def.vary = vary;
  arrays a = {0};
  int result =
      take_arrays(&a, kp, kd, feet, tabi_model_nv(of)) ? make(o, model, &world, &def, &a) : -1;
  drop_arrays(&a);
  return result;
}

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

static tabi_batch *use(PyObject *self) {
  object *o = (object *)self;
  if (o->owner && !o->busy) return o->batch;
  PyErr_SetString(PyExc_RuntimeError, o->owner ? "another thread is stepping this Batch"
                                               : "Batch.__init__ was not called");
  return NULL;
}

/* -- arrays */

static PyObject *array(PyObject *self, PyObject *args) {
  int field = 0;
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "i", &field)) return NULL;
  if (field < 0 || field >= TABI_BATCH_FIELDS) {
    PyErr_SetString(PyExc_IndexError, "no such array");
    return NULL;
  }
  int32_t n;
  const double *data = tabi_batch_array(b, (tabi_batch_field)field, &n);
  return tbi_py_look(((object *)self)->owner, data, (Py_ssize_t)n * tabi_batch_worlds(b), true);
}

static PyObject *fields(PyObject *self, PyObject *unused) {
  (void)self;
  (void)unused;
  PyObject *list = PyList_New(TABI_BATCH_FIELDS);
  for (int i = 0; i < TABI_BATCH_FIELDS && list; ++i) {
    PyObject *name = PyUnicode_FromString(tabi_batch_field_name((tabi_batch_field)i));
    if (!name || PyList_SetItem(list, i, name) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *status(PyObject *self, PyObject *unused) {
  (void)unused;
  double *data = NULL;
  tabi_batch *b = use(self);
  PyObject *result = b ? tbi_py_new_array(tabi_batch_worlds(b), 2, &data) : NULL;
  for (int32_t i = 0; result && i < tabi_batch_worlds(b); ++i) {
    data[2 * (ptrdiff_t)i] = tabi_batch_status(b)[i];
    data[2 * (ptrdiff_t)i + 1] = (double)tabi_batch_steps(b)[i];
  }
  return result;
}

static PyObject *about(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_batch *b = use(self);
  if (!b) return NULL;
  return Py_BuildValue("(iisn)", (int)tabi_batch_threads(b), (int)tabi_batch_lanes(b),
                       tabi_batch_reason(b), (Py_ssize_t)tabi_batch_memory(b));
}

/* -- steps */

static PyObject *step(PyObject *self, PyObject *args) {
  object *o = (object *)self;
  int k = 0;
  Py_buffer active = {0};
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "i|z*", &k, &active)) return NULL;
  int32_t failed = -1;
  if (k < 0 || (active.buf && active.len != tabi_batch_worlds(b))) {
    PyErr_SetString(PyExc_ValueError, "k must be >= 0, and active have an entry for each world");
  } else {
    o->busy = true;
    Py_BEGIN_ALLOW_THREADS failed = tabi_batch_step(b, k, active.buf);
    Py_END_ALLOW_THREADS o->busy = false;
  }
  if (active.obj) PyBuffer_Release(&active);
  return failed < 0 ? NULL : PyLong_FromLong(failed);
}

static PyObject *reset(PyObject *self, PyObject *args) {
  PyObject *worlds = NULL;
  PyObject *q = NULL;
  PyObject *v = NULL;
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "OOO", &worlds, &q, &v)) return NULL;
  tbi_py_numbers who = {0};
  tbi_py_numbers to_q = {0};
  tbi_py_numbers to_v = {0};
  tabi_error err = {0};
  tabi_status result = TABI_OK;
  const tabi_model *model = tabi_batch_model(b);
  bool good = tbi_py_numbers_take(&who, worlds, -1, "worlds");
  if (good && q != Py_None)
    good = tbi_py_numbers_take(&to_q, q, who.count * tabi_model_nq(model), "q");
  if (good && v != Py_None)
    good = tbi_py_numbers_take(&to_v, v, who.count * tabi_model_nv(model), "v");
  for (Py_ssize_t i = 0; good && result == TABI_OK && i < who.count; ++i) {
    int32_t index = (int32_t)who.data[i];
    result = tabi_batch_reset(b, &index, 1, to_q.data ? to_q.data + i * tabi_model_nq(model) : NULL,
                              to_v.data ? to_v.data + i * tabi_model_nv(model) : NULL, &err);
  }
  tbi_py_numbers_drop(&who);
  tbi_py_numbers_drop(&to_q);
  tbi_py_numbers_drop(&to_v);
  if (!good) return NULL;
  if (result != TABI_OK) return tbi_py_raise(&err);
  Py_RETURN_NONE;
}

static PyObject *scatter(PyObject *self, PyObject *args) {
  int world = 0;
  unsigned long long seed = 0;
  double position = 0;
  double speed = 0;
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "iKdd", &world, &seed, &position, &speed)) return NULL;
  if (world < 0 || world >= tabi_batch_worlds(b)) {
    PyErr_SetString(PyExc_IndexError, "no such world");
    return NULL;
  }
  tabi_batch_scatter(b, world, seed, position, speed);
  Py_RETURN_NONE;
}

enum { INPUTS = 3 };

/* Targets, torques and controls [worlds][count][n] of a rollout, each or None. */
static bool take_inputs(tabi_batch *b, int count, PyObject *const given[INPUTS],
                        tbi_py_numbers taken[INPUTS]) {
  static const char *const what[INPUTS] = {"targets", "torques", "controls"};
  const tabi_batch_field field[INPUTS] = {TABI_BATCH_TARGET, TABI_BATCH_TORQUE, TABI_BATCH_CONTROL};
  bool good = true;
  for (int i = 0; good && i < INPUTS; ++i) {
    int32_t n = 0;
    (void)tabi_batch_array(b, field[i], &n);
    Py_ssize_t size = (Py_ssize_t)tabi_batch_worlds(b) * count * n;
    good = given[i] == Py_None || tbi_py_numbers_take(&taken[i], given[i], size, what[i]);
  }
  return good;
}

static PyObject *run_rollout(object *o, int count, const tbi_py_numbers inputs[INPUTS]) {
  const tabi_model *model = tabi_batch_model(o->batch);
  Py_ssize_t worlds = tabi_batch_worlds(o->batch);
  Py_ssize_t shape_q[3] = {worlds, count, tabi_model_nq(model)};
  Py_ssize_t shape_v[3] = {worlds, count, tabi_model_nv(model)};
  const tabi_batch_inputs in = {inputs[0].data, inputs[1].data, inputs[2].data};
  double *q = NULL;
  double *v = NULL;
  PyObject *array_q = tbi_py_new_array3(shape_q, &q);
  PyObject *array_v = array_q ? tbi_py_new_array3(shape_v, &v) : NULL;
  if (array_v) {
    o->busy = true;
    Py_BEGIN_ALLOW_THREADS(void) tabi_batch_rollout(o->batch, count, &in, q, v);
    Py_END_ALLOW_THREADS o->busy = false;
  }
  if (array_v) return Py_BuildValue("(NN)", array_q, array_v);
  Py_XDECREF(array_q);
  return NULL;
}

static PyObject *rollout(PyObject *self, PyObject *args) {
  int count = 0;
  PyObject *given[INPUTS];
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "iOOO", &count, &given[0], &given[1], &given[2])) return NULL;
  tbi_py_numbers inputs[INPUTS] = {0};
  PyObject *states =
      take_inputs(b, count, given, inputs) ? run_rollout((object *)self, count, inputs) : NULL;
  for (int i = 0; i < INPUTS; ++i)
    tbi_py_numbers_drop(&inputs[i]);
  return states;
}

enum { LOOK = 16 }; /* com, and of a link pos, quat, linear and angular velocity */

/* Masses are those of the model, also where they vary. */
static void look_at(tabi_batch *b, tabi_dynamics *dynamics, int32_t link, double *to) {
  const tabi_model *model = tabi_batch_model(b);
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  const double *v = tabi_batch_array(b, TABI_BATCH_V, NULL);
  for (int32_t i = 0; i < tabi_batch_worlds(b); ++i, to += LOOK) {
    tabi_dynamics_set_state(dynamics, q, v);
    tabi_dynamics_com(dynamics, to);
    tabi_dynamics_link_pose(dynamics, link, to + 3, to + 6);
    tabi_dynamics_link_velocity(dynamics, link, to + 10, to + 13);
    q += tabi_model_nq(model);
    v += tabi_model_nv(model);
  }
}

static PyObject *look(PyObject *self, PyObject *args) {
  int link = 0;
  double *to = NULL;
  tabi_error err = {0};
  tabi_batch *b = use(self);
  if (!b || !PyArg_ParseTuple(args, "i", &link)) return NULL;
  if (link < 0 || link >= tabi_model_nlink(tabi_batch_model(b))) {
    PyErr_SetString(PyExc_IndexError, "no such link");
    return NULL;
  }
  tabi_dynamics *dynamics = tabi_dynamics_create(tabi_batch_model(b), &err);
  if (!dynamics) return tbi_py_raise(&err);
  PyObject *result = tbi_py_new_array(tabi_batch_worlds(b), LOOK, &to);
  if (result) look_at(b, dynamics, link, to);
  tabi_dynamics_destroy(dynamics);
  return result;
}

static PyMethodDef methods[] = {
    {"_array",       array,   METH_VARARGS,              "Field i as a flat view."               },
    {"_field_names", fields,  METH_NOARGS | METH_STATIC, "Names of all fields."                  },
    {"_status",      status,  METH_NOARGS,               "Status and steps of each world."       },
    {"_about",       about,   METH_NOARGS,               "Threads, lanes, reason, bytes."        },
    {"_step",        step,    METH_VARARGS,              "k steps of the worlds that are active."},
    {"_reset",       reset,   METH_VARARGS,              "Begins worlds anew."                   },
    {"_scatter",     scatter, METH_VARARGS,              "Moves a world at random."              },
    {"_rollout",     rollout, METH_VARARGS,              "Open-loop inputs to states."           },
    {"_look",        look,    METH_VARARGS,              "CoM, pose and velocities of a link."   },
    {NULL,           NULL,    0,                         NULL                                    },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                          },
    {Py_tp_dealloc, dealloc                       },
    {Py_tp_methods, methods                       },
    {Py_tp_doc,     "Many worlds; use tabi.Batch."},
    {0,             NULL                          },
};
static PyType_Spec spec = {
    .name = "tabi._tabi.Batch",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_batch_ready(PyObject *module) {
  tbi_py_batch_type = tbi_py_add_type(module, &spec);
  return tbi_py_batch_type != NULL;
}
