/* batch.c - making a batch, its arrays, and stepping all worlds. */
#include "batch/batch.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "base/layout.h"
#include "batch/lane_sense.h"
#include "batch/regroup.h"
#include "world/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUDGET = 40, MAX_THREADS = 256, ORDER_STEPS = 16 };

tabi_batch_def tabi_batch_def_default(void) {
  return (tabi_batch_def){.def_size = sizeof(tabi_batch_def),
                          .worlds = 1,
                          .self_collision = true,
                          .push_link = TABI_NONE};
}

/* -- the def */

static const char *complaint(const tabi_model *model, const tabi_batch_def *def) {
  if (def->def_size != sizeof *def) return "tabi_batch_def was not made by its default function";
  if (def->worlds < 1) return "worlds must be >= 1";
  if (def->threads < 0 || def->threads > MAX_THREADS) return "threads must be in [0, 256]";
  if (def->lanes != 0 && !tbi_lanes_step(def->lanes))
    return "this machine or build has no lanes of that width; give 0, or 1";
  if (def->nfoot < 0 || (def->nfoot > 0 && !def->foot)) return "nfoot without foot";
  for (int32_t i = 0; i < def->nfoot; ++i)
    if (def->foot[i] < 0 || def->foot[i] >= model->nlink) return "foot: no such link";
  if (def->push_link != TABI_NONE && (def->push_link < 0 || def->push_link >= model->nlink))
    return "push_link: no such link";
  if (!(def->max_delay >= 0 && def->max_delay <= 10)) return "max_delay must be in [0, 10]";
  for (int32_t k = 0; k < model->nv; ++k) {
    if (def->kp && !(fabs(def->kp[k]) <= TBI_MAX_STIFFNESS)) return "kp must be finite";
    if (def->kd && !(fabs(def->kd[k]) <= TBI_MAX_STIFFNESS)) return "kd must be finite";
  }
  return NULL;
}

static int32_t processors(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (int32_t)online;
}

/* -- arrays */

static int32_t count_readings(const tabi_model *model) {
  int32_t n = 0;
  for (int32_t i = 0; i < model->nsensor; ++i)
    n += tabi_sensor_type_size(model->sensor[i].type);
  return n;
}

static int32_t size_of(const tabi_batch *b, tabi_batch_field field) {
  const tabi_model *model = b->model;
  switch (field) {
  case TABI_BATCH_Q:
    return model->nq;
  case TABI_BATCH_CONTROL:
    return model->nactuator;
  case TABI_BATCH_SENSOR:
    return b->nsensor;
  case TABI_BATCH_FOOT:
    return 6 * b->def.nfoot;
  case TABI_BATCH_CERTIFICATE:
    return TABI_BATCH_TOLD;
  case TABI_BATCH_PUSH:
    return b->def.push_link == TABI_NONE ? 0 : 6;
  case TABI_BATCH_MASS:
    return model->nbody;
  case TABI_BATCH_COM:
    return 3 * model->nbody;
  case TABI_BATCH_INERTIA:
    return 6 * model->nbody;
  case TABI_BATCH_FRICTION:
  case TABI_BATCH_DELAY:
    return 1;
  case TABI_BATCH_GRAVITY:
    return 3;
  default:
    return model->nv;
  }
}

static bool is_varied(const tabi_batch *b, tabi_batch_field field) {
  return field < TABI_BATCH_MASS || (b->def.vary & 1u << field) != 0;
}

const char *tabi_batch_field_name(tabi_batch_field field) {
  static const char *const name[TABI_BATCH_FIELDS] = {
      "q",    "v",   "target",  "torque",   "control", "sensor", "foot",   "certificate", "push",
      "mass", "com", "inertia", "friction", "kp",      "kd",     "effort", "gravity",     "delay"};
  TBI_ASSERT(field >= 0 && field < TABI_BATCH_FIELDS);
  return name[field];
}

static bool create_fields(tabi_batch *b) {
  for (int f = 0; f < TABI_BATCH_FIELDS; ++f) {
    tbi_field *field = &b->field[f];
    if (!is_varied(b, (tabi_batch_field)f)) continue;
    field->n = size_of(b, (tabi_batch_field)f);
    if (field->n == 0) continue;
    field->data = tbi_block_alloc(sizeof(double) * (size_t)b->worlds * (size_t)field->n);
    if (!field->data) return false;
    b->memory += sizeof(double) * (size_t)field->n;
  }
  return true;
}

