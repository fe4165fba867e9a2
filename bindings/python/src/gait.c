/* gait.c - _tabi.Gait: the planar biped whose worlds advance by contact modes. */
#include "binding.h"

#include "tabi/tabi_gait.h"

#include <stddef.h>
#include <string.h>

PyTypeObject *tbi_py_gait_type;

typedef struct object {
  PyObject_HEAD PyObject *owner;
  tabi_gait *gait;
} object;

static void destroy(void *gait) { tabi_gait_destroy(gait); }

static void dealloc(PyObject *self) {
  Py_CLEAR(((object *)self)->owner);
  tbi_py_free(self);
}

const tabi_gait *tbi_py_gait_of(PyObject *gait) {
  if (PyObject_TypeCheck(gait, tbi_py_gait_type) && ((object *)gait)->owner)
    return ((object *)gait)->gait;
  PyErr_SetString(PyExc_TypeError, "gait: a tabi.Gait is needed here");
  return NULL;
}

static const char *events_word(int i) {
  static const char *const words[] = {"located", "step"};
  return i >= 0 && i < 2 ? words[i] : NULL;
}

static const char *guards_word(int i) {
  static const char *const words[] = {"strict", "paper"};
  return i >= 0 && i < 2 ? words[i] : NULL;
}

static const char *impact_word(int i) {
  static const char *const words[] = {"normal", "coulomb"};
  return i >= 0 && i < 2 ? words[i] : NULL;
}

static const tbi_py_field def_field[] = {
    {"initial_support",  offsetof(tabi_gait_def, initial_support),  NULL,        TBI_PY_INT,    0},
    {"initial_mode",     offsetof(tabi_gait_def, initial_mode),     NULL,        TBI_PY_TEXT,   0},
    {"events",           offsetof(tabi_gait_def, events),           events_word, TBI_PY_WORD,   0},
    {"guards",           offsetof(tabi_gait_def, guards),           guards_word, TBI_PY_WORD,   0},
    {"impact",           offsetof(tabi_gait_def, impact),           impact_word, TBI_PY_WORD,   0},
    {"friction",         offsetof(tabi_gait_def, friction),         NULL,        TBI_PY_DOUBLE, 0},
    {"support_friction", offsetof(tabi_gait_def, support_friction), NULL,        TBI_PY_DOUBLE, 0},
    {"slip_stop",        offsetof(tabi_gait_def, slip_stop),        NULL,        TBI_PY_DOUBLE, 0},
    {"pivot_damping",    offsetof(tabi_gait_def, pivot_damping),    NULL,        TBI_PY_DOUBLE, 0},
    {"min_stride",       offsetof(tabi_gait_def, min_stride),       NULL,        TBI_PY_DOUBLE, 0},
    {"scuff",            offsetof(tabi_gait_def, scuff),            NULL,        TBI_PY_DOUBLE, 0},
    {"sink",             offsetof(tabi_gait_def, sink),             NULL,        TBI_PY_DOUBLE, 0},
};
static const tbi_py_fields def_fields = {"gait", def_field, sizeof def_field / sizeof *def_field};

static const tbi_py_field foot_field[] = {
    {"link", offsetof(tabi_gait_foot, link), NULL, TBI_PY_LINK,   0},
    {"heel", offsetof(tabi_gait_foot, heel), NULL, TBI_PY_DOUBLE, 3},
    {"toe",  offsetof(tabi_gait_foot, toe),  NULL, TBI_PY_DOUBLE, 3},
};
static const tbi_py_field force_field[] = {
    {"first_link",  offsetof(tabi_gait_force, link[0]),   NULL, TBI_PY_LINK,   0},
    {"second_link", offsetof(tabi_gait_force, link[1]),   NULL, TBI_PY_LINK,   0},
    {"point",       offsetof(tabi_gait_force, point),     NULL, TBI_PY_DOUBLE, 3},
    {"amplitude",   offsetof(tabi_gait_force, amplitude), NULL, TBI_PY_DOUBLE, 2},
    {"period",      offsetof(tabi_gait_force, period),    NULL, TBI_PY_DOUBLE, 2},
};
static const tbi_py_field floor_field[] = {
    {"link",   offsetof(tabi_gait_floor, link),   NULL, TBI_PY_LINK,   0},
    {"height", offsetof(tabi_gait_floor, height), NULL, TBI_PY_DOUBLE, 0},
};
static const tbi_py_fields foot_fields = {"foot", foot_field, 3};
static const tbi_py_fields force_fields = {"force", force_field, 5};
static const tbi_py_fields floor_fields = {"floor", floor_field, 2};

