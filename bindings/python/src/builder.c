/* builder.c - _tabi.Builder: a model part by part. */
#include "binding.h"

#include <limits.h>
#include <string.h>

PyTypeObject *tbi_py_builder_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_builder *builder;
} object;

static void destroy(void *builder) { tabi_builder_destroy(builder); }

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {NULL};
  object *o = (object *)self;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "", keys)) return -1;
  if (o->owner) return 0;
  o->builder = tabi_builder_create();
  if (!o->builder) {
    (void)PyErr_NoMemory();
    return -1;
  }
  o->owner = tbi_py_own(o->builder, destroy, NULL);
  return o->owner ? 0 : -1;
}

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

static tabi_builder *of(PyObject *self) {
  tabi_builder *builder = ((object *)self)->builder;
  if (!builder) PyErr_SetString(PyExc_RuntimeError, "Builder.__init__ was not called");
  return builder;
}

static PyObject *index_or_error(const tabi_builder *b, int32_t index) {
  if (index != TABI_NONE) return PyLong_FromLong(index);
  const tabi_error *err = tabi_builder_error(b);
  return err ? tbi_py_raise(err) : tbi_py_raise_status(TABI_ERR_ARGUMENT, "it was not added");
}

static PyObject *add(PyObject *self, PyObject *args, PyObject *kwargs) {
  const char *what = NULL;
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "s", &what)) return NULL;
  const tbi_py_item *item = tbi_py_item_find(what);
  if (!item) return NULL;
  tbi_py_any_def def;
  item->begin(&def);
  if (!tbi_py_fields_fill(&item->fields, &def, kwargs, &(tbi_py_names){.builder = b})) return NULL;
  return index_or_error(b, item->add(b, &def));
}

/* Faces come as numbers of any type. */
static bool take_faces(const tbi_py_numbers *faces, int32_t *to, int32_t nvertex) {
  for (Py_ssize_t i = 0; i < faces->count; ++i) {
    if (!(faces->data[i] >= 0 && faces->data[i] < nvertex)) {
      PyErr_Format(PyExc_IndexError, "faces: a vertex is not one of %d", (int)nvertex);
      return false;
    }
    to[i] = (int32_t)faces->data[i];
  }
  return true;
}

static PyObject *add_mesh_of(tabi_builder *b, const char *name, const tbi_py_numbers *vertices,
                             const tbi_py_numbers *faces) {
  if (vertices->count % 3 != 0 || faces->count % 3 != 0 || vertices->count > INT_MAX ||
      faces->count > INT_MAX) {
    PyErr_SetString(PyExc_ValueError, "vertices and faces have three numbers each");
    return NULL;
  }
  tabi_mesh_def def = tabi_mesh_def_default();
  int32_t *face = PyMem_Malloc(sizeof *face * ((size_t)faces->count + 1));
  if (!face) return PyErr_NoMemory();
  def.name = name;
  def.vertices = vertices->data;
  def.nvertex = (int32_t)(vertices->count / 3);
  def.faces = face;
  def.nface = (int32_t)(faces->count / 3);
  PyObject *index = NULL;
  if (take_faces(faces, face, def.nvertex))
    index = index_or_error(b, tabi_builder_add_mesh(b, &def));
  PyMem_Free(face);
  return index;
}

static PyObject *add_mesh(PyObject *self, PyObject *args) {
  const char *name = NULL;
  PyObject *vertices = NULL;
  PyObject *faces = NULL;
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "zOO", &name, &vertices, &faces)) return NULL;
  tbi_py_numbers v;
  tbi_py_numbers f;
  if (!tbi_py_numbers_take(&v, vertices, -1, "vertices")) return NULL;
  PyObject *index = NULL;
  if (tbi_py_numbers_take(&f, faces, -1, "faces")) {
    index = add_mesh_of(b, name, &v, &f);
    tbi_py_numbers_drop(&f);
  }
  tbi_py_numbers_drop(&v);
  return index;
}

static PyObject *add_pair(PyObject *self, PyObject *args, PyObject *kwargs) {
  int material[2];
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "ii", &material[0], &material[1])) return NULL;
  tabi_material_def def = tabi_material_def_default();
  const tbi_py_item *item = tbi_py_item_find("material");
  if (!tbi_py_fields_fill(&item->fields, &def, kwargs, &(tbi_py_names){.builder = b})) return NULL;
  return index_or_error(b, tabi_builder_add_pair(b, material[0], material[1], &def));
}

