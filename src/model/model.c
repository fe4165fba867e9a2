/* model.c - what can be asked of a model. */
#include "model/model.h"

#include "base/assertion.h"

#include <stdlib.h>
#include <string.h>

void tabi_model_destroy(tabi_model *model) { free(model); }

int32_t tabi_model_nq(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nq;
}

int32_t tabi_model_nv(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nv;
}

int32_t tabi_model_nbody(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nbody;
}

int32_t tabi_model_nlink(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nlink;
}

int32_t tabi_model_njoint(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->njoint;
}

int32_t tabi_model_nshape(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nshape;
}

int32_t tabi_model_nmesh(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nmesh;
}

int32_t tabi_model_nmaterial(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nmaterial;
}

int32_t tabi_model_npair(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->npair;
}

int32_t tabi_model_ntendon(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->ntendon;
}

int32_t tabi_model_nactuator(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nactuator;
}

int32_t tabi_model_ncoupling(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->ncoupling;
}

int32_t tabi_model_nconnection(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nconnection;
}

int32_t tabi_model_nsensor(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nsensor;
}

int32_t tabi_model_nposture(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nposture;
}

int32_t tabi_model_nexclusion(const tabi_model *model) {
  TBI_ASSERT(model);
  return model->nexclusion2 / 2;
}

tabi_link_def tabi_model_link(const tabi_model *model, int32_t link) {
  TBI_ASSERT(model && link >= 0 && link < model->nlink);
  return model->link[link];
}

tabi_joint_def tabi_model_joint(const tabi_model *model, int32_t joint) {
  TBI_ASSERT(model && joint >= 0 && joint < model->njoint);
  return model->joint[joint];
}

tabi_shape_def tabi_model_shape(const tabi_model *model, int32_t shape) {
  TBI_ASSERT(model && shape >= 0 && shape < model->nshape);
  return model->shape[shape];
}

tabi_mesh_def tabi_model_mesh(const tabi_model *model, int32_t mesh) {
  TBI_ASSERT(model && mesh >= 0 && mesh < model->nmesh);
  return model->mesh[mesh];
}

tabi_material_def tabi_model_material(const tabi_model *model, int32_t material) {
  TBI_ASSERT(model && material >= 0 && material < model->nmaterial);
  return model->material[material];
}

tabi_material_def tabi_model_pair(const tabi_model *model, int32_t pair, int32_t materials[2]) {
  TBI_ASSERT(model && materials && pair >= 0 && pair < model->npair);
  materials[0] = model->pair[pair].material_a;
  materials[1] = model->pair[pair].material_b;
  return model->pair[pair].surface;
}

tabi_material_def tabi_model_surface(const tabi_model *model, int32_t material_a,
                                     int32_t material_b) {
  TBI_ASSERT(model && material_a < model->nmaterial && material_b < model->nmaterial);
  TBI_ASSERT(material_a >= 0 || material_a == TABI_NONE);
  TBI_ASSERT(material_b >= 0 || material_b == TABI_NONE);
  // the last one counts, as in a world
  for (int32_t i = model->npair - 1; i >= 0; --i) {
    const tbi_material_pair *pair = &model->pair[i];
    bool straight = pair->material_a == material_a && pair->material_b == material_b;
    bool crossed = pair->material_a == material_b && pair->material_b == material_a;
    if (straight || crossed) return pair->surface;
  }
  tabi_material_def standard = tabi_material_def_default();
  return tabi_material_combine(material_a == TABI_NONE ? &standard : &model->material[material_a],
                               material_b == TABI_NONE ? &standard : &model->material[material_b]);
}

tabi_tendon_def tabi_model_tendon(const tabi_model *model, int32_t tendon) {
  TBI_ASSERT(model && tendon >= 0 && tendon < model->ntendon);
  return model->tendon[tendon];
}

tabi_actuator_def tabi_model_actuator(const tabi_model *model, int32_t actuator) {
  TBI_ASSERT(model && actuator >= 0 && actuator < model->nactuator);
  return model->actuator[actuator];
}

tabi_coupling_def tabi_model_coupling(const tabi_model *model, int32_t coupling) {
  TBI_ASSERT(model && coupling >= 0 && coupling < model->ncoupling);
  return model->coupling[coupling];
}

tabi_connection_def tabi_model_connection(const tabi_model *model, int32_t connection) {
  TBI_ASSERT(model && connection >= 0 && connection < model->nconnection);
  return model->connection[connection];
}

tabi_sensor_def tabi_model_sensor(const tabi_model *model, int32_t sensor) {
  TBI_ASSERT(model && sensor >= 0 && sensor < model->nsensor);
  return model->sensor[sensor];
}

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

void tabi_model_posture_control(const tabi_model *model, int32_t posture, double *u) {
  TBI_ASSERT(model && posture >= 0 && posture < model->nposture && (u || model->nactuator == 0));
  size_t count = (size_t)model->nactuator;
  if (count > 0) memcpy(u, model->posture_control + (size_t)posture * count, count * sizeof *u);
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
static bool is_called(const char *own, const char *name) { return own && strcmp(own, name) == 0; }

int32_t tabi_model_find_shape(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  for (int32_t i = 0; i < model->nshape; ++i)
    if (is_called(model->shape[i].name, name)) return i;
  return TABI_NONE;
}

int32_t tabi_model_find_tendon(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  for (int32_t i = 0; i < model->ntendon; ++i)
    if (is_called(model->tendon[i].name, name)) return i;
  return TABI_NONE;
}

int32_t tabi_model_find_actuator(const tabi_model *model, const char *name) {
  TBI_ASSERT(model && name);
  for (int32_t i = 0; i < model->nactuator; ++i)
    if (is_called(model->actuator[i].name, name)) return i;
  return TABI_NONE;
}

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
