/* mjcf_body.c - the tree of bodies, with their joints, numbered as MuJoCo numbers them: a body
 * before its children, its joints and geoms before theirs. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "base/assertion.h"
#include "io/repair.h"

#include <math.h>
#include <string.h>

static void read_axis(const tbi_mjcf_item *item, tbi_mjcf_joint *joint) {
  double anchor[3] = {0, 0, 0};
  double axis[3] = {0, 0, 1};
  (void)tbi_mjcf_numbers(item, "pos", 3, 3, anchor);
  (void)tbi_mjcf_numbers(item, "axis", 3, 3, axis);
  v3 pos = v3_load(anchor);
  q4 rot = q_identity();
  tbi_mjcf_outward(item, joint->body, &pos, &rot);
  joint->anchor = joint->type == TBI_MJCF_FREE ? v3_zero() : pos;
  double length = v3_norm(v3_load(axis));
  bool has_axis = joint->type == TBI_MJCF_SLIDE || joint->type == TBI_MJCF_HINGE;
  if (has_axis && !(length > 1e-14)) {
    tbi_mjcf_fail(item, "axis has zero length; give a direction");
    return;
  }
  joint->axis = v3_make(0, 0, 1);
  if (has_axis) joint->axis = tbi_mjcf_turn(rot, v3_scale(1 / length, v3_load(axis)));
}

/* Limits of all actuators of the joint together. */
static void read_drive(const tbi_mjcf_item *item, tbi_mjcf_joint *joint) {
  tbi_mjcf_limits limits = {
      {0, 0},
      TBI_MJCF_LIMITS_AUTO
  };
  double bounds[2];
  tbi_mjcf_read_range(item, "actuatorfrcrange", "actuatorfrclimited", &limits);
  tbi_mjcf_settle_range(item, "actuatorfrcrange", &limits, bounds);
  bool single = joint->type == TBI_MJCF_HINGE || joint->type == TBI_MJCF_SLIDE;
  if (!single || isinf(bounds[0])) return;
  memcpy(joint->drive, bounds, sizeof joint->drive);
  joint->def.effort = fmax(fabs(bounds[0]), fabs(bounds[1]));
}

static void repair_passive(const tbi_mjcf_item *item, const char *what, double *value) {
  tbi_repair_negative(&item->reader->error, item->reader->def, item->node->place, item->label, what,
                      value);
}

/* what stands in its place is settled when the inertia is known */
static void read_springdamper(const tbi_mjcf_item *item, tbi_mjcf_joint *joint) {
  double *given = joint->springdamper;
  if (joint->type == TBI_MJCF_FREE || tbi_mjcf_numbers(item, "springdamper", 2, 2, given) == 0)
    return;
  if (given[0] > 0 && given[1] > 0) return;
  tbi_mjcf_fail(item, "springdamper %g %g: time constant and damping ratio must be > 0", given[0],
                given[1]);
}

/* spring, damper, friction, rotor */
static void read_passive(const tbi_mjcf_item *item, tbi_mjcf_joint *joint, double unit) {
  tabi_joint_def *def = &joint->def;
  tbi_mjcf_read_linear(item, "stiffness", &def->stiffness);
  (void)tbi_mjcf_number(item, "springref", &def->rest_position);
  tbi_mjcf_read_linear(item, "damping", &def->damping);
  read_springdamper(item, joint);
  read_drive(item, joint);
  (void)tbi_mjcf_number(item, "frictionloss", &def->friction);
  (void)tbi_mjcf_number(item, "armature", &def->rotor_inertia);
  def->rest_position *= unit;
  repair_passive(item, "damping", &def->damping);
  repair_passive(item, "frictionloss", &def->friction);
  const tbi_mjcf_disabled *off = &item->reader->disabled;
  if (off->spring) def->stiffness = joint->springdamper[0] = 0;
  if (off->damper) def->damping = joint->springdamper[0] = 0;
  if (off->friction) def->friction = 0;
}

