/* rk4.c - four stages, each a derivative of (q, v) at a point along the step. */
#include "integrate/rk4.h"

#include "base/assertion.h"

#include <string.h>

/* rate of a quaternion under an angular velocity in child or joint axes */
static void quat_rate(const double *q, v3 w, bool child_axes, double *rate) {
  q4 spin = {0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
  q_store(child_axes ? q_mul(q_load(q), spin) : q_mul(spin, q_load(q)), rate);
}

static void position_rate(const tabi_model *model, const double *q, const double *v, double *rate) {
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    const double *v_body = v + body->v;
    double *to = rate + body->q;
    if (body->type == TABI_JOINT_BALL) {
      quat_rate(q + body->q, v3_load(v_body), true, to);
      continue;
    }
    int32_t plain = body->type == TABI_JOINT_FREE ? 3 : body->nv;
    memcpy(to, v_body, sizeof *to * (size_t)plain);
    if (body->type == TABI_JOINT_FREE)
      quat_rate(q + body->q + 3, v3_load(v_body + 3), false, to + 3);
  }
}

static void make_unit(const tabi_model *model, double *q) {
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    int32_t at = body->type == TABI_JOINT_FREE ? 3 : 0;
    if (body->type != TABI_JOINT_FREE && body->type != TABI_JOINT_BALL) continue;
    double *part = q + body->q + at;
    q_store(q_normalize(q_load(part)), part);
  }
}

/* to = from + s rate */
static void move(int32_t n, const double *from, double s, const double *rate, double *to) {
  for (int32_t i = 0; i < n; ++i)
    to[i] = from[i] + s * rate[i];
}

int64_t tbi_rk4_scratch(const tabi_model *model) {
  return 3 * (int64_t)model->nq + 3 * (int64_t)model->nv;
}

void tbi_rk4(const tbi_motion *motion, double h, const double *q, const double *v, double *q_to,
             double *v_to) {
  TBI_ASSERT(motion->accelerate && motion->scratch && h > 0);
  TBI_ASSERT(q != q_to && v != v_to);
  static const double at[4] = {0, 0.5, 0.5, 1};
  static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const tabi_model *model = motion->model;
  int32_t nq = model->nq;
  int32_t nv = model->nv;
  double *q_at = motion->scratch;
  double *q_rate = q_at + nq;
  double *q_sum = q_rate + nq;
  double *v_at = q_sum + nq;
  double *v_rate = v_at + nv;
  double *v_sum = v_rate + nv;
  memset(q_rate, 0, sizeof *q_rate * (size_t)nq);
  memset(v_rate, 0, sizeof *v_rate * (size_t)nv);
  memcpy(q_sum, q, sizeof *q_sum * (size_t)nq);
  memcpy(v_sum, v, sizeof *v_sum * (size_t)nv);
  for (int stage = 0; stage < 4; ++stage) {
    move(nq, q, h * at[stage], q_rate, q_at);
    move(nv, v, h * at[stage], v_rate, v_at);
    position_rate(model, q_at, v_at, q_rate);
    motion->accelerate(motion->user, q_at, v_at, v_rate);
    move(nq, q_sum, h * weight[stage], q_rate, q_sum);
    move(nv, v_sum, h * weight[stage], v_rate, v_sum);
  }
  memcpy(q_to, q_sum, sizeof *q_to * (size_t)nq);
  memcpy(v_to, v_sum, sizeof *v_to * (size_t)nv);
  make_unit(model, q_to);
}
