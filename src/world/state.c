/* state.c - whether numbers are a valid state of a world.
 *
 * Snapshots come from files, and a step trusts its state: counts must fit their capacity, booleans
 * must be 0 or 1, numbers must be finite, speeds at most TBI_MAX_SPEED, positions
 * at most TBI_MAX_POSITION. */
#include "world/world.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define UNIT 1e-6 /* by which the length of a quaternion may be off */

/* whether the lengths of all quaternions are between min and max */
static bool have_lengths(const tabi_model *model, const double *q, double min, double max) {
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    if (body->type != TABI_JOINT_BALL && body->type != TABI_JOINT_FREE) continue;
    const double *quat = q + body->q + (body->type == TABI_JOINT_FREE ? 3 : 0);
    double length = q_norm(q_load(quat));
    if (!(length >= min && length <= max)) return false;
  }
  return true;
}

bool tbi_world_is_motion(const tabi_model *model, const double *q, const double *v) {
  for (int32_t i = 0; i < model->nq; ++i) {
    if (!(fabs(q[i]) <= TBI_MAX_POSITION)) return false;
  }
  for (int32_t i = 0; i < model->nv; ++i) {
    if (!(fabs(v[i]) <= TBI_MAX_SPEED)) return false;
  }
  return have_lengths(model, q, 1e-12, HUGE_VAL);
}

/* -- bytes of a snapshot, which need not be aligned */

/* where an array of the state lies in a snapshot */
static const char *find(const tabi_world *w, const void *snapshot, const void *piece) {
  return (const char *)snapshot + ((const char *)piece - (const char *)w->state.head);
}

static bool are_finite(const char *bytes, size_t size) {
  for (size_t at = 0; at + sizeof(double) <= size; at += sizeof(double)) {
    double number = 0;
    memcpy(&number, bytes + at, sizeof number);
    if (!isfinite(number)) return false;
  }
  return true;
}

static bool is_truth(const char *byte) { return *byte == 0 || *byte == 1; }

/* The head of a snapshot of this form, which has all contacts it speaks of. */
static bool is_head(const tabi_world *w, const char *bytes, size_t size) {
  tbi_world_head head;
  size_t contact_size = tbi_world_contact_size(w);
  if (size < w->state_size || (size - w->state_size) % contact_size != 0) return false;
  if (!is_truth(bytes + offsetof(tbi_world_head, lifted)) ||
      !is_truth(bytes + offsetof(tbi_world_head, external)) ||
      !is_truth(bytes + offsetof(tbi_world_head, prescribes)))
    return false;
  memcpy(&head, bytes, sizeof head);
  int64_t max = w->grows ? TBI_MAX_CONTACTS : w->def.max_contacts;
  return head.state_size == (int64_t)w->state_size && head.contact_size == (int64_t)contact_size &&
         head.steps >= 0 && head.steps <= INT64_MAX / 2 && isfinite(head.work) && head.nwarm >= 0 &&
         head.nwarm <= max && head.nwarm <= (int64_t)((size - w->state_size) / contact_size);
}

/* Only joints with one coordinate have servos. */
static bool are_servos(const tabi_world *w, const char *bytes) {
  for (int32_t i = 0; i < w->model->njoint; ++i, bytes += sizeof(tabi_servo)) {
    tabi_servo servo;
    if (!are_finite(bytes, offsetof(tabi_servo, implicit)) ||
        !is_truth(bytes + offsetof(tabi_servo, implicit))) {
      return false;
    }
    memcpy(&servo, bytes, sizeof servo);
    bool off = servo.kp == 0 && servo.kd == 0;
    if (!off && tbi_joint_nq(w->model->joint[i].type) != 1) return false;
  }
  return true;
}

/* Velocities that are told, and whether they are; without any the head says so. */
static bool are_told(const tabi_world *w, const void *snapshot, bool prescribes) {
  const char *told = find(w, snapshot, w->state.told);
  const char *in_place = find(w, snapshot, w->state.in_place);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    if (!is_truth(told + k) || !is_truth(in_place + k) || (told[k] && !prescribes)) return false;
  }
  return are_finite(find(w, snapshot, w->state.told_v),
                    sizeof *w->state.told_v * (size_t)w->model->nv);
}

static bool are_sides(const signed char *side, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (side[i] < -1 || side[i] > 1) return false;
  return true;
}

static bool are_momenta(const tabi_world *w, const void *snapshot) {
  const char *bytes = find(w, snapshot, w->state.momentum);
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    tbi_momentum m;
    memcpy(&m, bytes + sizeof m * (size_t)t, sizeof m);
    if (m.known < TBI_LEFT_NOTHING || m.known > TBI_LEFT_SPRINGS) return false;
    if (!are_finite(bytes + sizeof m * (size_t)t, offsetof(tbi_momentum, known))) return false;
  }
  return true;
}

static bool are_warm(const char *bytes, int64_t count) {
  const size_t numbers = offsetof(tbi_warm, impulse);
  for (size_t i = 0; i < (size_t)count; ++i) {
    const char *warm = bytes + i * sizeof(tbi_warm);
    if (!are_finite(warm + numbers, sizeof(tbi_warm) - numbers)) return false;
  }
  return true;
}

static bool are_modes(const char *slipping, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (slipping[i] < 0 || slipping[i] > TBI_SLIDING) return false;
  return true;
}

