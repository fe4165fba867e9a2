/* robot.c - robots of a scene: loaded by the builder, then changed in it.
 *
 * Locked joints become fixed ones, shapes get the scene's materials, and a robot that shall not
 * touch itself gets a collision group of its own. */
#include "scene/scene.h"

#include "base/error.h"
#include "io/sensor.h"
#include "io/suggest.h"
#include "math/quat.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROBOTS  10000
#define FIRST_GROUP 1  /* bit 0 is everybody's */
#define NGROUP      31 /* further robots exclude their links pair by pair */

static const tbi_field robot_fields[] = {
    {"name",           TBI_FIELD_WORD, offsetof(tbi_robot_keys, name)          },
    {"model",          TBI_FIELD_WORD, offsetof(tbi_robot_keys, model)         },
    {"base",           TBI_FIELD_WORD, offsetof(tbi_robot_keys, base)          },
    {"xyz",            TBI_FIELD_NODE, offsetof(tbi_robot_keys, place[0])      },
    {"rpy",            TBI_FIELD_NODE, offsetof(tbi_robot_keys, place[1])      },
    {"quat",           TBI_FIELD_NODE, offsetof(tbi_robot_keys, place[2])      },
    {"lin",            TBI_FIELD_NODE, offsetof(tbi_robot_keys, moves[0])      },
    {"ang",            TBI_FIELD_NODE, offsetof(tbi_robot_keys, moves[1])      },
    {"posture",        TBI_FIELD_MAP,  offsetof(tbi_robot_keys, posture)       },
    {"velocity",       TBI_FIELD_MAP,  offsetof(tbi_robot_keys, velocity)      },
    {"lock",           TBI_FIELD_LIST, offsetof(tbi_robot_keys, lock)          },
    {"self_collision", TBI_FIELD_BOOL, offsetof(tbi_robot_keys, self_collision)},
    {"materials",      TBI_FIELD_MAP,  offsetof(tbi_robot_keys, materials)     },
    {"controller",     TBI_FIELD_MAP,  offsetof(tbi_robot_keys, controller)    },
    {"sensors",        TBI_FIELD_LIST, offsetof(tbi_robot_keys, sensors)       },
};

/* A robot while it is in the builder: what it added there. */
typedef struct robot {
  tbi_scene_reader *r;
  const tbi_yaml_node *node;
  const tbi_robot_keys *keys;
  char what[TBI_WHAT_SIZE];
  int32_t index;
  int32_t first_link, first_joint, first_shape; /* up to the builder's counts */
} robot;

/* "robot/name"; the caller frees.  NULL: out of memory. */
static char *full_name(const char *robot_name, const char *name) {
  size_t size = strlen(robot_name) + strlen(name) + 2;
  char *full = malloc(size);
  if (full) (void)snprintf(full, size, "%s/%s", robot_name, name);
  return full;
}

tabi_status tbi_scene_find_joint(const tbi_scene_reader *r, int32_t index,
                                 const tbi_yaml_node *node, const char *what, const char *name,
                                 int32_t *joint) {
  const tbi_scene_robot *owner = &r->scene->robots[index];
  char *full = full_name(owner->name, name);
  if (!full) return tbi_error_memory(r->err);
  *joint = tabi_builder_find_joint(r->builder, full);
  free(full);
  if (*joint != TABI_NONE) return TABI_OK;
  size_t prefix = strlen(owner->name) + 1;
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < owner->njoint; ++i) {
    const char *known = tbi_builder_joint(r->builder, owner->first_joint + i)->name;
    if (known && strlen(known) > prefix) tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_scene_fail(r, node, what, "no joint is called '%.60s'%s", name,
                        tbi_suggest_hint(&nearest, hint));
}

