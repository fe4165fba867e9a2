/* mjcf_actuator.c - motors and servos on joints and tendons.
 *
 * All actuator tags share one set of parameters, in defaults too: <position kp="9"> in a class is
 * a setting for every actuator of the class, which the actuator's own tag then reads over.  So we
 * replay the tags from the outermost class to the element. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct actuator {
  double gear[6], gain[10], bias[10];
  double damping;       /* kv of position servos */
  double ratio;         /* dampratio; 0: none */
  double inherit;       /* inheritrange; 0: none */
  double joint_damping; /* that it adds to its joint, before the gear */
  double armature;      /* likewise */
  bool has_bias;
  const char *left_out; /* what of it is not modelled, or NULL */
  tbi_mjcf_limits control, force;
  const char *unknown; /* what tabi cannot do about it, or NULL */
} actuator;

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; ++names) {
    if (strcmp(name, *names) == 0) return true;
  }
  return false;
}

static void set_servo(const tbi_mjcf_item *item, actuator *a, const char *attribute, int term) {
  (void)tbi_mjcf_number(item, attribute, a->gain);
  memset(a->bias, 0, sizeof a->bias);
  a->bias[term] = -a->gain[0];
  a->has_bias = true;
}

/* The damping term that position servos go on with; a positive one is a ratio. */
static void set_damping(actuator *a, double term) {
  a->damping = fmax(0, -term);
  a->ratio = fmax(0, term);
}

static void read_general(const tbi_mjcf_item *item, actuator *a) {
  const char *gain = tbi_mjcf_text(item, "gaintype", NULL);
  const char *bias = tbi_mjcf_text(item, "biastype", NULL);
  const char *dynamics = tbi_mjcf_text(item, "dyntype", NULL);
  (void)tbi_mjcf_numbers(item, "gainprm", 1, 10, a->gain);
  if (tbi_mjcf_numbers(item, "biasprm", 1, 10, a->bias) >= 3) set_damping(a, a->bias[2]);
  if (bias) a->has_bias = strcmp(bias, "none") != 0;
  a->unknown = NULL;
  if (gain && strcmp(gain, "fixed") != 0) a->unknown = "its gaintype is not fixed";
  if (bias && a->has_bias && strcmp(bias, "affine") != 0) {
    a->unknown = "its biastype is neither none nor affine";
  }
  a->left_out = NULL;
  if (!dynamics || strcmp(dynamics, "none") == 0) return;
  if (strcmp(dynamics, "filter") == 0 || strcmp(dynamics, "filterexact") == 0) {
    a->left_out = "its filter is left out";
  } else {
    a->unknown = "it has dynamics of its own";
  }
}

static void read_position(const tbi_mjcf_item *item, actuator *a) {
  double filter = 0;
  set_servo(item, a, "kp", 1);
  if (tbi_mjcf_number(item, "kv", &a->damping)) a->ratio = 0;
  (void)tbi_mjcf_number(item, "dampratio", &a->ratio);
  (void)tbi_mjcf_number(item, "inheritrange", &a->inherit);
  (void)tbi_mjcf_number(item, "timeconst", &filter);
  a->bias[2] = -a->damping;
  if (filter > 0) a->left_out = "its filter is left out";
}

/* F = area * u + bias; the first-order filter before it is left out */
static void read_cylinder(const tbi_mjcf_item *item, actuator *a) {
  double diameter = 0;
  double area = 1;
  (void)tbi_mjcf_number(item, "area", &area);
  if (tbi_mjcf_number(item, "diameter", &diameter) && diameter > 0) {
    area = M_PI / 4 * diameter * diameter;
  }
  (void)tbi_mjcf_text(item, "timeconst", NULL);
  a->gain[0] = area;
  (void)tbi_mjcf_numbers(item, "bias", 1, 3, a->bias);
  a->has_bias = true;
  a->left_out = "its filter is left out";
}

/* The tags of old and new MuJoCo that are not servos or motors. */
static bool read_other(const tbi_mjcf_item *item, actuator *a) {
  if (strcmp(item->node->name, "cylinder") != 0) return false;
  read_cylinder(item, a);
  return true;
}

