/* robot.c - robots of a scene: loaded by the builder, then changed in it.
 *
 * Joints and links get the scene's numbers in place of the file's, joints are locked (lock.h),
 * shapes get the scene's materials, and a robot without self-collision gets a collision group of
 * its own. */
#include "scene/scene.h"

#include "base/assertion.h"
#include "io/hrp/hrp_bush.h"
#include "io/robot_cache.h"
#include "io/sensor.h"
#include "io/values.h"
#include "model/builder.h"
#include "scene/lock.h"
#include "scene/surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROBOTS  10000
#define FIRST_GROUP 1  /* bit 0 is everybody's */
#define NGROUP      31 /* further robots exclude their links pair by pair */

static const tbi_field robot_fields[] = {
    {"name",           TBI_FIELD_WORD,         offsetof(tbi_robot_keys, name)          },
    {"model",          TBI_FIELD_WORD,         offsetof(tbi_robot_keys, model)         },
    {"base",           TBI_FIELD_WORD,         offsetof(tbi_robot_keys, base)          },
    {"bush",           TBI_FIELD_WORD,         offsetof(tbi_robot_keys, bush)          },
    {"xyz",            TBI_FIELD_NODE,         offsetof(tbi_robot_keys, place[0])      },
    {"rpy",            TBI_FIELD_NODE,         offsetof(tbi_robot_keys, place[1])      },
    {"quat",           TBI_FIELD_NODE,         offsetof(tbi_robot_keys, place[2])      },
    {"place",          TBI_FIELD_WORD,         offsetof(tbi_robot_keys, put_on)        },
    {"settle",         TBI_FIELD_NOT_NEGATIVE, offsetof(tbi_robot_keys, settle)        },
    {"part",           TBI_FIELD_WORD,         offsetof(tbi_robot_keys, part)          },
    {"lin",            TBI_FIELD_NODE,         offsetof(tbi_robot_keys, moves[0])      },
    {"ang",            TBI_FIELD_NODE,         offsetof(tbi_robot_keys, moves[1])      },
    {"posture",        TBI_FIELD_NODE,         offsetof(tbi_robot_keys, posture)       },
    {"velocity",       TBI_FIELD_MAP,          offsetof(tbi_robot_keys, velocity)      },
    {"lock",           TBI_FIELD_LIST,         offsetof(tbi_robot_keys, lock)          },
    {"motion",         TBI_FIELD_MAP,          offsetof(tbi_robot_keys, motion)        },
    {"joints",         TBI_FIELD_MAP,          offsetof(tbi_robot_keys, joints)        },
    {"links",          TBI_FIELD_MAP,          offsetof(tbi_robot_keys, links)         },
    {"self_collision", TBI_FIELD_BOOL,         offsetof(tbi_robot_keys, self_collision)},
    {"materials",      TBI_FIELD_MAP,          offsetof(tbi_robot_keys, materials)     },
    {"controller",     TBI_FIELD_MAP,          offsetof(tbi_robot_keys, controller)    },
    {"sensors",        TBI_FIELD_LIST,         offsetof(tbi_robot_keys, sensors)       },
};

/* A robot while it is in the builder: what it added there. */
typedef struct robot {
  tbi_scene_reader *r;
  const tbi_yaml_node *node;
  const tbi_robot_keys *keys;
  tbi_scene_robot *added;
  char what[TBI_WHAT_SIZE];
  int32_t index;
  int32_t first_shape; /* up to the builder's count */
} robot;

static tbi_finder finder_of(const tbi_scene_reader *r, const tbi_scene_robot *owner) {
  return (tbi_finder){r->error, r->builder, owner->prefix};
}

int32_t tbi_scene_find_joint(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                             const char *what, const char *name) {
  TBI_ASSERT(index >= 0 && index < r->scene->nrobot);
  const tbi_finder find = finder_of(r, &r->scene->robots[index]);
  return tbi_find_needed(&find, TBI_JOINT, node, what, name);
}

static bool read_base(const robot *b, tabi_load_def *def) {
  const char *base = b->keys->base;
  if (!base) return true;
  def->base = strcmp(base, "fixed") == 0 ? TABI_BASE_FIXED : TABI_BASE_FREE;
  if (def->base == TABI_BASE_FIXED || strcmp(base, "free") == 0) return true;
  return tbi_fail_about(b->r->error, tbi_yaml_child(b->node, "base")->place, b->what,
                        "base must be free or fixed, not '%.40s'", base);
}

