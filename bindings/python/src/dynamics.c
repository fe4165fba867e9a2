/* dynamics.c - _tabi.Dynamics: the rigid-body quantities of one state.
 *
 * Every matrix is computed into a new array, which does not change with the next state. */
#include "binding.h"

PyTypeObject *tbi_py_dynamics_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_dynamics *d;
  const tabi_model *model;
} object;

static void destroy(void *d) { tabi_dynamics_destroy(d); }

/* The initial state, at rest. */
static bool begin(object *o) {
  double *q = PyMem_Calloc((size_t)tabi_model_nq(o->model) + 1, sizeof *q);
  double *v = PyMem_Calloc((size_t)tabi_model_nv(o->model) + 1, sizeof *v);
  bool good = q && v;
  if (good) {
    tabi_model_initial_q(o->model, q);
    tabi_dynamics_set_state(o->d, q, v);
  } else {
    (void)PyErr_NoMemory();
  }
  PyMem_Free(q);
  PyMem_Free(v);
  return good;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model", NULL};
  object *o = (object *)self;
  PyObject *model = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", keys, &model)) return -1;
  o->model = tbi_py_model_of(model);
  if (!o->model) return -1;
  if (o->owner) {
    PyErr_SetString(PyExc_RuntimeError, "a Dynamics is made once");
    return -1;
  }
  tabi_error err = {0};
  o->d = tabi_dynamics_create(o->model, &err);
  if (!o->d) {
    (void)tbi_py_raise(&err);
    return -1;
  }
  o->owner = tbi_py_own(o->d, destroy, tbi_py_model_owner(model));
  return o->owner && begin(o) ? 0 : -1;
}

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

static tabi_dynamics *of(PyObject *self) {
  object *o = (object *)self;
  if (o->owner) return o->d;
  PyErr_SetString(PyExc_RuntimeError, "Dynamics.__init__ was not called");
  return NULL;
}

static Py_ssize_t nv_of(PyObject *self) { return tabi_model_nv(((object *)self)->model); }

static PyObject *set(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"q", "v", NULL};
  PyObject *q = NULL;
  PyObject *v = Py_None;
  tabi_dynamics *d = of(self);
  if (!d || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", keys, &q, &v)) return NULL;
  tbi_py_numbers position;
  tbi_py_numbers velocity = {0};
  double *zero = NULL;
  if (!tbi_py_numbers_take(&position, q, tabi_model_nq(((object *)self)->model), "q")) return NULL;
  if (v == Py_None) {
    zero = PyMem_Calloc((size_t)nv_of(self) + 1, sizeof *zero);
    if (!zero) (void)PyErr_NoMemory();
  } else {
    (void)tbi_py_numbers_take(&velocity, v, nv_of(self), "v");
  }
  if (!PyErr_Occurred()) tabi_dynamics_set_state(d, position.data, zero ? zero : velocity.data);
  PyMem_Free(zero);
  tbi_py_numbers_drop(&velocity);
  tbi_py_numbers_drop(&position);
  if (PyErr_Occurred()) return NULL;
  Py_INCREF(self);
  return self;
}

/* -- forward and inverse */

typedef void solve_fn(tabi_dynamics *d, const double *given, double *result);

static PyObject *solve(PyObject *self, PyObject *args, const char *what, solve_fn *function) {
  PyObject *given = Py_None;
  double *data = NULL;
  tabi_dynamics *d = of(self);
  if (!d || !PyArg_ParseTuple(args, "|O", &given)) return NULL;
  tbi_py_numbers numbers = {0};
  if (given != Py_None && !tbi_py_numbers_take(&numbers, given, nv_of(self), what)) return NULL;
  PyObject *result = tbi_py_new_array(nv_of(self), -1, &data);
  if (result) function(d, numbers.data, data);
  tbi_py_numbers_drop(&numbers);
  return result;
}

static PyObject *forward(PyObject *self, PyObject *args) {
  return solve(self, args, "tau", tabi_dynamics_forward);
}

static PyObject *inverse(PyObject *self, PyObject *args) {
  return solve(self, args, "qdd", tabi_dynamics_inverse);
}

static PyObject *get_bias(PyObject *self, void *unused) {
  (void)unused;
  double *data = NULL;
  tabi_dynamics *d = of(self);
  PyObject *result = d ? tbi_py_new_array(nv_of(self), -1, &data) : NULL;
  if (result) tabi_dynamics_inverse(d, NULL, data);
  return result;
}