/* One tag over the ones before. */
static void replay(tbi_mjcf *reader, tbi_xml_node *node, const char *label, actuator *a) {
  static const char *const known[] = {"general", "motor", "position", "velocity", "cylinder", NULL};
  static const char *const others[] = {"intvelocity", "damper",  "muscle",
                                       "adhesion",    "dcmotor", "pid",
                                       "orientation", "plugin",  NULL};
  bool is_known = is_one_of(node->name, known);
  if (!is_known && !is_one_of(node->name, others)) return;
  node->used = true;
  tbi_mjcf_item item = {.reader = reader, .node = node};
  strncpy(item.label, label, sizeof item.label - 1);
  (void)tbi_mjcf_numbers(&item, "gear", 1, 6, a->gear);
  tbi_mjcf_read_range(&item, "ctrlrange", "ctrllimited", &a->control);
  tbi_mjcf_read_range(&item, "forcerange", "forcelimited", &a->force);
  double damping[3] = {a->joint_damping, 0, 0};
  (void)tbi_mjcf_numbers(&item, "damping", 1, 3, damping);
  a->joint_damping = damping[0];
  (void)tbi_mjcf_number(&item, "armature", &a->armature);
  if (strcmp(node->name, "general") == 0) {
    (void)tbi_mjcf_number(&item, "inheritrange", &a->inherit);
    read_general(&item, a);
    return;
  }
  a->left_out = NULL;
  a->unknown = is_known ? NULL : "its kind is not supported";
  if (strcmp(node->name, "motor") == 0) {
    a->gain[0] = 1;
    a->has_bias = false;
    set_damping(a, 0);
  } else if (strcmp(node->name, "position") == 0) {
    read_position(&item, a);
  } else if (strcmp(node->name, "velocity") == 0) {
    set_servo(&item, a, "kv", 2);
  } else {
    (void)read_other(&item, a);
  }
}

static void replay_classes(const tbi_mjcf_item *item, actuator *a) {
  tbi_mjcf *reader = item->reader;
  int32_t innermost = reader->classes[item->default_class].depth;
  for (int32_t depth = 0; depth <= innermost; ++depth) {
    int32_t c = tbi_mjcf_class_at(reader, item->default_class, depth);
    tbi_xml_node *node = reader->classes[c].node ? reader->classes[c].node->first : NULL;
    for (; node && tbi_ok(&reader->error); node = node->next)
      replay(reader, node, item->label, a);
  }
}

/* What an actuator drives, a joint or a tendon. */
typedef struct target {
  int32_t joint, tendon; /* in the builder; TABI_NONE: the other one */
  double range[2];       /* infinite: none */
  double drive[2];       /* of the forces of all actuators; equal: none */
} target;

/* ctrlrange from the range of the joint, stretched about its middle */
static void inherit_range(const actuator *a, const target *t, double control[2]) {
  if (!(a->inherit > 0) || !isfinite(t->range[0]) || !isfinite(t->range[1])) return;
  double middle = 0.5 * (t->range[0] + t->range[1]);
  double half = 0.5 * a->inherit * (t->range[1] - t->range[0]);
  control[0] = middle - half;
  control[1] = middle + half;
}

/* The force at a joint is at most what the joint says, whichever limit is nearer. */
static void limit_force(const actuator *a, const target *t, double force[2]) {
  if (!(t->drive[0] < t->drive[1]) || a->gear[0] == 0) return;
  double low = t->drive[0] / a->gear[0];
  double high = t->drive[1] / a->gear[0];
  force[0] = fmax(force[0], fmin(low, high));
  force[1] = fmin(force[1], fmax(low, high));
}

/* What the actuator adds to what it drives, which the builder has already. */
static void load_target(tbi_mjcf *reader, const actuator *a, const target *t) {
  double square = a->gear[0] * a->gear[0];
  double damping = square * fmax(0, a->joint_damping);
  double inertia = square * fmax(0, a->armature);
  if (t->tendon != TABI_NONE) {
    tabi_tendon_def *tendon = (tabi_tendon_def *)reader->builder->tendons.items + t->tendon;
    tendon->damping += damping;
    tendon->inertia += inertia;
    return;
  }
  tabi_joint_def *joint = (tabi_joint_def *)reader->builder->joints.items + t->joint;
  joint->damping += damping;
  joint->rotor_inertia += inertia;
}

