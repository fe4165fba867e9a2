/* stepper_make.c - making and resetting a tabi_stepper. */
#include "control/stepper.h"

#include "base/assertion.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tabi_stepper_def tabi_stepper_def_default(void) {
  return (tabi_stepper_def){
      .def_size = sizeof(tabi_stepper_def),
      .friction = 0.5,
      .gyro = TABI_NONE,
      .accelerometer = TABI_NONE,
      .force = {TABI_NONE, TABI_NONE}
  };
}

/* At the state of the posture. */
static tabi_status make_estimator(tabi_stepper *s, const tabi_stepper_def *def, tabi_error *err) {
  const tabi_model *model = s->model;
  tbi_estimator *e = &s->estimator;
  *e = (tbi_estimator){.model = model,
                       .base = model->joint_body[s->biped.base],
                       .gyro = def->gyro,
                       .accelerometer = def->accelerometer};
  if (!def->encoder) return TABI_OK;
  e->encoder = calloc((size_t)model->njoint + 1, sizeof *e->encoder);
  if (!e->encoder) return tbi_error_memory(err);
  memcpy(e->encoder, def->encoder, sizeof *e->encoder * (size_t)model->njoint);
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &s->biped.leg[side];
    e->force[side] = def->force[side];
    e->ankle[side] = model->joint_body[leg->joint[leg->njoint - 1]];
    e->below[side] = s->balance.d->composite[e->ankle[side]].mass;
  }
  return TABI_OK;
}

static tabi_status make(tabi_stepper *s, const tabi_stepper_def *def, tabi_error *err) {
  size_t nq = (size_t)s->model->nq;
  size_t nv = (size_t)s->model->nv;
  tabi_status status = tbi_balance_make(&s->balance, s->model, &s->biped, err);
  if (status != TABI_OK) return status;
  s->q = calloc(3 * nq + 3 * nv + 1, sizeof *s->q);
  if (!s->q) return tbi_error_memory(err);
  s->v = s->q + nq;
  s->seen_q = s->v + nv;
  s->seen_v = s->seen_q + nq;
  s->asked = s->seen_v + nv;
  s->posture = s->asked + nv;
  s->balance.friction = def->friction;
  s->sees_ground = def->sees_ground;
  memcpy(s->posture, def->posture, nq * sizeof *s->q);
  tabi_stepper_reset(s);
  tbi_balance_set(&s->balance, s->q, s->v);
  tbi_stepper_set_limits(s);
  status = make_estimator(s, def, err);
  if (status != TABI_OK) return status;
  return tbi_drive_make(&s->drive, &s->balance, &s->biped, def->posture, err);
}

tabi_stepper *tabi_stepper_create(const tabi_model *model, const tabi_stepper_def *def,
                                  tabi_error *err) {
  TBI_ASSERT(model && def);
  const tabi_place nowhere = {NULL, 0};
  if (def->def_size != sizeof *def || !def->biped || !def->posture || !(def->friction > 0)) {
    (void)tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                        "tabi_stepper_def was not made by tabi_stepper_def_default(), or lacks "
                        "biped, posture or friction");
    return NULL;
  }
  tabi_stepper *s = calloc(1, sizeof *s);
  if (!s) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  s->model = model;
  s->biped = *def->biped;
  if (make(s, def, err) == TABI_OK) return s;
  tabi_stepper_destroy(s);
  return NULL;
}

void tabi_stepper_destroy(tabi_stepper *stepper) {
  if (!stepper) return;
  tbi_balance_free(&stepper->balance);
  tbi_drive_free(&stepper->drive);
  free(stepper->estimator.encoder);
  free(stepper->q);
  free(stepper);
}

void tabi_stepper_reset(tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  tabi_stepper_command command = stepper->now.command;
  stepper->now = (tbi_stepper_memory){
      .command = command, .waist_yaw = NAN, .base = NAN, .normal = {0, 0, 1}
  };
  size_t nq = (size_t)stepper->model->nq;
  size_t nv = (size_t)stepper->model->nv;
  memcpy(stepper->q, stepper->posture, sizeof *stepper->q * nq);
  memcpy(stepper->seen_q, stepper->posture, sizeof *stepper->q * nq);
  memset(stepper->v, 0, sizeof *stepper->v * nv);
  memset(stepper->seen_v, 0, sizeof *stepper->v * nv);
  memset(stepper->asked, 0, sizeof *stepper->v * nv);
}