/* the mass of a body in the frame of the link that its joint moves */
static void fill_masses(tabi_batch *b, int32_t world, int32_t i) {
  const tbi_body *body = &b->model->body[i];
  const tbi_frame *frame = &b->model->link_home[b->model->joint[body->joint].child].frame;
  double *mass = tbi_batch_row(b, TABI_BATCH_MASS, world);
  double *com = tbi_batch_row(b, TABI_BATCH_COM, world);
  double *inertia = tbi_batch_row(b, TABI_BATCH_INERTIA, world);
  m3 back = m3_transpose(&frame->rot);
  if (mass) mass[i] = body->mass;
  if (com) v3_store(m3_mulv(&back, v3_sub(body->com, frame->pos)), com + 3 * (ptrdiff_t)i);
  if (!inertia) return;
  s3 own = s3_rotate(&back, body->inertia);
  const double six[6] = {own.xx, own.yy, own.zz, own.xy, own.xz, own.yz};
  memcpy(inertia + 6 * (ptrdiff_t)i, six, sizeof six);
}

static void fill_row(tabi_batch *b, tabi_batch_field field, int32_t world, const double *from) {
  double *to = tbi_batch_row(b, field, world);
  if (to) memcpy(to, from, sizeof *to * (size_t)b->field[field].n);
}

static void fill_fields(tabi_batch *b) {
  const double one = 1;
  for (int32_t world = 0; world < b->worlds; ++world) {
    for (int32_t i = 0; i < b->model->nbody; ++i)
      fill_masses(b, world, i);
    fill_row(b, TABI_BATCH_FRICTION, world, &one);
    fill_row(b, TABI_BATCH_KP, world, b->kp);
    fill_row(b, TABI_BATCH_KD, world, b->kd);
    fill_row(b, TABI_BATCH_EFFORT, world, b->effort);
    fill_row(b, TABI_BATCH_GRAVITY, world, b->world_def.gravity);
  }
}

/* -- what worlds start from */

static void place_warm(tbi_layout *at, const tabi_batch *b, tbi_warm_world *warm) {
  warm->impulse = tbi_layout_take(at, 3 * (int64_t)b->kept, sizeof *warm->impulse);
  warm->roll =
      tbi_layout_take(at, b->plan->nroll > 0 ? 3 * (int64_t)b->kept : 0, sizeof *warm->roll);
  warm->row = tbi_layout_take(at, 3 * (int64_t)b->model->nv, sizeof *warm->row);
  warm->change = tbi_layout_take(at, b->model->nv, sizeof *warm->change);
  warm->mark = b->plan->npatch > 0 ? tbi_layout_take(at, b->kept, sizeof *warm->mark) : NULL;
  warm->slot = tbi_layout_take(at, b->kept, sizeof *warm->slot);
  warm->saturated =
      tbi_layout_take(at, (int64_t)b->model->nv + b->model->nactuator, sizeof *warm->saturated);
  warm->doubt = tbi_layout_take(at, b->model->nv, sizeof *warm->doubt);
}

/* targets and readings of the steps before */
static bool create_rings(tabi_batch *b) {
  size_t worlds = (size_t)b->worlds;
  size_t targets = sizeof(double) * (size_t)b->delay_steps * (size_t)b->model->nv;
  b->nlate = tbi_lane_late(b->model, b->world_def.timestep);
  size_t readings = sizeof(double) * (size_t)b->nlate;
  if (targets > 0) b->delayed = tbi_block_alloc(targets * worlds);
  if (readings > 0) b->late = tbi_block_alloc(readings * worlds);
  b->memory += targets + readings;
  return (b->delayed || targets == 0) && (b->late || readings == 0);
}