/* Adds the robot of a file to the builder.  A file that cannot be opened is the scene's mistake. */
static bool load_file(const robot *b, const char *path, const tabi_load_def *def) {
  tabi_error err = {0};
  tabi_status status = tbi_robot_cache_load(b->r->def->robots, b->r->builder, path, def, &err);
  if (status == TABI_OK) return true;
  if (status != TABI_ERR_FILE || strcmp(err.file, path) != 0) return tbi_fail_as(b->r->error, &err);
  return tbi_fail_about(b->r->error, tbi_yaml_child(b->node, "model")->place, b->what,
                        "model '%.100s': %.200s", path, err.message);
}

static bool load(const robot *b) {
  tbi_scene_reader *r = b->r;
  const tbi_yaml_node *const *place = b->keys->place;
  tabi_load_def def = tabi_load_def_default();
  read_base(b, &def);
  def.place_base = place[0] || place[1] || place[2];
  if (place[0]) tbi_fields_numbers(r->error, place[0], b->what, "xyz", def.base_pos, 3);
  tbi_fields_rotation(r->error, place[1], place[2], b->what, def.base_quat);
  if (!tbi_ok(r->error)) return false;
  def.package_path = r->def->package_path;
  def.strict = r->def->strict;
  def.part = b->keys->part;
  def.warn = r->def->warn;
  def.warn_user = r->def->warn_user;
  def.prefix = b->added->prefix;
  char *path = tbi_scene_path(r, b->keys->model);
  bool loaded = path && load_file(b, path, &def);
  free(path);
  return loaded;
}

/* Whether something moves in the tree of a link that hangs on the world. */
static bool carries_joints(const robot *b, int32_t top) {
  const tabi_builder *builder = b->r->builder;
  for (int32_t i = b->added->first_joint; i < tabi_builder_njoint(builder); ++i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    if (joint->type == TABI_JOINT_FIXED) continue;
    int32_t link = joint->child;
    for (int32_t k = 0; link != top && link != TABI_WORLD && k < builder->links.count; ++k) {
      int32_t above = tbi_builder_link_joint(builder, link);
      link = above == TABI_NONE ? TABI_WORLD : tbi_builder_joint(builder, above)->parent;
    }
    if (link == top) return true;
  }
  return false;
}

/* The first link that hangs on the world and moves or carries what moves, or else the first that
 * hangs there, or the first. */
static int32_t find_base(const robot *b) {
  const tabi_builder *builder = b->r->builder;
  int32_t base = b->added->first_link;
  bool moves = false;
  for (int32_t i = tabi_builder_njoint(builder) - 1; i >= b->added->first_joint; --i) {
    const tabi_joint_def *joint = tbi_builder_joint(builder, i);
    if (joint->parent != TABI_WORLD) continue;
    bool carries = joint->type != TABI_JOINT_FIXED || carries_joints(b, joint->child);
    if (carries || !moves) base = joint->child;
    moves = moves || carries;
  }
  return base;
}

static bool add_base_velocity(const robot *b) {
  tbi_scene_reader *r = b->r;
  const tbi_yaml_node *const *moves = b->keys->moves;
  double lin[3] = {0};
  double ang[3] = {0};
  if (!moves[0] && !moves[1]) return true;
  if (moves[0]) tbi_fields_numbers(r->error, moves[0], b->what, "lin", lin, 3);
  if (moves[1]) tbi_fields_numbers(r->error, moves[1], b->what, "ang", ang, 3);
  int32_t joint = tbi_builder_link_joint(r->builder, b->added->base);
  if (joint == TABI_NONE || tbi_builder_joint(r->builder, joint)->type != TABI_JOINT_FREE) {
    return tbi_fail_about(r->error, b->node->place, b->what, "lin and ang need a base that floats");
  }
  return tbi_scene_add_velocity(r, joint, lin, ang);
}

static tabi_shape_def *shapes_of(const robot *b, int32_t *count) {
  TBI_ASSERT(b->first_shape <= b->r->builder->shapes.count);
  *count = b->r->builder->shapes.count - b->first_shape;
  return (tabi_shape_def *)b->r->builder->shapes.items + b->first_shape;
}

