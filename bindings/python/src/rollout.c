/* rollout.c - many worlds of one model on many threads.
 *
 * Every thread has one world and takes the next start that nobody has taken.  All begin from the
 * same snapshot, so that a result depends neither on the thread nor on the starts before it. */
#include "binding.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024

/* Inputs [nworld or 1 x nstep or 1 x n]; NULL: none. */
typedef struct series {
  const double *data;
  int64_t world_stride, step_stride;
} series;

typedef struct job {
  const tabi_model *model;
  tabi_world_def def;
  int64_t nworld, nstep, every, nrow;
  const double *q0, *v0;  /* [nworld x nq], [nworld x nv] */
  series target, control; /* of njoint joints, of all actuators */
  const int32_t *joint;   /* [njoint] that the targets are for */
  int32_t njoint;
  const double *kp, *kd; /* [njoint] */
  bool implicit;
  double *q, *v; /* [nworld x nrow x nq], [nworld x nrow x nv] */
  double *done;  /* [nworld] steps that succeeded */
  atomic_llong next;
} job;

/* What acts from a step on; NULL: what acted before it. */
static const double *changed(const series *s, int64_t index, int64_t step) {
  if (!s->data || (step > 0 && s->step_stride == 0)) return NULL;
  return s->data + index * s->world_stride + step * s->step_stride;
}

static void set_inputs(const job *j, tabi_world *world, int64_t index, int64_t step) {
  const double *target = changed(&j->target, index, step);
  for (int32_t i = 0; target && i < j->njoint; ++i) {
    const tabi_servo servo = {j->kp[i], j->kd[i], target[i], 0, j->implicit};
    tabi_world_set_servo(world, j->joint[i], &servo);
  }
  const double *control = changed(&j->control, index, step);
  for (int32_t a = 0; control && a < tabi_model_nactuator(j->model); ++a)
    tabi_world_set_control(world, a, control[a]);
}

static void store(const job *j, const tabi_world *world, int64_t row) {
  size_t nq = (size_t)tabi_model_nq(j->model);
  size_t nv = (size_t)tabi_model_nv(j->model);
  memcpy(j->q + (size_t)row * nq, tabi_world_q(world), nq * sizeof(double));
  memcpy(j->v + (size_t)row * nv, tabi_world_v(world), nv * sizeof(double));
}

static void store_nothing(const job *j, int64_t row, int64_t end) {
  int64_t nq = tabi_model_nq(j->model);
  int64_t nv = tabi_model_nv(j->model);
  for (int64_t i = row * nq; i < end * nq; ++i)
    j->q[i] = NAN;
  for (int64_t i = row * nv; i < end * nv; ++i)
    j->v[i] = NAN;
}

static void run_one(const job *j, tabi_world *world, int64_t index) {
  int64_t nq = tabi_model_nq(j->model);
  int64_t nv = tabi_model_nv(j->model);
  int64_t row = index * j->nrow;
  int64_t step = 0;
  tabi_status status = tabi_world_set_state(world, j->q0 + index * nq, j->v0 + index * nv, NULL);
  for (; step < j->nstep && status == TABI_OK; ++step) {
    set_inputs(j, world, index, step);
    status = tabi_world_step_or_grow(world, NULL);
    if (status != TABI_OK) break;
    if ((step + 1) % j->every == 0) store(j, world, row++);
  }
  j->done[index] = (double)step;
  store_nothing(j, row, (index + 1) * j->nrow);
}

/* One thread; returns NULL, or the job if there was no memory. */
static void *work(void *user) {
  job *j = user;
  tabi_world *world = tabi_world_create(j->model, &j->def, NULL);
  size_t size = world ? tabi_world_snapshot_size(world) : 0;
  void *snapshot = malloc(size + 1);
  bool good = world && snapshot;
  if (good) tabi_world_save(world, snapshot);
  while (good) {
    int64_t index = atomic_fetch_add(&j->next, 1);
    if (index >= j->nworld) break;
    good = tabi_world_restore(world, snapshot, size) == TABI_OK;
    if (good) run_one(j, world, index);
  }
  free(snapshot);
  tabi_world_destroy(world);
  return good ? NULL : user;
}

/* This thread works too; threads that cannot be made are done without. */
static bool run_all(job *j, int threads) {
  pthread_t thread[MAX_THREADS];
  int made = 0;
  while (made < threads - 1 && pthread_create(&thread[made], NULL, work, j) == 0)
    ++made;
  bool good = work(j) == NULL;
  for (int i = 0; i < made; ++i) {
    void *failed = NULL;
    (void)pthread_join(thread[i], &failed);
    good = good && !failed;
  }
  return good;
}

/* -- arguments */

enum { Q0, V0, TARGET, JOINT, KP, KD, CONTROL, PARTS };

/* The joints that targets are for, each with one coordinate; to be freed. */
static int32_t *take_joints(const tabi_model *model, const tbi_py_numbers *numbers) {
  int32_t *joint = PyMem_Malloc(sizeof *joint * ((size_t)numbers->count + 1));
  if (!joint) (void)PyErr_NoMemory();
  for (Py_ssize_t i = 0; joint && i < numbers->count; ++i) {
    double j = numbers->data[i];
    bool good =
        j >= 0 && j < tabi_model_njoint(model) && tabi_model_joint_q(model, (int32_t)j).count == 1;
    if (!good) {
      PyMem_Free(joint);
      PyErr_SetString(PyExc_ValueError, "joints: a servo drives a joint with one coordinate");
      return NULL;
    }
    joint[i] = (int32_t)j;
  }
  return joint;
}

