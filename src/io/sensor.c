/* sensor.c - sensors from YAML.
 *
 *   - {name: l_ft, type: force_torque, joint: l_ankle_roll, noise: [1, 1, 1, 0.1, 0.1, 0.1]}
 *   - {name: imu, type: gyro, link: chest, xyz: [0, 0, 0.1], resolution: 1e-3, delay: 2e-3}
 *
 * What a sensor may say depends on its type, by one table. */
#include "io/sensor.h"

#include "base/error.h"
#include "io/fields.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHAT_SIZE 120
#define LIST_SIZE 160

/* What a type wants to know of its place. */
static const struct {
  bool joint;  /* at a joint, not on a link */
  bool framed; /* how it is mounted matters */
} types[TABI_SENSOR_COUNT] = {
    [TABI_SENSOR_FORCE_TORQUE] = {true,  true },
      [TABI_SENSOR_GYRO] = {false, true },
    [TABI_SENSOR_ACCELEROMETER] = {false, true },
      [TABI_SENSOR_ENCODER] = {true,  false},
    [TABI_SENSOR_JOINT_TORQUE] = {true,  false},
      [TABI_SENSOR_CONTACT] = {false, false},
    [TABI_SENSOR_PRESSURE_CENTRE] = {false, true },
      [TABI_SENSOR_ZMP] = {false, false},
};

typedef struct keys {
  const char *name, *type, *joint, *link;
  const tbi_yaml_node *xyz, *rpy, *quat, *noise, *resolution, *range;
  double delay;
} keys;

static const tbi_field fields[] = {
    {"name",       TBI_FIELD_WORD,         offsetof(keys, name)      },
    {"type",       TBI_FIELD_WORD,         offsetof(keys, type)      },
    {"joint",      TBI_FIELD_WORD,         offsetof(keys, joint)     },
    {"link",       TBI_FIELD_WORD,         offsetof(keys, link)      },
    {"xyz",        TBI_FIELD_NODE,         offsetof(keys, xyz)       },
    {"rpy",        TBI_FIELD_NODE,         offsetof(keys, rpy)       },
    {"quat",       TBI_FIELD_NODE,         offsetof(keys, quat)      },
    {"noise",      TBI_FIELD_NODE,         offsetof(keys, noise)     },
    {"resolution", TBI_FIELD_NODE,         offsetof(keys, resolution)},
    {"range",      TBI_FIELD_NODE,         offsetof(keys, range)     },
    {"delay",      TBI_FIELD_NOT_NEGATIVE, offsetof(keys, delay)     },
};

/* A sensor on its way into the builder. */
typedef struct reader {
  const tbi_sensor_list *list;
  const tbi_yaml_node *node;
  char what[WHAT_SIZE];
  keys keys;
  tabi_sensor_def def;
} reader;

