/* sensor.c - sensors from YAML.
 *
 *   - {name: l_ft, type: force_torque, joint: l_ankle_roll, noise: [1, 1, 1, 0.1, 0.1, 0.1]}
 *   - {name: imu, type: gyro, link: chest, xyz: [0, 0, 0.1], resolution: 1e-3, delay: 2e-3}
 *
 * What a sensor may say depends on its type, by one table. */
#include "io/sensor.h"

#include "base/assertion.h"
#include "base/text.h"
#include "io/fields.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>

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
  tbi_first_error *error;
  const tbi_sensor_list *list;
  const tbi_yaml_node *node;
  char what[WHAT_SIZE];
  keys keys;
  tabi_sensor_def def;
} reader;

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

static bool find_type(reader *r) {
  char known[LIST_SIZE];
  if (!r->keys.type)
    return tbi_fail_about(r->error, r->node->place, r->what, "type is missing (%s)",
                          list_types(known));
  int32_t type = tabi_sensor_type_find(r->keys.type);
  if (type != TABI_NONE) {
    r->def.type = (tabi_sensor_type)type;
    return true;
  }
  tbi_suggestion nearest = tbi_suggest_begin(r->keys.type);
  for (int i = 0; i < TABI_SENSOR_COUNT; ++i)
    tbi_suggest_add(&nearest, tabi_sensor_type_name((tabi_sensor_type)i));
  const tbi_yaml_node *node = tbi_yaml_child(r->node, "type");
  char hint[TBI_HINT_SIZE];
  if (nearest.nearest) {
    return tbi_fail_about(r->error, node->place, r->what, "unknown type '%.40s'%s", r->keys.type,
                          tbi_suggest_hint(&nearest, hint));
  }
  return tbi_fail_about(r->error, node->place, r->what, "unknown type '%.40s' (%s)", r->keys.type,
                        list_types(known));
}

/* What a type has no use for was meant for another one. */
static bool check_keys(const reader *r) {
  const char *type = r->keys.type;
  bool at_joint = types[r->def.type].joint;
  const char *other = at_joint ? "link" : "joint";
  const tbi_yaml_node *node = tbi_yaml_child(r->node, other);
  if (node) {
    return tbi_fail_about(r->error, node->place, r->what, "type %s has no '%s', but a %s", type,
                          other, at_joint ? "joint" : "link");
  }
  static const char *const frame[] = {"xyz", "rpy", "quat"};
  for (int i = 0; i < 3; ++i) {
    node = tbi_yaml_child(r->node, frame[i]);
    if (node && !types[r->def.type].framed)
      return tbi_fail_about(r->error, node->place, r->what, "type %s has no '%s'", type, frame[i]);
  }
  return true;
}

/* Any link of a robot will do to find its tree. */
static bool take_robot(reader *r) {
  const tabi_builder *builder = r->list->find.builder;
  for (int32_t i = r->list->first_joint; i < tabi_builder_njoint(builder); ++i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    r->def.link = joint->child;
    if (joint->type != TABI_JOINT_FIXED) return true;
  }
  return tbi_fail_about(r->error, r->node->place, r->what, "the robot does not move");
}

static bool find_place(reader *r) {
  bool joint = types[r->def.type].joint;
  const char *kind = joint ? "joint" : "link";
  const char *name = joint ? r->keys.joint : r->keys.link;
  if (!name && r->def.type == TABI_SENSOR_ZMP) return take_robot(r);
  if (!name) {
    return tbi_fail_about(r->error, r->node->place, r->what, "type %s needs a %s: its name",
                          r->keys.type, kind);
  }
  int32_t *found = joint ? &r->def.joint : &r->def.link;
  const tbi_yaml_node *node = tbi_yaml_child(r->node, kind);
  *found = tbi_find_needed(&r->list->find, joint ? TBI_JOINT : TBI_LINK, node, r->what, name);
  return tbi_ok(r->error);
}

/* One number for all that a sensor measures, or a list with one for each. */
static void read_each(const reader *r, const tbi_yaml_node *node, double *values) {
  if (!node) return;
  int32_t size = tabi_sensor_type_size(r->def.type);
  if (node->kind == TBI_YAML_LIST) {
    tbi_fields_numbers(r->error, node, r->what, node->key, values, size);
    return;
  }
  double value = 0;
  tbi_fields_number(r->error, node, r->what, node->key, &value);
  for (int32_t i = 0; i < size; ++i)
    values[i] = value;
}

static void add(const reader *r) {
  char *full = tbi_text_join(r->list->find.prefix, r->keys.name);
  if (!full) {
    tbi_fail_memory(r->error);
    return;
  }
  tabi_sensor_def def = r->def;
  def.name = full;
  def.place = r->node->place;
  (void)tabi_builder_add_sensor(r->list->find.builder, &def);
  free(full);
  tbi_take_builder(r->error, r->list->find.builder);
}

static void read_one(const tbi_sensor_list *list, const tbi_yaml_node *node) {
  reader r = {
      .error = list->find.error, .list = list, .node = node, .def = tabi_sensor_def_default()};
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(r.what, sizeof r.what, "sensor: ");
  if (name && name->kind == TBI_YAML_SCALAR)
    (void)snprintf(r.what, sizeof r.what, "sensor '%.60s': ", name->text);
  tbi_fields_read(r.error, node, r.what, TBI_FIELDS(fields), &r.keys);
  if (!r.keys.name) tbi_fail_about(r.error, node->place, r.what, "name is missing");
  if (!tbi_ok(r.error) || !find_type(&r)) return;
  check_keys(&r);
  find_place(&r);
  if (r.keys.xyz) tbi_fields_numbers(r.error, r.keys.xyz, r.what, "xyz", r.def.pos, 3);
  tbi_fields_rotation(r.error, r.keys.rpy, r.keys.quat, r.what, r.def.quat);
  read_each(&r, r.keys.noise, r.def.noise);
  read_each(&r, r.keys.resolution, r.def.resolution);
  read_each(&r, r.keys.range, r.def.range);
  r.def.delay = r.keys.delay;
  if (tbi_ok(r.error)) add(&r);
}

bool tbi_sensor_list_read(const tbi_sensor_list *list, const tbi_yaml_node *nodes) {
  TBI_ASSERT(list->first_joint >= 0 &&
             list->first_joint <= tabi_builder_njoint(list->find.builder));
  const tbi_yaml_node *node = nodes ? nodes->first : NULL;
  for (; node && tbi_ok(list->find.error); node = node->next)
    read_one(list, node);
  return tbi_ok(list->find.error);
}