static bool create_warm(tabi_batch *b) {
  tbi_layout one = {NULL, 0};
  tbi_warm_world counted;
  b->kept = b->plan->nslot < TBI_KEPT_CONTACTS ? b->plan->nslot : TBI_KEPT_CONTACTS;
  place_warm(&one, b, &counted);
  b->warm = calloc((size_t)b->worlds, sizeof *b->warm);
  b->warm_memory = tbi_block_alloc(one.used * (size_t)b->worlds);
  if (!b->warm || !b->warm_memory) return false;
  tbi_layout at = {b->warm_memory, 0};
  for (int32_t i = 0; i < b->worlds; ++i)
    place_warm(&at, b, &b->warm[i]);
  b->memory += one.used + sizeof *b->warm;
  b->order = calloc(2 * (size_t)b->worlds, sizeof *b->order);
  b->key = calloc((size_t)b->worlds, sizeof *b->key);
  if (!b->order || !b->key) return false;
  for (int32_t i = 0; i < b->worlds; ++i)
    b->order[i] = i;
  b->memory += 2 * sizeof *b->order + sizeof *b->key;
  return create_rings(b);
}

static void forget(tabi_batch *b, int32_t world) {
  b->status[world] = TABI_OK;
  b->steps[world] = 0;
  if (b->lanes == 0) return;
  tbi_warm_world *warm = &b->warm[world];
  warm->ncontact = 0;
  memset(warm->row, 0, 3 * sizeof *warm->row * (size_t)b->model->nv);
  memset(warm->change, 0, sizeof *warm->change * (size_t)b->model->nv);
  memset(warm->doubt, 0, (size_t)b->model->nv);
  memset(warm->saturated, 0, (size_t)b->model->nv + (size_t)b->model->nactuator);
}

/* -- making it */

static bool copy_gains(tabi_batch *b) {
  size_t nv = (size_t)b->model->nv;
  b->kp = calloc(nv + 1, sizeof *b->kp);
  b->kd = calloc(nv + 1, sizeof *b->kd);
  b->effort = calloc(nv + 1, sizeof *b->effort);
  b->foot = calloc((size_t)b->def.nfoot + 1, sizeof *b->foot);
  b->status = calloc((size_t)b->worlds, sizeof *b->status);
  b->steps = calloc((size_t)b->worlds, sizeof *b->steps);
  if (!b->kp || !b->kd || !b->effort || !b->foot || !b->status || !b->steps) return false;
  if (b->def.kp) memcpy(b->kp, b->def.kp, nv * sizeof *b->kp);
  if (b->def.kd) memcpy(b->kd, b->def.kd, nv * sizeof *b->kd);
  if (b->def.nfoot > 0) memcpy(b->foot, b->def.foot, (size_t)b->def.nfoot * sizeof *b->foot);
  for (size_t k = 0; k < nv; ++k) {
    bool single = b->model->dof_q[k] != TABI_NONE;
    b->effort[k] =
        single ? b->model->joint[b->model->body[b->model->dof_body[k]].joint].effort : HUGE_VAL;
    if (!single) b->kp[k] = b->kd[k] = 0;
  }
  return true;
}

static void find_reason(tabi_batch *b) {
  const tbi_plan *p = b->plan;
  const char *why = p->reason;
  bool heavy = b->field[TABI_BATCH_MASS].data || b->field[TABI_BATCH_COM].data ||
               b->field[TABI_BATCH_INERTIA].data;
  for (int32_t i = 0; why[0] == '\0' && i < b->model->nsensor; ++i) {
    const char *refusal = tbi_lane_sensor_refusal(b->model, &b->model->sensor[i], heavy);
    if (refusal) why = refusal;
  }
  if (why[0] == '\0' && p->nslot > UINT16_MAX) why = "more than 65535 points of contact";
  if (why[0] == '\0' && b->def.scalar) why = "asked for";
  if (why[0] != '\0') b->lanes = 0;
  if (why[0] == '\0' && p->rounded) why = "shapes of moving bodies meet as inscribed capsules";
  tbi_message_format(b->reason, sizeof b->reason, "%s", why);
}

static bool create_parts(tabi_batch *b, tabi_error *err) {
  if (!copy_gains(b) || !create_fields(b)) return tbi_error_memory(err) == TABI_OK;
  fill_fields(b);
  b->team = tbi_team_create(b->def.threads);
  if (!b->team) return tbi_error_memory(err) == TABI_OK;
  if (b->lanes == 0) return tbi_scalar_create(b, err);
  b->step = tbi_lanes_step(b->lanes);
  tbi_lane_sense_plan(b->plan, b->foot, b->def.nfoot);
  return (create_warm(b) && tbi_lanes_create(b)) || tbi_error_memory(err) == TABI_OK;
}