static PyObject *add_exclusion(PyObject *self, PyObject *args) {
  PyObject *link[2];
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "OO", &link[0], &link[1])) return NULL;
  tbi_py_names names = {.builder = b};
  int32_t first = tbi_py_find(&names, TBI_PY_LINK, link[0]);
  int32_t second = first == TBI_PY_LOST ? first : tbi_py_find(&names, TBI_PY_LINK, link[1]);
  if (second == TBI_PY_LOST) return NULL;
  return index_or_error(b, tabi_builder_add_exclusion(b, first, second));
}

static PyObject *add_posture(PyObject *self, PyObject *name) {
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  tabi_builder *b = text ? of(self) : NULL;
  return b ? index_or_error(b, tabi_builder_add_posture(b, text)) : NULL;
}

/* Numbers of one joint; too few or too many are an error that the builder finds. */
static PyObject *set_posture(PyObject *self, PyObject *args) {
  int posture = 0;
  PyObject *joint = NULL;
  PyObject *q = NULL;
  PyObject *v = NULL;
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "iOO|O", &posture, &joint, &q, &v)) return NULL;
  int32_t j = tbi_py_find(&(tbi_py_names){.builder = b}, TBI_PY_JOINT, joint);
  if (j == TBI_PY_LOST) return NULL;
  double value[7] = {0};
  double rate[6] = {0};
  tbi_py_numbers numbers;
  if (!tbi_py_numbers_take(&numbers, q, -1, "q")) return NULL;
  if (numbers.count <= 7) memcpy(value, numbers.data, sizeof *value * (size_t)numbers.count);
  tbi_py_numbers_drop(&numbers);
  if (v && v != Py_None) {
    if (!tbi_py_numbers_take(&numbers, v, -1, "v")) return NULL;
    if (numbers.count <= 6) memcpy(rate, numbers.data, sizeof *rate * (size_t)numbers.count);
    tbi_py_numbers_drop(&numbers);
  }
  tabi_builder_set_posture(b, posture, j, value, rate);
  const tabi_error *err = tabi_builder_error(b);
  if (err) return tbi_py_raise(err);
  Py_RETURN_NONE;
}

static PyObject *set_posture_control(PyObject *self, PyObject *args) {
  int posture = 0;
  int actuator = 0;
  double u = 0;
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTuple(args, "iid", &posture, &actuator, &u)) return NULL;
  tabi_builder_set_posture_control(b, posture, actuator, u);
  const tabi_error *err = tabi_builder_error(b);
  if (err) return tbi_py_raise(err);
  Py_RETURN_NONE;
}

static PyObject *set_gravity(PyObject *self, PyObject *arg) {
  double gravity[3];
  tabi_builder *b = of(self);
  if (!b || !tbi_py_copy_numbers(arg, gravity, 3, "gravity")) return NULL;
  tabi_builder_set_gravity(b, gravity);
  Py_RETURN_NONE;
}

static PyObject *set_timestep(PyObject *self, PyObject *arg) {
  double timestep = PyFloat_AsDouble(arg);
  tabi_builder *b = of(self);
  if (!b || PyErr_Occurred()) return NULL;
  tabi_builder_set_timestep(b, timestep);
  Py_RETURN_NONE;
}

/* -- from files */

static bool take_base(tabi_load_def *def, const char *base) {
  if (!base) return true;
  if (strcmp(base, "free") == 0) def->base = TABI_BASE_FREE;
  if (strcmp(base, "fixed") == 0) def->base = TABI_BASE_FIXED;
  if (def->base != TABI_BASE_AS_FILE) return true;
  PyErr_Format(PyExc_ValueError, "base: '%s' is none of free, fixed", base);
  return false;
}

typedef struct load_args {
  const char *path, *base, *prefix, *package_path, *part;
  PyObject *text; /* bytes, or None */
  PyObject *pos, *quat;
  int strict, need_meshes;
} load_args;

