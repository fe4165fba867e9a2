/* run.c - _tabi.Run: a world of a scene that runs, with signals in memory and a log in a file.
 *
 * Steps need no interpreter: other threads run meanwhile.  Every so many steps a sample is taken,
 * and the signals that were asked for become a row of a table that grows. */
#include "world.h"

#include "tabi/tabi_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *tbi_py_run_type;

/* The largest of each over all steps. */
typedef struct worst {
  double gap, complementarity, cone, dissipation;
  long fallbacks, energy_limited, unconverged, steps;
} worst;

typedef struct object {
  PyObject_HEAD tbi_py_world *world; /* with a scene */
  tabi_observer *observer;
  tabi_signals *signals;
  tabi_recorder *recorder;
  double *value;   /* [nsignal] of a sample */
  int32_t *chosen; /* [ncolumn] signals */
  int32_t ncolumn, every;
  double *table; /* [nrow x (1 + ncolumn)]: time, then the signals */
  size_t nrow, room;
  worst worst;
  tabi_run_checks checks;
  bool ended, no_memory;
} object;

static void dealloc(PyObject *self) {
  object *o = (object *)self;
  (void)tabi_recorder_close(o->recorder, NULL);
  tabi_signals_destroy(o->signals);
  tabi_observer_destroy(o->observer);
  free(o->value);
  free(o->chosen);
  free(o->table);
  Py_CLEAR(o->world);
  tbi_py_free(self);
}

/* -- samples */

static bool make_room(object *o) {
  size_t width = 1 + (size_t)o->ncolumn;
  if (o->nrow < o->room) return true;
  size_t room = o->room ? 2 * o->room : 256;
  double *table = realloc(o->table, room * width * sizeof *table);
  if (!table) {
    o->no_memory = true;
    return false;
  }
  o->table = table;
  o->room = room;
  return true;
}

static void sample(object *o) {
  if (!o->signals || !make_room(o)) return;
  const tabi_sample *now = tabi_observer_look(o->observer);
  double *row = o->table + o->nrow++ * (1 + (size_t)o->ncolumn);
  tabi_signals_eval(o->signals, now, o->value);
  row[0] = now->time;
  for (int32_t i = 0; i < o->ncolumn; ++i)
    row[1 + i] = o->value[o->chosen[i]];
}

static void judge(object *o) {
  tabi_world *world = o->world->world;
  const tabi_certificate c = tabi_world_certificate(world);
  const tabi_energy energy = tabi_world_energy(world);
  worst *w = &o->worst;
  w->gap = fmax(w->gap, c.gap);
  w->complementarity = fmax(w->complementarity, c.complementarity);
  w->cone = fmax(w->cone, c.cone);
  w->dissipation = fmax(w->dissipation, c.dissipation);
  tabi_run_checks_step(&o->checks, world, &energy);
  w->fallbacks += c.fallback;
  w->energy_limited += c.energy_limited;
  w->unconverged += !c.converged;
  ++w->steps;
}

/* -- making one */

static bool choose(object *o, PyObject *patterns) {
  int32_t count = tabi_signals_count(o->signals);
  bool *chosen = PyMem_Calloc((size_t)count + 1, sizeof *chosen);
  o->chosen = calloc((size_t)count + 1, sizeof *o->chosen);
  o->value = calloc((size_t)count + 1, sizeof *o->value);
  bool good = chosen && o->chosen && o->value;
  if (!good) (void)PyErr_NoMemory();
  for (Py_ssize_t i = 0; good && i < PyList_Size(patterns); ++i) {
    const char *pattern = PyUnicode_AsUTF8AndSize(PyList_GetItem(patterns, i), NULL);
    good = pattern != NULL;
    if (!good || tabi_signals_match(o->signals, pattern, chosen) > 0) continue;
    const char *near = tabi_signals_nearest(o->signals, pattern);
    PyErr_Format(PyExc_KeyError, near ? "no signal '%s'; did you mean '%s'?" : "no signal '%s'%s",
                 pattern, near ? near : "");
    good = false;
  }
  for (int32_t i = 0; good && i < count; ++i) {
    if (chosen[i]) o->chosen[o->ncolumn++] = i;
  }
  PyMem_Free(chosen);
  return good;
}

static bool open_outputs(object *o, PyObject *patterns, const char *log) {
  tabi_error err = {0};
  tabi_scene *scene = o->world->scene->scene;
  tabi_world *world = o->world->world;
  if (PyList_Size(patterns) > 0) {
    o->observer = tabi_observer_create(scene, world, &err);
    o->signals = o->observer ? tabi_signals_create(scene, &err) : NULL;
    if (!o->signals) return tbi_py_raise(&err) != NULL;
    if (!choose(o, patterns)) return false;
  }
  if (log) {
    o->recorder = tabi_recorder_create(log, scene, world, &err);
    if (!o->recorder) return tbi_py_raise(&err) != NULL;
  }
  return true;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"world", "signals", "every", "log", NULL};
  object *o = (object *)self;
  PyObject *world = NULL;
  PyObject *patterns = NULL;
  const char *log = NULL;
  int every = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!iz", keys, &world, &PyList_Type, &patterns,
                                   &every, &log)) {
    return -1;
  }
  tbi_py_world *w = tbi_py_world_check(world);
  if (!w) return -1;
  if (!w->scene || o->world || every < 1) {
    PyErr_SetString(PyExc_ValueError, "a Run is made once, of the world of a scene, every > 0");
    return -1;
  }
  Py_INCREF(world);
  o->world = w;
  o->every = every;
  if (!open_outputs(o, patterns, log)) return -1;
  tabi_run_checks_begin(&o->checks, w->scene->scene, w->world);
  sample(o);
  return 0;
}

