/* fields.c - structs of tabi from and to dictionaries, by tables of their members. */
#include "binding.h"

#include <limits.h>
#include <string.h>

static void *at(void *base, size_t offset) { return (char *)base + offset; }

static const void *at_const(const void *base, size_t offset) { return (const char *)base + offset; }

/* -- links, joints and sensors by number or name */

static int32_t count_of(const tbi_py_names *names, tbi_py_kind kind) {
  if (names->model) {
    if (kind == TBI_PY_LINK) return tabi_model_nlink(names->model);
    return kind == TBI_PY_JOINT ? tabi_model_njoint(names->model)
                                : tabi_model_nsensor(names->model);
  }
  return kind == TBI_PY_LINK ? tabi_builder_nlink(names->builder)
                             : tabi_builder_njoint(names->builder);
}

static int32_t find_name(const tbi_py_names *names, tbi_py_kind kind, const char *name) {
  if (names->model) {
    if (kind == TBI_PY_LINK) return tabi_model_find_link(names->model, name);
    return kind == TBI_PY_JOINT ? tabi_model_find_joint(names->model, name)
                                : tabi_model_find_sensor(names->model, name);
  }
  return kind == TBI_PY_LINK ? tabi_builder_find_link(names->builder, name)
                             : tabi_builder_find_joint(names->builder, name);
}

static const char *word_of(tbi_py_kind kind) {
  if (kind == TBI_PY_LINK) return "link";
  return kind == TBI_PY_JOINT ? "joint" : "sensor";
}

static const char *name_at(const tabi_model *model, tbi_py_kind kind, int32_t i) {
  if (kind == TBI_PY_LINK) return tabi_model_link(model, i).name;
  return kind == TBI_PY_JOINT ? tabi_model_joint(model, i).name : tabi_model_sensor(model, i).name;
}

/* The known name nearest to a mistyped one, or NULL. */
static const char *nearest(const tbi_py_names *names, tbi_py_kind kind, const char *name) {
  if (!names->model) return NULL;
  int32_t count = count_of(names, kind);
  const char **known = PyMem_Malloc(sizeof *known * ((size_t)count + 1));
  if (!known) return NULL;
  size_t used = 0;
  for (int32_t i = 0; i < count; ++i) {
    known[used] = name_at(names->model, kind, i);
    if (known[used]) ++used;
  }
  const char *found = tabi_nearest_name(name, known, used);
  PyMem_Free((void *)known);
  return found;
}

static int32_t find_by_name(const tbi_py_names *names, tbi_py_kind kind, PyObject *object) {
  const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
  if (!name) return TBI_PY_LOST;
  int32_t index = find_name(names, kind, name);
  if (index != TABI_NONE) return index;
  const char *near = nearest(names, kind, name);
  PyErr_Format(PyExc_KeyError, near ? "no %s '%s'; did you mean '%s'?" : "no %s '%s'%s",
               word_of(kind), name, near ? near : "");
  return TBI_PY_LOST;
}

int32_t tbi_py_find(const tbi_py_names *names, tbi_py_kind kind, PyObject *object) {
  if (PyUnicode_Check(object)) return find_by_name(names, kind, object);
  if (object == Py_None && kind == TBI_PY_LINK) return TABI_WORLD;
  long index = PyLong_AsLong(object);
  if (index == -1 && PyErr_Occurred()) return TBI_PY_LOST;
  long count = count_of(names, kind);
  if (index >= TABI_NONE && index < count) return (int32_t)index;
  PyErr_Format(PyExc_IndexError, "no %s %ld; there are %ld", word_of(kind), index, count);
  return TBI_PY_LOST;
}

/* -- from Python */

static bool fill_int(void *to, PyObject *value) {
  long number = PyLong_AsLong(value);
  if (number == -1 && PyErr_Occurred()) return false;
  if (number < INT32_MIN || number > INT32_MAX) {
    PyErr_Format(PyExc_OverflowError, "%ld does not fit", number);
    return false;
  }
  *(int32_t *)to = (int32_t)number;
  return true;
}

static bool fill_uint(void *to, PyObject *value) {
  unsigned long number = PyLong_AsUnsignedLong(value);
  if (number == (unsigned long)-1 && PyErr_Occurred()) return false;
  *(uint32_t *)to = (uint32_t)number;
  return true;
}

static bool fill_seed(void *to, PyObject *value) {
  unsigned long long number = PyLong_AsUnsignedLongLong(value);
  if (number == (unsigned long long)-1 && PyErr_Occurred()) return false;
  *(uint64_t *)to = number;
  return true;
}

