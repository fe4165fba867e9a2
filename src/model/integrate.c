/* integrate.c - moving along a velocity: sums for distances and angles, the exponential map for
 * rotations. */
#include "base/assertion.h"
#include "model/model.h"

/* child-frame angular velocity turns from the right, joint-frame from the left */
static void turn(const double *q, v3 rotation, bool child_frame, double *q_to) {
  q4 from = q_load(q);
  q4 step = q_exp(rotation);
  q_store(q_normalize(child_frame ? q_mul(from, step) : q_mul(step, from)), q_to);
}

static void move(const tbi_body *body, const double *q, const double *v, double dt, double *q_to) {
  switch (body->type) {
  case TABI_JOINT_BALL:
    turn(q, v3_scale(dt, v3_load(v)), true, q_to);
    break;
  case TABI_JOINT_FREE:
    for (int i = 0; i < 3; ++i)
      q_to[i] = q[i] + dt * v[i];
    turn(q + 3, v3_scale(dt, v3_load(v + 3)), false, q_to + 3);
    break;
  default:
    for (int i = 0; i < body->nv; ++i)
      q_to[i] = q[i] + dt * v[i];
    break;
  }
}

void tbi_model_integrate_bodies(const tabi_model *model, int32_t first, int32_t end,
                                const double *q, const double *v, double dt, double *q_to) {
  for (int32_t i = first; i < end; ++i) {
    const tbi_body *body = &model->body[i];
    move(body, q + body->q, v + body->v, dt, q_to + body->q);
  }
}

void tabi_model_integrate(const tabi_model *model, const double *q, const double *v, double dt,
                          double *q_to) {
  TBI_ASSERT(model && (model->nv == 0 || (q && v && q_to)));
  tbi_model_integrate_bodies(model, 0, model->nbody, q, v, dt, q_to);
}
