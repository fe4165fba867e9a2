/* batch_state.c - single worlds of a batch: scattered at random, looked at in a world of their own,
 * and back. */
#include "batch/batch.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/random.h"
#include "model/model.h"

#include <string.h>

/* in [-size, size] */
static double draw(uint64_t *state, double size) { return size * (2 * tbi_random_unit(state) - 1); }

static void scatter_position(const tabi_model *model, int32_t k, uint64_t *state, double size,
                             double *q) {
  double moved = *q + draw(state, size);
  double low = model->dof_lower[k];
  double high = model->dof_upper[k];
  /* what is outside its limits already stays there */
  if (*q >= low && moved < low) moved = low;
  if (*q <= high && moved > high) moved = high;
  *q = moved;
}

void tabi_batch_scatter(tabi_batch *batch, int32_t world, uint64_t seed, double position,
                        double speed) {
  TBI_ASSERT(batch && world >= 0 && world < batch->worlds);
  const tabi_model *model = batch->model;
  double *q = tbi_batch_row(batch, TABI_BATCH_Q, world);
  double *v = tbi_batch_row(batch, TABI_BATCH_V, world);
  uint64_t state = seed;
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    if (body->nv == 1) scatter_position(model, body->v, &state, position, q + body->q);
    if (body->type == TABI_JOINT_FREE || body->type == TABI_JOINT_BALL) {
      double *quat = q + body->q + (body->type == TABI_JOINT_FREE ? 3 : 0);
      v3 turn = v3_make(draw(&state, position), draw(&state, position), draw(&state, position));
      q_store(q_normalize(q_mul(q_exp(turn), q_load(quat))), quat);
    }
    for (int32_t k = body->v; k < body->v + body->nv; ++k)
      v[k] += draw(&state, speed);
  }
}

static tabi_status check_pair(const tabi_batch *b, int32_t index, const tabi_world *world,
                              tabi_error *err) {
  TBI_ASSERT(b && world && index >= 0 && index < b->worlds);
  if (tabi_world_model(world) == b->model) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                       "batch: the world is of another model");
}

/* velocity of a joint with one coordinate, or TABI_NONE */
static int32_t servo_dof(const tabi_model *model, int32_t joint) {
  int32_t body = model->joint_body[joint];
  return body == TABI_NONE || model->body[body].nv != 1 ? TABI_NONE : model->body[body].v;
}

tabi_status tabi_batch_save(const tabi_batch *batch, int32_t index, tabi_world *world,
                            tabi_error *err) {
  tabi_status status = check_pair(batch, index, world, err);
  if (status != TABI_OK) return status;
  const double *kp = tbi_batch_row(batch, TABI_BATCH_KP, index);
  const double *kd = tbi_batch_row(batch, TABI_BATCH_KD, index);
  status = tabi_world_set_state(world, tbi_batch_row(batch, TABI_BATCH_Q, index),
                                tbi_batch_row(batch, TABI_BATCH_V, index), err);
  for (int32_t j = 0; status == TABI_OK && j < batch->model->njoint; ++j) {
    int32_t k = servo_dof(batch->model, j);
    if (k == TABI_NONE) continue;
    tabi_servo servo = {.kp = kp ? kp[k] : batch->kp[k],
                        .kd = kd ? kd[k] : batch->kd[k],
                        .target = tbi_batch_row(batch, TABI_BATCH_TARGET, index)[k],
                        .implicit = true};
    tabi_world_set_servo(world, j, &servo);
  }
  for (int32_t a = 0; status == TABI_OK && a < batch->model->nactuator; ++a)
    tabi_world_set_control(world, a, tbi_batch_row(batch, TABI_BATCH_CONTROL, index)[a]);
  return status;
}

tabi_status tabi_batch_load(tabi_batch *batch, int32_t index, const tabi_world *world,
                            tabi_error *err) {
  tabi_status status = check_pair(batch, index, world, err);
  if (status != TABI_OK) return status;
  double *target = tbi_batch_row(batch, TABI_BATCH_TARGET, index);
  status = tabi_batch_reset(batch, &index, 1, tabi_world_q(world), tabi_world_v(world), err);
  for (int32_t j = 0; status == TABI_OK && j < batch->model->njoint; ++j) {
    int32_t k = servo_dof(batch->model, j);
    if (k != TABI_NONE && (batch->kp[k] != 0 || batch->kd[k] != 0))
      target[k] = tabi_world_get_servo(world, j).target;
  }
  return status;
}
