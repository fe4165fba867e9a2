/* batch_scalar.c - worlds that lanes cannot step: one tabi_world each, and a workspace for each
 * thread, which takes the same worlds every time. */
#include "batch/batch.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

static int32_t thread_of(const tabi_batch *b, int32_t world) {
  return (int32_t)((int64_t)world * b->def.threads / b->worlds);
}

/* values that differ between worlds and that a world has no place for */
static const char *refuse_variation(const tabi_batch *b) {
  const tabi_batch_field not_here[] = {TABI_BATCH_MASS,   TABI_BATCH_COM,     TABI_BATCH_INERTIA,
                                       TABI_BATCH_EFFORT, TABI_BATCH_GRAVITY, TABI_BATCH_FRICTION};
  for (size_t i = 0; i < sizeof not_here / sizeof *not_here; ++i)
    if (b->field[not_here[i]].data) return tabi_batch_field_name(not_here[i]);
  return NULL;
}

static void set_servos(tabi_batch *b, int32_t index) {
  const tabi_model *model = b->model;
  const double *target = tbi_batch_row(b, TABI_BATCH_TARGET, index);
  const double *kp = tbi_batch_row(b, TABI_BATCH_KP, index);
  const double *kd = tbi_batch_row(b, TABI_BATCH_KD, index);
  for (int32_t j = 0; j < model->njoint; ++j) {
    int32_t body = model->joint_body[j];
    if (body == TABI_NONE || tbi_joint_nq(model->joint[j].type) != 1) continue;
    int32_t k = model->body[body].v;
    tabi_servo servo = {.kp = kp ? kp[k] : b->kp[k],
                        .kd = kd ? kd[k] : b->kd[k],
                        .target = target[k],
                        .implicit = true};
    tabi_world_set_servo(b->world[index], j, &servo);
  }
}

static void set_inputs(tabi_batch *b, int32_t index) {
  tabi_world *world = b->world[index];
  set_servos(b, index);
  for (int32_t a = 0; a < b->model->nactuator; ++a)
    tabi_world_set_control(world, a, tbi_batch_row(b, TABI_BATCH_CONTROL, index)[a]);
}

/* a push acts during one step, at the present origin of its link */
static void push(tabi_batch *b, int32_t index) {
  const double *six = tbi_batch_row(b, TABI_BATCH_PUSH, index);
  double pos[3];
  double quat[4];
  if (!six) return;
  tabi_dynamics_link_pose(tabi_world_dynamics(b->world[index]), b->def.push_link, pos, quat);
  tabi_world_apply(b->world[index], b->def.push_link, six, six + 3, pos);
}

/* what the user wrote to the arrays */
static tabi_status take_state(tabi_batch *b, int32_t index) {
  tabi_world *world = b->world[index];
  const double *q = tbi_batch_row(b, TABI_BATCH_Q, index);
  const double *v = tbi_batch_row(b, TABI_BATCH_V, index);
  bool same = memcmp(q, tabi_world_q(world), sizeof *q * (size_t)b->model->nq) == 0 &&
              memcmp(v, tabi_world_v(world), sizeof *v * (size_t)b->model->nv) == 0;
  return same ? TABI_OK : tabi_world_set_state(world, q, v, NULL);
}

static void read_feet(tabi_batch *b, int32_t index) {
  double *to = tbi_batch_row(b, TABI_BATCH_FOOT, index);
  for (int32_t i = 0; to && i < b->def.nfoot; ++i, to += 6) {
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(tabi_world_dynamics(b->world[index]), b->foot[i], pos, quat);
    tabi_world_contact_wrench(b->world[index], b->foot[i], pos, to, to + 3);
  }
}

static void read_state(tabi_batch *b, int32_t index) {
  tabi_world *world = b->world[index];
  double *told = tbi_batch_row(b, TABI_BATCH_CERTIFICATE, index);
  double *sensors = tbi_batch_row(b, TABI_BATCH_SENSOR, index);
  tabi_certificate certificate = tabi_world_certificate(world);
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  memcpy(tbi_batch_row(b, TABI_BATCH_Q, index), tabi_world_q(world),
         sizeof(double) * (size_t)b->model->nq);
  memcpy(tbi_batch_row(b, TABI_BATCH_V, index), tabi_world_v(world),
         sizeof(double) * (size_t)b->model->nv);
  told[TABI_BATCH_RESIDUAL] = fmax(certificate.complementarity, certificate.dissipation);
  told[TABI_BATCH_OVERLAP] = 0;
  for (int32_t i = 0; i < count; ++i)
    told[TABI_BATCH_OVERLAP] = fmax(told[TABI_BATCH_OVERLAP], -contact[i].gap);
  told[TABI_BATCH_CONTACTS] = certificate.contacts;
  told[TABI_BATCH_SWEEPS] = certificate.iterations;
  told[TABI_BATCH_ATTEMPTS] = 1;
  for (int32_t i = 0; sensors && i < b->model->nsensor; ++i)
    sensors += tabi_world_sensor(world, i, sensors);
  read_feet(b, index);
}

