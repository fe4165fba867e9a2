/* control.c - the types of controllers, how one is made, and how it moves to another scene.
 *
 * A type is a table of functions (tabi_plugin.h) in a file of its own and a line in the table
 * below.  Errors while it is made are reported at its place in the scene. */
#include "scene/control.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/suggest.h"

#include <stdio.h>
#include <string.h>

static const tabi_controller_type *const types[] = {
    &tbi_controller_pd,
    &tbi_controller_csv,
    &tbi_controller_walk,
    &tbi_controller_plugin,
};
#define NTYPE     (sizeof types / sizeof types[0])
#define LIST_SIZE 100

/* "pd, csv, ..." */
static const char *list_types(char list[LIST_SIZE]) {
  size_t used = 0;
  for (size_t i = 0; i < NTYPE; ++i) {
    int n = snprintf(list + used, LIST_SIZE - used, "%s%s", i > 0 ? ", " : "", types[i]->name);
    if (n < 0 || (size_t)n >= LIST_SIZE - used) break;
    used += (size_t)n;
  }
  return list;
}

static bool fail_type(const tabi_options *options, const tbi_yaml_node *node) {
  tbi_suggestion nearest = tbi_suggest_begin(node->text);
  for (size_t i = 0; i < NTYPE; ++i)
    tbi_suggest_add(&nearest, types[i]->name);
  char hint[TBI_HINT_SIZE];
  char list[LIST_SIZE];
  if (nearest.nearest) {
    return tbi_fail_about(options->r->error, node->place, options->what, "unknown type '%.40s'%s",
                          node->text, tbi_suggest_hint(&nearest, hint));
  }
  return tbi_fail_about(options->r->error, node->place, options->what, "unknown type '%.40s' (%s)",
                        node->text, list_types(list));
}

/* NULL after an error. */
static const tabi_controller_type *find_type(const tabi_options *options) {
  const tbi_yaml_node *map = options->node;
  tbi_first_error *error = options->r->error;
  char list[LIST_SIZE];
  if (map->kind != TBI_YAML_MAP) {
    tbi_fail_about(error, map->place, options->what, "expected a map {type: ...} (%s)",
                   list_types(list));
    return NULL;
  }
  const tbi_yaml_node *node = tbi_yaml_child(map, "type");
  if (!node) {
    tbi_fail_about(error, map->place, options->what, "type is missing (%s)", list_types(list));
    return NULL;
  }
  if (node->kind != TBI_YAML_SCALAR) {
    tbi_fail_about(error, node->place, options->what, "type must be a single value");
    return NULL;
  }
  for (size_t i = 0; i < NTYPE; ++i) {
    if (strcmp(types[i]->name, node->text) == 0) return types[i];
  }
  fail_type(options, node);
  return NULL;
}

/* The controller, or NULL after an error. */
static void *create(const tabi_controller_type *type, tabi_options *options) {
  tbi_scene_reader *r = options->r;
  tbi_scene_robot *robot = tbi_options_robot(options);
  const tabi_controller_setup setup = {.model = r->scene->model,
                                       .robot = robot->name,
                                       .first_link = robot->first_link,
                                       .nlink = robot->nlink,
                                       .first_joint = robot->first_joint,
                                       .njoint = robot->njoint,
                                       .q = r->scene->q,
                                       .timestep = tabi_model_timestep(r->scene->model),
                                       .options = options};
  return type->create(&setup, r->error->err);
}

void *tbi_controller_made(const tabi_options *options, void *made, void (*destroy)(void *)) {
  TBI_ASSERT(made || !tbi_ok(options->r->error));
  if (tbi_ok(options->r->error)) return made;
  if (made) destroy(made);
  return NULL;
}

/* An error without a place is reported at the controller's. */
static bool fail_at_controller(const tabi_options *options, tabi_error *why) {
  tbi_first_error *error = options->r->error;
  if (why->status == TABI_ERR_MEMORY) return tbi_fail_memory(error);
  if (why->file[0] == '\0') {
    return tbi_fail_about(error, options->node->place, options->what, "%.400s",
                          why->message[0] ? why->message : "it could not be made");
  }
  return tbi_fail_as(error, why);
}

bool tbi_scene_read_controller(tbi_scene_reader *r, int32_t index) {
  TBI_ASSERT(index >= 0 && index < r->scene->nrobot && r->scene->model);
  const tbi_yaml_node *node = r->robots[index].controller;
  if (!node) return true;
  tabi_options options = {.r = r, .node = node, .index = index};
  tbi_scene_robot *robot = tbi_options_robot(&options);
  (void)snprintf(options.what, sizeof options.what, "robot '%.60s': controller: ", robot->name);
  // while it is made, errors are kept apart from those of the scene
  tabi_error why = {0};
  tbi_first_error own = {.err = &why};
  tbi_first_error *error = r->error;
  r->error = &own;
  robot->control = find_type(&options);
  if (robot->control) robot->controller = create(robot->control, &options);
  r->error = error;
  return robot->controller || fail_at_controller(&options, &why);
}

void tbi_scene_free_controller(tbi_scene_robot *robot) {
  if (robot->controller) robot->control->destroy(robot->controller);
  robot->controller = NULL;
}

bool tabi_scene_is_stateful(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (robot->controller && robot->control->reset) return true;
  }
  return false;
}

bool tbi_scene_is_open_loop(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tabi_controller_type *type = scene->robots[i].control;
    bool looks = type != &tbi_controller_pd && type != &tbi_controller_csv &&
                 type != &tbi_controller_planned_walk;
    if (scene->robots[i].controller && looks) return false;
  }
  return true;
}

static bool same_range(tabi_range a, tabi_range b) {
  return a.first == b.first && a.count == b.count;
}

/* Whether a controller of one robot may work on the other: it knows joints by their numbers, and
 * where they are in q and v. */
static bool same_robot(const tabi_scene *scene, const tabi_scene *other, int32_t index) {
  const tbi_scene_robot *a = &scene->robots[index];
  const tbi_scene_robot *b = &other->robots[index];
  bool same = strcmp(a->name, b->name) == 0 && a->first_link == b->first_link &&
              a->nlink == b->nlink && a->first_joint == b->first_joint && a->njoint == b->njoint;
  for (int32_t i = 0; i < a->njoint && same; ++i) {
    int32_t joint = a->first_joint + i;
    same = same_range(tabi_model_joint_q(scene->model, joint),
                      tabi_model_joint_q(other->model, joint)) &&
           same_range(tabi_model_joint_v(scene->model, joint),
                      tabi_model_joint_v(other->model, joint));
  }
  return same;
}

tabi_status tabi_scene_swap_controllers(tabi_scene *scene, tabi_scene *other, tabi_error *err) {
  TBI_ASSERT(scene && other);
  bool same = scene->nrobot == other->nrobot;
  for (int32_t i = 0; i < scene->nrobot && same; ++i)
    same = same_robot(scene, other, i);
  if (!same) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "the scenes have different robots");
  }
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    tbi_scene_robot *a = &scene->robots[i];
    tbi_scene_robot *b = &other->robots[i];
    tbi_scene_robot kept = *a;
    a->control = b->control;
    a->controller = b->controller;
    b->control = kept.control;
    b->controller = kept.controller;
  }
  return TABI_OK;
}
