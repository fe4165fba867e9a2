/* error.c - errors of tabi as the exception tabi.Error, and what calls notice as lists. */
#include "binding.h"

static PyObject *error_type; /* tabi.Error, written in Python */

bool tbi_py_error_ready(void) {
  PyObject *module = PyImport_ImportModule("tabi._error");
  if (!module) return false;
  error_type = PyObject_GetAttrString(module, "Error");
  Py_DECREF(module);
  return error_type != NULL;
}

PyObject *tbi_py_raise(const tabi_error *err) {
  if (err->status == TABI_ERR_MEMORY) return PyErr_NoMemory();
  const char *message = err->message[0] ? err->message : tabi_status_text(err->status);
  PyObject *args = Py_BuildValue("(ssiN)", message, err->file, (int)err->line,
                                 PyUnicode_FromString(tabi_status_text(err->status)));
  if (!args) return NULL;
  PyObject *error = PyObject_CallObject(error_type, args);
  Py_DECREF(args);
  if (!error) return NULL;
  PyErr_SetObject(error_type, error);
  Py_DECREF(error);
  return NULL;
}

PyObject *tbi_py_raise_status(tabi_status status, const char *message) {
  tabi_error err = {.status = status};
  (void)PyOS_snprintf(err.message, sizeof err.message, "%s", message);
  return tbi_py_raise(&err);
}

void tbi_py_collect(void *list, const tabi_error *warning) {
  if (PyErr_Occurred()) return;
  PyObject *item = Py_BuildValue("(ssisssd)", tabi_severity_text(warning->severity), warning->file,
                                 (int)warning->line, warning->message, warning->repair.item,
                                 warning->repair.what, warning->repair.size);
  if (!item) return;
  (void)PyList_Append(list, item);
  Py_DECREF(item);
}
