/* posture.c - the initial state of robots: positions of joints, keyframes of their files, and the
 * ground below them. */
#include "scene/scene.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LIFT 0.05 /* m by which a keyframe is lifted out of the ground unasked */
#define STANDS   1e-5 /* m of overlap or air that are as good as none */

/* -- keyframes */

static const tbi_yaml_node *keyframe_of(const tbi_scene_reader *r, int32_t index) {
  const tbi_yaml_node *node = r->robots[index].posture;
  return node && node->kind == TBI_YAML_SCALAR ? node : NULL;
}

/* The name in the robot's file of a posture in the builder, or NULL if it is another's. */
static const char *own_name(const tbi_scene_reader *r, int32_t index, int32_t posture) {
  const char *name = ((const char *const *)r->builder->postures.items)[posture];
  const char *prefix = r->scene->robots[index].prefix;
  size_t length = strlen(prefix);
  return name && strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static bool fail_keyframe(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                          const char *what) {
  char list[240] = "";
  char hint[TBI_HINT_SIZE];
  tbi_suggestion nearest = tbi_suggest_begin(node->text);
  for (int32_t i = 0; i < r->builder->postures.count; ++i) {
    const char *name = own_name(r, index, i);
    if (!name) continue;
    size_t used = strlen(list);
    tbi_suggest_add(&nearest, name);
    (void)snprintf(list + used, sizeof list - used, "%s%.60s", used > 0 ? ", " : "", name);
  }
  if (list[0] == '\0') {
    return tbi_fail_about(r->error, node->place, what,
                          "posture '%.60s': its file has no keyframes; give {joint: position, ...}",
                          node->text);
  }
  return tbi_fail_about(r->error, node->place, what,
                        "no keyframe of its file is called '%.60s'%s; there are: %s", node->text,
                        tbi_suggest_hint(&nearest, hint), list);
}

/* The index of the keyframe that a word names; TABI_NONE after an error. */
static int32_t find_keyframe(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                             const char *what) {
  for (int32_t i = 0; i < r->builder->postures.count; ++i) {
    const char *name = own_name(r, index, i);
    if (name && strcmp(name, node->text) == 0) return i;
  }
  fail_keyframe(r, index, node, what);
  return TABI_NONE;
}

bool tbi_scene_joint_start(const tbi_scene_reader *r, int32_t index, int32_t joint,
                           const char *what, double *value) {
  const tbi_yaml_node *posture = r->robots[index].posture;
  const tbi_yaml_node *word = keyframe_of(r, index);
  if (!posture) return true;
  if (!word) {
    const char *name =
        tbi_builder_joint(r->builder, joint)->name + strlen(r->scene->robots[index].prefix);
    const tbi_yaml_node *given = tbi_yaml_child(posture, name);
    return !given || tbi_fields_number(r->error, given, what, name, value);
  }
  int32_t keyframe = find_keyframe(r, index, word, what);
  const tbi_posture_entry *entry = r->builder->posture_entries.items;
  for (int32_t i = 0; i < r->builder->posture_entries.count; ++i) {
    if (entry[i].posture == keyframe && entry[i].joint == joint) *value = entry[i].q[0];
  }
  return keyframe != TABI_NONE;
}

/* Limits would throw a joint that starts beyond them. */
static void keep_limits(const tbi_scene_reader *r, int32_t index, int32_t joint) {
  tabi_joint_def def = tabi_model_joint(r->scene->model, joint);
  tabi_range range = tabi_model_joint_q(r->scene->model, joint);
  if (range.count != 1 || !(def.lower <= def.upper)) return;
  double *q = r->scene->q + range.first;
  double inside = fmin(fmax(*q, def.lower), def.upper);
  if (inside == *q) return;
  const tbi_yaml_node *posture = r->robots[index].posture;
  tbi_tell(r->def->warn, r->def->warn_user, TABI_SEVERITY_NOTE, posture->place,
           "joint '%.60s': keyframe '%.60s' has it at %.4g, outside its limits; it starts at %.4g",
           def.name ? def.name : "(unnamed)", posture->text, *q, inside);
  *q = inside;
}

/* A pose or a velocity of the base that the scene gives counts more than the keyframe's. */
static void take_entry(const tbi_scene_reader *r, int32_t index, const tbi_posture_entry *entry) {
  const tabi_model *model = r->scene->model;
  const tbi_robot_keys *keys = &r->robots[index];
  tabi_joint_def joint = tabi_model_joint(model, entry->joint);
  bool base = joint.child == r->scene->robots[index].base;
  bool placed = base && (keys->place[0] || keys->place[1] || keys->place[2]);
  bool moved = base && (keys->moves[0] || keys->moves[1]);
  tabi_range q = tabi_model_joint_q(model, entry->joint);
  tabi_range v = tabi_model_joint_v(model, entry->joint);
  if (!placed) memcpy(r->scene->q + q.first, entry->q, (size_t)q.count * sizeof *entry->q);
  if (!moved) memcpy(r->scene->v + v.first, entry->v, (size_t)v.count * sizeof *entry->v);
  keep_limits(r, index, entry->joint);
}

/* What drives the robot at the start, as far as no controller does. */
static void take_controls(const tbi_scene_reader *r, int32_t keyframe) {
  const tbi_posture_control *control = r->builder->controls.items;
  for (int32_t i = 0; i < r->builder->controls.count; ++i) {
    if (control[i].posture == keyframe) r->scene->u[control[i].actuator] = control[i].u;
  }
}

static void take_keyframe(const tbi_scene_reader *r, int32_t index, const tbi_yaml_node *node,
                          const char *what) {
  int32_t keyframe = find_keyframe(r, index, node, what);
  if (keyframe == TABI_NONE) return;
  const tbi_posture_entry *entry = r->builder->posture_entries.items;
  for (int32_t i = 0; i < r->builder->posture_entries.count; ++i) {
    if (entry[i].posture == keyframe) take_entry(r, index, &entry[i]);
  }
  take_controls(r, keyframe);
}

/* -- joints */

/* The number, or the numbers, of a joint into q or v. */
static bool set_joint(tbi_scene_reader *r, int32_t joint, const char *what,
                      const tbi_yaml_node *node, bool velocity) {
  const tabi_model *model = r->scene->model;
  TBI_ASSERT(joint >= 0 && joint < tabi_model_njoint(model));
  tabi_range range = velocity ? tabi_model_joint_v(model, joint) : tabi_model_joint_q(model, joint);
  double *to = (velocity ? r->scene->v : r->scene->q) + range.first;
  if (range.count == 0 && !velocity) return true; // locked there
  if (range.count == 0) {
    return tbi_fail_about(r->error, node->place, what, "joint '%.60s' does not move", node->key);
  }
  if (range.count == 1) return tbi_fields_number(r->error, node, what, node->key, to);
  return tbi_fields_numbers(r->error, node, what, node->key, to, range.count);
}

static void set_joints(tbi_scene_reader *r, int32_t index, const char *what,
                       const tbi_yaml_node *map, bool velocity) {
  const tbi_yaml_node *node = map ? map->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next) {
    int32_t joint = tbi_scene_find_joint(r, index, node, what, node->key);
    if (joint != TABI_NONE) set_joint(r, joint, what, node, velocity);
  }
}

