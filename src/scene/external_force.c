/* external_force.c - forces of a scene that act on links for some time. */
#include "base/assertion.h"
#include "math/quat.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct force_keys {
  const char *body;
  double force[3], torque[3];
  const tbi_yaml_node *at;
  double from, to;
} force_keys;

static const tbi_field force_fields[] = {
    {"body",   TBI_FIELD_WORD,   offsetof(force_keys, body)  },
    {"force",  TBI_FIELD_VECTOR, offsetof(force_keys, force) },
    {"torque", TBI_FIELD_VECTOR, offsetof(force_keys, torque)},
    {"at",     TBI_FIELD_NODE,   offsetof(force_keys, at)    },
    {"from",   TBI_FIELD_NUMBER, offsetof(force_keys, from)  },
    {"to",     TBI_FIELD_NUMBER, offsetof(force_keys, to)    },
};

static bool read_force(tbi_scene_reader *r, const tbi_yaml_node *node, tbi_scene_force *force) {
  const char *what = "force: ";
  force_keys keys = {.from = -INFINITY, .to = INFINITY};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(force_fields), &keys)) return false;
  if (!keys.body) return tbi_fail_about(r->error, node->place, what, "body is missing");
  const tbi_yaml_node *body = tbi_yaml_child(node, "body");
  force->link = tbi_scene_find_link(r, body, what, keys.body);
  if (force->link == TABI_NONE) return false;
  if (tabi_model_link_body(r->scene->model, force->link) == TABI_WORLD) {
    return tbi_fail_about(r->error, body->place, what, "'%.60s' does not move", keys.body);
  }
  // the centre of mass, unless a point is given
  tabi_link_def link = tabi_model_link(r->scene->model, force->link);
  memcpy(force->at, link.com, sizeof force->at);
  if (keys.at) tbi_fields_numbers(r->error, keys.at, what, "at", force->at, 3);
  memcpy(force->force, keys.force, sizeof force->force);
  memcpy(force->torque, keys.torque, sizeof force->torque);
  force->from = keys.from;
  force->to = keys.to;
  return tbi_ok(r->error);
}

bool tbi_scene_read_forces(tbi_scene_reader *r, const tbi_yaml_node *list) {
  if (!list || list->count == 0 || !tbi_ok(r->error)) return tbi_ok(r->error);
  tabi_scene *scene = r->scene;
  scene->forces = calloc((size_t)list->count, sizeof *scene->forces);
  if (!scene->forces) return tbi_fail_memory(r->error);
  for (const tbi_yaml_node *node = list->first; node && tbi_ok(r->error); node = node->next)
    read_force(r, node, &scene->forces[scene->nforce++]);
  return tbi_ok(r->error);
}

/* The middle of the step decides, so that rounding of the time does not. */
void tbi_scene_apply_forces(const tabi_scene *scene, tabi_world *world) {
  double middle = tabi_world_time(world) + scene->world.timestep / 2;
  for (int32_t i = 0; i < scene->nforce; ++i) {
    const tbi_scene_force *force = &scene->forces[i];
    TBI_ASSERT(force->link >= 0 && force->link < tabi_model_nlink(scene->model));
    if (middle < force->from || middle >= force->to) continue;
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(tabi_world_dynamics(world), force->link, pos, quat);
    m3 turn = q_matrix(q_load(quat));
    double point[3];
    v3_store(v3_add(v3_load(pos), m3_mulv(&turn, v3_load(force->at))), point);
    tabi_world_apply(world, force->link, force->force, force->torque, point);
  }
}