static void fill_rollout(const tbi_batch_job *job, int32_t index, int32_t step) {
  const tabi_batch *b = job->batch;
  ptrdiff_t row = (ptrdiff_t)index * job->count + step;
  int32_t nq = b->model->nq;
  int32_t nv = b->model->nv;
  if (job->q) memcpy(job->q + row * nq, tabi_world_q(b->world[index]), sizeof(double) * (size_t)nq);
  if (job->v) memcpy(job->v + row * nv, tabi_world_v(b->world[index]), sizeof(double) * (size_t)nv);
}

static tabi_status step_once(const tbi_batch_job *job, int32_t index, int32_t step) {
  tabi_batch *b = job->batch;
  if (job->rollout) tbi_batch_take_inputs(job, index, step);
  if (job->rollout || step == 0) set_inputs(b, index);
  push(b, index);
  tabi_status status =
      tabi_world_step_or_grow(b->world[index], tbi_batch_row(b, TABI_BATCH_TORQUE, index));
  if (status == TABI_OK) ++b->steps[index];
  return status;
}

static void step_world(const tbi_batch_job *job, int32_t index) {
  tabi_batch *b = job->batch;
  bool goes = b->status[index] == TABI_OK && (!job->active || job->active[index]);
  if (goes) b->status[index] = (int32_t)take_state(b, index);
  for (int32_t step = 0; step < job->steps; ++step) {
    if (goes && b->status[index] == TABI_OK)
      b->status[index] = (int32_t)step_once(job, index, step);
    if (job->rollout) fill_rollout(job, index, step);
  }
  if (goes) read_state(b, index);
}

void tbi_scalar_run(const tbi_batch_job *job, int32_t part) {
  for (int32_t i = 0; i < job->batch->worlds; ++i)
    if (thread_of(job->batch, i) == part) step_world(job, i);
}

/* What a step remembers of those before it goes, too: a world begun anew is as good as new. */
tabi_status tbi_scalar_reset(tabi_batch *b, int32_t index, tabi_error *err) {
  tabi_status status = tabi_world_restore(b->world[index], b->fresh, b->fresh_size);
  TBI_ASSERT(status == TABI_OK); /* it has no contacts, so that nothing can be missing */
  return tabi_world_set_state(b->world[index], tbi_batch_row(b, TABI_BATCH_Q, index),
                              tbi_batch_row(b, TABI_BATCH_V, index), err);
}

bool tbi_scalar_create(tabi_batch *b, tabi_error *err) {
  const char *cannot = refuse_variation(b);
  if (cannot || b->delay_steps > 0) {
    tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                  "batch: %s cannot vary, since worlds are stepped one by one: %s",
                  cannot ? cannot : "delay", b->reason);
    return false;
  }
  b->workspace = tbi_block_alloc(sizeof(void *) * (size_t)b->def.threads);
  b->world = tbi_block_alloc(sizeof(void *) * (size_t)b->worlds);
  if (!b->workspace || !b->world) return tbi_error_memory(err) == TABI_OK;
  tabi_world_def def = b->world_def;
  for (int32_t t = 0; t < b->def.threads; ++t) {
    def.workspace = NULL;
    b->workspace[t] = tabi_workspace_create(b->model, &def, err);
    if (!b->workspace[t]) return false;
  }
  for (int32_t i = 0; i < b->worlds; ++i) {
    def.workspace = b->workspace[thread_of(b, i)];
    b->world[i] = tabi_world_create(b->model, &def, err);
    if (!b->world[i]) return false;
  }
  b->memory += tabi_world_stats(b->world[0]).memory;
  b->fresh_size = tabi_world_snapshot_size(b->world[0]);
  b->fresh = malloc(b->fresh_size);
  if (!b->fresh) return tbi_error_memory(err) == TABI_OK;
  tabi_world_save(b->world[0], b->fresh);
  return true;
}

void tbi_scalar_destroy(tabi_batch *b) {
  for (int32_t i = 0; b->world && i < b->worlds; ++i)
    tabi_world_destroy(b->world[i]);
  for (int32_t t = 0; b->workspace && t < b->def.threads; ++t)
    tabi_workspace_destroy(b->workspace[t]);
  free((void *)b->world);
  free((void *)b->workspace);
  free(b->fresh);
}
