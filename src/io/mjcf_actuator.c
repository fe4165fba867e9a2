/* mjcf_actuator.c - motors and servos on joints.
 *
 * All actuator tags share one set of parameters, in defaults too: <position kp="9"> in a class is
 * a setting for every actuator of the class, which the actuator's own tag then reads over.  So we
 * replay the tags from the outermost class to the element. */
#include "io/mjcf_reader.h"

#include <string.h>

typedef struct actuator {
  double gear[6], gain[10], bias[10];
  double damping; /* kv of position servos */
  bool has_bias;
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

static void read_general(const tbi_mjcf_item *item, actuator *a) {
  const char *gain = tbi_mjcf_text(item, "gaintype", NULL);
  const char *bias = tbi_mjcf_text(item, "biastype", NULL);
  const char *dynamics = tbi_mjcf_text(item, "dyntype", NULL);
  (void)tbi_mjcf_numbers(item, "gainprm", 1, 10, a->gain);
  (void)tbi_mjcf_numbers(item, "biasprm", 1, 10, a->bias);
  if (bias) a->has_bias = strcmp(bias, "none") != 0;
  a->unknown = NULL;
  if (gain && strcmp(gain, "fixed") != 0) a->unknown = "its gaintype is not fixed";
  if (bias && a->has_bias && strcmp(bias, "affine") != 0) {
    a->unknown = "its biastype is neither none nor affine";
  }
  if (dynamics && strcmp(dynamics, "none") != 0) a->unknown = "it has dynamics of its own";
}

/* One tag over the ones before. */
static void replay(tbi_mjcf *reader, tbi_xml_node *node, const char *label, actuator *a) {
  static const char *const known[] = {"general", "motor", "position", "velocity", NULL};
  static const char *const others[] = {"intvelocity", "damper",   "cylinder",
                                       "muscle",      "adhesion", NULL};
  bool is_known = is_one_of(node->name, known);
  if (!is_known && !is_one_of(node->name, others)) return;
  node->used = true;
  tbi_mjcf_item item = {.reader = reader, .node = node};
  strncpy(item.label, label, sizeof item.label - 1);
  (void)tbi_mjcf_numbers(&item, "gear", 1, 6, a->gear);
  tbi_mjcf_read_range(&item, "ctrlrange", "ctrllimited", &a->control);
  tbi_mjcf_read_range(&item, "forcerange", "forcelimited", &a->force);
  if (strcmp(node->name, "general") == 0) {
    read_general(&item, a);
    return;
  }
  a->unknown = is_known ? NULL : "its kind is not supported";
  if (strcmp(node->name, "motor") == 0) {
    a->gain[0] = 1;
    a->has_bias = false;
  } else if (strcmp(node->name, "position") == 0) {
    set_servo(&item, a, "kp", 1);
    // later MuJoCo has damping here too
    (void)tbi_mjcf_number(&item, "kv", &a->damping);
    a->bias[2] = -a->damping;
  } else if (strcmp(node->name, "velocity") == 0) {
    set_servo(&item, a, "kv", 2);
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

static void add_actuator(const tbi_mjcf_item *item, const actuator *a, int32_t joint,
                         int32_t number) {
  tabi_actuator_def def = tabi_actuator_def_default();
  double control[2];
  double force[2];
  tbi_mjcf_settle_range(item, "ctrlrange", &a->control, control);
  tbi_mjcf_settle_range(item, "forcerange", &a->force, force);
  def.name = tbi_mjcf_full_name(item->reader, item->name, "actuator", number);
  def.joint = joint;
  def.gear = a->gear[0];
  def.gain = a->gain[0];
  for (int i = 0; i < 3; ++i)
    def.bias[i] = a->has_bias ? a->bias[i] : 0;
  def.control_min = control[0];
  def.control_max = control[1];
  def.force_min = force[0];
  def.force_max = force[1];
  def.place = item->node->place;
  if (tbi_ok(&item->reader->error)) (void)tabi_builder_add_actuator(item->reader->builder, &def);
}

/* Why an actuator cannot be used, or NULL; *joint is the one it drives. */
static const char *why_not(const tbi_mjcf_item *item, const actuator *a, int32_t *joint) {
  const tbi_mjcf *reader = item->reader;
  if (a->unknown) return a->unknown;
  if (!tbi_xml_get(item->node, "joint")) return "it does not drive a joint";
  *joint = tbi_mjcf_reference(item, "joint", &reader->joint_names, "joint", true);
  if (*joint == TABI_NONE) return NULL;
  int type = reader->joints[*joint].type;
  if (type == TBI_MJCF_FREE || type == TBI_MJCF_BALL) {
    return "its joint has more than one degree of freedom";
  }
  return NULL;
}

static void read_actuator(tbi_mjcf *reader, tbi_xml_node *node, int32_t number) {
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
  int32_t joint = TABI_NONE;
  const char *reason = why_not(&item, &a, &joint);
  if (!tbi_ok(&reader->error)) return;
  if (!reason) {
    add_actuator(&item, &a, reader->joints[joint].index, number);
    return;
  }
  tbi_mjcf_warn(reader, node->place, "%s is ignored: %s", item.label, reason);
  for (tbi_xml_attribute *each = node->attributes; each; each = each->next)
    each->used = true;
}

void tbi_mjcf_read_actuators(tbi_mjcf *reader) {
  int32_t number = 0;
  tbi_xml_node *section = tbi_xml_child(reader->root, "actuator");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = section->first;
    for (; node && tbi_ok(&reader->error); node = node->next) {
      node->used = true;
      read_actuator(reader, node, number++);
    }
  }
}
