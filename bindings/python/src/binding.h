/* binding.h - what the files of the extension `_tabi` share.
 *
 *   module.c    the module: its types and functions
 *   error.c     errors and warnings of tabi as exceptions and lists
 *   array.c     numbers from and to NumPy: views without copies, new arrays, arguments
 *   fields.c    structs of tabi as dictionaries, by tables of their members
 *   items.c     these tables: links, joints, ... of builders and models, the def of a world
 *   model.c, builder.c, world.c, world_drive.c, world_look.c, dynamics.c, scene.c, run.c, log.c,
 *   rollout.c, batch.c, friction.c, walk.c, gait.c
 *
 * An object of tabi that others look into is owned by a capsule, which keeps what it was made of
 * alive.  Python objects and views hold the capsule, so that a view may outlive its world. */
#ifndef TBI_PYTHON_BINDING_H
#define TBI_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tabi/tabi_io.h"

/* -- errors: all return NULL or false with an exception set */

/* Imports tabi.Error. */
bool tbi_py_error_ready(void);
PyObject *tbi_py_raise(const tabi_error *err);
PyObject *tbi_py_raise_status(tabi_status status, const char *message);
/* A tabi_warning_fn whose user is a list: appends (severity, file, line, message, item, what). */
void tbi_py_collect(void *list, const tabi_error *warning);

/* -- capsules */

/* Frees `object` when the last reference is gone, then lets go of `keeps`, which may be NULL. On
 * failure the object is freed. */
PyObject *tbi_py_own(void *object, void (*destroy)(void *), PyObject *keeps);

/* -- arrays */

bool tbi_py_array_ready(PyObject *module);
/* A NumPy array of doubles that looks at memory of the owner. */
PyObject *tbi_py_look(PyObject *owner, const double *data, Py_ssize_t count, bool writable);
/* A new array of doubles, to be filled.  columns < 0: of one dimension. */
PyObject *tbi_py_new_array(Py_ssize_t rows, Py_ssize_t columns, double **data);
PyObject *tbi_py_new_copy(const double *data, Py_ssize_t count);
PyObject *tbi_py_new_array3(const Py_ssize_t shape[3], double **data);
/* A new array of structs of this dtype, copied from `data`. */
PyObject *tbi_py_new_records(PyObject *dtype, const void *data, size_t size, Py_ssize_t count);
/* Describes members of a struct to numpy.dtype. */
typedef struct tbi_py_member {
  const char *name, *format;
  size_t offset;
} tbi_py_member;
PyObject *tbi_py_dtype(const tbi_py_member *members, size_t count, size_t size);

/* Numbers of an argument: contiguous doubles, borrowed from `object` or from a copy. */
typedef struct tbi_py_numbers {
  PyObject *array; /* NULL where there is none */
  Py_buffer buffer;
  const double *data;
  Py_ssize_t count;
} tbi_py_numbers;
/* count < 0: any.  `what` names the argument in messages. */
bool tbi_py_numbers_take(tbi_py_numbers *numbers, PyObject *object, Py_ssize_t count,
                         const char *what);
void tbi_py_numbers_drop(tbi_py_numbers *numbers);
/* Copies an argument with exactly so many numbers. */
bool tbi_py_copy_numbers(PyObject *object, double *to, Py_ssize_t count, const char *what);

/* -- fields of structs */

typedef enum tbi_py_kind {
  TBI_PY_DOUBLE,
  TBI_PY_INT,
  TBI_PY_UINT,
  TBI_PY_SEED, /* uint64_t */
  TBI_PY_BOOL,
  TBI_PY_TEXT, /* const char * */
  TBI_PY_WORD, /* an enum */
  TBI_PY_LINK, /* int32_t, by number or name; None: TABI_WORLD */
  TBI_PY_JOINT,
  TBI_PY_SENSOR,
} tbi_py_kind;

typedef struct tbi_py_field {
  const char *name;
  size_t offset;
  const char *(*word)(int); /* of an enum; NULL: none such */
  tbi_py_kind kind;
  int32_t count; /* numbers; 0: one, not a sequence */
} tbi_py_field;

