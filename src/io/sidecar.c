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

#include "base/assertion.h"
#include "io/connection.h"
#include "io/fields.h"
#include "io/file.h"
#include "io/path.h"
#include "io/sensor.h"
#include "io/values.h"
#include "model/builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct sidecar {
  tbi_finder find;
  int32_t first_joint; /* of the robot */
} sidecar;

static bool is_regular(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool tabi_sidecar_find(const char *path, char *found, size_t size) {
  TBI_ASSERT(path && (found || size == 0));
  static const char ending[] = ".urdf";
  size_t length = strlen(path);
  size_t stem = length - (sizeof ending - 1);
  if (length < sizeof ending || strcmp(path + stem, ending) != 0) return false;
  // what comes through a pipe has nothing beside it
  if (!is_regular(path)) return false;
  int written = snprintf(found, size, "%.*s.tabi.yaml", (int)stem, path);
  if (written < 0 || (size_t)written >= size) return false;
  // one that exists and cannot be read is reported later
  struct stat info;
  return stat(found, &info) == 0 || errno != ENOENT;
}

/* Links are where a model of what is in the builder so far puts them. */
static void read_connections(const sidecar *s, const tbi_yaml_node *list) {
  if (!list || list->count == 0 || !tbi_ok(s->find.error)) return;
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(s->find.builder, &err);
  if (!model) {
    tbi_fail_as(s->find.error, &err);
    return;
  }
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  if (q) {
    tabi_model_initial_q(model, q);
    const tbi_connections connections = {.find = s->find, .model = model, .q = q};
    tbi_connections_read(&connections, list);
  } else {
    tbi_fail_memory(s->find.error);
  }
  free(q);
  tabi_model_destroy(model);
}

static void read_all(const sidecar *s, const tbi_yaml_node *root) {
  struct keys {
    const tbi_yaml_node *joints, *connections, *sensors;
  } keys = {0};
  static const tbi_field fields[] = {
      {"joints",      TBI_FIELD_MAP,  offsetof(struct keys, joints)     },
      {"connections", TBI_FIELD_LIST, offsetof(struct keys, connections)},
      {"sensors",     TBI_FIELD_LIST, offsetof(struct keys, sensors)    },
  };
  tbi_first_error *error = s->find.error;
  tbi_fields_read(error, root, "", TBI_FIELDS(fields), &keys);
  const tbi_values values = {.find = s->find, .what = "", .first_joint = s->first_joint};
  tbi_values_read_joints(&values, keys.joints);
  const tbi_sensor_list sensors = {s->find, s->first_joint};
  tbi_sensor_list_read(&sensors, keys.sensors);
  read_connections(s, keys.connections);
}

tabi_status tbi_sidecar_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                             int32_t first_joint, tabi_error *err) {
  char found[TBI_PATH_SIZE];
  if (!tabi_sidecar_find(path, found, sizeof found)) return TABI_OK;
  tbi_first_error error = {.err = err};
  const sidecar s = {
      .find = {&error, builder, def->prefix ? def->prefix : ""},
        .first_joint = first_joint
  };
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  tbi_yaml *yaml = NULL;
  tbi_take(&error, tbi_file_read(found, TBI_YAML_MAX_BYTES, itself, &text, &size, err));
  if (tbi_ok(&error)) tbi_take(&error, tbi_yaml_parse(text, size, found, &yaml, err));
  if (tbi_ok(&error)) read_all(&s, tbi_yaml_root(yaml));
  tbi_yaml_destroy(yaml);
  free(text);
  return error.status;
}
