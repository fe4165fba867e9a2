/* world_look.c - what a world tells of its state and its last step. */
#include "world.h"

#include "tabi/tabi_gait.h"

#include <math.h>
#include <stddef.h>

static PyObject *contact_dtype;

bool tbi_py_look_ready(void) {
  static const tbi_py_member members[] = {
      {"shape_a",  "i4",  offsetof(tabi_contact, shape_a) },
      {"shape_b",  "i4",  offsetof(tabi_contact, shape_b) },
      {"link_a",   "i4",  offsetof(tabi_contact, link_a)  },
      {"link_b",   "i4",  offsetof(tabi_contact, link_b)  },
      {"point",    "3f8", offsetof(tabi_contact, point)   },
      {"normal",   "3f8", offsetof(tabi_contact, normal)  },
      {"gap",      "f8",  offsetof(tabi_contact, gap)     },
      {"impulse",  "3f8", offsetof(tabi_contact, impulse) },
      {"velocity", "3f8", offsetof(tabi_contact, velocity)},
      {"friction", "f8",  offsetof(tabi_contact, friction)},
      {"couple",   "3f8", offsetof(tabi_contact, couple)  },
  };
  contact_dtype = tbi_py_dtype(members, sizeof members / sizeof *members, sizeof(tabi_contact));
  return contact_dtype != NULL;
}

static int32_t link_of(PyObject *self, PyObject *link) {
  int32_t index =
      tbi_py_find(&(tbi_py_names){.model = ((tbi_py_world *)self)->model}, TBI_PY_LINK, link);
  if (index != TABI_WORLD) return index;
  PyErr_SetString(PyExc_IndexError, "a link is needed here, not the world");
  return TBI_PY_LOST;
}

static PyObject *contacts(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  return tbi_py_new_records(contact_dtype, contact, sizeof *contact, count);
}

static PyObject *certificate(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  tabi_certificate c = tabi_world_certificate(world);
  return tbi_py_fields_dict(&tbi_py_certificate_fields, &c);
}

static PyObject *energy(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  tabi_energy e = tabi_world_energy(world);
  return tbi_py_fields_dict(&tbi_py_energy_fields, &e);
}

static PyObject *balance(PyObject *self, PyObject *link) {
  tabi_world *world = tbi_py_world_use(self);
  int32_t index = world ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  tabi_balance b = tabi_world_balance(world, index);
  return tbi_py_fields_dict(&tbi_py_balance_fields, &b);
}

static PyObject *link_pose(PyObject *self, PyObject *link) {
  tabi_world *world = tbi_py_world_use(self);
  int32_t index = world ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(world), index, pos, quat);
  return Py_BuildValue("(NN)", tbi_py_new_copy(pos, 3), tbi_py_new_copy(quat, 4));
}

static PyObject *link_velocity(PyObject *self, PyObject *link) {
  tabi_world *world = tbi_py_world_use(self);
  int32_t index = world ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  double lin[3];
  double ang[3];
  tabi_dynamics_link_velocity(tabi_world_dynamics(world), index, lin, ang);
  return Py_BuildValue("(NN)", tbi_py_new_copy(lin, 3), tbi_py_new_copy(ang, 3));
}

static PyObject *com(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  double centre[3];
  tabi_dynamics_com(tabi_world_dynamics(world), centre);
  return tbi_py_new_copy(centre, 3);
}

static PyObject *contact_wrench(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"link", "point", NULL};
  PyObject *link = NULL;
  PyObject *given = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", keys, &link, &given)) return NULL;
  tabi_world *world = tbi_py_world_use(self);
  int32_t index = world ? link_of(self, link) : TBI_PY_LOST;
  if (index == TBI_PY_LOST) return NULL;
  double point[3];
  double quat[4];
  double force[3];
  double torque[3];
  tabi_dynamics_link_pose(tabi_world_dynamics(world), index, point, quat);
  if (given != Py_None && !tbi_py_copy_numbers(given, point, 3, "point")) return NULL;
  tabi_world_contact_wrench(world, index, point, force, torque);
  return Py_BuildValue("(NN)", tbi_py_new_copy(force, 3), tbi_py_new_copy(torque, 3));
}

