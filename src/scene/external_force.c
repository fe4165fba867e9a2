/* external_force.c - forces of a scene that act on links: for some time, as a sine, from a table.
 */
#include "base/assertion.h"
#include "math/quat.h"
#include "scene/time_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct force_keys {
  const char *body;
  const tbi_yaml_node *force, *impulse, *torque, *at, *table, *sine;
  double from, to;
} force_keys;

static const tbi_field force_fields[] = {
    {"body",    TBI_FIELD_WORD,   offsetof(force_keys, body)   },
    {"force",   TBI_FIELD_NODE,   offsetof(force_keys, force)  },
    {"impulse", TBI_FIELD_NODE,   offsetof(force_keys, impulse)},
    {"torque",  TBI_FIELD_NODE,   offsetof(force_keys, torque) },
    {"at",      TBI_FIELD_NODE,   offsetof(force_keys, at)     },
    {"table",   TBI_FIELD_NODE,   offsetof(force_keys, table)  },
    {"sine",    TBI_FIELD_MAP,    offsetof(force_keys, sine)   },
    {"from",    TBI_FIELD_NUMBER, offsetof(force_keys, from)   },
    {"to",      TBI_FIELD_NUMBER, offsetof(force_keys, to)     },
};

/* what columns of tables are called */
static const tbi_component components[] = {
    {"fx", NULL},
    {"fy", NULL},
    {"fz", NULL},
    {"tx", NULL},
    {"ty", NULL},
    {"tz", NULL},
};

/* A push: the force that gives an impulse, N s, between from and to. */
static bool read_impulse(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                         const force_keys *keys, double force[3]) {
  double time = keys->to - keys->from;
  if (keys->force || !isfinite(time) || !(time > 0)) {
    return tbi_fail_about(r->error, node->place, what,
                          "impulse takes the place of force and needs from and to, in s");
  }
  if (!tbi_fields_numbers(r->error, keys->impulse, what, "impulse", force, 3)) return false;
  for (int i = 0; i < 3; ++i)
    force[i] /= time;
  return true;
}

static bool read_wrench(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                        const force_keys *keys, tbi_time_function *wrench) {
  double *to = wrench->constant;
  if (keys->force) tbi_fields_numbers(r->error, keys->force, what, "force", to, 3);
  if (keys->impulse && !read_impulse(r, node, what, keys, to)) return false;
  if (keys->torque) tbi_fields_numbers(r->error, keys->torque, what, "torque", to + 3, 3);
  const tbi_time_keys time = {.table = keys->table,
                              .sine = keys->sine,
                              .components = components,
                              .count = TBI_TIME_MAX,
                              .constant = keys->force || keys->impulse || keys->torque};
  return tbi_time_function_read(r, node, what, &time, wrench);
}

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
  force->from = keys.from;
  force->to = keys.to;
  return tbi_ok(r->error) && read_wrench(r, node, what, &keys, &force->wrench);
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

void tbi_scene_free_forces(tabi_scene *scene) {
  for (int32_t i = 0; i < scene->nforce; ++i)
    tbi_time_function_free(&scene->forces[i].wrench);
  free(scene->forces);
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
    double wrench[TBI_TIME_MAX];
    tbi_time_function_value(&force->wrench, middle, wrench);
    tabi_world_apply(world, force->link, wrench, wrench + 3, point);
  }
}