static tabi_status find_link(const robot *b, const tbi_yaml_node *node, int32_t *link) {
  char *full = full_name(b->keys->name, node->key);
  if (!full) return tbi_error_memory(b->r->err);
  *link = tabi_builder_find_link(b->r->builder, full);
  free(full);
  if (*link != TABI_NONE) return TABI_OK;
  size_t prefix = strlen(b->keys->name) + 1;
  tbi_suggestion nearest = tbi_suggest_begin(node->key);
  for (int32_t i = b->first_link; i < tabi_builder_nlink(b->r->builder); ++i) {
    const char *known = tbi_builder_link(b->r->builder, i)->name;
    if (known && strlen(known) > prefix) tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_scene_fail(b->r, node, b->what, "no link is called '%.60s'%s", node->key,
                        tbi_suggest_hint(&nearest, hint));
}

static tabi_status read_base(const robot *b, tabi_load_def *def) {
  const char *base = b->keys->base;
  if (!base) return TABI_OK;
  def->base = strcmp(base, "fixed") == 0 ? TABI_BASE_FIXED : TABI_BASE_FREE;
  if (def->base == TABI_BASE_FIXED || strcmp(base, "free") == 0) return TABI_OK;
  return tbi_scene_fail(b->r, tbi_yaml_child(b->node, "base"), b->what,
                        "base must be free or fixed, not '%.40s'", base);
}

static tabi_status load(const robot *b) {
  tbi_scene_reader *r = b->r;
  const tbi_robot_keys *keys = b->keys;
  tabi_load_def def = tabi_load_def_default();
  tabi_status status = read_base(b, &def);
  if (status != TABI_OK) return status;
  def.place_base = keys->place[0] || keys->place[1] || keys->place[2];
  if (keys->place[0])
    status = tbi_fields_numbers(keys->place[0], b->what, "xyz", def.base_pos, 3, r->err);
  if (status == TABI_OK)
    status = tbi_fields_rotation(keys->place[1], keys->place[2], b->what, def.base_quat, r->err);
  if (status != TABI_OK) return status;
  def.package_path = r->def->package_path;
  def.warn = r->def->warn;
  def.warn_user = r->def->warn_user;
  char *prefix = full_name(keys->name, "");
  char *path = tbi_scene_path(r, keys->model);
  def.prefix = prefix;
  status =
      prefix && path ? tabi_builder_load(r->builder, path, &def, r->err) : tbi_error_memory(r->err);
  // a file that cannot be opened is the scene's mistake
  if (status == TABI_ERR_FILE && r->err && path && strcmp(r->err->file, path) == 0) {
    tabi_error cause = *r->err;
    status = tbi_scene_fail(r, tbi_yaml_child(b->node, "model"), b->what, "model '%.100s': %.200s",
                            path, cause.message);
  }
  free(prefix);
  free(path);
  return status;
}

/* The link that floats, or else hangs on the world, or the first. */
static int32_t find_base(const robot *b) {
  const tabi_builder *builder = b->r->builder;
  int32_t base = b->first_link;
  for (int32_t i = tabi_builder_njoint(builder) - 1; i >= b->first_joint; --i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    if (joint->parent == TABI_WORLD) base = joint->child;
  }
  return base;
}

static tabi_status add_base_motion(const robot *b) {
  tbi_scene_reader *r = b->r;
  static const char *const names[2] = {"lin", "ang"};
  double v[2][3] = {{0}};
  if (!b->keys->moves[0] && !b->keys->moves[1]) return TABI_OK;
  tabi_status status = TABI_OK;
  for (int i = 0; i < 2 && status == TABI_OK; ++i) {
    const tbi_yaml_node *node = b->keys->moves[i];
    if (node) status = tbi_fields_numbers(node, b->what, names[i], v[i], 3, r->err);
  }
  if (status != TABI_OK) return status;
  int32_t base = r->scene->robots[b->index].base;
  int32_t joint = tbi_builder_link_joint(r->builder, base);
  if (joint == TABI_NONE || tbi_builder_joint(r->builder, joint)->type != TABI_JOINT_FREE) {
    return tbi_scene_fail(r, b->node, b->what, "lin and ang need a base that floats");
  }
  return tbi_scene_add_motion(r, joint, v[0], v[1]);
}

/* The frame of a joint when it stands at a value, which then is a fixed one. */
static void displace(tabi_joint_def *joint, double value) {
  v3 axis = v3_scale(value, v3_load(joint->axis));
  q4 rotation = q_load(joint->quat);
  if (joint->type == TABI_JOINT_PRISMATIC) {
    m3 turn = q_matrix(rotation);
    v3_store(v3_add(v3_load(joint->pos), m3_mulv(&turn, axis)), joint->pos);
  } else {
    q_store(q_normalize(q_mul(rotation, q_exp(axis))), joint->quat);
  }
}

/* Motors go with the joint; what couples it to others cannot. */
static bool detach(tabi_builder *builder, int32_t joint) {
  const tabi_coupling_def *coupling = builder->couplings.items;
  for (int32_t i = 0; i < builder->couplings.count; ++i) {
    if (coupling[i].joint == joint || coupling[i].leader == joint) return false;
  }
  tabi_actuator_def *actuator = builder->actuators.items;
  int32_t kept = 0;
  for (int32_t i = 0; i < builder->actuators.count; ++i) {
    if (actuator[i].joint != joint) actuator[kept++] = actuator[i];
  }
  builder->actuators.count = kept;
  return true;
}

static tabi_status lock_joint(const robot *b, const tbi_yaml_node *item) {
  tbi_scene_reader *r = b->r;
  int32_t index = TABI_NONE;
  tabi_status status = tbi_scene_find_joint(r, b->index, item, b->what, item->text, &index);
  if (status != TABI_OK) return status;
  tabi_joint_def *joint = (tabi_joint_def *)r->builder->joints.items + index;
  bool one = joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
             joint->type == TABI_JOINT_PRISMATIC;
  if (!one) {
    return tbi_scene_fail(r, item, b->what, "lock: joint '%.60s' is not one with one coordinate",
                          item->text);
  }
  double value = joint->initial_q[0];
  const tbi_yaml_node *given =
      b->keys->posture ? tbi_yaml_child(b->keys->posture, item->text) : NULL;
  if (given) status = tbi_fields_number(given, b->what, item->text, &value, r->err);
  if (status != TABI_OK) return status;
  if (!detach(r->builder, index)) {
    return tbi_scene_fail(r, item, b->what, "lock: joint '%.60s' is coupled to another",
                          item->text);
  }
  displace(joint, value);
  tabi_joint_def fixed = tabi_joint_def_default();
  fixed.name = joint->name;
  fixed.parent = joint->parent;
  fixed.child = joint->child;
  fixed.place = joint->place;
  memcpy(fixed.pos, joint->pos, sizeof fixed.pos);
  memcpy(fixed.quat, joint->quat, sizeof fixed.quat);
  fixed.initial_q[0] = value; /* what its encoder reads */
  *joint = fixed;
  return TABI_OK;
}

static tabi_shape_def *shapes_of(const robot *b, int32_t *count) {
  *count = b->r->builder->shapes.count - b->first_shape;
  return (tabi_shape_def *)b->r->builder->shapes.items + b->first_shape;
}

static tabi_status set_material(const robot *b, const tbi_yaml_node *item) {
  int32_t link = TABI_NONE;
  int32_t material = TABI_NONE;
  tabi_status status = find_link(b, item, &link);
  if (status == TABI_OK) status = tbi_scene_material(b->r, item, b->what, item->text, &material);
  if (status != TABI_OK) return status;
  int32_t count = 0;
  tabi_shape_def *shape = shapes_of(b, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (shape[i].link == link) shape[i].material = material;
  }
  return TABI_OK;
}

static void exclude_all(const robot *b) {
  tabi_builder *builder = b->r->builder;
  for (int32_t i = b->first_link; i < tabi_builder_nlink(builder); ++i) {
    for (int32_t j = i + 1; j < tabi_builder_nlink(builder); ++j)
      (void)tabi_builder_add_exclusion(builder, i, j);
  }
}

/* A group of its own, which its own mask leaves out. */
static tabi_status forbid_self_collision(const robot *b) {
  if (b->keys->self_collision) return TABI_OK;
  if (b->index >= NGROUP) {
    exclude_all(b);
    return tbi_scene_builder_status(b->r);
  }
  int32_t count = 0;
  tabi_shape_def *shape = shapes_of(b, &count);
  for (int32_t i = 0; i < count; ++i) {
    shape[i].group = UINT32_C(1) << (FIRST_GROUP + b->index);
    shape[i].mask = ~shape[i].group;
  }
  return TABI_OK;
}

/* Before joints are locked, so that a scene may lock those that have sensors. */
static tabi_status read_sensors(const robot *b) {
  char *prefix = full_name(b->keys->name, "");
  if (!prefix) return tbi_error_memory(b->r->err);
  const tbi_sensor_list list = {b->r->builder, prefix, b->first_joint, b->r->err};
  tabi_status status = tbi_sensor_list_read(&list, b->keys->sensors);
  free(prefix);
  return status;
}

static tabi_status change_robot(const robot *b) {
  tabi_status status = read_sensors(b);
  const tbi_yaml_node *item = b->keys->lock ? b->keys->lock->first : NULL;
  for (; item && status == TABI_OK; item = item->next)
    status = lock_joint(b, item);
  item = b->keys->materials ? b->keys->materials->first : NULL;
  for (; item && status == TABI_OK; item = item->next)
    status = set_material(b, item);
  if (status == TABI_OK) status = forbid_self_collision(b);
  return status == TABI_OK ? add_base_motion(b) : status;
}

static tabi_status read_keys(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                             tbi_robot_keys *keys) {
  tabi_status status = tbi_fields_read(node, what, robot_fields,
                                       sizeof robot_fields / sizeof *robot_fields, keys, r->err);
  if (status != TABI_OK) return status;
  if (!keys->name) return tbi_scene_fail(r, node, what, "name is missing");
  if (!keys->model) return tbi_scene_fail(r, node, what, "model is missing: a URDF or MJCF file");
  return TABI_OK;
}

static tabi_status read_robot(tbi_scene_reader *r, const tbi_yaml_node *node, int32_t index) {
  robot b = {.r = r, .node = node, .keys = &r->robots[index], .index = index};
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(b.what, sizeof b.what, "robot '%.60s': ", name ? name->text : "");
  tabi_status status = read_keys(r, node, b.what, &r->robots[index]);
  if (status != TABI_OK) return status;
  b.first_link = tabi_builder_nlink(r->builder);
  b.first_joint = tabi_builder_njoint(r->builder);
  b.first_shape = r->builder->shapes.count;
  status = load(&b);
  if (status != TABI_OK) return status;
  tbi_scene_robot *added = &r->scene->robots[index];
  added->name = tbi_text_add(&r->scene->text, b.keys->name);
  if (!added->name) return tbi_error_memory(r->err);
  added->first_link = b.first_link;
  added->nlink = tabi_builder_nlink(r->builder) - b.first_link;
  added->first_joint = b.first_joint;
  added->njoint = tabi_builder_njoint(r->builder) - b.first_joint;
  added->base = find_base(&b);
  ++r->scene->nrobot;
  return change_robot(&b);
}

tabi_status tbi_scene_read_robots(tbi_scene_reader *r, const tbi_yaml_node *list) {
  if (!list || list->count == 0) return TABI_OK;
  if (list->count > MAX_ROBOTS)
    return tbi_scene_fail(r, list, "", "more than %d robots", MAX_ROBOTS);
  r->scene->robots = calloc((size_t)list->count, sizeof *r->scene->robots);
  r->robots = calloc((size_t)list->count, sizeof *r->robots);
  if (!r->scene->robots || !r->robots) return tbi_error_memory(r->err);
  tabi_status status = TABI_OK;
  int32_t index = 0;
  for (const tbi_yaml_node *node = list->first; node && status == TABI_OK; node = node->next)
    status = read_robot(r, node, index++);
  return status;
}

void tbi_scene_free_robots(tabi_scene *scene) {
  for (int32_t i = 0; i < scene->nrobot; ++i)
    tbi_scene_free_controller(&scene->robots[i]);
  free(scene->robots);
}

/* Numbers by joint name into q or v. */
static tabi_status set_joints(tbi_scene_reader *r, int32_t index, const char *what,
                              const tbi_yaml_node *map, bool velocity) {
  tabi_status status = TABI_OK;
  for (const tbi_yaml_node *node = map ? map->first : NULL; node && status == TABI_OK;
       node = node->next) {
    int32_t joint = TABI_NONE;
    status = tbi_scene_find_joint(r, index, node, what, node->key, &joint);
    if (status != TABI_OK) return status;
    const tabi_model *model = r->scene->model;
    tabi_range range =
        velocity ? tabi_model_joint_v(model, joint) : tabi_model_joint_q(model, joint);
    double *to = (velocity ? r->scene->v : r->scene->q) + range.first;
    if (range.count == 0 && !velocity) continue; // locked there
    if (range.count == 0)
      return tbi_scene_fail(r, node, what, "joint '%.60s' does not move", node->key);
    if (range.count == 1) {
      status = tbi_fields_number(node, what, node->key, to, r->err);
    } else {
      status = tbi_fields_numbers(node, what, node->key, to, range.count, r->err);
    }
  }
  return status;
}

tabi_status tbi_scene_start_robots(tbi_scene_reader *r) {
  tabi_status status = TABI_OK;
  for (int32_t i = 0; i < r->scene->nrobot && status == TABI_OK; ++i) {
    char what[TBI_WHAT_SIZE];
    (void)snprintf(what, sizeof what, "robot '%.60s': ", r->scene->robots[i].name);
    status = set_joints(r, i, what, r->robots[i].posture, false);
    if (status == TABI_OK) status = set_joints(r, i, what, r->robots[i].velocity, true);
    if (status == TABI_OK) status = tbi_scene_read_controller(r, i);
  }
  return status;
}
