/* picture_encoder.c - samples as the page takes them. */
#include "picture_encoder.h"

#include "signal_selection.h"
#include "viewer_error.h"

#include <stdlib.h>
#include <string.h>

enum { LINK_WORDS = 7, CONTACT_WORDS = 16, ROBOT_WORDS = 9 + 2 * TABI_BALANCE_CORNERS };

struct tbi_picture_encoder {
  const tabi_model *model;
  tabi_dynamics *dynamics;
  tbi_signal_selection selection;
  double *value; /* of all signals */
  int32_t nlink, nrobot;
};

tbi_picture_encoder *tbi_picture_encoder_create(const tabi_scene *scene, tabi_error *err) {
  tbi_picture_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) {
    (void)tbi_memory_error(err);
    return NULL;
  }
  encoder->model = tabi_scene_model(scene);
  encoder->nlink = tabi_model_nlink(encoder->model);
  encoder->nrobot = tabi_scene_nrobot(scene);
  encoder->dynamics = tabi_dynamics_create(encoder->model, err);
  if (encoder->dynamics && tbi_signal_selection_open(&encoder->selection, scene, err) == TABI_OK) {
    size_t count = (size_t)tabi_signals_count(encoder->selection.signals);
    encoder->value = calloc(count + 1, sizeof *encoder->value);
    if (encoder->value) return encoder;
    (void)tbi_memory_error(err);
  }
  tbi_picture_encoder_destroy(encoder);
  return NULL;
}

void tbi_picture_encoder_destroy(tbi_picture_encoder *encoder) {
  if (!encoder) return;
  tbi_signal_selection_close(&encoder->selection);
  tabi_dynamics_destroy(encoder->dynamics);
  free(encoder->value);
  free(encoder);
}

size_t tbi_picture_size(const tbi_picture_encoder *encoder, int32_t ncontact) {
  size_t words = LINK_WORDS * (size_t)encoder->nlink + (size_t)encoder->selection.count +
                 CONTACT_WORDS * (size_t)ncontact + ROBOT_WORDS * (size_t)encoder->nrobot;
  return TBI_PICTURE_HEAD + 4 * words;
}

static unsigned char *put_word(unsigned char *at, uint32_t word) {
  for (int i = 0; i < 4; ++i)
    at[i] = (unsigned char)(word >> 8 * i);
  return at + 4;
}

static unsigned char *put_float(unsigned char *at, float number) {
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  return put_word(at, bits);
}

static unsigned char *put_floats(unsigned char *at, const float *number, int count) {
  for (int i = 0; i < count; ++i)
    at = put_float(at, number[i]);
  return at;
}

/* Doubles as floats. */
static unsigned char *put_reals(unsigned char *at, const double *number, int count) {
  for (int i = 0; i < count; ++i)
    at = put_float(at, (float)number[i]);
  return at;
}

static unsigned char *put_double(unsigned char *at, double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  return put_word(put_word(at, (uint32_t)(bits & UINT32_MAX)), (uint32_t)(bits >> 32));
}

static unsigned char *put_links(tbi_picture_encoder *encoder, const tabi_sample *sample,
                                unsigned char *at) {
  tabi_dynamics_set_state(encoder->dynamics, sample->q, sample->v);
  for (int32_t i = 0; i < encoder->nlink; ++i) {
    double pos[3], quat[4];
    tabi_dynamics_link_pose(encoder->dynamics, i, pos, quat);
    at = put_reals(put_reals(at, pos, 3), quat, 4);
  }
  return at;
}

static unsigned char *put_signals(tbi_picture_encoder *encoder, const tabi_sample *sample,
                                  unsigned char *at) {
  tabi_signals_eval(encoder->selection.signals, sample, encoder->value);
  for (int32_t i = 0; i < encoder->selection.count; ++i)
    at = put_float(at, (float)encoder->value[encoder->selection.index[i]]);
  return at;
}

static unsigned char *put_contact(const tabi_sample_contact *c, unsigned char *at) {
  const float last[4] = {c->friction, c->slip, c->residual, c->gap};
  at = put_word(at, (uint32_t)c->link_a);
  at = put_word(at, (uint32_t)c->link_b);
  at = put_word(at, (uint32_t)c->status);
  at = put_floats(at, c->point, 3);
  at = put_floats(at, c->normal, 3);
  at = put_floats(at, c->force, 3);
  return put_floats(at, last, 4);
}

static unsigned char *put_robot(const tabi_balance *b, unsigned char *at) {
  at = put_reals(at, b->com, 3);
  at = put_reals(at, b->zmp, 3);
  at = put_float(at, (float)b->force[2]);
  at = put_float(at, (float)b->margin);
  at = put_word(at, (uint32_t)b->ncorner);
  at = put_reals(at, b->corner[0], 2 * b->ncorner);
  // those that are not there are no remains of earlier ones
  size_t left = 8 * (size_t)(TABI_BALANCE_CORNERS - b->ncorner);
  memset(at, 0, left);
  return at + left;
}

size_t tbi_picture_encode(tbi_picture_encoder *encoder, const tabi_sample *sample, float factor,
                          uint32_t flags, void *picture) {
  size_t size = tbi_picture_size(encoder, sample->ncontact);
  unsigned char *at = picture;
  // before the first step, and under new settings, nothing has been solved yet
  bool solved = sample->certificate.iterations > 0;
  if (sample->certificate.converged || !solved) flags |= TBI_PICTURE_CONVERGED;
  at = put_word(at, TBI_PICTURE_MAGIC);
  at = put_word(at, (uint32_t)size);
  at = put_double(at, sample->time);
  at = put_double(at, (double)sample->step);
  at = put_word(at, (uint32_t)encoder->nlink);
  at = put_word(at, (uint32_t)encoder->selection.count);
  at = put_word(at, (uint32_t)sample->ncontact);
  at = put_word(at, (uint32_t)encoder->nrobot);
  at = put_float(at, factor);
  at = put_word(at, flags);
  at = put_links(encoder, sample, at);
  at = put_signals(encoder, sample, at);
  for (int32_t i = 0; i < sample->ncontact; ++i)
    at = put_contact(&sample->contact[i], at);
  for (int32_t i = 0; i < encoder->nrobot; ++i)
    at = put_robot(&sample->balance[i], at);
  return size;
}
