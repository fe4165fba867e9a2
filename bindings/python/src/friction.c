/* friction.c - _tabi.FrictionProblem: contacts without a robot, u = W r + q. */
#include "binding.h"

#include <limits.h>
#include <string.h>

PyTypeObject *tbi_py_problem_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_friction_problem *problem;
} object;

static void destroy(void *problem) { tabi_friction_problem_destroy(problem); }

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

static PyObject *make(PyObject *type, tabi_friction_problem *problem) {
  allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  object *self = (object *)alloc((PyTypeObject *)type, 0);
  if (!self) {
    tabi_friction_problem_destroy(problem);
    return NULL;
  }
  self->problem = problem;
  self->owner = tbi_py_own(problem, destroy, NULL);
  if (self->owner) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static PyObject *load(PyObject *type, PyObject *arg) {
  const char *path = PyUnicode_AsUTF8AndSize(arg, NULL);
  tabi_error err = {0};
  if (!path) return NULL;
  tabi_friction_problem *problem = tabi_friction_problem_load(path, &err);
  return problem ? make(type, problem) : tbi_py_raise(&err);
}

/* Whole numbers of an argument, to be freed. */
static int32_t *take_indices(const tbi_py_numbers *numbers) {
  int32_t *to = PyMem_Malloc(sizeof *to * ((size_t)numbers->count + 1));
  if (!to) (void)PyErr_NoMemory();
  for (Py_ssize_t i = 0; to && i < numbers->count; ++i) {
    double x = numbers->data[i];
    to[i] = x >= 0 && x <= INT_MAX ? (int32_t)x : -1;
  }
  return to;
}

enum { ROW, COLUMN, BLOCK, Q, FRICTION, PARTS };

/* Sizes that belong together: the library checks what is in them. */
static bool fits(const tbi_py_numbers part[PARTS]) {
  Py_ssize_t n = part[FRICTION].count;
  bool good = n < INT_MAX / 9 && part[ROW].count == n + 1 && part[Q].count == 3 * n &&
              part[BLOCK].count == 9 * part[COLUMN].count &&
              part[ROW].data[n] == (double)part[COLUMN].count;
  if (!good) {
    PyErr_SetString(PyExc_ValueError,
                    "for n contacts and m blocks: row [n + 1] that ends with m, column [m], "
                    "block [m, 3, 3], q [3 n], friction [n]");
  }
  return good;
}

static PyObject *create_of(PyObject *type, const tbi_py_numbers part[PARTS]) {
  if (!fits(part)) return NULL;
  tabi_friction_problem_def def = tabi_friction_problem_def_default();
  int32_t *row = take_indices(&part[ROW]);
  int32_t *column = take_indices(&part[COLUMN]);
  tabi_friction_problem *problem = NULL;
  tabi_error err = {0};
  if (row && column) {
    def.ncontact = (int32_t)part[FRICTION].count;
    def.row = row;
    def.column = column;
    def.block = part[BLOCK].data;
    def.q = part[Q].data;
    def.friction = part[FRICTION].data;
    problem = tabi_friction_problem_create(&def, &err);
  }
  PyMem_Free(row);
  PyMem_Free(column);
  if (problem) return make(type, problem);
  return PyErr_Occurred() ? NULL : tbi_py_raise(&err);
}

static PyObject *create(PyObject *type, PyObject *args) {
  static const char *const what[PARTS] = {"row", "column", "block", "q", "friction"};
  PyObject *given[PARTS];
  tbi_py_numbers part[PARTS];
  if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]))
    return NULL;
  int taken = 0;
  while (taken < PARTS && tbi_py_numbers_take(&part[taken], given[taken], -1, what[taken]))
    ++taken;
  PyObject *made = taken == PARTS ? create_of(type, part) : NULL;
  while (taken > 0)
    tbi_py_numbers_drop(&part[--taken]);
  return made;
}

static PyObject *solve(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"solver", "tolerance", "max_iterations", "start", NULL};
  const tabi_friction_problem *problem = ((object *)self)->problem;
  tabi_friction_solve_def def = tabi_friction_solve_def_default();
  const char *solver = "exact";
  PyObject *start = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|sdiO", keys, &solver, &def.tolerance,
                                   &def.max_iterations, &start)) {
    return NULL;
  }
  int32_t kind = tabi_friction_solver_find(solver);
  if (kind == TABI_NONE) {
    PyErr_Format(PyExc_ValueError, "solver: '%s' is none of exact, cone, lcp", solver);
    return NULL;
  }
  def.solver = (tabi_friction_solver)kind;
  Py_ssize_t n = tabi_friction_problem_ncontact(problem);
  double *r = NULL;
  PyObject *array = tbi_py_new_array(n, 3, &r);
  if (!array) return NULL;
  memset(r, 0, sizeof *r * (size_t)(3 * n));
  bool good = start == Py_None || tbi_py_copy_numbers(start, r, 3 * n, "start");
  tabi_friction_result result = {0};
  tabi_error err = {0};
  tabi_status status = TABI_OK;
  if (good) {
    Py_BEGIN_ALLOW_THREADS status = tabi_friction_problem_solve(problem, &def, r, &result, &err);
    Py_END_ALLOW_THREADS
  }
  if (good && status == TABI_OK) {
    return Py_BuildValue("{sNsisisisdsdsO}", "r", array, "islands", (int)result.islands,
                         "iterations", (int)result.iterations, "factorisations",
                         (int)result.factorisations, "residual", result.residual, "scaled",
                         result.scaled, "converged", result.converged ? Py_True : Py_False);
  }
  Py_DECREF(array);
  return good ? tbi_py_raise(&err) : NULL;
}

static PyObject *get_ncontact(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_friction_problem_ncontact(((object *)self)->problem));
}

static PyGetSetDef getset[] = {
    {"ncontact", get_ncontact, NULL, "Number of contacts.", NULL},
    {NULL,       NULL,         NULL, NULL,                  NULL},
};

static PyMethodDef methods[] = {
    {"_load",   load,                               METH_O | METH_CLASS,          "From a file."},
    {"_create", create,                             METH_VARARGS | METH_CLASS,    "From arrays."},
    {"_solve",  (PyCFunction)(void (*)(void))solve, METH_VARARGS | METH_KEYWORDS,
     "Impulses, iterations and residuals."                                                      },
    {NULL,      NULL,                               0,                            NULL          },
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc                    },
    {Py_tp_doc,     "Contacts without a robot."},
    {Py_tp_methods, methods                    },
    {Py_tp_getset,  getset                     },
    {0,             NULL                       },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.FrictionProblem",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool tbi_py_problem_ready(PyObject *module) {
  tbi_py_problem_type = tbi_py_add_type(module, &spec);
  return tbi_py_problem_type != NULL;
}