static void read_limits(const tbi_mjcf_item *item, tbi_mjcf_joint *joint, double unit) {
  tbi_mjcf_limits limits = {
      {0, 0},
      TBI_MJCF_LIMITS_AUTO
  };
  double bounds[2];
  tbi_mjcf_read_range(item, "range", "limited", &limits);
  tbi_mjcf_settle_range(item, "range", &limits, bounds);
  if (joint->type == TBI_MJCF_FREE || item->reader->disabled.limit) return;
  joint->def.upper = bounds[1] * unit;
  if (joint->type != TBI_MJCF_BALL) {
    joint->def.lower = bounds[0] * unit;
  } else if (bounds[0] != 0 && isfinite(bounds[0])) {
    tbi_mjcf_fail(item, "range of a ball joint starts at 0, not at %g", bounds[0]);
  }
}

static void set_type(tbi_mjcf_joint *joint) {
  static const tabi_joint_type types[] = {TABI_JOINT_FREE, TABI_JOINT_BALL, TABI_JOINT_PRISMATIC,
                                          TABI_JOINT_REVOLUTE};
  tabi_joint_def *def = &joint->def;
  def->type = types[joint->type];
  if (joint->type == TBI_MJCF_HINGE && isinf(def->lower) && isinf(def->upper)) {
    def->type = TABI_JOINT_CONTINUOUS;
  }
}

static void read_hinge_or_other(const tbi_mjcf_item *item, tbi_mjcf_joint *joint) {
  static const char *const types[] = {"free", "ball", "slide", "hinge", NULL};
  joint->type = tbi_mjcf_word(item, "type", types, TBI_MJCF_HINGE);
  double unit = joint->type == TBI_MJCF_SLIDE
                    ? 1
                    : tbi_mjcf_compiler_of(item->reader, item->node)->angle_unit;
  bool has_ref = joint->type == TBI_MJCF_SLIDE || joint->type == TBI_MJCF_HINGE;
  double ref = 0;
  (void)tbi_mjcf_number(item, "ref", &ref);
  joint->ref = has_ref ? ref * unit : 0;
  read_axis(item, joint);
  read_passive(item, joint, unit);
  read_limits(item, joint, unit);
}

/* A free joint is alone, and under the world. */
static void check_free(const tbi_mjcf_item *item, const tbi_mjcf_joint *joint) {
  const tbi_mjcf *reader = item->reader;
  const tbi_mjcf_body *body = &reader->bodies[joint->body];
  bool first_free = body->njoint > 0 && reader->joints[body->first_joint].type == TBI_MJCF_FREE;
  if (joint->type == TBI_MJCF_FREE && body->parent != 0) {
    tbi_mjcf_fail(item, "a free joint belongs to a body directly in the worldbody");
  } else if (first_free || (joint->type == TBI_MJCF_FREE && body->njoint > 0)) {
    tbi_mjcf_fail(item, "a free joint must be the only joint of its body");
  }
}

void tbi_mjcf_read_joint(tbi_mjcf *reader, tbi_xml_node *node, int32_t body) {
  TBI_ASSERT(body >= 0 && body < reader->nbody);
  int32_t inherited = tbi_mjcf_class_around(reader, node, reader->bodies[body].child_class);
  // a freejoint takes no defaults, by intention
  bool plain_free = strcmp(node->name, "freejoint") == 0;
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, plain_free ? NULL : "joint", inherited);
  tbi_mjcf_joint joint = {.name = item.name,
                          .type = TBI_MJCF_FREE,
                          .body = body,
                          .axis = v3_make(0, 0, 1),
                          .def = tabi_joint_def_default(),
                          .index = TABI_NONE};
  if (!plain_free) read_hinge_or_other(&item, &joint);
  if (body == 0) tbi_mjcf_fail(&item, "the world cannot have joints");
  set_type(&joint);
  joint.def.place = node->place;
  check_free(&item, &joint);
  if (!tbi_ok(&reader->error)) return;
  int32_t before = tbi_mjcf_add_name(&item, &reader->joint_names, reader->njoint);
  if (before >= 0) {
    tbi_mjcf_fail(&item, "defined twice (first at line %d)",
                  (int)reader->joints[before].def.place.line);
    return;
  }
  if (!tbi_array_reserve((void **)&reader->joints, &reader->cap_joint, reader->njoint, 1,
                         sizeof *reader->joints)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->joints[reader->njoint++] = joint;
  ++reader->bodies[body].njoint;
}

