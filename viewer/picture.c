/* picture.c - samples as the page takes them. */
#include "picture.h"

#include "choice.h"
#include "fault.h"

#include <stdlib.h>
#include <string.h>

enum { LINK_WORDS = 7, CONTACT_WORDS = 16, ROBOT_WORDS = 9 + 2 * TABI_BALANCE_CORNERS };

struct tbi_camera {
  const tabi_model *model;
  tabi_dynamics *dynamics;
  tbi_choice choice;
  double *value; /* of all signals */
  int32_t nlink, nrobot;
};

tbi_camera *tbi_camera_create(const tabi_scene *scene, tabi_error *err) {
  tbi_camera *camera = calloc(1, sizeof *camera);
  if (!camera) {
    (void)tbi_no_memory(err);
    return NULL;
  }
  camera->model = tabi_scene_model(scene);
  camera->nlink = tabi_model_nlink(camera->model);
  camera->nrobot = tabi_scene_nrobot(scene);
  camera->dynamics = tabi_dynamics_create(camera->model, err);
  if (camera->dynamics && tbi_choice_open(&camera->choice, scene, err) == TABI_OK) {
    size_t count = (size_t)tabi_signals_count(camera->choice.signals);
    camera->value = calloc(count + 1, sizeof *camera->value);
    if (camera->value) return camera;
    (void)tbi_no_memory(err);
  }
  tbi_camera_destroy(camera);
  return NULL;
}

void tbi_camera_destroy(tbi_camera *camera) {
  if (!camera) return;
  tbi_choice_close(&camera->choice);
  tabi_dynamics_destroy(camera->dynamics);
  free(camera->value);
  free(camera);
}

size_t tbi_camera_bound(const tbi_camera *camera, int32_t ncontact) {
  size_t words = LINK_WORDS * (size_t)camera->nlink + (size_t)camera->choice.count +
                 CONTACT_WORDS * (size_t)ncontact + ROBOT_WORDS * (size_t)camera->nrobot;
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

static unsigned char *put_links(tbi_camera *camera, const tabi_sample *sample, unsigned char *at) {
  tabi_dynamics_set_state(camera->dynamics, sample->q, sample->v);
  for (int32_t i = 0; i < camera->nlink; ++i) {
    double pos[3], quat[4];
    tabi_dynamics_link_pose(camera->dynamics, i, pos, quat);
    at = put_reals(put_reals(at, pos, 3), quat, 4);
  }
  return at;
}

static unsigned char *put_signals(tbi_camera *camera, const tabi_sample *sample,
                                  unsigned char *at) {
  tabi_signals_eval(camera->choice.signals, sample, camera->value);
  for (int32_t i = 0; i < camera->choice.count; ++i)
    at = put_float(at, (float)camera->value[camera->choice.index[i]]);
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

size_t tbi_camera_take(tbi_camera *camera, const tabi_sample *sample, float factor, uint32_t flags,
                       void *picture) {
  size_t size = tbi_camera_bound(camera, sample->ncontact);
  unsigned char *at = picture;
  // before the first step, and under new settings, nothing has been solved yet
  bool solved = sample->certificate.iterations > 0;
  if (sample->certificate.converged || !solved) flags |= TBI_PICTURE_CONVERGED;
  at = put_word(at, TBI_PICTURE_MAGIC);
  at = put_word(at, (uint32_t)size);
  at = put_double(at, sample->time);
  at = put_double(at, (double)sample->step);
  at = put_word(at, (uint32_t)camera->nlink);
  at = put_word(at, (uint32_t)camera->choice.count);
  at = put_word(at, (uint32_t)sample->ncontact);
  at = put_word(at, (uint32_t)camera->nrobot);
  at = put_float(at, factor);
  at = put_word(at, flags);
  at = put_links(camera, sample, at);
  at = put_signals(camera, sample, at);
  for (int32_t i = 0; i < sample->ncontact; ++i)
    at = put_contact(&sample->contact[i], at);
  for (int32_t i = 0; i < camera->nrobot; ++i)
    at = put_robot(&sample->balance[i], at);
  return size;
}