tabi_batch *tabi_batch_create(const tabi_model *model, const tabi_world_def *world,
                              const tabi_batch_def *def, tabi_error *err) {
  TBI_ASSERT(model && def);
  tabi_world_def defaults = tabi_world_def_default(model);
  if (!world) world = &defaults;
  const char *wrong = complaint(model, def);
  if (wrong) {
    tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0}, "batch: %s", wrong);
    return NULL;
  }
  if (tbi_world_def_check(model, world, err) != TABI_OK) return NULL;
  tabi_batch *b = calloc(1, sizeof *b);
  if (!b) {
    tbi_error_memory(err);
    return NULL;
  }
  b->model = model;
  b->world_def = *world;
  b->world_def.workspace = NULL;
  b->def = *def;
  b->worlds = def->worlds;
  b->nsensor = count_readings(model);
  if (b->def.threads == 0) b->def.threads = processors();
  if (b->def.vary & 1u << TABI_BATCH_DELAY)
    b->delay_steps = (int32_t)(def->max_delay / world->timestep + 0.5) + 1;
  b->lanes = def->lanes == 0 ? tbi_lanes_best() : def->lanes;
  b->memory = sizeof *b->status + sizeof *b->steps;
  tabi_world_def budgeted = b->world_def;
  if (budgeted.iterations == 0) budgeted.iterations = BUDGET;
  b->plan = tbi_plan_create(model, &budgeted, def->self_collision);
  if (b->plan) find_reason(b);
  if (b->plan && create_parts(b, err)) {
    if (tabi_batch_reset(b, NULL, b->worlds, NULL, NULL, err) == TABI_OK) return b;
  } else if (!b->plan) {
    tbi_error_memory(err);
  }
  tabi_batch_destroy(b);
  return NULL;
}

void tabi_batch_destroy(tabi_batch *batch) {
  if (!batch) return;
  tbi_team_destroy(batch->team);
  tbi_lanes_destroy(batch);
  tbi_scalar_destroy(batch);
  tbi_plan_destroy(batch->plan);
  for (int f = 0; f < TABI_BATCH_FIELDS; ++f)
    free(batch->field[f].data);
  void *const pieces[] = {batch->kp,      batch->kd,    batch->effort, batch->foot,
                          batch->status,  batch->steps, batch->warm,   batch->warm_memory,
                          batch->delayed, batch->late,  batch->order,  batch->key};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
    free(pieces[i]);
  free(batch);
}

/* -- looking at it */

const tabi_model *tabi_batch_model(const tabi_batch *batch) { return batch->model; }
int32_t tabi_batch_worlds(const tabi_batch *batch) { return batch->worlds; }
int32_t tabi_batch_threads(const tabi_batch *batch) { return batch->def.threads; }
int32_t tabi_batch_lanes(const tabi_batch *batch) { return batch->lanes; }
const char *tabi_batch_reason(const tabi_batch *batch) { return batch->reason; }
size_t tabi_batch_memory(const tabi_batch *batch) { return batch->memory; }
const int32_t *tabi_batch_status(const tabi_batch *batch) { return batch->status; }
const int64_t *tabi_batch_steps(const tabi_batch *batch) { return batch->steps; }

double *tabi_batch_array(tabi_batch *batch, tabi_batch_field field, int32_t *n) {
  TBI_ASSERT(batch && field >= 0 && field < TABI_BATCH_FIELDS);
  if (n) *n = batch->field[field].data ? batch->field[field].n : 0;
  return batch->field[field].data;
}

/* -- beginning anew */

static tabi_status reset_one(tabi_batch *b, int32_t world, const double *q, const double *v,
                             tabi_error *err) {
  const tabi_model *model = b->model;
  double *to_q = tbi_batch_row(b, TABI_BATCH_Q, world);
  double *to_v = tbi_batch_row(b, TABI_BATCH_V, world);
  double *target = tbi_batch_row(b, TABI_BATCH_TARGET, world);
  forget(b, world);
  if (q) memmove(to_q, q, sizeof *q * (size_t)model->nq);
  if (!q && to_q) tabi_model_initial_q(model, to_q);
  if (v) memmove(to_v, v, sizeof *v * (size_t)model->nv);
  if (!v && to_v) memset(to_v, 0, sizeof *to_v * (size_t)model->nv);
  if (to_q && !tbi_world_is_motion(model, to_q, to_v)) {
    b->status[world] = TABI_ERR_ARGUMENT;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "batch: world %d: q and v are no state", (int)world);
  }
  for (int32_t k = 0; k < model->nv; ++k)
    target[k] = model->dof_q[k] == TABI_NONE ? 0 : to_q[model->dof_q[k]];
  return b->lanes == 0 ? tbi_scalar_reset(b, world, err) : TABI_OK;
}