void tbi_scene_read_posture(tbi_scene_reader *r, int32_t index, const char *what) {
  const tbi_yaml_node *posture = r->robots[index].posture;
  const tbi_yaml_node *word = keyframe_of(r, index);
  if (word) {
    take_keyframe(r, index, word, what);
  } else if (posture && posture->kind == TBI_YAML_LIST) {
    tbi_fail_about(r->error, posture->place, what,
                   "posture must be the name of a keyframe or {joint: position, ...}");
  } else {
    set_joints(r, index, what, posture, false);
  }
  set_joints(r, index, what, r->robots[index].velocity, true);
}

/* -- the ground */

/* The free joint of a robot's base, or TABI_NONE. */
static int32_t base_joint(const tbi_scene_reader *r, int32_t index) {
  const tabi_model *model = r->scene->model;
  int32_t joint = tabi_model_link_joint(model, r->scene->robots[index].base);
  bool floats = joint != TABI_NONE && tabi_model_joint(model, joint).type == TABI_JOINT_FREE;
  return floats ? joint : TABI_NONE;
}

static void upwards(const tabi_model *model, double up[3]) {
  double g[3];
  tabi_model_gravity(model, g);
  double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  for (int k = 0; k < 3; ++k)
    up[k] = size > 0 ? -g[k] / size : (k == 2);
}

static void tell_lift(const tbi_scene_reader *r, int32_t index, const char *what, double rise) {
  tbi_tell(r->def->warn, r->def->warn_user, TABI_SEVERITY_NOTE, r->robots[index].posture->place,
           "%skeyframe '%.60s' is %.3g mm inside the ground and was lifted out; place: ground or "
           "xyz say where it stands",
           what, r->robots[index].posture->text, 1e3 * rise);
}

bool tbi_scene_place_robot(tbi_scene_reader *r, int32_t index, const char *what) {
  const tbi_robot_keys *keys = &r->robots[index];
  bool asked = keys->put_on;
  bool placed = keys->place[0] || keys->place[1] || keys->place[2];
  int32_t joint = base_joint(r, index);
  if (!asked && (!keyframe_of(r, index) || placed || joint == TABI_NONE)) return true;
  if (joint == TABI_NONE) {
    return tbi_fail_about(r->error, keys->place_of_robot, what,
                          "place: ground needs a base that floats; give base: free, or xyz");
  }
  double up[3];
  double rise = 0;
  tabi_error err = {0};
  upwards(r->scene->model, up);
  if (tabi_model_find_rise(r->scene->model, r->scene->q, joint, up, &rise, &err) != TABI_OK)
    return tbi_fail_as(r->error, &err);
  if (asked && !isfinite(rise)) {
    return tbi_fail_about(r->error, keys->place_of_robot, what,
                          "place: ground: nothing is below it; add a floor to the bodies");
  }
  bool lifts = rise > STANDS && rise <= MAX_LIFT;
  if (!asked && !lifts) return true;
  if (!asked) tell_lift(r, index, what, rise);
  double *pos = r->scene->q + tabi_model_joint_q(r->scene->model, joint).first;
  for (int k = 0; k < 3 && fabs(rise) > STANDS; ++k)
    pos[k] += rise * up[k];
  return true;
}