static bool fill_double(const tbi_py_field *field, void *to, PyObject *value) {
  if (field->count > 0) {
    tbi_py_numbers numbers;
    if (!tbi_py_numbers_take(&numbers, value, -1, field->name)) return false;
    bool fits = numbers.count <= field->count;
    if (fits) memcpy(to, numbers.data, sizeof(double) * (size_t)numbers.count);
    if (!fits) {
      PyErr_Format(PyExc_ValueError, "%s: %zd numbers, but there are at most %d", field->name,
                   numbers.count, (int)field->count);
    }
    tbi_py_numbers_drop(&numbers);
    return fits;
  }
  double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return false;
  *(double *)to = number;
  return true;
}

static bool fill_bool(void *to, PyObject *value) {
  int truth = PyObject_IsTrue(value);
  if (truth < 0) return false;
  *(bool *)to = truth != 0;
  return true;
}

static bool fill_text(void *to, PyObject *value) {
  const char *text = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, NULL);
  if (!text && value != Py_None) return false;
  *(const char **)to = text;
  return true;
}

static bool fill_word(const tbi_py_field *field, void *to, PyObject *value) {
  const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
  if (!text) return false;
  char list[256] = "";
  for (int i = 0; field->word(i); ++i) {
    if (strcmp(field->word(i), text) == 0) {
      *(int32_t *)to = i;
      return true;
    }
    size_t used = strlen(list);
    (void)PyOS_snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", field->word(i));
  }
  PyErr_Format(PyExc_ValueError, "%s: '%s' is none of %s", field->name, text, list);
  return false;
}

static bool fill_found(const tbi_py_field *field, void *to, PyObject *value,
                       const tbi_py_names *names) {
  int32_t index = tbi_py_find(names, field->kind, value);
  if (index == TBI_PY_LOST) return false;
  *(int32_t *)to = index;
  return true;
}

static bool fill(const tbi_py_field *field, void *base, PyObject *value,
                 const tbi_py_names *names) {
  void *to = at(base, field->offset);
  switch (field->kind) {
  case TBI_PY_DOUBLE:
    return fill_double(field, to, value);
  case TBI_PY_INT:
    return fill_int(to, value);
  case TBI_PY_UINT:
    return fill_uint(to, value);
  case TBI_PY_SEED:
    return fill_seed(to, value);
  case TBI_PY_BOOL:
    return fill_bool(to, value);
  case TBI_PY_TEXT:
    return fill_text(to, value);
  case TBI_PY_WORD:
    return fill_word(field, to, value);
  default:
    return fill_found(field, to, value, names);
  }
}

static const tbi_py_field *field_of(const tbi_py_fields *fields, PyObject *key) {
  const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name) return NULL;
  for (size_t i = 0; i < fields->count; ++i) {
    if (strcmp(fields->field[i].name, name) == 0) return &fields->field[i];
  }
  const char *known[64];
  size_t used = 0;
  for (; used < fields->count && used < 64; ++used)
    known[used] = fields->field[used].name;
  const char *near = tabi_nearest_name(name, known, used);
  PyErr_Format(PyExc_TypeError,
               near ? "a %s has no '%s'; did you mean '%s'?" : "a %s has no '%s'%s", fields->what,
               name, near ? near : "");
  return NULL;
}

bool tbi_py_fields_fill(const tbi_py_fields *fields, void *to, PyObject *dict,
                        const tbi_py_names *names) {
  PyObject *key = NULL;
  PyObject *value = NULL;
  Py_ssize_t position = 0;
  while (dict && PyDict_Next(dict, &position, &key, &value)) {
    const tbi_py_field *field = field_of(fields, key);
    if (!field || !fill(field, to, value, names)) return false;
  }
  return true;
}

/* -- to Python */

static PyObject *text_or_none(const char *text) {
  if (text) return PyUnicode_FromString(text);
  Py_RETURN_NONE;
}

static PyObject *value_of(const tbi_py_field *field, const void *base) {
  const void *from = at_const(base, field->offset);
  switch (field->kind) {
  case TBI_PY_DOUBLE:
    if (field->count > 0) return tbi_py_new_copy(from, field->count);
    return PyFloat_FromDouble(*(const double *)from);
  case TBI_PY_UINT:
    return PyLong_FromUnsignedLong(*(const uint32_t *)from);
  case TBI_PY_SEED:
    return PyLong_FromUnsignedLongLong(*(const uint64_t *)from);
  case TBI_PY_BOOL:
    return PyBool_FromLong(*(const bool *)from);
  case TBI_PY_TEXT:
    return text_or_none(*(const char *const *)from);
  case TBI_PY_WORD:
    return text_or_none(field->word(*(const int32_t *)from));
  default:
    return PyLong_FromLong(*(const int32_t *)from);
  }
}

PyObject *tbi_py_fields_dict(const tbi_py_fields *fields, const void *from) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; i < fields->count && dict; ++i) {
    PyObject *value = value_of(&fields->field[i], from);
    if (!value || PyDict_SetItemString(dict, fields->field[i].name, value) != 0) Py_CLEAR(dict);
    Py_XDECREF(value);
  }
  return dict;
}