/* -- matrices */

typedef void matrix_fn(tabi_dynamics *d, double *matrix);

static PyObject *matrix(PyObject *self, Py_ssize_t rows, matrix_fn *function) {
  double *data = NULL;
  tabi_dynamics *d = of(self);
  PyObject *result = d ? tbi_py_new_array(rows, nv_of(self), &data) : NULL;
  if (result) function(d, data);
  return result;
}

static PyObject *get_mass_matrix(PyObject *self, void *unused) {
  (void)unused;
  return matrix(self, nv_of(self), tabi_dynamics_mass_matrix);
}

static PyObject *get_com_jacobian(PyObject *self, void *unused) {
  (void)unused;
  return matrix(self, 3, tabi_dynamics_com_jacobian);
}

static PyObject *get_com_jacobian_rate(PyObject *self, void *unused) {
  (void)unused;
  return matrix(self, 3, tabi_dynamics_com_jacobian_rate);
}

static PyObject *get_momentum_matrix(PyObject *self, void *unused) {
  (void)unused;
  return matrix(self, 6, tabi_dynamics_momentum_matrix);
}

static int32_t link_of(PyObject *self, PyObject *link) {
  int32_t index = tbi_py_find(&(tbi_py_names){.model = ((object *)self)->model}, TBI_PY_LINK, link);
  if (index != TABI_WORLD) return index;
  PyErr_SetString(PyExc_IndexError, "a link is needed here, not the world");
  return TBI_PY_LOST;
}

static PyObject *jacobian(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"link", "point", "rate", NULL};
  PyObject *link = NULL;
  PyObject *given = Py_None;
  int rate = 0;
  tabi_dynamics *d = of(self);
  if (!d || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op", keys, &link, &given, &rate))
    return NULL;
  int32_t index = link_of(self, link);
  if (index == TBI_PY_LOST) return NULL;
  double point[3];
  double quat[4];
  double *data = NULL;
  tabi_dynamics_link_pose(d, index, point, quat);
  if (given != Py_None && !tbi_py_copy_numbers(given, point, 3, "point")) return NULL;
  PyObject *result = tbi_py_new_array(3, nv_of(self), &data);
  if (result && rate) tabi_dynamics_point_jacobian_rate(d, index, point, data);
  if (result && !rate) tabi_dynamics_point_jacobian(d, index, point, data);
  return result;
}

static PyObject *angular_jacobian(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"link", "rate", NULL};
  PyObject *link = NULL;
  int rate = 0;
  double *data = NULL;
  tabi_dynamics *d = of(self);
  if (!d || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", keys, &link, &rate)) return NULL;
  int32_t index = link_of(self, link);
  PyObject *result = index == TBI_PY_LOST ? NULL : tbi_py_new_array(3, nv_of(self), &data);
  if (result && rate) tabi_dynamics_angular_jacobian_rate(d, index, data);
  if (result && !rate) tabi_dynamics_angular_jacobian(d, index, data);
  return result;
}

/* -- links and the whole */

static PyObject *link_pose(PyObject *self, PyObject *link) {
  double pos[3];
  double quat[4];
  tabi_dynamics *d = of(self);
  int32_t index = d ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  tabi_dynamics_link_pose(d, index, pos, quat);
  return Py_BuildValue("(NN)", tbi_py_new_copy(pos, 3), tbi_py_new_copy(quat, 4));
}

static PyObject *link_velocity(PyObject *self, PyObject *link) {
  double lin[3];
  double ang[3];
  tabi_dynamics *d = of(self);
  int32_t index = d ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  tabi_dynamics_link_velocity(d, index, lin, ang);
  return Py_BuildValue("(NN)", tbi_py_new_copy(lin, 3), tbi_py_new_copy(ang, 3));
}

static PyObject *get_com(PyObject *self, void *unused) {
  (void)unused;
  double com[3];
  tabi_dynamics *d = of(self);
  if (!d) return NULL;
  tabi_dynamics_com(d, com);
  return tbi_py_new_copy(com, 3);
}

static PyObject *get_kinetic(PyObject *self, void *unused) {
  (void)unused;
  tabi_dynamics *d = of(self);
  return d ? PyFloat_FromDouble(tabi_dynamics_kinetic(d)) : NULL;
}

