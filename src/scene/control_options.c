/* control_options.c - what a controller asks of its scene: options by key, and links, joints and
 * sensors of its robot by name.
 *
 * The first error stays; after it every question gets a harmless answer, so that a controller need
 * not test each. */
#include "base/assertion.h"
#include "io/suggest.h"
#include "scene/control.h"

#include <stdlib.h>
#include <string.h>

tabi_place tbi_options_place(const tabi_options *options, const char *key) {
  const tbi_yaml_node *node = tbi_yaml_child(options->node, key);
  return node ? node->place : options->node->place;
}

tbi_scene_robot *tbi_options_robot(const tabi_options *options) {
  TBI_ASSERT(options->index >= 0 && options->index < options->r->scene->nrobot);
  return &options->r->scene->robots[options->index];
}

const tbi_yaml_node *tbi_options_ask(tabi_options *options, const char *key) {
  TBI_ASSERT(options && key);
  int32_t i = 0;
  for (const tbi_yaml_node *node = options->node->first; node; node = node->next, ++i) {
    if (strcmp(node->key, key) != 0) continue;
    if (options->asked) options->asked[i] = true;
    return tbi_ok(options->r->error) ? node : NULL;
  }
  return NULL;
}

double tabi_options_number(tabi_options *options, const char *key, double default_value) {
  const tbi_yaml_node *node = tbi_options_ask(options, key);
  double value = default_value;
  bool read = node && tbi_fields_number(options->r->error, node, options->what, key, &value);
  return read ? value : default_value;
}

bool tabi_options_numbers(tabi_options *options, const char *key, double *value, int32_t count) {
  const tbi_yaml_node *node = tbi_options_ask(options, key);
  return node && tbi_fields_numbers(options->r->error, node, options->what, key, value, count);
}

/* A single value by a table with one entry. */
static bool read_one(tabi_options *options, const char *key, tbi_field_kind kind, void *value) {
  const tbi_yaml_node *node = tbi_options_ask(options, key);
  const tbi_field field = {key, kind, 0};
  return node && tbi_fields_one(options->r->error, node, options->what, &field, value);
}

bool tabi_options_bool(tabi_options *options, const char *key, bool default_value) {
  bool value = default_value;
  return read_one(options, key, TBI_FIELD_BOOL, &value) ? value : default_value;
}

const char *tabi_options_text(tabi_options *options, const char *key, const char *default_value) {
  const char *value = default_value;
  return read_one(options, key, TBI_FIELD_WORD, &value) ? value : default_value;
}

/* What a robot has names for. */
typedef struct kind {
  const char *word;
  int32_t (*find)(const tabi_model *model, const char *name);
  const char *(*name)(const tabi_model *model, int32_t index);
  int32_t (*count)(const tabi_model *model);
} kind;

static const char *link_name(const tabi_model *model, int32_t i) {
  return tabi_model_link(model, i).name;
}
static const char *joint_name(const tabi_model *model, int32_t i) {
  return tabi_model_joint(model, i).name;
}
static const char *sensor_name(const tabi_model *model, int32_t i) {
  return tabi_model_sensor(model, i).name;
}

static const kind link_kind = {"link", tabi_model_find_link, link_name, tabi_model_nlink};
static const kind joint_kind = {"joint", tabi_model_find_joint, joint_name, tabi_model_njoint};
static const kind sensor_kind = {"sensor", tabi_model_find_sensor, sensor_name, tabi_model_nsensor};

static void fail_name(const tabi_controller_setup *setup, const kind *of, const char *name) {
  size_t prefix = strlen(setup->robot) + 1;
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < of->count(setup->model); ++i) {
    const char *known = of->name(setup->model, i);
    if (known && strlen(known) > prefix && strncmp(known, setup->robot, prefix - 1) == 0 &&
        known[prefix - 1] == '/')
      tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  const tabi_options *options = setup->options;
  tbi_fail_about(options->r->error, options->node->place, options->what,
                 "no %s is called '%.60s'%s", of->word, name, tbi_suggest_hint(&nearest, hint));
}

static int32_t find(const tabi_controller_setup *setup, const kind *of, const char *name) {
  TBI_ASSERT(setup && name);
  char *full = tbi_text_join(tbi_options_robot(setup->options)->prefix, name);
  if (!full) {
    tbi_fail_memory(setup->options->r->error);
    return TABI_NONE;
  }
  int32_t found = of->find(setup->model, full);
  free(full);
  if (found == TABI_NONE) fail_name(setup, of, name);
  return found;
}

int32_t tabi_setup_link(const tabi_controller_setup *setup, const char *name) {
  return find(setup, &link_kind, name);
}
int32_t tabi_setup_joint(const tabi_controller_setup *setup, const char *name) {
  return find(setup, &joint_kind, name);
}
int32_t tabi_setup_sensor(const tabi_controller_setup *setup, const char *name) {
  return find(setup, &sensor_kind, name);
}