tabi_status tabi_batch_reset(tabi_batch *batch, const int32_t *world, int32_t count,
                             const double *q, const double *v, tabi_error *err) {
  TBI_ASSERT(batch && count >= 0 && (world || count <= batch->worlds));
  tabi_status status = TABI_OK;
  for (int32_t i = 0; status == TABI_OK && i < count; ++i) {
    int32_t index = world ? world[i] : i;
    if (index < 0 || index >= batch->worlds)
      return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                           "batch: there is no world %d", (int)index);
    status = reset_one(batch, index, q ? q + (ptrdiff_t)i * batch->model->nq : NULL,
                       v ? v + (ptrdiff_t)i * batch->model->nv : NULL, err);
  }
  return status;
}

/* -- steps */

static void run_part(void *work, int32_t thread, int32_t part) {
  const tbi_batch_job *job = work;
  if (job->batch->lanes == 0) {
    tbi_scalar_run(job, part);
  } else {
    tbi_lanes_run(job, thread, part);
  }
}

static int32_t count_failed(const tabi_batch *b) {
  int32_t failed = 0;
  for (int32_t i = 0; i < b->worlds; ++i)
    failed += b->status[i] != TABI_OK;
  return failed;
}

/* Lanes go as far as their groups stand; sorting so often costs less than a hundredth of a step. */
static int32_t steps_until_order(tabi_batch *b, const tbi_batch_job *job, int32_t left) {
  if (b->lanes <= 1) return left;
  if (b->since_order >= ORDER_STEPS) {
    tbi_regroup(b, job->active);
    b->since_order = 0;
  }
  int32_t steps = ORDER_STEPS - b->since_order < left ? ORDER_STEPS - b->since_order : left;
  b->since_order += steps;
  return steps;
}

static int32_t run(tabi_batch *b, tbi_batch_job *job) {
  int32_t before = count_failed(b);
  int32_t parts = b->lanes == 0 ? b->def.threads : tbi_lanes_groups(b);
  for (; job->first < job->count; job->first += job->steps) {
    job->steps = steps_until_order(b, job, job->count - job->first);
    tbi_team_run(b->team, run_part, job, parts);
  }
  return count_failed(b) - before;
}

int32_t tabi_batch_step(tabi_batch *batch, int32_t k, const uint8_t *active) {
  TBI_ASSERT(batch && k >= 0);
  tbi_batch_job job = {.batch = batch, .count = k, .active = active};
  return run(batch, &job);
}

void tbi_batch_take_inputs(const tbi_batch_job *job, int32_t world, int32_t step) {
  const struct {
    tabi_batch_field field;
    const double *data;
  } input[] = {
      {TABI_BATCH_TARGET,  job->inputs.target },
      {TABI_BATCH_TORQUE,  job->inputs.torque },
      {TABI_BATCH_CONTROL, job->inputs.control}
  };
  for (size_t i = 0; i < sizeof input / sizeof *input; ++i) {
    int32_t n = job->batch->field[input[i].field].n;
    if (!input[i].data || n == 0) continue;
    memcpy(tbi_batch_row(job->batch, input[i].field, world),
           input[i].data + ((ptrdiff_t)world * job->count + step) * n, sizeof(double) * (size_t)n);
  }
}

// NOLINTBEGIN(readability-non-const-parameter): q and v are written by the job
int32_t tabi_batch_rollout(tabi_batch *batch, int32_t count, const tabi_batch_inputs *inputs,
                           double *q, double *v) {
  TBI_ASSERT(batch && count >= 0);
  tbi_batch_job job = {.batch = batch, .count = count, .q = q, .v = v, .rollout = true};
  if (inputs) job.inputs = *inputs;
  return run(batch, &job);
}
// NOLINTEND(readability-non-const-parameter)
