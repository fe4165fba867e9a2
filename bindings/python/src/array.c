/* array.c - numbers from and to NumPy, without its headers.
 *
 * A View is an object with the buffer protocol that looks at memory of a capsule.  numpy.asarray
 * makes an array of it without a copy; the array holds the View, and the View its owner, so that
 * the memory lives as long as anything looks at it.  New arrays come from numpy.empty, and their
 * memory is found by the same protocol. */
#include "binding.h"

#include <string.h>

typedef struct view {
  PyObject_HEAD PyObject *owner;
  double *data;
  Py_ssize_t count, stride;
  bool writable;
} view;

static PyTypeObject *view_type;
static PyObject *numpy_empty, *numpy_asarray, *numpy_ascontiguous, *numpy_dtype;

static void view_dealloc(PyObject *self) {
  Py_CLEAR(((view *)self)->owner);
  tbi_py_free(self);
}

static int view_get(PyObject *self, Py_buffer *buffer, int flags) {
  view *v = (view *)self;
  if ((flags & PyBUF_WRITABLE) && !v->writable) {
    PyErr_SetString(PyExc_BufferError, "this array is read-only");
    return -1;
  }
  *buffer = (Py_buffer){.buf = v->data,
                        .len = v->count * v->stride,
                        .itemsize = v->stride,
                        .readonly = !v->writable,
                        .ndim = 1,
                        .format = (flags & PyBUF_FORMAT) ? "d" : NULL,
                        .shape = (flags & PyBUF_ND) ? &v->count : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &v->stride : NULL};
  Py_INCREF(self);
  buffer->obj = self;
  return 0;
}

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc,   view_dealloc                                      },
    {Py_tp_doc,       "Memory of a tabi object, by the buffer protocol."},
    {Py_bf_getbuffer, view_get                                          },
    {0,               NULL                                              },
};
static PyType_Spec view_spec = {
    .name = "tabi._tabi.View",
    .basicsize = sizeof(view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = view_slots,
};

bool tbi_py_array_ready(PyObject *module) {
  PyObject *numpy = PyImport_ImportModule("numpy");
  if (!numpy) return false;
  numpy_empty = PyObject_GetAttrString(numpy, "empty");
  numpy_asarray = PyObject_GetAttrString(numpy, "asarray");
  numpy_ascontiguous = PyObject_GetAttrString(numpy, "ascontiguousarray");
  numpy_dtype = PyObject_GetAttrString(numpy, "dtype");
  Py_DECREF(numpy);
  view_type = tbi_py_add_type(module, &view_spec);
  return numpy_empty && numpy_asarray && numpy_ascontiguous && numpy_dtype && view_type;
}

PyObject *tbi_py_look(PyObject *owner, const double *data, Py_ssize_t count, bool writable) {
  // an array of no elements may have no memory to look at
  if (count == 0) return tbi_py_new_array(0, -1, NULL);
  view *v = PyObject_New(view, view_type);
  if (!v) return NULL;
  Py_INCREF(owner);
  v->owner = owner;
  v->data = (double *)data;
  v->count = count;
  v->stride = (Py_ssize_t)sizeof *data;
  v->writable = writable;
  PyObject *array = PyObject_CallFunctionObjArgs(numpy_asarray, (PyObject *)v, NULL);
  Py_DECREF(v);
  return array;
}

/* The memory of a new array, which is contiguous. */
static bool find_memory(PyObject *array, void **data) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_WRITABLE) != 0) return false;
  *data = buffer.buf;
  PyBuffer_Release(&buffer);
  return true;
}

static PyObject *finish(PyObject *array, double **data) {
  void *memory = NULL;
  if (!array || !data) return array;
  if (!find_memory(array, &memory)) {
    Py_DECREF(array);
    return NULL;
  }
  *data = memory;
  return array;
}

PyObject *tbi_py_new_array(Py_ssize_t rows, Py_ssize_t columns, double **data) {
  if (columns < 0) return finish(PyObject_CallFunction(numpy_empty, "n", rows), data);
  return finish(PyObject_CallFunction(numpy_empty, "((nn))", rows, columns), data);
}

PyObject *tbi_py_new_array3(const Py_ssize_t shape[3], double **data) {
  return finish(PyObject_CallFunction(numpy_empty, "((nnn))", shape[0], shape[1], shape[2]), data);
}