static int32_t add_body(tbi_mjcf *reader, const tbi_mjcf_item *item, int32_t parent) {
  if (!tbi_array_reserve((void **)&reader->bodies, &reader->cap_body, reader->nbody, 1,
                         sizeof *reader->bodies)) {
    tbi_fail_memory(&reader->error);
    return TABI_NONE;
  }
  int32_t before = tbi_mjcf_add_name(item, &reader->body_names, reader->nbody);
  if (before == 0) {
    tbi_mjcf_fail(item, "the name belongs to the world; take another");
  } else if (before > 0) {
    tbi_mjcf_fail(item, "defined twice (first at line %d)", (int)reader->bodies[before].place.line);
  }
  reader->bodies[reader->nbody] = (tbi_mjcf_body){.name = item->name,
                                                  .place = item->node->place,
                                                  .node = item->node,
                                                  .parent = parent,
                                                  .rot = q_identity(),
                                                  .world_rot = q_identity(),
                                                  .file_rot = q_identity(),
                                                  .first_joint = reader->njoint,
                                                  .first_geom = reader->ngeom,
                                                  .link = TABI_WORLD};
  return tbi_ok(&reader->error) ? reader->nbody++ : TABI_NONE;
}

/* Puts the base where the caller asks, whatever the file says. */
static void place(tbi_mjcf *reader, tbi_mjcf_body *body, bool is_base) {
  const tabi_load_def *def = reader->def;
  const tbi_mjcf_body *parent = &reader->bodies[body->parent];
  body->file_pos = v3_add(parent->file_pos, tbi_mjcf_turn(parent->file_rot, body->pos));
  body->file_rot = q_mul(parent->file_rot, body->rot);
  if (is_base && def->place_base) {
    body->pos = v3_load(def->base_pos);
    body->rot = q_normalize(q_load(def->base_quat));
  }
  body->world_pos = v3_add(parent->world_pos, tbi_mjcf_turn(parent->world_rot, body->pos));
  body->world_rot = q_mul(parent->world_rot, body->rot);
}

static int32_t class_for_children(const tbi_mjcf_item *item, int32_t inherited) {
  if (!tbi_xml_get(item->node, "childclass")) return inherited;
  int32_t c =
      tbi_mjcf_reference(item, "childclass", &item->reader->class_names, "default class", false);
  return c == TABI_NONE ? inherited : c;
}

static void read_mocap(const tbi_mjcf_item *item) {
  static const char *const words[] = {"false", "true", NULL};
  tbi_mjcf *reader = item->reader;
  if (tbi_mjcf_word(item, "mocap", words, 0) == 0 || (reader->noticed & TBI_MJCF_MOCAP)) return;
  reader->noticed |= TBI_MJCF_MOCAP;
  tbi_mjcf_warn(reader, item->node->place, "%s: mocap bodies stand still", item->label);
}

/* What is in a body, but for other bodies. */
static void read_contents(tbi_mjcf *reader, tbi_xml_node *node, int32_t index) {
  for (tbi_xml_node *child = node->first; child && tbi_ok(&reader->error); child = child->next) {
    if (strcmp(child->name, "joint") != 0 && strcmp(child->name, "freejoint") != 0) continue;
    child->used = true;
    tbi_mjcf_read_joint(reader, child, index);
  }
  tbi_xml_node *geom = tbi_xml_child(node, "geom");
  for (; geom && tbi_ok(&reader->error); geom = tbi_xml_next(geom)) {
    tbi_mjcf_read_geom(reader, geom, index);
  }
  reader->bodies[index].ngeom = reader->ngeom - reader->bodies[index].first_geom;
  tbi_xml_node *site = tbi_xml_child(node, "site");
  for (; site && tbi_ok(&reader->error); site = tbi_xml_next(site))
    tbi_mjcf_read_site(reader, site, index);
}