/* Structs of a list of dictionaries, one after another; to be freed. */
static void *take_list(const tbi_py_fields *fields, size_t size, PyObject *list,
                       const tbi_py_names *names) {
  Py_ssize_t count = PyList_Size(list);
  char *to = PyMem_Calloc((size_t)count + 1, size);
  bool good = to != NULL;
  if (!good) (void)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && good; ++i) {
    PyObject *item = PyList_GetItem(list, i);
    good = PyDict_Check(item) != 0;
    if (!good) PyErr_Format(PyExc_TypeError, "a %s is a dictionary", fields->what);
    good = good && tbi_py_fields_fill(fields, to + (size_t)i * size, item, names);
  }
  if (good) return to;
  PyMem_Free(to);
  return NULL;
}

static int create(object *o, PyObject *model, PyObject *const list[3], PyObject *settings) {
  tabi_gait_def def = tabi_gait_def_default();
  const tabi_model *m = tbi_py_model_of(model);
  const tbi_py_names names = {.model = m};
  if (!m || !tbi_py_fields_fill(&def_fields, &def, settings, &names)) return -1;
  if (PyList_Size(list[0]) != 2) {
    PyErr_SetString(PyExc_ValueError, "feet: two are needed");
    return -1;
  }
  tabi_gait_foot *foot = take_list(&foot_fields, sizeof *foot, list[0], &names);
  tabi_gait_force *force = foot ? take_list(&force_fields, sizeof *force, list[1], &names) : NULL;
  tabi_gait_floor *bound = force ? take_list(&floor_fields, sizeof *bound, list[2], &names) : NULL;
  tabi_error err = {0};
  if (bound) {
    memcpy(def.foot, foot, sizeof def.foot);
    def.force = force;
    def.nforce = (int32_t)PyList_Size(list[1]);
    def.floor = bound;
    def.nfloor = (int32_t)PyList_Size(list[2]);
    o->gait = tabi_gait_create(m, &def, &err);
    if (!o->gait) (void)tbi_py_raise(&err);
  }
  PyMem_Free(foot);
  PyMem_Free(force);
  PyMem_Free(bound);
  if (o->gait) o->owner = tbi_py_own(o->gait, destroy, tbi_py_model_owner(model));
  return o->owner ? 0 : -1;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model", "feet", "forces", "floors", "settings", NULL};
  PyObject *model = NULL;
  PyObject *settings = NULL;
  PyObject *list[3];
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!O!O!", keys, &model, &PyList_Type, &list[0],
                                   &PyList_Type, &list[1], &PyList_Type, &list[2], &PyDict_Type,
                                   &settings)) {
    return -1;
  }
  if (((object *)self)->owner) {
    PyErr_SetString(PyExc_RuntimeError, "a gait is made once");
    return -1;
  }
  return create((object *)self, model, list, settings);
}

static PyType_Slot slots[] = {
    {Py_tp_init,    init                              },
    {Py_tp_dealloc, dealloc                           },
    {Py_tp_doc,     "A planar biped by contact modes."},
    {0,             NULL                              },
};

static PyType_Spec spec = {
    .name = "tabi._tabi.Gait",
    .basicsize = sizeof(object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool tbi_py_gait_ready(PyObject *module) {
  tbi_py_gait_type = tbi_py_add_type(module, &spec);
  return tbi_py_gait_type != NULL;
}
