/* model.c - _tabi.Model: an immutable model, of a builder or of a scene. */
#include "binding.h"

#include <math.h>

PyTypeObject *tbi_py_model_type;

const tabi_model *tbi_py_model_of(PyObject *object) {
  if (PyObject_TypeCheck(object, tbi_py_model_type)) return ((tbi_py_model *)object)->model;
  PyErr_SetString(PyExc_TypeError, "a tabi.Model is needed here");
  return NULL;
}

PyObject *tbi_py_model_owner(PyObject *object) { return ((tbi_py_model *)object)->owner; }

static void dealloc(PyObject *self) {
  Py_CLEAR(((tbi_py_model *)self)->owner);
  tbi_py_free(self);
}

/* An object of the class `type`, which holds the owner. */
static PyObject *make(PyObject *type, PyObject *owner, const tabi_model *model) {
  allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  tbi_py_model *self = (tbi_py_model *)alloc((PyTypeObject *)type, 0);
  if (!self) return NULL;
  Py_INCREF(owner);
  self->owner = owner;
  self->model = model;
  return (PyObject *)self;
}

static void destroy(void *model) { tabi_model_destroy(model); }

/* Of a capsule that holds a builder. */
static PyObject *from_builder(PyObject *type, PyObject *builder) {
  tabi_builder *b = PyCapsule_GetPointer(builder, "tabi");
  if (!b) return NULL;
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(b, &err);
  if (!model) return tbi_py_raise(&err);
  PyObject *owner = tbi_py_own(model, destroy, NULL);
  if (!owner) return NULL;
  PyObject *self = make(type, owner, model);
  Py_DECREF(owner);
  return self;
}

static PyObject *from_scene(PyObject *type, PyObject *scene) {
  if (!PyObject_TypeCheck(scene, tbi_py_scene_type)) {
    PyErr_SetString(PyExc_TypeError, "a tabi.Scene is needed here");
    return NULL;
  }
  tbi_py_scene *s = (tbi_py_scene *)scene;
  return make(type, s->owner, tabi_scene_model(s->scene));
}

static const tabi_model *of(PyObject *self) { return ((tbi_py_model *)self)->model; }

/* -- what it holds */

static PyObject *count(PyObject *self, PyObject *word) {
  const char *what = PyUnicode_AsUTF8AndSize(word, NULL);
  const tbi_py_item *item = what ? tbi_py_item_find(what) : NULL;
  return item ? PyLong_FromLong(item->count(of(self))) : NULL;
}

static PyObject *item(PyObject *self, PyObject *args) {
  const char *what = NULL;
  int index = 0;
  if (!PyArg_ParseTuple(args, "si", &what, &index)) return NULL;
  const tbi_py_item *kind = tbi_py_item_find(what);
  if (!kind) return NULL;
  if (index < 0 || index >= kind->count(of(self))) {
    PyErr_Format(PyExc_IndexError, "no %s %d", what, index);
    return NULL;
  }
  tbi_py_any_def def;
  kind->get(of(self), index, &def);
  return tbi_py_fields_dict(&kind->fields, &def);
}

