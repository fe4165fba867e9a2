/* model.c - what can be asked of a model. */
#include "model/model.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

void tabi_model_destroy(tabi_model *model) { free(model); }

/* tabi_model_nq() and so on */
#define DEFINE_COUNT(count)                             \
  int32_t tabi_model_##count(const tabi_model *model) { \
    TBI_ASSERT(model);                                  \
    return model->count;                                \
  }

DEFINE_COUNT(nq)
DEFINE_COUNT(nv)
DEFINE_COUNT(nbody)
DEFINE_COUNT(nlink)
DEFINE_COUNT(njoint)
DEFINE_COUNT(nshape)
DEFINE_COUNT(nmesh)
DEFINE_COUNT(nmaterial)
DEFINE_COUNT(nactuator)
DEFINE_COUNT(ncoupling)
DEFINE_COUNT(nconnection)
DEFINE_COUNT(nsensor)
DEFINE_COUNT(nposture)

int32_t tabi_model_nexclusion(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nexclusion2 / 2;
}

/* tabi_model_link() and so on: a def by its index */
#define DEFINE_ITEM(item)                                                      \
  tabi_##item##_def tabi_model_##item(const tabi_model *model, int32_t item) { \
    TBI_ASSERT(model &&item >= 0 && item < model->n##item);                    \
    return model->item[item];                                                  \
  }

DEFINE_ITEM(link)
DEFINE_ITEM(joint)
DEFINE_ITEM(shape)
DEFINE_ITEM(mesh)
DEFINE_ITEM(material)
DEFINE_ITEM(actuator)
DEFINE_ITEM(coupling)
DEFINE_ITEM(connection)
DEFINE_ITEM(sensor)

void tabi_model_exclusion(const tabi_model *model, int32_t exclusion, int32_t links[2]) {
  TBI_ASSERT(model && links);
  TBI_ASSERT(exclusion >= 0 && exclusion < model->nexclusion2 / 2);
  const int32_t *pair = model->exclusion + 2 * (size_t)exclusion;
  links[0] = pair[0];
  links[1] = pair[1];
}

const char *tabi_model_posture(const tabi_model *model, int32_t posture, double *q, double *v) {
  TBI_ASSERT(model && posture >= 0 && posture < model->nposture);
  size_t nq = (size_t)model->nq;
  size_t nv = (size_t)model->nv;
  if (q) memcpy(q, model->posture_q + (size_t)posture * nq, nq * sizeof *q);
  if (v) memcpy(v, model->posture_v + (size_t)posture * nv, nv * sizeof *v);
  return model->posture_name[posture];
}

int32_t tabi_model_find_link(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  return tbi_names_find(&model->link_names, name);
}

int32_t tabi_model_find_joint(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  return tbi_names_find(&model->joint_names, name);
}

int32_t tabi_model_find_sensor(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  return tbi_names_find(&model->sensor_names, name);
}

/* names that need not be unique have no table */
#define DEFINE_SEARCH(item)                                                   \
  int32_t tabi_model_find_##item(const tabi_model *model, const char *name) { \
    TBI_ASSERT(model &&name);                                                 \
    for (int32_t i = 0; i < model->n##item; ++i) {                            \
      const char *own = model->item[i].name;                                  \
      if (own && strcmp(own, name) == 0) return i;                            \
    }                                                                         \
    return TABI_NONE;                                                         \
  }

DEFINE_SEARCH(shape)
DEFINE_SEARCH(actuator)

static const tbi_body *body_of_joint(const tabi_model *model, int32_t joint) {
  TBI_ASSERT(model && joint >= 0 && joint < model->njoint);
  int32_t body = model->joint_body[joint];
  return body == TABI_NONE ? NULL : &model->body[body];
}

tabi_range tabi_model_joint_q(const tabi_model *model, int32_t joint) {
  const tbi_body *body = body_of_joint(model, joint);
  return body ? (tabi_range){body->q, tbi_joint_nq(body->type)} : (tabi_range){TABI_NONE, 0};
}

tabi_range tabi_model_joint_v(const tabi_model *model, int32_t joint) {
  const tbi_body *body = body_of_joint(model, joint);
  return body ? (tabi_range){body->v, body->nv} : (tabi_range){TABI_NONE, 0};
}

int32_t tabi_model_link_joint(const tabi_model *model, int32_t link) {
  TBI_ASSERT(model && link >= 0 && link < model->nlink);
  return model->link_home[link].joint;
}

int32_t tabi_model_link_body(const tabi_model *model, int32_t link) {
  TBI_ASSERT(model && link >= 0 && link < model->nlink);
  return model->link_home[link].body;
}

void tabi_model_initial_q(const tabi_model *model, double *q) {
  TBI_ASSERT(model && (q || model->nq == 0));
  if (model->nq > 0) memcpy(q, model->start, sizeof *q * (size_t)model->nq);
}

void tabi_model_gravity(const tabi_model *model, double gravity[3]) {
  TBI_ASSERT(model && gravity);
  memcpy(gravity, model->gravity, sizeof model->gravity);
}

double tabi_model_timestep(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->timestep;
}

double tabi_model_mass(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->mass;
}