static int32_t read_body(tbi_mjcf *reader, tbi_xml_node *node, int32_t parent) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  int32_t index = add_body(reader, &item, parent);
  if (index == TABI_NONE) return index;
  tbi_mjcf_body *body = &reader->bodies[index];
  (void)tbi_mjcf_frame(&item, &body->pos, &body->rot);
  // in the world's coordinates a body is where its parent is unless it says where
  bool placed = !tbi_mjcf_compiler_of(reader, node)->global || tbi_xml_get(node, "pos");
  if (!placed) body->pos = reader->bodies[parent].file_pos;
  tbi_mjcf_outward(&item, parent, &body->pos, &body->rot);
  read_mocap(&item);
  (void)tbi_mjcf_number(&item, "gravcomp", &body->buoyancy);
  if (node == reader->base_node) reader->base = index;
  place(reader, body, index == reader->base);
  int rule = tbi_mjcf_compiler_of(reader, node)->inertia_rule;
  body->weighs_geoms = rule == TBI_MJCF_INERTIA_GEOMS ||
                       (rule == TBI_MJCF_INERTIA_AUTO && !tbi_xml_child(node, "inertial"));
  int32_t around = tbi_mjcf_class_around(reader, node, reader->bodies[parent].child_class);
  body->child_class = class_for_children(&item, around);
  read_contents(reader, node, index);
  if (tbi_ok(&reader->error)) tbi_mjcf_read_inertia(reader, index);
  return index;
}

static bool has_joint(tbi_xml_node *body) {
  return tbi_xml_child(body, "joint") || tbi_xml_child(body, "freejoint");
}

/* Whether anything moves in a body of the world, itself or below; depth is that of the file. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
static bool moves(tbi_xml_node *body) {
  bool found = has_joint(body);
  tbi_xml_node *child = found ? NULL : tbi_xml_child(body, "body");
  for (; child && !found; child = tbi_xml_next(child))
    found = moves(child);
  return found;
}

/* The body that a caller means by the robot's base: the first that moves, or else the first. */
static tbi_xml_node *find_base(tbi_mjcf *reader) {
  tbi_xml_node *first = NULL;
  tbi_xml_node *world = tbi_xml_child(reader->root, "worldbody");
  for (; world; world = tbi_xml_next(world)) {
    tbi_xml_node *body = tbi_xml_child(world, "body");
    for (; body; body = tbi_xml_next(body)) {
      if (moves(body)) return body;
      if (!first) first = body;
    }
  }
  return first;
}

/* All bodies below the world, a body before those in it. */
static void walk(tbi_mjcf *reader, tbi_xml_node *world) {
  int32_t parent = 0;
  tbi_xml_node *node = tbi_xml_child(world, "body");
  while (node && tbi_ok(&reader->error)) {
    int32_t index = read_body(reader, node, parent);
    tbi_xml_node *next = tbi_xml_child(node, "body");
    if (next) {
      parent = index;
    } else {
      // the next beside it, or beside the nearest body around it that has one
      while (!(next = tbi_xml_next(node)) && parent != 0) {
        node = reader->bodies[parent].node;
        parent = reader->bodies[parent].parent;
      }
    }
    node = next;
  }
}

void tbi_mjcf_read_bodies(tbi_mjcf *reader) {
  tbi_mjcf_item world = tbi_mjcf_item_of(reader, reader->root, NULL, 0);
  world.name = "world";
  if (add_body(reader, &world, 0) == TABI_NONE) return;
  reader->base_node = find_base(reader);
  tbi_xml_node *node = tbi_xml_child(reader->root, "worldbody");
  for (; node && tbi_ok(&reader->error); node = tbi_xml_next(node)) {
    tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
    reader->bodies[0].child_class = class_for_children(&item, 0);
    read_contents(reader, node, 0);
    walk(reader, node);
  }
  tbi_mjcf_scale_masses(reader);
}