PyObject *tbi_py_new_copy(const double *data, Py_ssize_t count) {
  double *to = NULL;
  PyObject *array = tbi_py_new_array(count, -1, &to);
  if (array && count > 0) memcpy(to, data, sizeof *data * (size_t)count);
  return array;
}

PyObject *tbi_py_new_records(PyObject *dtype, const void *data, size_t size, Py_ssize_t count) {
  void *to = NULL;
  PyObject *array = PyObject_CallFunction(numpy_empty, "nO", count, dtype);
  if (!array || count == 0) return array;
  if (!find_memory(array, &to)) {
    Py_DECREF(array);
    return NULL;
  }
  memcpy(to, data, size * (size_t)count);
  return array;
}

PyObject *tbi_py_dtype(const tbi_py_member *members, size_t count, size_t size) {
  PyObject *names = PyList_New(0);
  PyObject *formats = PyList_New(0);
  PyObject *offsets = PyList_New(0);
  bool good = names && formats && offsets;
  for (size_t i = 0; i < count && good; ++i) {
    PyObject *name = PyUnicode_FromString(members[i].name);
    PyObject *format = PyUnicode_FromString(members[i].format);
    PyObject *offset = PyLong_FromSize_t(members[i].offset);
    good = name && format && offset && PyList_Append(names, name) == 0 &&
           PyList_Append(formats, format) == 0 && PyList_Append(offsets, offset) == 0;
    Py_XDECREF(name);
    Py_XDECREF(format);
    Py_XDECREF(offset);
  }
  PyObject *dtype = NULL;
  if (good) {
    dtype = PyObject_CallFunction(numpy_dtype, "({sOsOsOsn})", "names", names, "formats", formats,
                                  "offsets", offsets, "itemsize", (Py_ssize_t)size);
  }
  Py_XDECREF(names);
  Py_XDECREF(formats);
  Py_XDECREF(offsets);
  return dtype;
}

/* -- arguments */

static bool is_doubles(const Py_buffer *buffer) {
  return buffer->itemsize == (Py_ssize_t)sizeof(double) && buffer->format &&
         strcmp(buffer->format, "d") == 0;
}

/* Contiguous doubles as they are; false, without an exception, for anything else. */
static bool borrow(tbi_py_numbers *numbers, PyObject *object) {
  if (!PyObject_CheckBuffer(object)) return false;
  if (PyObject_GetBuffer(object, &numbers->buffer, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return false;
  }
  if (is_doubles(&numbers->buffer)) return true;
  PyBuffer_Release(&numbers->buffer);
  return false;
}

/* A copy that NumPy makes, as contiguous doubles. */
static bool copy(tbi_py_numbers *numbers, PyObject *object, const char *what) {
  PyObject *array = PyObject_CallFunction(numpy_ascontiguous, "Os", object, "d");
  if (!array) return false;
  numbers->array = array;
  if (borrow(numbers, array)) return true;
  numbers->array = NULL;
  Py_DECREF(array);
  PyErr_Format(PyExc_TypeError, "%s: cannot be read as numbers", what);
  return false;
}

bool tbi_py_numbers_take(tbi_py_numbers *numbers, PyObject *object, Py_ssize_t count,
                         const char *what) {
  *numbers = (tbi_py_numbers){0};
  if (borrow(numbers, object)) {
    Py_INCREF(object);
    numbers->array = object;
  } else if (!copy(numbers, object, what)) {
    return false;
  }
  numbers->data = numbers->buffer.buf;
  numbers->count = numbers->buffer.len / (Py_ssize_t)sizeof(double);
  if (count < 0 || numbers->count == count) return true;
  PyErr_Format(PyExc_ValueError, "%s: %zd numbers, but there must be %zd", what, numbers->count,
               count);
  tbi_py_numbers_drop(numbers);
  return false;
}

void tbi_py_numbers_drop(tbi_py_numbers *numbers) {
  if (!numbers->array) return;
  PyBuffer_Release(&numbers->buffer);
  Py_CLEAR(numbers->array);
  numbers->data = NULL;
}

bool tbi_py_copy_numbers(PyObject *object, double *to, Py_ssize_t count, const char *what) {
  tbi_py_numbers numbers;
  if (!tbi_py_numbers_take(&numbers, object, count, what)) return false;
  if (count > 0) memcpy(to, numbers.data, sizeof *to * (size_t)count);
  tbi_py_numbers_drop(&numbers);
  return true;
}
