/* world_drive.c - what Python makes a world do: joint forces, servos, actuators, pushes.
 *
 * `target`, `control` and `tau` are arrays that Python writes and every step reads.  A target that
 * Python changes is Python's until the next reset: it is set again after the scene's controllers.
 * All other targets follow the world. */
#include "world.h"

#include <math.h>

static bool is_single(const tabi_model *model, int32_t joint) {
  return tabi_model_joint_q(model, joint).count == 1;
}

/* -- before a step */

static void push_target(tbi_py_world *w, int32_t j) {
  tabi_servo servo = tabi_world_get_servo(w->world, j);
  double *target = &w->target.data[j];
  if (*target != w->known[j]) w->ours[j] = true;
  if (w->ours[j]) {
    servo.target = *target;
    servo.target_rate = 0;
    tabi_world_set_servo(w->world, j, &servo);
  }
  *target = w->known[j] = servo.target;
}

void tbi_py_drive_push(tbi_py_world *w) {
  for (int32_t j = 0; w->target.data && j < tabi_model_njoint(w->model); ++j) {
    if (is_single(w->model, j)) push_target(w, j);
  }
  for (int32_t i = 0; w->control.data && i < tabi_model_nactuator(w->model); ++i) {
    if (!isnan(w->control.data[i])) tabi_world_set_control(w->world, i, w->control.data[i]);
  }
}

void tbi_py_drive_pull(tbi_py_world *w) {
  for (int32_t j = 0; w->target.data && j < tabi_model_njoint(w->model); ++j) {
    w->known[j] = w->target.data[j] = tabi_world_get_servo(w->world, j).target;
    w->ours[j] = false;
  }
  for (int32_t i = 0; w->control.data && i < tabi_model_nactuator(w->model); ++i)
    w->control.data[i] = NAN;
  for (int32_t i = 0; w->tau.data && i < tabi_model_nv(w->model); ++i)
    w->tau.data[i] = 0;
}

void tbi_py_drive_free(tbi_py_world *w) {
  Py_CLEAR(w->tau.array);
  Py_CLEAR(w->control.array);
  Py_CLEAR(w->target.array);
  PyMem_Free(w->known);
  PyMem_Free(w->ours);
}

/* -- the arrays */

static PyObject *get_drive(tbi_py_drive *drive, Py_ssize_t count, double value) {
  if (!drive->array) {
    drive->array = tbi_py_new_array(count, -1, &drive->data);
    for (Py_ssize_t i = 0; i < count && drive->array; ++i)
      drive->data[i] = value;
  }
  Py_XINCREF(drive->array);
  return drive->array;
}

/* Copies numbers, or one for all, into the array of a drive. */
static int set_drive(PyObject *array, PyObject *value) {
  if (!array) return -1;
  int status = -1;
  PyObject *all = PySlice_New(NULL, NULL, NULL);
  if (!value) PyErr_SetString(PyExc_AttributeError, "it cannot be deleted");
  if (all && value) status = PyObject_SetItem(array, all, value);
  Py_XDECREF(all);
  Py_DECREF(array);
  return status;
}

static PyObject *get_tau(PyObject *self, void *unused) {
  (void)unused;
  tbi_py_world *w = (tbi_py_world *)self;
  return tbi_py_world_use(self) ? get_drive(&w->tau, tabi_model_nv(w->model), 0) : NULL;
}

static int set_tau(PyObject *self, PyObject *value, void *unused) {
  return set_drive(get_tau(self, unused), value);
}

static PyObject *get_control(PyObject *self, void *unused) {
  (void)unused;
  tbi_py_world *w = (tbi_py_world *)self;
  return tbi_py_world_use(self) ? get_drive(&w->control, tabi_model_nactuator(w->model), NAN)
                                : NULL;
}

static int set_control(PyObject *self, PyObject *value, void *unused) {
  return set_drive(get_control(self, unused), value);
}