static PyObject *get_potential(PyObject *self, void *unused) {
  (void)unused;
  tabi_dynamics *d = of(self);
  return d ? PyFloat_FromDouble(tabi_dynamics_potential(d)) : NULL;
}

static PyObject *get_momentum(PyObject *self, void *unused) {
  (void)unused;
  double both[6];
  tabi_dynamics *d = of(self);
  if (!d) return NULL;
  tabi_dynamics_momentum(d, both, both + 3);
  return tbi_py_new_copy(both, 6);
}

static PyObject *get_momentum_bias(PyObject *self, void *unused) {
  (void)unused;
  double both[6];
  tabi_dynamics *d = of(self);
  if (!d) return NULL;
  tabi_dynamics_momentum_bias(d, both, both + 3);
  return tbi_py_new_copy(both, 6);
}

/* -- the type */

static PyGetSetDef getset[] = {
    {"M",                 get_mass_matrix,       NULL, "Mass matrix, rotor inertia included: [nv, nv].", NULL},
    {"bias",              get_bias,              NULL,
     "Joint forces, N m or N, of Coriolis, centrifugal and gravity terms: [nv].",                        NULL},
    {"com",               get_com,               NULL, "Centre of mass, m: [3].",                        NULL},
    {"com_jacobian",      get_com_jacobian,      NULL, "Jacobian of the centre of mass: [3, nv].",       NULL},
    {"com_jacobian_rate", get_com_jacobian_rate, NULL, "Its rate, 1/s: [3, nv].",                        NULL},
    {"kinetic",           get_kinetic,           NULL, "Kinetic energy, J.",                             NULL},
    {"potential",         get_potential,         NULL, "Potential energy of gravity, J.",                NULL},
    {"momentum",          get_momentum,          NULL,
     "Linear momentum (N s) and angular momentum about the centre of mass (N m s): [6].",                NULL},
    {"momentum_matrix",   get_momentum_matrix,   NULL,
     "Centroidal momentum matrix A, momentum = A v: [6, nv].",                                           NULL},
    {"momentum_bias",     get_momentum_bias,     NULL, "Rate of A v at constant v, N and N m: [6].",     NULL},
    {NULL,                NULL,                  NULL, NULL,                                             NULL},
};

static PyMethodDef methods[] = {
    {"set",              (PyCFunction)(void (*)(void))set,              METH_VARARGS | METH_KEYWORDS,
     "set(q, v=None)\n--\n\nThe state of all that follows: positions [nq] and velocities [nv] "
     "(None: at rest).  Returns itself."                                                                  },
    {"forward",          forward,                                       METH_VARARGS,
     "forward(tau=None)\n--\n\nAcceleration [nv] under joint forces tau [nv], N m or N."                  },
    {"inverse",          inverse,                                       METH_VARARGS,
     "inverse(qdd=None)\n--\n\nJoint forces [nv], N m or N, that give the acceleration qdd [nv]."         },
    {"jacobian",         (PyCFunction)(void (*)(void))jacobian,         METH_VARARGS | METH_KEYWORDS,
     "jacobian(link, point=None, rate=False)\n--\n\nJacobian [3, nv] of a point (m, world; None: "
     "the link's origin) that moves with a link, or its rate (1/s)."                                      },
    {"angular_jacobian", (PyCFunction)(void (*)(void))angular_jacobian,
     METH_VARARGS | METH_KEYWORDS,
     "angular_jacobian(link, rate=False)\n--\n\nJacobian [3, nv] of a link's angular velocity, "
     "world axes, or its rate (1/s)."                                                                     },
    {"link_pose",        link_pose,                                     METH_O,
     "link_pose(link)\n--\n\nPosition [3] (m) and quaternion [4] (w, x, y, z) of a link's frame."         },
    {"link_velocity",    link_velocity,                                 METH_O,
     "link_velocity(link)\n--\n\nVelocity [3] (m/s) of a link's origin and angular velocity [3] "
     "(rad/s), world axes."                                                                               },
    {NULL,               NULL,                                          0,                            NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                                     },
    {Py_tp_dealloc, dealloc                                  },
    {Py_tp_doc,     "The rigid-body quantities of one state."},
    {Py_tp_methods, methods                                  },
    {Py_tp_getset,  getset                                   },
    {0,             NULL                                     },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Dynamics",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_dynamics_ready(PyObject *module) {
  tbi_py_dynamics_type = tbi_py_add_type(module, &spec);
  return tbi_py_dynamics_type != NULL;
}
