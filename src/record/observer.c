/* observer.c - takes samples of a world. */
#include "base/assertion.h"
#include "base/error.h"
#include "record/record.h"

#include <math.h>
#include <stdlib.h>

#define MAX_STICK_SPEED 1e-3F /* m/s along the surface */

struct tabi_observer {
  const tabi_scene *scene;
  tabi_world *world;
  double timestep; /* s */
  double *sensor;
  tabi_sample_contact *contact;
  tabi_balance *balance;
  tabi_sample_effort *effort;
  bool *is_driven; /* joints that have efforts: [njoint] */
  bool skips_balance;
  int32_t max_contacts;
  tabi_sample sample;
};

static float dot(const float a[3], const float b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void tbi_sample_contact_derive(tabi_sample_contact *c, double timestep) {
  TBI_ASSERT(c && timestep > 0);
  float opening = dot(c->velocity, c->normal);
  float push = dot(c->force, c->normal);
  float along[3];
  for (int i = 0; i < 3; ++i)
    along[i] = c->velocity[i] - opening * c->normal[i];
  c->slip = sqrtf(dot(along, along));
  c->power = -dot(c->force, along);
  c->status = c->slip > MAX_STICK_SPEED ? TABI_CONTACT_SLIP : TABI_CONTACT_STICK;
  c->residual = 0;
  if (dot(c->force, c->force) == 0) c->status = TABI_CONTACT_SEPARATING;
  if (push <= 0) return;
  float limit = c->friction * push;
  float separation = c->gap / (float)timestep + opening;
  float misdirected = limit > 0 ? c->slip - c->power / limit : 0;
  c->residual = fmaxf(fmaxf(separation, misdirected), 0);
}

static void take_contact(const tabi_contact *c, double timestep, tabi_sample_contact *to) {
  to->shape_a = c->shape_a;
  to->shape_b = c->shape_b;
  to->link_a = c->link_a;
  to->link_b = c->link_b;
  for (int i = 0; i < 3; ++i) {
    to->point[i] = (float)c->point[i];
    to->normal[i] = (float)c->normal[i];
    to->force[i] = (float)(c->impulse[i] / timestep);
    to->velocity[i] = (float)c->velocity[i];
  }
  to->gap = (float)c->gap;
  to->friction = (float)c->friction;
  tbi_sample_contact_derive(to, timestep);
}

static void take_sensors(const tabi_world *world, double *to) {
  for (int32_t i = 0; i < tabi_model_nsensor(tabi_world_model(world)); ++i)
    to += tabi_world_sensor(world, i, to);
}

static bool has_one_coordinate(const tabi_model *model, int32_t joint) {
  tabi_joint_type type = tabi_model_joint(model, joint).type;
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static void take_efforts(const tabi_observer *o) {
  for (int32_t i = 0; i < o->sample.njoint; ++i) {
    if (!o->is_driven[i]) continue;
    tabi_effort e = tabi_world_effort(o->world, i);
    o->effort[i] = (tabi_sample_effort){(float)e.commanded, (float)e.applied, (float)e.limit};
  }
}

/* The world has grown, and so does the list, if there is memory. */
static void grow(tabi_observer *o) {
  int32_t capacity = tabi_world_get_def(o->world).max_contacts;
  tabi_sample_contact *grown = realloc(o->contact, ((size_t)capacity + 1) * sizeof *grown);
  if (!grown) return;
  o->contact = grown;
  o->sample.contact = grown;
  o->max_contacts = capacity;
}

const tabi_sample *tabi_observer_look(tabi_observer *o) {
  TBI_ASSERT(o);
  tabi_sample *sample = &o->sample;
  const tabi_contact *contact = tabi_world_contacts(o->world, &sample->ncontact);
  if (sample->ncontact > o->max_contacts) grow(o);
  if (sample->ncontact > o->max_contacts) sample->ncontact = o->max_contacts;
  for (int32_t i = 0; i < sample->ncontact; ++i)
    take_contact(&contact[i], o->timestep, &o->contact[i]);
  for (int32_t i = 0; i < sample->nrobot && !o->skips_balance; ++i)
    o->balance[i] = tabi_world_balance(o->world, tabi_scene_get_robot(o->scene, i).moving);
  take_sensors(o->world, o->sensor);
  take_efforts(o);
  sample->step = tabi_world_steps(o->world);
  sample->time = tabi_world_time(o->world);
  sample->q = tabi_world_q(o->world);
  sample->v = tabi_world_v(o->world);
  sample->energy = tabi_world_energy(o->world);
  sample->certificate = tabi_world_certificate(o->world);
  return sample;
}

void tabi_observer_skip_balance(tabi_observer *o, bool skip) {
  TBI_ASSERT(o);
  o->skips_balance = skip;
}

tabi_status tbi_record_check_world(const tabi_scene *scene, const tabi_world *world,
                                   tabi_error *err) {
  if (tabi_world_model(world) == tabi_scene_model(scene)) return TABI_OK;
  return tbi_error_set(
      err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
      "the world is not one of the scene '%.100s': its model is another; create it "
      "with tabi_scene_model()",
      tabi_scene_name(scene));
}

tabi_observer *tabi_observer_create(const tabi_scene *scene, tabi_world *world, tabi_error *err) {
  TBI_ASSERT(scene && world);
  if (tbi_record_check_world(scene, world, err) != TABI_OK) return NULL;
  tabi_world_def def = tabi_world_get_def(world);
  tbi_sample_shape shape = tbi_sample_shape_of(scene);
  tabi_observer *o = calloc(1, sizeof *o);
  if (o) {
    // a sensor may write TABI_SENSOR_MAX numbers whatever it measures
    o->sensor = calloc((size_t)shape.sensors + TABI_SENSOR_MAX, sizeof *o->sensor);
    o->contact = calloc((size_t)def.max_contacts + 1, sizeof *o->contact);
    o->balance = calloc((size_t)shape.robots + 1, sizeof *o->balance);
    o->effort = calloc((size_t)shape.joints + 1, sizeof *o->effort);
    o->is_driven = calloc((size_t)shape.joints + 1, sizeof *o->is_driven);
  }
  if (!o || !o->sensor || !o->contact || !o->balance || !o->effort || !o->is_driven) {
    tabi_observer_destroy(o);
    (void)tbi_error_memory(err);
    return NULL;
  }
  o->scene = scene;
  o->world = world;
  o->timestep = def.timestep;
  o->max_contacts = def.max_contacts;
  o->sample = (tabi_sample){.sensor = o->sensor,
                            .contact = o->contact,
                            .balance = o->balance,
                            .nrobot = shape.robots,
                            .effort = o->effort,
                            .njoint = shape.joints};
  for (int32_t i = 0; i < shape.joints; ++i)
    o->is_driven[i] = has_one_coordinate(tabi_scene_model(scene), i);
  return o;
}

void tabi_observer_destroy(tabi_observer *o) {
  if (!o) return;
  free(o->sensor);
  free(o->contact);
  free(o->balance);
  free(o->effort);
  free(o->is_driven);
  free(o);
}