static tabi_status fail(const reader *r, const tbi_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static tabi_status fail(const reader *r, const tbi_yaml_node *node, const char *format, ...) {
  tabi_error reason;
  va_list args;
  va_start(args, format);
  tbi_error_vset(&reason, TABI_ERR_PARSE, node->place, format, args);
  va_end(args);
  return tbi_error_set(r->list->err, TABI_ERR_PARSE, node->place, "%s%s", r->what, reason.message);
}

/* All types, for messages. */
static const char *list_types(char text[LIST_SIZE]) {
  size_t used = 0;
  for (int i = 0; i < TABI_SENSOR_COUNT && used < LIST_SIZE; ++i) {
    int n = snprintf(text + used, LIST_SIZE - used, "%s%s", i > 0 ? ", " : "",
                     tabi_sensor_type_name((tabi_sensor_type)i));
    used += n > 0 ? (size_t)n : 0;
  }
  return text;
}

static tabi_status find_type(reader *r) {
  char known[LIST_SIZE];
  if (!r->keys.type) return fail(r, r->node, "type is missing (%s)", list_types(known));
  int32_t type = tabi_sensor_type_find(r->keys.type);
  if (type != TABI_NONE) {
    r->def.type = (tabi_sensor_type)type;
    return TABI_OK;
  }
  tbi_suggestion nearest = tbi_suggest_begin(r->keys.type);
  for (int i = 0; i < TABI_SENSOR_COUNT; ++i)
    tbi_suggest_add(&nearest, tabi_sensor_type_name((tabi_sensor_type)i));
  const tbi_yaml_node *node = tbi_yaml_child(r->node, "type");
  char hint[TBI_HINT_SIZE];
  if (nearest.nearest) {
    return fail(r, node, "unknown type '%.40s'%s", r->keys.type, tbi_suggest_hint(&nearest, hint));
  }
  return fail(r, node, "unknown type '%.40s' (%s)", r->keys.type, list_types(known));
}

/* What a type has no use for was meant for another one. */
static tabi_status check_keys(const reader *r) {
  const char *type = r->keys.type;
  bool at_joint = types[r->def.type].joint;
  const char *other = at_joint ? "link" : "joint";
  const tbi_yaml_node *node = tbi_yaml_child(r->node, other);
  if (node) {
    return fail(r, node, "type %s has no '%s', but a %s", type, other, at_joint ? "joint" : "link");
  }
  static const char *const frame[] = {"xyz", "rpy", "quat"};
  for (int i = 0; i < 3; ++i) {
    node = tbi_yaml_child(r->node, frame[i]);
    if (node && !types[r->def.type].framed)
      return fail(r, node, "type %s has no '%s'", type, frame[i]);
  }
  return TABI_OK;
}

static const char *name_of(const tabi_builder *builder, bool joint, int32_t index) {
  return joint ? tbi_builder_joint(builder, index)->name : tbi_builder_link(builder, index)->name;
}

static tabi_status fail_place(const reader *r, const char *name, bool joint) {
  const tabi_builder *builder = r->list->builder;
  const char *kind = joint ? "joint" : "link";
  size_t prefix = strlen(r->list->prefix);
  int32_t count = joint ? tabi_builder_njoint(builder) : tabi_builder_nlink(builder);
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < count; ++i) {
    const char *known = name_of(builder, joint, i);
    if (known && strncmp(known, r->list->prefix, prefix) == 0)
      tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return fail(r, tbi_yaml_child(r->node, kind), "no %s is called '%.60s'%s", kind, name,
              tbi_suggest_hint(&nearest, hint));
}

/* Any link of a robot will do to find its tree. */
static tabi_status take_robot(reader *r) {
  const tabi_builder *builder = r->list->builder;
  for (int32_t i = r->list->first_joint; i < tabi_builder_njoint(builder); ++i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    r->def.link = joint->child;
    if (joint->type != TABI_JOINT_FIXED) return TABI_OK;
  }
  return fail(r, r->node, "the robot does not move");
}

static tabi_status find_place(reader *r) {
  bool joint = types[r->def.type].joint;
  const char *name = joint ? r->keys.joint : r->keys.link;
  if (!name && r->def.type == TABI_SENSOR_ZMP) return take_robot(r);
  if (!name) {
    const char *kind = joint ? "joint" : "link";
    return fail(r, r->node, "type %s needs a %s: its name", r->keys.type, kind);
  }
  size_t size = strlen(r->list->prefix) + strlen(name) + 1;
  char *full = malloc(size);
  if (!full) return tbi_error_memory(r->list->err);
  (void)snprintf(full, size, "%s%s", r->list->prefix, name);
  int32_t *found = joint ? &r->def.joint : &r->def.link;
  *found = joint ? tabi_builder_find_joint(r->list->builder, full)
                 : tabi_builder_find_link(r->list->builder, full);
  free(full);
  return *found != TABI_NONE ? TABI_OK : fail_place(r, name, joint);
}

static tabi_status read_frame(reader *r) {
  tabi_status status = TABI_OK;
  if (r->keys.xyz)
    status = tbi_fields_numbers(r->keys.xyz, r->what, "xyz", r->def.pos, 3, r->list->err);
  if (status != TABI_OK) return status;
  return tbi_fields_rotation(r->keys.rpy, r->keys.quat, r->what, r->def.quat, r->list->err);
}

/* One number for all that a sensor measures, or a list with one for each. */
static tabi_status read_each(const reader *r, const tbi_yaml_node *node, double *values) {
  if (!node) return TABI_OK;
  int32_t size = tabi_sensor_type_size(r->def.type);
  if (node->kind == TBI_YAML_LIST)
    return tbi_fields_numbers(node, r->what, node->key, values, size, r->list->err);
  double value = 0;
  tabi_status status = tbi_fields_number(node, r->what, node->key, &value, r->list->err);
  for (int32_t i = 0; i < size && status == TABI_OK; ++i)
    values[i] = value;
  return status;
}

static tabi_status add(const reader *r) {
  size_t size = strlen(r->list->prefix) + strlen(r->keys.name) + 1;
  char *full = malloc(size);
  if (!full) return tbi_error_memory(r->list->err);
  (void)snprintf(full, size, "%s%s", r->list->prefix, r->keys.name);
  tabi_sensor_def def = r->def;
  def.name = full;
  def.place = r->node->place;
  (void)tabi_builder_add_sensor(r->list->builder, &def);
  free(full);
  const tabi_error *error = tabi_builder_error(r->list->builder);
  if (!error) return TABI_OK;
  if (r->list->err) *r->list->err = *error;
  return error->status;
}

static tabi_status read_one(const tbi_sensor_list *list, const tbi_yaml_node *node) {
  reader r = {.list = list, .node = node, .def = tabi_sensor_def_default()};
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(r.what, sizeof r.what, "sensor: ");
  if (name && name->kind == TBI_YAML_SCALAR)
    (void)snprintf(r.what, sizeof r.what, "sensor '%.60s': ", name->text);
  tabi_status status =
      tbi_fields_read(node, r.what, fields, sizeof fields / sizeof *fields, &r.keys, list->err);
  if (status == TABI_OK && !r.keys.name) status = fail(&r, node, "name is missing");
  if (status == TABI_OK) status = find_type(&r);
  if (status == TABI_OK) status = check_keys(&r);
  if (status == TABI_OK) status = find_place(&r);
  if (status == TABI_OK) status = read_frame(&r);
  if (status == TABI_OK) status = read_each(&r, r.keys.noise, r.def.noise);
  if (status == TABI_OK) status = read_each(&r, r.keys.resolution, r.def.resolution);
  if (status == TABI_OK) status = read_each(&r, r.keys.range, r.def.range);
  r.def.delay = r.keys.delay;
  return status == TABI_OK ? add(&r) : status;
}

tabi_status tbi_sensor_list_read(const tbi_sensor_list *list, const tbi_yaml_node *nodes) {
  tabi_status status = TABI_OK;
  for (const tbi_yaml_node *node = nodes ? nodes->first : NULL; node && status == TABI_OK;
       node = node->next)
    status = read_one(list, node);
  return status;
}