/* Made with its two companions, or not at all. */
static bool make_target(tbi_py_world *w) {
  size_t count = (size_t)tabi_model_njoint(w->model);
  w->known = PyMem_Calloc(count + 1, sizeof *w->known);
  w->ours = PyMem_Calloc(count + 1, sizeof *w->ours);
  if (!w->known || !w->ours) {
    PyMem_Free(w->known);
    PyMem_Free(w->ours);
    w->known = NULL;
    w->ours = NULL;
    (void)PyErr_NoMemory();
    return false;
  }
  PyObject *array = get_drive(&w->target, (Py_ssize_t)count, 0);
  if (!array) return false;
  Py_DECREF(array);
  for (int32_t j = 0; j < (int32_t)count; ++j)
    w->known[j] = w->target.data[j] = tabi_world_get_servo(w->world, j).target;
  return true;
}

static PyObject *get_target(PyObject *self, void *unused) {
  (void)unused;
  tbi_py_world *w = (tbi_py_world *)self;
  if (!tbi_py_world_use(self) || (!w->target.data && !make_target(w))) return NULL;
  Py_INCREF(w->target.array);
  return w->target.array;
}

static int set_target(PyObject *self, PyObject *value, void *unused) {
  return set_drive(get_target(self, unused), value);
}

static PyObject *gains(PyObject *self, bool stiffness) {
  tbi_py_world *w = (tbi_py_world *)self;
  double *data = NULL;
  if (!tbi_py_world_use(self)) return NULL;
  PyObject *array = tbi_py_new_array(tabi_model_njoint(w->model), -1, &data);
  for (int32_t j = 0; array && j < tabi_model_njoint(w->model); ++j) {
    tabi_servo servo = tabi_world_get_servo(w->world, j);
    data[j] = stiffness ? servo.kp : servo.kd;
  }
  return array;
}

static PyObject *get_kp(PyObject *self, void *unused) {
  (void)unused;
  return gains(self, true);
}

static PyObject *get_kd(PyObject *self, void *unused) {
  (void)unused;
  return gains(self, false);
}

/* -- methods */

static PyObject *set_servo(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"joint", "kp", "kd", "target", "target_rate", "implicit", NULL};
  tbi_py_world *w = (tbi_py_world *)self;
  PyObject *joint = NULL;
  PyObject *target = Py_None;
  tabi_servo servo = {.implicit = true};
  int implicit = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Odd|Odp", keys, &joint, &servo.kp, &servo.kd,
                                   &target, &servo.target_rate, &implicit)) {
    return NULL;
  }
  if (!tbi_py_world_use(self)) return NULL;
  int32_t j = tbi_py_find(&(tbi_py_names){.model = w->model}, TBI_PY_JOINT, joint);
  if (j == TBI_PY_LOST) return NULL;
  if (j == TABI_NONE || !is_single(w->model, j)) {
    return tbi_py_raise_status(TABI_ERR_ARGUMENT,
                               "a servo drives a joint with one coordinate; this one has others");
  }
  servo.implicit = implicit != 0;
  servo.target = tabi_world_q(w->world)[tabi_model_joint_q(w->model, j).first];
  if (target != Py_None) servo.target = PyFloat_AsDouble(target);
  if (PyErr_Occurred()) return NULL;
  tabi_world_set_servo(w->world, j, &servo);
  if (w->target.data) w->known[j] = w->target.data[j] = servo.target;
  Py_RETURN_NONE;
}