static PyObject *names(PyObject *self, PyObject *word) {
  const char *what = PyUnicode_AsUTF8AndSize(word, NULL);
  const tbi_py_item *kind = what ? tbi_py_item_find(what) : NULL;
  if (!kind) return NULL;
  int32_t n = kind->count(of(self));
  PyObject *tuple = PyTuple_New(n);
  for (int32_t i = 0; i < n && tuple; ++i) {
    tbi_py_any_def def;
    kind->get(of(self), i, &def);
    // the name is the first member of every table
    const char *name = *(const char **)((char *)&def + kind->fields.field[0].offset);
    PyObject *text = PyUnicode_FromString(name ? name : "");
    if (!text || PyTuple_SetItem(tuple, i, text) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *find(PyObject *self, PyObject *args) {
  const char *what = NULL;
  PyObject *object = NULL;
  if (!PyArg_ParseTuple(args, "sO", &what, &object)) return NULL;
  tbi_py_kind kind = TBI_PY_LINK;
  if (what[0] == 'j') kind = TBI_PY_JOINT;
  if (what[0] == 's') kind = TBI_PY_SENSOR;
  int32_t index = tbi_py_find(&(tbi_py_names){.model = of(self)}, kind, object);
  return index == TBI_PY_LOST ? NULL : PyLong_FromLong(index);
}

static PyObject *mesh(PyObject *self, PyObject *arg) {
  long index = PyLong_AsLong(arg);
  if (index == -1 && PyErr_Occurred()) return NULL;
  if (index < 0 || index >= tabi_model_nmesh(of(self))) {
    PyErr_Format(PyExc_IndexError, "no mesh %ld", index);
    return NULL;
  }
  tabi_mesh_def def = tabi_model_mesh(of(self), (int32_t)index);
  double *face = NULL;
  PyObject *faces = tbi_py_new_array(def.nface, 3, &face);
  if (!faces) return NULL;
  for (Py_ssize_t i = 0; i < (Py_ssize_t)3 * def.nface; ++i)
    face[i] = def.faces[i];
  PyObject *vertices =
      tbi_py_look(tbi_py_model_owner(self), def.vertices, (Py_ssize_t)3 * def.nvertex, false);
  return vertices ? Py_BuildValue("(zNN)", def.name, vertices, faces) : NULL;
}

static PyObject *exclusions(PyObject *self, PyObject *unused) {
  (void)unused;
  int32_t n = tabi_model_nexclusion(of(self));
  PyObject *list = PyList_New(n);
  for (int32_t i = 0; i < n && list; ++i) {
    int32_t links[2];
    tabi_model_exclusion(of(self), i, links);
    PyObject *pair = Py_BuildValue("(ii)", (int)links[0], (int)links[1]);
    if (!pair || PyList_SetItem(list, i, pair) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *pairs(PyObject *self, PyObject *unused) {
  (void)unused;
  const tbi_py_item *material = tbi_py_item_find("material");
  int32_t n = tabi_model_npair(of(self));
  PyObject *list = PyList_New(n);
  for (int32_t i = 0; i < n && list; ++i) {
    int32_t of_pair[2];
    tabi_material_def def = tabi_model_pair(of(self), i, of_pair);
    PyObject *surface = tbi_py_fields_dict(&material->fields, &def);
    PyObject *pair =
        surface ? Py_BuildValue("(iiN)", (int)of_pair[0], (int)of_pair[1], surface) : NULL;
    if (!pair || PyList_SetItem(list, i, pair) != 0) Py_CLEAR(list);
  }
  return list;
}

/* (name, q, v, u) of every posture */
static PyObject *postures(PyObject *self, PyObject *unused) {
  (void)unused;
  const tabi_model *m = of(self);
  PyObject *list = PyList_New(0);
  for (int32_t i = 0; i < tabi_model_nposture(m) && list; ++i) {
    double *q = NULL;
    double *v = NULL;
    double *u = NULL;
    PyObject *qs = tbi_py_new_array(tabi_model_nq(m), -1, &q);
    PyObject *vs = tbi_py_new_array(tabi_model_nv(m), -1, &v);
    PyObject *us = tbi_py_new_array(tabi_model_nactuator(m), -1, &u);
    PyObject *posture = NULL;
    if (qs && vs && us) {
      const char *name = tabi_model_posture(m, i, q, v);
      tabi_model_posture_control(m, i, u);
      posture = Py_BuildValue("(zOOO)", name, qs, vs, us);
    }
    Py_XDECREF(qs);
    Py_XDECREF(vs);
    Py_XDECREF(us);
    if (!posture || PyList_Append(list, posture) != 0) Py_CLEAR(list);
    Py_XDECREF(posture);
  }
  return list;
}

static PyObject *range_of(PyObject *self, PyObject *joint,
                          tabi_range (*range)(const tabi_model *, int32_t)) {
  int32_t j = tbi_py_find(&(tbi_py_names){.model = of(self)}, TBI_PY_JOINT, joint);
  if (j == TBI_PY_LOST) return NULL;
  if (j == TABI_NONE) {
    PyErr_SetString(PyExc_IndexError, "no joint -1");
    return NULL;
  }
  tabi_range r = range(of(self), j);
  int first = r.count > 0 ? (int)r.first : 0;
  return Py_BuildValue("(ii)", first, first + (int)r.count);
}

static PyObject *joint_q(PyObject *self, PyObject *joint) {
  return range_of(self, joint, tabi_model_joint_q);
}

static PyObject *joint_v(PyObject *self, PyObject *joint) {
  return range_of(self, joint, tabi_model_joint_v);
}

/* -- what it can do */

static PyObject *check(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  if (!list) return NULL;
  (void)tabi_model_check(of(self), tbi_py_collect, list);
  if (!PyErr_Occurred()) return list;
  Py_DECREF(list);
  return NULL;
}

static PyObject *integrate(PyObject *self, PyObject *args) {
  PyObject *q = NULL;
  PyObject *v = NULL;
  double dt = 0;
  if (!PyArg_ParseTuple(args, "OOd", &q, &v, &dt)) return NULL;
  tbi_py_numbers from;
  tbi_py_numbers rate;
  if (!tbi_py_numbers_take(&from, q, tabi_model_nq(of(self)), "q")) return NULL;
  PyObject *to = NULL;
  if (tbi_py_numbers_take(&rate, v, tabi_model_nv(of(self)), "v")) {
    double *data = NULL;
    to = tbi_py_new_array(tabi_model_nq(of(self)), -1, &data);
    if (to) tabi_model_integrate(of(self), from.data, rate.data, dt, data);
    tbi_py_numbers_drop(&rate);
  }
  tbi_py_numbers_drop(&from);
  return to;
}

/* The free joint above which nothing moves, or TABI_NONE. */
static int32_t first_free_joint(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    if (tabi_model_joint(model, i).type == TABI_JOINT_FREE) return i;
  }
  return TABI_NONE;
}

static PyObject *find_rise(PyObject *self, PyObject *q) {
  const tabi_model *m = of(self);
  int32_t joint = first_free_joint(m);
  if (joint == TABI_NONE) {
    return tbi_py_raise_status(TABI_ERR_ARGUMENT,
                               "the model has no free joint; load it with base=\"free\"");
  }
  tbi_py_numbers from;
  if (!tbi_py_numbers_take(&from, q, tabi_model_nq(m), "q")) return NULL;
  double gravity[3];
  double up[3] = {0, 0, 1};
  tabi_model_gravity(m, gravity);
  double size = sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  for (int k = 0; k < 3 && size > 0; ++k)
    up[k] = -gravity[k] / size;
  double rise = 0;
  tabi_error err = {0};
  tabi_status status = tabi_model_find_rise(m, from.data, joint, up, &rise, &err);
  tbi_py_numbers_drop(&from);
  if (status != TABI_OK) return tbi_py_raise(&err);
  return Py_BuildValue("(id(ddd))", (int)tabi_model_joint_q(m, joint).first, rise, up[0], up[1],
                       up[2]);
}

/* -- attributes */

static PyObject *get_nq(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_model_nq(of(self)));
}

static PyObject *get_nv(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_model_nv(of(self)));
}

static PyObject *get_nbody(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_model_nbody(of(self)));
}

static PyObject *get_nmesh(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(tabi_model_nmesh(of(self)));
}

static PyObject *get_mass(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(tabi_model_mass(of(self)));
}

static PyObject *get_timestep(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(tabi_model_timestep(of(self)));
}

static PyObject *get_gravity(PyObject *self, void *unused) {
  (void)unused;
  double gravity[3];
  tabi_model_gravity(of(self), gravity);
  return tbi_py_new_copy(gravity, 3);
}

static PyObject *get_initial_q(PyObject *self, void *unused) {
  (void)unused;
  double *q = NULL;
  PyObject *array = tbi_py_new_array(tabi_model_nq(of(self)), -1, &q);
  if (array) tabi_model_initial_q(of(self), q);
  return array;
}

static PyGetSetDef getset[] = {
    {"nq",        get_nq,        NULL, "Number of positions.",                            NULL},
    {"nv",        get_nv,        NULL, "Number of velocities (degrees of freedom).",      NULL},
    {"nbody",     get_nbody,     NULL, "Number of moving bodies.",                        NULL},
    {"nmesh",     get_nmesh,     NULL, "Number of meshes.",                               NULL},
    {"mass",      get_mass,      NULL, "Mass of all links, kg.",                          NULL},
    {"timestep",  get_timestep,  NULL, "Time step that the file asks for, s.",            NULL},
    {"gravity",   get_gravity,   NULL, "Gravity, m/s^2: array [3].",                      NULL},
    {"initial_q", get_initial_q, NULL, "Positions of the initial state: new array [nq].", NULL},
    {NULL,        NULL,          NULL, NULL,                                              NULL},
};

static PyMethodDef methods[] = {
    {"_from_builder", from_builder, METH_O | METH_CLASS, "The model of a builder."              },
    {"_from_scene",   from_scene,   METH_O | METH_CLASS, "The model of a scene."                },
    {"_count",        count,        METH_O,              "How many items of a kind there are."  },
    {"_item",         item,         METH_VARARGS,        "An item of a kind as a dictionary."   },
    {"_names",        names,        METH_O,              "Names of the items of a kind."        },
    {"_find",         find,         METH_VARARGS,        "The index of an item by name."        },
    {"_mesh",         mesh,         METH_O,              "Name, vertices and faces of a mesh."  },
    {"_exclusions",   exclusions,   METH_NOARGS,         "Pairs of links that never touch."     },
    {"_pairs",        pairs,        METH_NOARGS,         "Pairs of materials."                  },
    {"_postures",     postures,     METH_NOARGS,         "Name, q, v, u of every posture."      },
    {"_joint_q",      joint_q,      METH_O,              "First and last index of a joint in q."},
    {"_joint_v",      joint_v,      METH_O,              "First and last index of a joint in v."},
    {"_check",        check,        METH_NOARGS,         "Findings of the model doctor."        },
    {"_find_rise",    find_rise,    METH_O,              "How far it must rise to stand."       },
    {"integrate",     integrate,    METH_VARARGS,
     "integrate(q, v, dt)\n--\n\nPositions after moving with v for dt seconds, quaternions "
     "normalised: new array [nq]."                                                              },
    {NULL,            NULL,         0,                   NULL                                   },
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc              },
    {Py_tp_doc,     "An immutable model."},
    {Py_tp_methods, methods              },
    {Py_tp_getset,  getset               },
    {0,             NULL                 },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Model",
    .basicsize = sizeof(tbi_py_model),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool tbi_py_model_ready(PyObject *module) {
  tbi_py_model_type = tbi_py_add_type(module, &spec);
  return tbi_py_model_type != NULL;
}