static bool fill_load(const load_args *a, tabi_load_def *def) {
  *def = tabi_load_def_default();
  def->prefix = a->prefix;
  def->package_path = a->package_path;
  def->part = a->part;
  def->strict = a->strict != 0;
  def->need_meshes = a->need_meshes != 0;
  def->place_base = a->pos != Py_None || a->quat != Py_None;
  def->base_quat[0] = 1;
  def->base_quat[1] = def->base_quat[2] = def->base_quat[3] = 0;
  if (a->pos != Py_None && !tbi_py_copy_numbers(a->pos, def->base_pos, 3, "pos")) return false;
  if (a->quat != Py_None && !tbi_py_copy_numbers(a->quat, def->base_quat, 4, "quat")) return false;
  return take_base(def, a->base);
}

static PyObject *load(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"path", "text",         "base",   "pos",         "quat", "prefix",
                         "part", "package_path", "strict", "need_meshes", NULL};
  load_args a = {.text = Py_None, .pos = Py_None, .quat = Py_None};
  tabi_load_def def;
  tabi_builder *b = of(self);
  if (!b || !PyArg_ParseTupleAndKeywords(args, kwargs, "s|OzOOzzzpp", keys, &a.path, &a.text,
                                         &a.base, &a.pos, &a.quat, &a.prefix, &a.part,
                                         &a.package_path, &a.strict, &a.need_meshes)) {
    return NULL;
  }
  char *bytes = NULL;
  Py_ssize_t size = 0;
  if (a.text != Py_None && PyBytes_AsStringAndSize(a.text, &bytes, &size) != 0) return NULL;
  if (!fill_load(&a, &def)) return NULL;
  PyObject *found = PyList_New(0);
  if (!found) return NULL;
  def.warn = tbi_py_collect;
  def.warn_user = found;
  tabi_error err = {0};
  tabi_status status = bytes ? tabi_builder_load_text(b, bytes, (size_t)size, a.path, &def, &err)
                             : tabi_builder_load(b, a.path, &def, &err);
  if (status == TABI_OK && !PyErr_Occurred()) return found;
  Py_DECREF(found);
  return PyErr_Occurred() ? NULL : tbi_py_raise(&err);
}

static PyObject *owner(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!of(self)) return NULL;
  Py_INCREF(((object *)self)->owner);
  return ((object *)self)->owner;
}

static PyMethodDef methods[] = {
    {"_add",                 (PyCFunction)(void (*)(void))add,      METH_VARARGS | METH_KEYWORDS,
     "Add an item of a kind; returns its index."                                                                                                      },
    {"_add_mesh",            add_mesh,                              METH_VARARGS,                 "Add a mesh."                                       },
    {"_add_pair",            (PyCFunction)(void (*)(void))add_pair, METH_VARARGS | METH_KEYWORDS,
     "Add a pair of materials."                                                                                                                       },
    {"_add_exclusion",       add_exclusion,                         METH_VARARGS,                 "Exclude two links."                                },
    {"_add_posture",         add_posture,                           METH_O,                       "Add a posture."                                    },
    {"_set_posture",         set_posture,                           METH_VARARGS,                 "A joint's q and v."                                },
    {"_set_posture_control", set_posture_control,                   METH_VARARGS,                 "An actuator's u."                                  },
    {"set_gravity",          set_gravity,                           METH_O,                       "set_gravity(gravity)\n--\n\nGravity in m/s^2, [3]."},
    {"set_timestep",         set_timestep,                          METH_O,
     "set_timestep(timestep)\n--\n\nThe time step in s that worlds of the model take."                                                                },
    {"_load",                (PyCFunction)(void (*)(void))load,     METH_VARARGS | METH_KEYWORDS,
     "Add a robot from a file; returns what was noticed."                                                                                             },
    {"_owner",               owner,                                 METH_NOARGS,                  "Its capsule."                                      },
    {NULL,                   NULL,                                  0,                            NULL                                                },
};

static PyType_Slot slots[] = {
    {Py_tp_init,    init                    },
    {Py_tp_dealloc, dealloc                 },
    {Py_tp_doc,     "A model, part by part."},
    {Py_tp_methods, methods                 },
    {0,             NULL                    },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Builder",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_builder_ready(PyObject *module) {
  tbi_py_builder_type = tbi_py_add_type(module, &spec);
  return tbi_py_builder_type != NULL;
}