/* Force of all contacts on every link. */
static PyObject *forces(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  int32_t nlink = tabi_model_nlink(((tbi_py_world *)self)->model);
  const double origin[3] = {0};
  double torque[3];
  double *data = NULL;
  PyObject *array = tbi_py_new_array(nlink, 3, &data);
  for (int32_t i = 0; array && i < nlink; ++i)
    tabi_world_contact_wrench(world, i, origin, data + (ptrdiff_t)3 * i, torque);
  return array;
}

static PyObject *sensor_data(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world) return NULL;
  const tabi_model *model = ((tbi_py_world *)self)->model;
  int32_t nsensor = tabi_model_nsensor(model);
  Py_ssize_t total = 0;
  for (int32_t i = 0; i < nsensor; ++i)
    total += tabi_sensor_type_size(tabi_model_sensor(model, i).type);
  double *data = NULL;
  PyObject *array = tbi_py_new_array(total, -1, &data);
  for (int32_t i = 0; array && i < nsensor; ++i)
    data += tabi_world_sensor(world, i, data);
  return array;
}

static PyObject *connection(PyObject *self, PyObject *arg) {
  tabi_world *world = tbi_py_world_use(self);
  long index = PyLong_AsLong(arg);
  if (!world || (index == -1 && PyErr_Occurred())) return NULL;
  if (index < 0 || index >= tabi_model_nconnection(((tbi_py_world *)self)->model)) {
    PyErr_Format(PyExc_IndexError, "no connection %ld", index);
    return NULL;
  }
  tabi_connection_state s = tabi_world_connection(world, (int32_t)index);
  return Py_BuildValue("{sdsdsNsNsdsO}", "gap", s.gap, "turn", s.turn, "force",
                       tbi_py_new_copy(s.force, 3), "torque", tbi_py_new_copy(s.torque, 3),
                       "missed", s.missed, "redundant", s.redundant ? Py_True : Py_False);
}

static PyObject *ray(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"origin", "direction", "max_distance", NULL};
  PyObject *from = NULL;
  PyObject *along = NULL;
  double max_distance = HUGE_VAL;
  double origin[3];
  double direction[3];
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|d", keys, &from, &along, &max_distance))
    return NULL;
  tabi_world *world = tbi_py_world_use(self);
  if (!world || !tbi_py_copy_numbers(from, origin, 3, "origin") ||
      !tbi_py_copy_numbers(along, direction, 3, "direction")) {
    return NULL;
  }
  double size2 = 0;
  for (int k = 0; k < 3; ++k)
    size2 += direction[k] * direction[k] + 0 * origin[k];
  if (!(size2 > 0 && isfinite(size2) && max_distance >= 0))
    return tbi_py_raise_status(TABI_ERR_ARGUMENT, "a ray needs finite numbers and a direction");
  tabi_ray_hit hit;
  if (!tabi_world_ray(world, origin, direction, max_distance, &hit)) Py_RETURN_NONE;
  return Py_BuildValue("{sisisdsNsN}", "shape", (int)hit.shape, "link", (int)hit.link, "distance",
                       hit.distance, "point", tbi_py_new_copy(hit.point, 3), "normal",
                       tbi_py_new_copy(hit.normal, 3));
}

/* -- gait */

static bool has_gait(const tabi_world *world) {
  if (tabi_contact_describe(tabi_world_get_def(world).contact)->planar_biped) return true;
  (void)tbi_py_raise_status(TABI_ERR_ARGUMENT, "only worlds of contact method gait have one");
  return false;
}