typedef struct tbi_py_fields {
  const char *what; /* "joint" */
  const tbi_py_field *field;
  size_t count;
} tbi_py_fields;

/* Who knows links, joints and sensors by name; one of both may be NULL. */
typedef struct tbi_py_names {
  const tabi_builder *builder;
  const tabi_model *model;
} tbi_py_names;

/* Texts stay those of Python's objects, which must outlive the struct. */
bool tbi_py_fields_fill(const tbi_py_fields *fields, void *to, PyObject *dict,
                        const tbi_py_names *names);
PyObject *tbi_py_fields_dict(const tbi_py_fields *fields, const void *from);
/* Links, joints and sensors of an argument: a number or a name; TABI_NONE - 1 after an error. */
int32_t tbi_py_find(const tbi_py_names *names, tbi_py_kind kind, PyObject *object);
#define TBI_PY_LOST (-2)

extern const tbi_py_fields tbi_py_world_fields, tbi_py_certificate_fields, tbi_py_balance_fields,
    tbi_py_energy_fields;
/* Sets the members of a world's def that are in kwargs. */
bool tbi_py_world_def_fill(tabi_world_def *def, PyObject *kwargs);

/* What builders add and models list. */
typedef struct tbi_py_item {
  const tbi_py_fields fields;
  void (*begin)(void *def); /* its default */
  int32_t (*add)(tabi_builder *builder, const void *def);
  int32_t (*count)(const tabi_model *model);
  void (*get)(const tabi_model *model, int32_t index, void *def);
} tbi_py_item;
typedef union tbi_py_any_def {
  tabi_link_def link;
  tabi_joint_def joint;
  tabi_shape_def shape;
  tabi_material_def material;
  tabi_actuator_def actuator;
  tabi_coupling_def coupling;
  tabi_connection_def connection;
  tabi_sensor_def sensor;
} tbi_py_any_def;
/* NULL and an exception for a word that is none of them. */
const tbi_py_item *tbi_py_item_find(const char *what);

/* -- objects */

typedef struct tbi_py_model {
  PyObject_HEAD PyObject *owner; /* a capsule of the model, or of the scene that it belongs to */
  const tabi_model *model;
} tbi_py_model;

typedef struct tbi_py_scene {
  PyObject_HEAD PyObject *owner;
  tabi_scene *scene;
  bool busy; /* while another thread runs it */
} tbi_py_scene;

typedef struct tbi_py_world tbi_py_world; /* world.h */

extern PyTypeObject *tbi_py_model_type, *tbi_py_builder_type, *tbi_py_world_type,
    *tbi_py_dynamics_type, *tbi_py_scene_type, *tbi_py_run_type, *tbi_py_log_type,
    *tbi_py_problem_type, *tbi_py_walk_type, *tbi_py_stabiliser_type, *tbi_py_gait_type,
    *tbi_py_batch_type;

/* Each creates its type and adds it to the module. */
bool tbi_py_model_ready(PyObject *module);
bool tbi_py_builder_ready(PyObject *module);
bool tbi_py_world_ready(PyObject *module);
bool tbi_py_dynamics_ready(PyObject *module);
bool tbi_py_scene_ready(PyObject *module);
bool tbi_py_run_ready(PyObject *module);
bool tbi_py_log_ready(PyObject *module);
bool tbi_py_problem_ready(PyObject *module);
bool tbi_py_walk_ready(PyObject *module);
bool tbi_py_stabiliser_ready(PyObject *module);
bool tbi_py_gait_ready(PyObject *module);
bool tbi_py_batch_ready(PyObject *module);
/* The type of a spec, added to the module under the last part of its name. */
PyTypeObject *tbi_py_add_type(PyObject *module, PyType_Spec *spec);
/* Frees the object itself, after its dealloc has let go of what it holds. */
void tbi_py_free(PyObject *self);

/* The model of an argument, checked; NULL and an exception. */
const tabi_model *tbi_py_model_of(PyObject *object);
PyObject *tbi_py_model_owner(PyObject *object);

/* The gait of an argument, and what keeps it; NULL and an exception. */
const tabi_gait *tbi_py_gait_of(PyObject *gait);

PyObject *tbi_py_rollout(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
