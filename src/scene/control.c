/* control.c - the types of controllers, and how one is made.
 *
 * A type is a table of functions (tabi_plugin.h) in a file of its own and a line in the table
 * below.  All that it complains of while it is made is told at its place in the scene. */
#include "scene/control.h"

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

static tabi_status find_type(tabi_options *options, const tabi_controller_type **type) {
  const tbi_yaml_node *map = options->node;
  char list[LIST_SIZE];
  if (map->kind != TBI_YAML_MAP) {
    return tbi_options_fail(options, NULL, "expected a map {type: ...} (%s)", list_types(list));
  }
  const tbi_yaml_node *node = tbi_yaml_child(map, "type");
  if (!node) return tbi_options_fail(options, NULL, "type is missing (%s)", list_types(list));
  if (node->kind != TBI_YAML_SCALAR)
    return tbi_options_fail(options, "type", "type must be a single value");
  tbi_suggestion nearest = tbi_suggest_begin(node->text);
  for (size_t i = 0; i < NTYPE; ++i) {
    *type = types[i];
    if (strcmp(types[i]->name, node->text) == 0) return TABI_OK;
    tbi_suggest_add(&nearest, types[i]->name);
  }
  char hint[TBI_HINT_SIZE];
  if (nearest.nearest) {
    return tbi_options_fail(options, "type", "unknown type '%.40s'%s", node->text,
                            tbi_suggest_hint(&nearest, hint));
  }
  return tbi_options_fail(options, "type", "unknown type '%.40s' (%s)", node->text,
                          list_types(list));
}

/* The controller, or NULL; errors go to r->err. */
static void *create(const tabi_controller_type *type, tabi_options *options) {
  tbi_scene_reader *r = options->r;
  tbi_scene_robot *robot = tbi_options_robot(options);
  const tabi_controller_site site = {.model = r->scene->model,
                                     .robot = robot->name,
                                     .first_link = robot->first_link,
                                     .nlink = robot->nlink,
                                     .first_joint = robot->first_joint,
                                     .njoint = robot->njoint,
                                     .q = r->scene->q,
                                     .timestep = tabi_model_timestep(r->scene->model),
                                     .options = options};
  return type->create(&site, r->err);
}

/* What knows no place is told at the controller's. */
static tabi_status place_error(const tabi_options *options, const tabi_error *from,
                               tabi_error *err) {
  if (from->status == TABI_ERR_MEMORY) return tbi_error_memory(err);
  if (from->file[0] == '\0') {
    return tbi_error_set(err, TABI_ERR_PARSE, options->node->place, "%s%.400s", options->what,
                         from->message[0] ? from->message : "it could not be made");
  }
  if (err) *err = *from;
  return from->status;
}

tabi_status tbi_scene_read_controller(tbi_scene_reader *r, int32_t index) {
  const tbi_yaml_node *node = r->robots[index].controller;
  if (!node) return TABI_OK;
  tabi_options options = {.r = r, .node = node, .index = index};
  tbi_scene_robot *robot = tbi_options_robot(&options);
  (void)snprintf(options.what, sizeof options.what, "robot '%.60s': controller: ", robot->name);
  tabi_error *err = r->err;
  tabi_error own = {0};
  r->err = &own;
  tabi_status status = find_type(&options, &robot->control);
  if (status == TABI_OK) robot->controller = create(robot->control, &options);
  r->err = err;
  return robot->controller ? TABI_OK : place_error(&options, &own, err);
}

void tbi_scene_free_controller(tbi_scene_robot *robot) {
  if (robot->controller) robot->control->destroy(robot->controller);
  robot->controller = NULL;
}