/* contacts of shapes of the model */
static bool are_listed(const tabi_model *model, const char *bytes, int64_t count) {
  for (size_t i = 0; i < (size_t)count; ++i) {
    tabi_contact c;
    memcpy(&c, bytes + i * sizeof c, sizeof c);
    if (c.shape_a < 0 || c.shape_a >= model->nshape || c.shape_b < 0 || c.shape_b >= model->nshape)
      return false;
    if (c.link_a != model->shape[c.shape_a].link || c.link_b != model->shape[c.shape_b].link)
      return false;
    if (!are_finite(bytes + i * sizeof c + offsetof(tabi_contact, point),
                    sizeof c - offsetof(tabi_contact, point)))
      return false;
  }
  return true;
}

static bool are_contacts(const tabi_world *w, const void *snapshot, int64_t count) {
  tbi_contact_array array[TBI_CONTACT_ARRAYS];
  tbi_world_contact_arrays(w, array);
  const char *at[TBI_CONTACT_ARRAYS + 1] = {(const char *)snapshot + w->state_size};
  for (int i = 0; i < TBI_CONTACT_ARRAYS; ++i)
    at[i + 1] = at[i] + array[i].size * (size_t)count;
  return are_warm(at[0], count) && are_modes(at[1], count) &&
         are_finite(at[2], (size_t)(at[4] - at[2])) &&
         (!w->def.sleep || are_listed(w->model, at[4], count));
}

/* Islands that sleep are named by one of their trees, and what sleeps has no velocity. */
static bool are_asleep(const tabi_world *w, const void *snapshot) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; w->def.sleep && t < model->ntree; ++t) {
    int32_t quiet = 0;
    int32_t bed = 0;
    memcpy(&quiet, find(w, snapshot, w->state.quiet + t), sizeof quiet);
    memcpy(&bed, find(w, snapshot, w->state.bed + t), sizeof bed);
    if (quiet < 0 || bed < 0 || bed > model->ntree) return false;
    tabi_range dofs = tbi_tree_dofs(model, t);
    for (int32_t k = dofs.first; bed > 0 && k < dofs.first + dofs.count; ++k)
      if (w->solution.v_new[k] != 0) return false;
  }
  return true;
}

static bool are_sensors(const tabi_world *w, const void *snapshot) {
  const tbi_sensors *s = &w->sensors;
  size_t readings = 0;
  for (int32_t i = 0; i < w->model->nsensor; ++i) {
    size_t size = (size_t)tabi_sensor_type_size(w->model->sensor[i].type);
    readings += (size_t)s->line_length[i] * size;
  }
  size_t links = s->feels_forces ? (size_t)w->model->nlink : 0;
  return are_finite(find(w, snapshot, s->line), readings * sizeof *s->line) &&
         are_finite(find(w, snapshot, s->external), links * sizeof *s->external);
}

/* The state of the gait is the last part; its bytes are aligned in scratch.gait_before. */
static bool is_gait_state(tabi_world *w, const void *snapshot) {
  const tbi_gait_run *run = w->gait;
  const char *bytes = find(w, snapshot, run->memory);
  size_t size = w->state_size - (size_t)(bytes - (const char *)snapshot);
  char *copy = w->scratch.gait_before;
  memcpy(copy, bytes, size);
  const double *q = (const double *)(const void *)(copy + (find(w, snapshot, run->q) - bytes));
  const double *v = (const double *)(const void *)(copy + (find(w, snapshot, run->v) - bytes));
  return tbi_gait_is_state((const tbi_gait_memory *)w->scratch.gait_before, q, v,
                           run->gait->tree[0].model->nv);
}

bool tbi_world_is_state(tabi_world *w, const void *snapshot, size_t size) {
  const tabi_model *model = w->model;
  tbi_world_head head;
  if (!is_head(w, snapshot, size)) return false;
  memcpy(&head, snapshot, sizeof head);
  memcpy(w->solution.q_new, find(w, snapshot, w->state.q), sizeof *w->state.q * (size_t)model->nq);
  memcpy(w->solution.v_new, find(w, snapshot, w->state.v), sizeof *w->state.v * (size_t)model->nv);
  const size_t rows = (size_t)TBI_ROW_KINDS * (size_t)model->nv;
  return tbi_world_is_motion(model, w->solution.q_new, w->solution.v_new) &&
         have_lengths(model, w->solution.q_new, 1 - UNIT, 1 + UNIT) &&
         are_finite(find(w, snapshot, w->state.v_change),
                    sizeof *w->state.v_change * (size_t)tbi_world_nchange(w)) &&
         are_momenta(w, snapshot) && are_asleep(w, snapshot) &&
         are_servos(w, find(w, snapshot, w->state.servo)) &&
         are_told(w, snapshot, head.prescribes) &&
         are_sides((const signed char *)find(w, snapshot, w->state.saturated),
                   model->njoint + model->nactuator) &&
         are_finite(find(w, snapshot, w->state.control),
                    sizeof *w->state.control * (size_t)model->nactuator) &&
         are_finite(find(w, snapshot, w->state.external),
                    sizeof *w->state.external * (size_t)model->nbody) &&
         are_contacts(w, snapshot, head.nwarm) &&
         are_finite(find(w, snapshot, w->state.row_impulse), sizeof *w->state.row_impulse * rows) &&
         are_sensors(w, snapshot) && (!tbi_world_has_gait(w) || is_gait_state(w, snapshot));
}