/* "*" stands for all links. */
static void set_material(const robot *b, const tbi_yaml_node *item) {
  const tbi_finder find = finder_of(b->r, b->added);
  bool all = strcmp(item->key, "*") == 0;
  int32_t link = all ? TABI_NONE : tbi_find_needed(&find, TBI_LINK, item, b->what, item->key);
  int32_t material = tbi_scene_material(b->r, item, b->what, item->text);
  if (!tbi_ok(b->r->error)) return;
  int32_t count = 0;
  tabi_shape_def *shape = shapes_of(b, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (all || shape[i].link == link) shape[i].material = material;
  }
}

static void exclude_all(const robot *b) {
  tabi_builder *builder = b->r->builder;
  for (int32_t i = b->added->first_link; i < tabi_builder_nlink(builder); ++i) {
    for (int32_t j = i + 1; j < tabi_builder_nlink(builder); ++j)
      (void)tabi_builder_add_exclusion(builder, i, j);
  }
}

/* A group of its own, which its own mask leaves out; what is beside the robot in its file meets
 * everything. */
static void separate(const robot *b, const tbi_surroundings *around) {
  int32_t count = 0;
  tabi_shape_def *shape = shapes_of(b, &count);
  tbi_surroundings_exclude(around, shape, count);
  for (int32_t i = 0; i < count; ++i) {
    bool beside = tbi_surroundings_hold(around, shape[i].link);
    shape[i].group = beside ? 1 : UINT32_C(1) << (FIRST_GROUP + b->index);
    shape[i].mask = beside ? UINT32_MAX : ~shape[i].group;
  }
}

/* Springs of bush joints, from a file of OpenHRP3. */
static void read_bushes(const robot *b) {
  tbi_first_error *error = b->r->error;
  if (!b->keys->bush || !tbi_ok(error)) return;
  tabi_error err = {0};
  char *path = tbi_scene_path(b->r, b->keys->bush);
  if (path && tbi_hrp_bush_read(b->r->builder, path, b->added->prefix, b->added->first_joint,
                                &err) != TABI_OK)
    tbi_fail_as(error, &err);
  free(path);
}

static void forbid_self_collision(const robot *b) {
  if (b->keys->self_collision) return;
  tbi_surroundings around;
  if (b->index >= NGROUP) {
    exclude_all(b);
  } else if (tbi_surroundings_find(&around, b->r->builder, b->added->first_link, b->added->base)) {
    separate(b, &around);
    tbi_surroundings_free(&around);
  } else {
    tbi_fail_memory(b->r->error);
  }
  tbi_take_builder(b->r->error, b->r->builder);
}

/* What the scene says otherwise than the file, before joints are locked. */
static void override_values(const robot *b) {
  read_bushes(b);
  const tbi_values values = {.find = finder_of(b->r, b->added),
                             .what = b->what,
                             .first_joint = b->added->first_joint,
                             .first_link = b->added->first_link};
  tbi_values_read_joints(&values, b->keys->joints);
  tbi_values_read_links(&values, b->keys->links);
}

static void change_robot(const robot *b) {
  const tbi_first_error *error = b->r->error;
  override_values(b);
  // before joints are locked, so that a scene may lock those that have sensors
  const tbi_sensor_list sensors = {finder_of(b->r, b->added), b->added->first_joint};
  tbi_sensor_list_read(&sensors, b->keys->sensors);
  if (b->keys->lock) tbi_scene_lock(b->r, b->index, b->what, b->keys->lock);
  const tbi_yaml_node *item = b->keys->materials ? b->keys->materials->first : NULL;
  for (; item && tbi_ok(error); item = item->next)
    set_material(b, item);
  if (!tbi_ok(error)) return;
  forbid_self_collision(b);
  add_base_velocity(b);
}

static bool read_keys(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                      tbi_robot_keys *keys) {
  tbi_fields_read(r->error, node, what, TBI_FIELDS(robot_fields), keys);
  if (keys->put_on && strcmp(keys->put_on, "ground") != 0) {
    return tbi_fail_about(r->error, tbi_yaml_child(node, "place")->place, what,
                          "place must be ground, not '%.40s'; xyz gives a position", keys->put_on);
  }
  if (!keys->name) return tbi_fail_about(r->error, node->place, what, "name is missing");
  if (!keys->model) {
    return tbi_fail_about(r->error, node->place, what, "model is missing: the file of a robot");
  }
  return tbi_ok(r->error);
}