/* -- running */

/* How many steps were made, fewer after an error or at the end of a gait. */
static long advance_chunk(object *o, long count, tabi_status *status, tabi_error *err) {
  for (long i = 0; i < count; ++i) {
    *status = tbi_py_world_advance(o->world);
    if (*status != TABI_OK) return i;
    judge(o);
    if (tabi_world_steps(o->world->world) % o->every == 0) sample(o);
    if (o->recorder && tabi_recorder_step(o->recorder, err) != TABI_OK) {
      *status = err->status;
      return i + 1;
    }
  }
  return count;
}

static PyObject *advance(PyObject *self, PyObject *arg) {
  object *o = (object *)self;
  long count = PyLong_AsLong(arg);
  if (PyErr_Occurred()) return NULL;
  if (!o->world || !tbi_py_world_enter(o->world)) return NULL;
  tabi_status status = TABI_OK;
  tabi_error err = {0};
  long done = 0;
  Py_BEGIN_ALLOW_THREADS done = advance_chunk(o, count, &status, &err);
  Py_END_ALLOW_THREADS tbi_py_world_leave(o->world);
  if (o->no_memory) return PyErr_NoMemory();
  o->ended = status == TABI_ERR_ENDED;
  if (status == TABI_OK || o->ended) return PyLong_FromLong(done);
  return err.status != TABI_OK ? tbi_py_raise(&err) : tbi_py_world_raise(o->world);
}

static PyObject *close_log(PyObject *self, PyObject *unused) {
  (void)unused;
  object *o = (object *)self;
  tabi_error err = {0};
  tabi_status status = tabi_recorder_close(o->recorder, &err);
  o->recorder = NULL;
  if (status != TABI_OK) return tbi_py_raise(&err);
  Py_RETURN_NONE;
}

/* -- what came out */

static PyObject *table(PyObject *self, PyObject *unused) {
  (void)unused;
  object *o = (object *)self;
  double *data = NULL;
  size_t width = 1 + (size_t)o->ncolumn;
  PyObject *array = tbi_py_new_array((Py_ssize_t)o->nrow, (Py_ssize_t)width, &data);
  if (array && o->nrow > 0) memcpy(data, o->table, o->nrow * width * sizeof *data);
  return array;
}

static PyObject *columns(PyObject *self, PyObject *unused) {
  (void)unused;
  object *o = (object *)self;
  PyObject *list = PyList_New(o->ncolumn);
  for (int32_t i = 0; i < o->ncolumn && list; ++i) {
    tabi_signal signal = tabi_signals_get(o->signals, o->chosen[i]);
    PyObject *item = Py_BuildValue("(sss)", signal.name, signal.unit, signal.about);
    if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *worst_of(PyObject *self, PyObject *unused) {
  (void)unused;
  const worst *w = &((object *)self)->worst;
  const tabi_run_checks *checks = &((object *)self)->checks;
  return Py_BuildValue("{sdsdsdsdsdslslslsl}", "gap", w->gap, "complementarity", w->complementarity,
                       "cone", w->cone, "dissipation", w->dissipation, "penetration",
                       checks->penetration.value, "fallbacks", w->fallbacks, "energy_limited",
                       w->energy_limited, "unconverged", w->unconverged, "steps", w->steps);
}

/* A list of (name, worst value, its time, bound, whether it was kept). */
static PyObject *checks_of(PyObject *self, PyObject *unused) {
  (void)unused;
  const tabi_run_checks *c = &((object *)self)->checks;
  tabi_run_excess excess = tabi_run_checks_judge(c);
  return Py_BuildValue("[(sdddO)(sdddO)(sdddO)]", "penetration", c->penetration.value,
                       c->penetration.time, c->bound.penetration,
                       excess.penetration ? Py_False : Py_True, "energy_gain",
                       tabi_run_checks_gain(c), c->gain.time, c->bound.energy_gain,
                       excess.energy_gain ? Py_False : Py_True, "residual", c->residual.value,
                       c->residual.time, c->bound.residual, excess.residual ? Py_False : Py_True);
}

static PyObject *ended(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyBool_FromLong(((object *)self)->ended);
}

static PyMethodDef methods[] = {
    {"advance",   advance,   METH_O,      "Make so many steps; returns how many were made."},
    {"close_log", close_log, METH_NOARGS, "Write the end of the log."                      },
    {"table",     table,     METH_NOARGS, "Time and signals, a row for each sample."       },
    {"columns",   columns,   METH_NOARGS, "Name, unit and meaning of the signals."         },
    {"worst",     worst_of,  METH_NOARGS, "The largest residuals over all steps."          },
    {"checks",    checks_of, METH_NOARGS, "What the scene bounds, and whether it was kept."},
    {"ended",     ended,     METH_NOARGS, "Whether a gait has ended."                      },
    {NULL,        NULL,      0,           NULL                                             },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                           },
    {Py_tp_dealloc, dealloc                        },
    {Py_tp_doc,     "A world of a scene that runs."},
    {Py_tp_methods, methods                        },
    {0,             NULL                           },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Run",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool tbi_py_run_ready(PyObject *module) {
  tbi_py_run_type = tbi_py_add_type(module, &spec);
  return tbi_py_run_type != NULL;
}
