/* sidecar.c - what a URDF file cannot say, from a YAML file beside it.
 *
 *   joints:
 *     l_bush_z: {stiffness: 1e6}
 *   connections:
 *     - {type: ball, a: l_rod, b: l_foot, at: [0, 0, 0.2]}
 *   sensors:
 *     - {name: l_ft, type: force_torque, joint: l_ankle_roll}
 *
 * Names are those of the URDF.  Connections are closed where all joints are at zero, which is where
 * the file draws the robot, whatever posture a scene gives it later. */
#include "io/sidecar.h"

#include "base/error.h"
#include "io/connection.h"
#include "io/fields.h"
#include "io/file.h"
#include "io/path.h"
#include "io/sensor.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WHAT_SIZE 120

typedef struct sidecar {
  tabi_builder *builder;
  const char *prefix;
  int32_t first_joint;
  tabi_error *err;
} sidecar;

static bool is_regular(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool tabi_sidecar_find(const char *path, char *found, size_t size) {
  static const char ending[] = ".urdf";
  size_t length = strlen(path);
  size_t stem = length - (sizeof ending - 1);
  if (length < sizeof ending || strcmp(path + stem, ending) != 0) return false;
  // what comes through a pipe has nothing beside it
  if (!is_regular(path)) return false;
  int written = snprintf(found, size, "%.*s.tabi.yaml", (int)stem, path);
  if (written < 0 || (size_t)written >= size) return false;
  // one that is there and cannot be read shall be missed
  struct stat info;
  return stat(found, &info) == 0 || errno != ENOENT;
}

static const tbi_field joint_fields[] = {
    {"stiffness",     TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, stiffness)    },
    {"rest",          TBI_FIELD_NUMBER,       offsetof(tabi_joint_def, rest_position)},
    {"damping",       TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, damping)      },
    {"friction",      TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, friction)     },
    {"rotor_inertia", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_joint_def, rotor_inertia)},
    {"gear",          TBI_FIELD_NUMBER,       offsetof(tabi_joint_def, gear)         },
};

/* The robot's joint of a name in its file. */
static tabi_joint_def *find_joint(const sidecar *s, const char *name) {
  size_t prefix = strlen(s->prefix);
  tabi_joint_def *joints = s->builder->joints.items;
  for (int32_t i = s->first_joint; i < s->builder->joints.count; ++i) {
    if (joints[i].name && strlen(joints[i].name) >= prefix &&
        strcmp(joints[i].name + prefix, name) == 0)
      return &joints[i];
  }
  return NULL;
}

static tabi_status fail_joint(const sidecar *s, const tbi_yaml_node *node) {
  size_t prefix = strlen(s->prefix);
  tbi_suggestion nearest = tbi_suggest_begin(node->key);
  for (int32_t i = s->first_joint; i < s->builder->joints.count; ++i) {
    const char *known = tbi_builder_joint(s->builder, i)->name;
    if (known && strlen(known) >= prefix) tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_error_set(s->err, TABI_ERR_PARSE, node->place, "joints: no joint is called '%.60s'%s",
                       node->key, tbi_suggest_hint(&nearest, hint));
}

static bool has_one_coordinate(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static tabi_status read_joint(const sidecar *s, const tbi_yaml_node *node) {
  tabi_joint_def *joint = find_joint(s, node->key);
  if (!joint) return fail_joint(s, node);
  if (joint->type == TABI_JOINT_FIXED) {
    return tbi_error_set(s->err, TABI_ERR_PARSE, node->place, "joint '%.60s': it is fixed",
                         node->key);
  }
  char what[WHAT_SIZE];
  (void)snprintf(what, sizeof what, "joint '%.60s': ", node->key);
  tabi_status status = tbi_fields_read(node, what, joint_fields,
                                       sizeof joint_fields / sizeof *joint_fields, joint, s->err);
  if (status != TABI_OK || joint->stiffness == 0 || has_one_coordinate(joint->type)) return status;
  return tbi_error_set(s->err, TABI_ERR_PARSE, node->place,
                       "%sonly joints with one coordinate have a spring", what);
}

static tabi_status read_joints(const sidecar *s, const tbi_yaml_node *map) {
  tabi_status status = TABI_OK;
  for (const tbi_yaml_node *node = map ? map->first : NULL; node && status == TABI_OK;
       node = node->next)
    status = read_joint(s, node);
  return status;
}

/* Links stand where a model of what is in the builder so far puts them. */
static tabi_status read_connections(const sidecar *s, const tbi_yaml_node *list) {
  if (!list || list->count == 0) return TABI_OK;
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(s->builder, &err);
  if (!model) {
    if (s->err) *s->err = err;
    return err.status;
  }
  tabi_status status = TABI_OK;
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  if (q) {
    tabi_model_initial_q(model, q);
    const tbi_connections connections = {
        .builder = s->builder, .model = model, .q = q, .prefix = s->prefix, .err = s->err};
    status = tbi_connections_read(&connections, list);
  } else {
    status = tbi_error_memory(s->err);
  }
  free(q);
  tabi_model_destroy(model);
  return status;
}

static tabi_status read_all(const sidecar *s, const tbi_yaml_node *root) {
  struct keys {
    const tbi_yaml_node *joints, *connections, *sensors;
  } keys = {0};
  static const tbi_field fields[] = {
      {"joints",      TBI_FIELD_MAP,  offsetof(struct keys, joints)     },
      {"connections", TBI_FIELD_LIST, offsetof(struct keys, connections)},
      {"sensors",     TBI_FIELD_LIST, offsetof(struct keys, sensors)    },
  };
  tabi_status status =
      tbi_fields_read(root, "", fields, sizeof fields / sizeof *fields, &keys, s->err);
  if (status == TABI_OK) status = read_joints(s, keys.joints);
  const tbi_sensor_list sensors = {s->builder, s->prefix, s->first_joint, s->err};
  if (status == TABI_OK) status = tbi_sensor_list_read(&sensors, keys.sensors);
  return status == TABI_OK ? read_connections(s, keys.connections) : status;
}

tabi_status tbi_sidecar_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                             int32_t first_joint, tabi_error *err) {
  char found[TBI_PATH_SIZE];
  if (!tabi_sidecar_find(path, found, sizeof found)) return TABI_OK;
  const sidecar s = {builder, def->prefix ? def->prefix : "", first_joint, err};
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  tbi_yaml *yaml = NULL;
  tabi_status status = tbi_file_read(found, TBI_YAML_MAX_BYTES, itself, &text, &size, err);
  if (status == TABI_OK) status = tbi_yaml_parse(text, size, found, &yaml, err);
  if (status == TABI_OK) status = read_all(&s, tbi_yaml_root(yaml));
  tbi_yaml_destroy(yaml);
  free(text);
  return status;
}