static void note_ratio(tbi_mjcf *reader, int32_t index, double ratio) {
  if (!tbi_array_reserve((void **)&reader->ratios, &reader->cap_ratio, reader->nratio, 1,
                         sizeof *reader->ratios)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->ratios[reader->nratio++] = (tbi_mjcf_ratio){index, ratio};
}

/* Its index in the builder, or TABI_NONE. */
static int32_t add_actuator(const tbi_mjcf_item *item, const actuator *a, const target *t,
                            int32_t number) {
  tbi_mjcf *reader = item->reader;
  tabi_actuator_def def = tabi_actuator_def_default();
  double control[2];
  double force[2];
  tbi_mjcf_settle_range(item, "ctrlrange", &a->control, control);
  tbi_mjcf_settle_range(item, "forcerange", &a->force, force);
  inherit_range(a, t, control);
  limit_force(a, t, force);
  def.name = tbi_mjcf_full_name(reader, item->name, "actuator", number);
  def.joint = t->joint;
  def.tendon = t->tendon;
  def.gear = a->gear[0];
  def.gain = a->gain[0];
  for (int i = 0; i < 3; ++i)
    def.bias[i] = a->has_bias ? a->bias[i] : 0;
  def.control_min = control[0];
  def.control_max = control[1];
  def.force_min = force[0];
  def.force_max = force[1];
  def.place = item->node->place;
  if (!tbi_ok(&reader->error) || (t->joint == TABI_NONE && t->tendon == TABI_NONE))
    return TABI_NONE;
  load_target(reader, a, t);
  int32_t added = tabi_builder_add_actuator(reader->builder, &def);
  // of a general actuator a positive damping term means the same as dampratio
  bool like_position = def.bias[1] < 0 && def.gain == -def.bias[1];
  double ratio = a->ratio > 0 ? a->ratio : like_position && def.bias[2] > 0 ? def.bias[2] : 0;
  if (added != TABI_NONE && ratio > 0) note_ratio(reader, added, ratio);
  return added;
}

/* The joint that an actuator drives, or why there is none. */
static target find_joint(const tbi_mjcf_item *item, const char **reason) {
  const tbi_mjcf *reader = item->reader;
  target t = {.joint = TABI_NONE, .tendon = TABI_NONE};
  bool in_parent = tbi_xml_get(item->node, "jointinparent") != NULL;
  *reason = "it does not drive a joint or a tendon";
  if (!in_parent && !tbi_xml_get(item->node, "joint")) return t;
  int32_t index = tbi_mjcf_reference(item, in_parent ? "jointinparent" : "joint",
                                     &reader->joint_names, "joint", true);
  *reason = NULL;
  if (index == TABI_NONE) return t;
  const tbi_mjcf_joint *joint = &reader->joints[index];
  if (joint->type == TBI_MJCF_FREE || joint->type == TBI_MJCF_BALL) {
    *reason = "its joint has more than one degree of freedom";
  }
  t.joint = joint->index;
  t.range[0] = joint->def.lower;
  t.range[1] = joint->def.upper;
  memcpy(t.drive, joint->drive, sizeof t.drive);
  return t;
}

static target find_target(const tbi_mjcf_item *item, const char **reason) {
  const tbi_mjcf *reader = item->reader;
  if (!tbi_xml_get(item->node, "tendon")) return find_joint(item, reason);
  target t = {.joint = TABI_NONE, .tendon = TABI_NONE};
  int32_t index = tbi_mjcf_reference(item, "tendon", &reader->tendon_names, "tendon", true);
  *reason = NULL;
  if (index == TABI_NONE) return t;
  const tbi_mjcf_tendon *tendon = &reader->tendons[index];
  t.tendon = tendon->index;
  memcpy(t.range, tendon->range, sizeof t.range);
  memcpy(t.drive, tendon->drive, sizeof t.drive);
  return t;
}

/* Its index in the builder; TABI_NONE if it is left out, which is told. */
static int32_t read_actuator(tbi_mjcf *reader, tbi_xml_node *node, int32_t number) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, node->name, 0);
  actuator a = {
      .gear = {1},
      .gain = {      1},
      .control = { {0, 0}, TBI_MJCF_LIMITS_AUTO},
      .force = { {0, 0}, TBI_MJCF_LIMITS_AUTO}
  };
  replay_classes(&item, &a);
  a.unknown = "its kind is not supported";
  replay(reader, node, item.label, &a);
  const char *reason = a.unknown;
  target t = {.joint = TABI_NONE, .tendon = TABI_NONE};
  if (!reason) t = find_target(&item, &reason);
  if (!tbi_ok(&reader->error)) return TABI_NONE;
  if (!reason) {
    if (a.left_out) tbi_warn(reader->def, node->place, "%s: %s", item.label, a.left_out);
    return add_actuator(&item, &a, &t, number);
  }
  tbi_warn(reader->def, node->place, "%s is ignored: %s", item.label, reason);
  tbi_xml_use_all(node);
  return TABI_NONE;
}

static void number_actuator(tbi_mjcf *reader, int32_t index) {
  if (!tbi_array_reserve((void **)&reader->actuators, &reader->cap_actuator, reader->nactuator, 1,
                         sizeof *reader->actuators)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->actuators[reader->nactuator++] = index;
}

void tbi_mjcf_read_actuators(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "actuator");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = section->first;
    for (; node && tbi_ok(&reader->error); node = node->next) {
      node->used = true;
      number_actuator(reader, read_actuator(reader, node, reader->nactuator));
    }
  }
}