/* Which of the numbers belongs to a world and a step; constant ones are given once. */
static bool fit_series(const job *j, series *s, const tbi_py_numbers *part, const int shape[2],
                       int32_t n) {
  bool good = (shape[0] == 1 || shape[0] == j->nworld) && (shape[1] == 1 || shape[1] >= j->nstep) &&
              part->count == (Py_ssize_t)shape[0] * shape[1] * n;
  s->data = n > 0 ? part->data : NULL;
  s->world_stride = shape[0] == 1 ? 0 : (int64_t)shape[1] * n;
  s->step_stride = shape[1] == 1 ? 0 : n;
  return good;
}

static bool fit_inputs(job *j, const tbi_py_numbers part[PARTS], const int targets[2],
                       const int controls[2]) {
  j->njoint = (int32_t)part[JOINT].count;
  j->kp = part[KP].data;
  j->kd = part[KD].data;
  if (!fit_series(j, &j->target, &part[TARGET], targets, j->njoint) ||
      part[KP].count != j->njoint || part[KD].count != j->njoint) {
    PyErr_SetString(PyExc_ValueError,
                    "targets: [worlds or 1, steps or 1, joints], with kp [joints] and kd [joints]");
    return false;
  }
  int32_t nactuator = part[CONTROL].count > 0 ? tabi_model_nactuator(j->model) : 0;
  if (fit_series(j, &j->control, &part[CONTROL], controls, nactuator)) return true;
  PyErr_SetString(PyExc_ValueError, "controls: [worlds or 1, steps or 1, actuators]");
  return false;
}

static bool fit_states(job *j, const tbi_py_numbers part[PARTS]) {
  Py_ssize_t nq = tabi_model_nq(j->model);
  j->nworld = nq > 0 ? part[Q0].count / nq : 0;
  j->q0 = part[Q0].data;
  j->v0 = part[V0].data;
  if (part[Q0].count == j->nworld * nq && part[V0].count == j->nworld * tabi_model_nv(j->model)) {
    return true;
  }
  PyErr_SetString(PyExc_ValueError, "q0: [worlds, nq], v0: [worlds, nv]");
  return false;
}

static PyObject *run_job(job *j, int threads) {
  const Py_ssize_t nworld = (Py_ssize_t)j->nworld;
  const Py_ssize_t rows = (Py_ssize_t)j->nrow;
  PyObject *q = tbi_py_new_array3((Py_ssize_t[]){nworld, rows, tabi_model_nq(j->model)}, &j->q);
  PyObject *v = tbi_py_new_array3((Py_ssize_t[]){nworld, rows, tabi_model_nv(j->model)}, &j->v);
  PyObject *done = tbi_py_new_array(nworld, -1, &j->done);
  bool good = false;
  if (q && v && done) {
    Py_BEGIN_ALLOW_THREADS good = run_all(j, threads);
    Py_END_ALLOW_THREADS if (!good)(void) PyErr_NoMemory();
  }
  if (good) return Py_BuildValue("(NNN)", q, v, done);
  Py_XDECREF(q);
  Py_XDECREF(v);
  Py_XDECREF(done);
  return NULL;
}

/* Settings are tried on a world first, so that their errors have words. */
static bool try_world(const job *j) {
  tabi_error err = {0};
  tabi_world *world = tabi_world_create(j->model, &j->def, &err);
  tabi_world_destroy(world);
  return world || tbi_py_raise(&err);
}

static PyObject *rollout(job *j, const tbi_py_numbers part[PARTS], const int targets[2],
                         const int controls[2], int threads) {
  int32_t *joint = take_joints(j->model, &part[JOINT]);
  if (!joint) return NULL;
  j->joint = joint;
  PyObject *result = NULL;
  if (fit_states(j, part) && fit_inputs(j, part, targets, controls) && try_world(j))
    result = run_job(j, threads);
  PyMem_Free(joint);
  return result;
}

PyObject *tbi_py_rollout(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keys[] = {"model",    "q0",    "v0",       "targets",      "joints",
                         "kp",       "kd",    "controls", "target_shape", "control_shape",
                         "implicit", "steps", "every",    "threads",      "settings",
                         NULL};
  static const char *const what[PARTS] = {"q0", "v0", "targets", "joints", "kp", "kd", "controls"};
  (void)module;
  PyObject *model = NULL;
  PyObject *given[PARTS];
  PyObject *settings = NULL;
  int targets[2];
  int controls[2];
  int implicit = 1;
  long long steps = 0;
  long long every = 1;
  int threads = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOOO(ii)(ii)pLLiO!", keys, &model, &given[Q0],
                                   &given[V0], &given[TARGET], &given[JOINT], &given[KP],
                                   &given[KD], &given[CONTROL], &targets[0], &targets[1],
                                   &controls[0], &controls[1], &implicit, &steps, &every, &threads,
                                   &PyDict_Type, &settings)) {
    return NULL;
  }
  job j = {.model = tbi_py_model_of(model), .implicit = implicit != 0};
  if (!j.model) return NULL;
  if (steps < 0 || every < 1 || threads < 1 || threads > MAX_THREADS) {
    PyErr_SetString(PyExc_ValueError, "steps >= 0, every > 0, 0 < threads <= 1024");
    return NULL;
  }
  j.nstep = steps;
  j.every = every;
  j.nrow = steps / every;
  j.def = tabi_world_def_default(j.model);
  if (!tbi_py_world_def_fill(&j.def, settings)) return NULL;
  tbi_py_numbers part[PARTS];
  int taken = 0;
  while (taken < PARTS && tbi_py_numbers_take(&part[taken], given[taken], -1, what[taken]))
    ++taken;
  PyObject *result = taken == PARTS ? rollout(&j, part, targets, controls, threads) : NULL;
  while (taken > 0)
    tbi_py_numbers_drop(&part[--taken]);
  return result;
}