static PyObject *set_motion(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"joint", "v", "in_place", NULL};
  tbi_py_world *w = (tbi_py_world *)self;
  PyObject *joint = NULL;
  PyObject *v = Py_None;
  int in_place = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p", keys, &joint, &v, &in_place)) return NULL;
  if (!tbi_py_world_use(self)) return NULL;
  int32_t j = tbi_py_find(&(tbi_py_names){.model = w->model}, TBI_PY_JOINT, joint);
  if (j == TBI_PY_LOST) return NULL;
  Py_ssize_t count = j == TABI_NONE ? 0 : tabi_model_joint_v(w->model, j).count;
  if (count == 0) return tbi_py_raise_status(TABI_ERR_ARGUMENT, "this joint does not move");
  if (tabi_world_get_def(w->world).contact == TABI_CONTACT_GAIT)
    return tbi_py_raise_status(TABI_ERR_ARGUMENT, "no motion is given under contact method gait");
  tabi_motion motion = {.in_place = in_place != 0};
  if (v != Py_None && !tbi_py_copy_numbers(v, motion.v, count, "v")) return NULL;
  tabi_world_set_motion(w->world, j, v == Py_None ? NULL : &motion);
  Py_RETURN_NONE;
}

static PyObject *apply(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"link", "force", "torque", "point", NULL};
  tbi_py_world *w = (tbi_py_world *)self;
  PyObject *link = NULL;
  PyObject *given[3] = {Py_None, Py_None, Py_None};
  double value[3][3] = {{0}};
  static const char *const what[] = {"force", "torque", "point"};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO", keys, &link, &given[0], &given[1],
                                   &given[2])) {
    return NULL;
  }
  if (!tbi_py_world_use(self)) return NULL;
  int32_t index = tbi_py_find(&(tbi_py_names){.model = w->model}, TBI_PY_LINK, link);
  if (index == TBI_PY_LOST) return NULL;
  if (index == TABI_WORLD) return tbi_py_raise_status(TABI_ERR_ARGUMENT, "the world does not move");
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(w->world), index, value[2], quat);
  for (int i = 0; i < 3; ++i) {
    if (given[i] != Py_None && !tbi_py_copy_numbers(given[i], value[i], 3, what[i])) return NULL;
  }
  tabi_world_apply(w->world, index, value[0], value[1], value[2]);
  Py_RETURN_NONE;
}

PyGetSetDef tbi_py_drive_getset[] = {
    {"tau",     get_tau,     set_tau,
     "Joint forces, N m or N, that act in every step: array [nv] to write.",                            NULL},
    {"control", get_control, set_control,
     "Inputs of the actuators: array [nactuator] to write; NaN leaves one as it was.",                  NULL},
    {"target",  get_target,  set_target,
     "Targets of the joints' servos, rad or m: array [njoint] to write.  A target that is "
     "written stays, whatever a scene's controller does, until the next reset or restore.",             NULL},
    {"kp",      get_kp,      NULL,        "Stiffness of the servos, N m/rad or N/m: array [njoint].",   NULL},
    {"kd",      get_kd,      NULL,        "Damping of the servos, N m s/rad or N s/m: array [njoint].", NULL},
    {NULL,      NULL,        NULL,        NULL,                                                         NULL},
};

PyMethodDef tbi_py_drive_methods[] = {
    {"set_servo",  (PyCFunction)(void (*)(void))set_servo,  METH_VARARGS | METH_KEYWORDS,
     "set_servo(joint, kp, kd, target=None, target_rate=0.0, implicit=True)\n--\n\nA spring (kp, "
     "N m/rad or N/m) and damper (kd) that drive a joint to a target (rad or m; None: where it "
     "is now) until they are set again.  Implicit ones are stable at any stiffness; explicit ones "
     "obey the joint's effort limit."                                                         },
    {"set_motion", (PyCFunction)(void (*)(void))set_motion, METH_VARARGS | METH_KEYWORDS,
     "set_motion(joint, v, in_place=False)\n--\n\nMake a joint move with velocities v, whatever "
     "pushes; None frees it.  in_place: contacts feel it, the position stays (a belt)."       },
    {"apply",      (PyCFunction)(void (*)(void))apply,      METH_VARARGS | METH_KEYWORDS,
     "apply(link, force=None, torque=None, point=None)\n--\n\nA force (N) and torque (N m) on a "
     "link at a point (m; None: its origin), in world axes, during the next step only."       },
    {NULL,         NULL,                                    0,                            NULL},
};