static PyObject *gait_state(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world || !has_gait(world)) return NULL;
  tabi_gait_state s = tabi_world_gait_state(world);
  return Py_BuildValue("{sssisisdsssdsdsdsdsdsds(dd)s(dd)sdsdsdsi}", "mode", s.mode, "support",
                       (int)s.support, "steps", (int)s.steps, "support_since", s.support_since,
                       "outcome", tabi_gait_outcome_text(s.outcome), "heel_force", s.heel_force,
                       "toe_force", s.toe_force, "support_friction", s.support_friction, "normal",
                       s.normal, "friction", s.friction, "slip", s.slip, "heel", s.heel[0],
                       s.heel[1], "toe", s.toe[0], s.toe[1], "work", s.work, "absorbed", s.absorbed,
                       "pulled", s.pulled, "zeno_holds", (int)s.zeno_holds);
}

static PyObject *gait_events(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world || !has_gait(world)) return NULL;
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(world, &count);
  PyObject *list = PyList_New(0);
  for (int32_t i = 0; i < count && list; ++i) {
    const tabi_gait_event *e = &event[i];
    PyObject *item =
        Py_BuildValue("{sdszszszsdsdsdsdsd}", "time", e->time, "from", e->from, "to", e->to,
                      "cause", e->cause, "dissipated", e->dissipated, "touchdown", e->touchdown,
                      "stride", e->stride, "slip", e->slip, "mean_normal", e->mean_normal);
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *gait_torque(PyObject *self, PyObject *unused) {
  (void)unused;
  tabi_world *world = tbi_py_world_use(self);
  if (!world || !has_gait(world)) return NULL;
  double *tau = NULL;
  PyObject *array = tbi_py_new_array(tabi_model_nv(((tbi_py_world *)self)->model), -1, &tau);
  if (array) tabi_world_gait_torque(world, tau);
  return array;
}

PyMethodDef tbi_py_look_methods[] = {
    {"_contacts",      contacts,                                    METH_NOARGS,                  "Contacts of the last step."        },
    {"_certificate",   certificate,                                 METH_NOARGS,                  "Certificate of the last step."     },
    {"_energy",        energy,                                      METH_NOARGS,                  "Energies."                         },
    {"_balance",       balance,                                     METH_O,                       "Balance of the tree of a link."    },
    {"link_pose",      link_pose,                                   METH_O,
     "link_pose(link)\n--\n\nPosition [3] (m) and quaternion [4] (w, x, y, z) of a link's frame."                                     },
    {"link_velocity",  link_velocity,                               METH_O,
     "link_velocity(link)\n--\n\nVelocity [3] (m/s) of a link's origin and angular velocity [3] "
     "(rad/s), world axes."                                                                                                           },
    {"_com",           com,                                         METH_NOARGS,                  "Centre of mass."                   },
    {"contact_wrench", (PyCFunction)(void (*)(void))contact_wrench, METH_VARARGS | METH_KEYWORDS,
     "contact_wrench(link, point=None)\n--\n\nForce [3] (N) and torque [3] (N m) about a point (m; "
     "None: its origin) of all contacts on a link in the last step, world axes."                                                      },
    {"_forces",        forces,                                      METH_NOARGS,                  "Contact force on every link."      },
    {"_sensor_data",   sensor_data,                                 METH_NOARGS,                  "Readings of all sensors."          },
    {"_connection",    connection,                                  METH_O,                       "State of a connection."            },
    {"_ray",           (PyCFunction)(void (*)(void))ray,            METH_VARARGS | METH_KEYWORDS,
     "The first shape on a ray."                                                                                                      },
    {"_gait_state",    gait_state,                                  METH_NOARGS,                  "State of a gait."                  },
    {"_gait_events",   gait_events,                                 METH_NOARGS,                  "Events of a gait in the last step."},
    {"_gait_torque",   gait_torque,                                 METH_NOARGS,                  "Driving joint torques of a gait."  },
    {NULL,             NULL,                                        0,                            NULL                                },
};