/* Its name, and what begins the names of its links and joints. */
static bool name_robot(const robot *b) {
  char *prefix = tbi_text_join(b->keys->name, "/");
  if (prefix) b->added->prefix = tbi_text_add(&b->r->scene->text, prefix);
  free(prefix);
  b->added->name = tbi_text_add(&b->r->scene->text, b->keys->name);
  return (b->added->name && b->added->prefix) || tbi_fail_memory(b->r->error);
}

static void read_robot(tbi_scene_reader *r, const tbi_yaml_node *node, int32_t index) {
  tbi_scene_robot *added = &r->scene->robots[index];
  r->robots[index] = (tbi_robot_keys){.self_collision = true, .place_of_robot = node->place};
  robot b = {.r = r, .node = node, .keys = &r->robots[index], .added = added, .index = index};
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(b.what, sizeof b.what, "robot '%.60s': ", name ? name->text : "");
  added->first_link = tabi_builder_nlink(r->builder);
  added->first_joint = tabi_builder_njoint(r->builder);
  b.first_shape = r->builder->shapes.count;
  if (!read_keys(r, node, b.what, &r->robots[index]) || !name_robot(&b) || !load(&b)) return;
  added->nlink = tabi_builder_nlink(r->builder) - added->first_link;
  added->njoint = tabi_builder_njoint(r->builder) - added->first_joint;
  added->base = find_base(&b);
  ++r->scene->nrobot;
  change_robot(&b);
}

bool tbi_scene_read_robots(tbi_scene_reader *r, const tbi_yaml_node *list) {
  if (!list || list->count == 0 || !tbi_ok(r->error)) return tbi_ok(r->error);
  if (list->count > MAX_ROBOTS)
    return tbi_fail_about(r->error, list->place, "", "more than %d robots", MAX_ROBOTS);
  r->scene->robots = calloc((size_t)list->count, sizeof *r->scene->robots);
  r->robots = calloc((size_t)list->count, sizeof *r->robots);
  if (!r->scene->robots || !r->robots) return tbi_fail_memory(r->error);
  int32_t index = 0;
  for (const tbi_yaml_node *node = list->first; node && tbi_ok(r->error); node = node->next)
    read_robot(r, node, index++);
  return tbi_ok(r->error);
}

void tbi_scene_free_robots(tabi_scene *scene) {
  for (int32_t i = 0; i < scene->nrobot; ++i)
    tbi_scene_free_controller(&scene->robots[i]);
  free(scene->robots);
}

static void set_motions(tbi_scene_reader *r, int32_t index, const char *what) {
  const tbi_yaml_node *map = r->robots[index].motion;
  const tbi_yaml_node *node = map ? map->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next) {
    int32_t joint = tbi_scene_find_joint(r, index, node, what, node->key);
    if (joint != TABI_NONE) tbi_scene_read_joint_motion(r, joint, node, what);
  }
}

static const char *about(const tbi_scene_reader *r, int32_t index, char what[TBI_WHAT_SIZE]) {
  (void)snprintf(what, TBI_WHAT_SIZE, "robot '%.60s': ", r->scene->robots[index].name);
  return what;
}

static void control_robot(tbi_scene_reader *r, int32_t index) {
  char what[TBI_WHAT_SIZE];
  set_motions(r, index, about(r, index, what));
  if (!tbi_ok(r->error) || !r->robots[index].controller) return;
  // a table that it follows may have moved its joints
  if (tbi_scene_read_controller(r, index)) tbi_scene_place_robot(r, index, what);
}

/* A robot may stand on another, so all have their postures first. */
void tbi_scene_finish_robots(tbi_scene_reader *r) {
  char what[TBI_WHAT_SIZE];
  for (int32_t i = 0; i < r->scene->nrobot && tbi_ok(r->error); ++i)
    tbi_scene_read_posture(r, i, about(r, i, what));
  for (int32_t i = 0; i < r->scene->nrobot && tbi_ok(r->error); ++i)
    tbi_scene_place_robot(r, i, about(r, i, what));
  for (int32_t i = 0; i < r->scene->nrobot && tbi_ok(r->error); ++i)
    control_robot(r, i);
}
