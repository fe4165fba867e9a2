/* hrp_vrml.c - Humanoid, Joint, Segment, sensors and ExtraJoint of OpenHRP3.
 *
 * The frame of a link is that of its Joint, whose translation and rotation place it in the
 * parent's. As in OpenHRP3, a Joint's center and scale are not used, the inertia that a motor adds
 * is rotorInertia * gearRatio^2, and a root of no known type floats. */
#include "io/hrp/hrp_vrml.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/format.h"
#include "io/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_SIZE 160
#define MAX_VISITS 2000000 /* nodes gone through, however often they are used */

static const char *name_of(const tbi_vrml_node *node) {
  const tbi_vrml_field *field = tbi_vrml_get(node, "name");
  if (node->name) return node->name;
  return field && field->kind == TBI_VRML_STRINGS ? field->of.strings[0] : "";
}

/* "Joint 'WAIST'" for messages. */
static const char *label(const tbi_vrml_node *node, char text[LABEL_SIZE]) {
  const char *name = name_of(node);
  (void)snprintf(text, LABEL_SIZE, name[0] ? "%.60s '%.80s'" : "%.60s", node->type, name);
  return text;
}

/* ---------------------------------------------------------------------------------- fields */

bool tbi_hrp_vrml_numbers(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field,
                          double *values, int32_t count) {
  char text[LABEL_SIZE];
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  if (!found || !tbi_ok(&hrp->error) || found->kind == TBI_VRML_EMPTY) return false;
  if (found->kind != TBI_VRML_NUMBERS || found->count != count) {
    return tbi_fail_at(&hrp->error, TABI_ERR_PARSE, found->place, "%s: %s needs %d numbers, got %d",
                       label(node, text), field, (int)count,
                       found->kind == TBI_VRML_NUMBERS ? (int)found->count : 0);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (isfinite(found->of.numbers[i])) continue;
    return tbi_fail_at(&hrp->error, TABI_ERR_PARSE, found->place, "%s: %s is too large a number",
                       label(node, text), field);
  }
  memcpy(values, found->of.numbers, (size_t)count * sizeof *values);
  return true;
}

/* The first number of a list that may be empty. */
static bool first_number(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field,
                         double *value) {
  char text[LABEL_SIZE];
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  if (!found || !tbi_ok(&hrp->error) || found->kind == TBI_VRML_EMPTY) return false;
  if (found->kind != TBI_VRML_NUMBERS || isnan(found->of.numbers[0])) {
    return tbi_fail_at(&hrp->error, TABI_ERR_PARSE, found->place, "%s: %s is not a number",
                       label(node, text), field);
  }
  *value = found->of.numbers[0];
  return true;
}

static const char *get_string(const tbi_vrml_node *node, const char *field) {
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  return found && found->kind == TBI_VRML_STRINGS ? found->of.strings[0] : NULL;
}

const tbi_vrml_node *tbi_hrp_vrml_node(const tbi_vrml_node *node, const char *field) {
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  return found && found->kind == TBI_VRML_NODES ? found->of.nodes[0] : NULL;
}

/* What says nothing need not be told. */
static bool says_nothing(const tbi_vrml_field *field) {
  if (field->kind == TBI_VRML_EMPTY) return true;
  if (field->kind != TBI_VRML_NUMBERS) return false;
  for (int32_t i = 0; i < field->count; ++i) {
    if (field->of.numbers[i] != 0) return false;
  }
  return true;
}

void tbi_hrp_vrml_check(tbi_hrp *hrp, const tbi_vrml_node *node, const char *also) {
  for (const tbi_vrml_field *f = node->fields; f && tbi_ok(&hrp->error); f = f->next) {
    if (says_nothing(f)) continue;
    const tbi_format_row *row = tbi_hrp_find_row(&tbi_vrml_format, node->type, f->name);
    if (!row && also) row = tbi_hrp_find_row(&tbi_vrml_format, also, f->name);
    tbi_hrp_tell(hrp, f->place, row, node->type, f->name);
  }
}

static q4 get_rotation(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field) {
  double axis_angle[4] = {0, 0, 1, 0};
  tbi_hrp_vrml_numbers(hrp, node, field, axis_angle, 4);
  return tbi_hrp_rotation(axis_angle);
}

static v3 get_vector(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field, v3 value) {
  double numbers[3];
  v3_store(value, numbers);
  tbi_hrp_vrml_numbers(hrp, node, field, numbers, 3);
  return v3_load(numbers);
}

/* ---------------------------------------------------------------------------------- joints */

static const struct {
  const char *name;
  v3 axis;
} axes[] = {
    {"X",  {1, 0, 0} },
    {"Y",  {0, 1, 0} },
    {"Z",  {0, 0, 1} },
    {"-X", {-1, 0, 0}},
    {"-Y", {0, -1, 0}},
    {"-Z", {0, 0, -1}},
};

static v3 get_axis(tbi_hrp *hrp, const tbi_vrml_node *node, v3 axis) {
  char text[LABEL_SIZE];
  const char *name = get_string(node, "jointAxis");
  if (!name) return get_vector(hrp, node, "jointAxis", axis);
  for (size_t i = 0; i < sizeof axes / sizeof *axes; ++i) {
    if (strcmp(name, axes[i].name) == 0) return axes[i].axis;
  }
  tbi_fail_at(&hrp->error, TABI_ERR_PARSE, node->place,
              "%s: jointAxis '%.40s' is none of X, Y, Z or a vector", label(node, text), name);
  return axis;
}

static void read_motor(tbi_hrp *hrp, const tbi_vrml_node *node, tabi_joint_def *joint) {
  double gear = 1;
  double torque_constant = 1;
  double current = INFINITY;
  double lower = -INFINITY;
  double upper = INFINITY;
  double inertia = 0;
  first_number(hrp, node, "gearRatio", &gear);
  first_number(hrp, node, "torqueConst", &torque_constant);
  first_number(hrp, node, "rotorInertia", &joint->rotor_inertia);
  joint->gear = gear;
  // newer files give the product
  if (first_number(hrp, node, "equivalentInertia", &inertia) && inertia > 0) {
    joint->rotor_inertia = inertia;
    joint->gear = 1;
  }
  if (first_number(hrp, node, "climit", &current) && isfinite(current))
    joint->effort = fabs(current * gear * torque_constant);
  bool limited = first_number(hrp, node, "lvlimit", &lower);
  limited = first_number(hrp, node, "uvlimit", &upper) || limited;
  if (limited) joint->velocity = tbi_min(fabs(lower), fabs(upper));
}

static void read_axis_joint(tbi_hrp *hrp, const tbi_vrml_node *node, bool slides,
                            tabi_joint_def *joint) {
  double lower = -INFINITY;
  double upper = INFINITY;
  v3_store(get_axis(hrp, node, v3_make(0, 0, 1)), joint->axis);
  first_number(hrp, node, "llimit", &lower);
  first_number(hrp, node, "ulimit", &upper);
  tbi_hrp_set_axis_joint(joint, slides, lower, upper);
  read_motor(hrp, node, joint);
  double value = 0;
  if (first_number(hrp, node, "jointValue", &value)) joint->initial_q[0] = value;
}

static void read_type(tbi_hrp *hrp, const tbi_vrml_node *node, bool is_root,
                      tabi_joint_def *joint) {
  char text[LABEL_SIZE];
  const char *type = get_string(node, "jointType");
  if (!type) type = "";
  if (strcmp(type, "rotate") == 0 || strcmp(type, "slide") == 0) {
    read_axis_joint(hrp, node, type[0] == 's', joint);
    return;
  }
  bool floats = strcmp(type, "free") == 0 || (type[0] == '\0' && is_root);
  joint->type = floats ? TABI_JOINT_FREE : TABI_JOINT_FIXED;
  if (floats || strcmp(type, "fixed") == 0) return;
  if (strcmp(type, "crawler") == 0 || type[0] == '\0') {
    tbi_warn(hrp->def, node->place, "%s: jointType '%s' is taken as fixed", label(node, text),
             type);
    return;
  }
  tbi_fail_at(&hrp->error, TABI_ERR_PARSE, node->place,
              "%s: unknown jointType '%.40s' (free, fixed, rotate, slide, crawler)",
              label(node, text), type);
}

static void read_id(tbi_hrp *hrp, const tbi_vrml_node *node, tabi_joint_def *joint) {
  double id = -1;
  if (first_number(hrp, node, "jointId", &id) && id >= 0 && id < INT32_MAX && id == floor(id))
    joint->id = (int32_t)id;
}

/* The joint's frame in the parent's; transforms between them only move and turn. */
static void place_joint(const tbi_hrp_walk *walk, const tbi_vrml_node *node,
                        tabi_joint_def *joint) {
  v3 at = get_vector(walk->hrp, node, "translation", v3_zero());
  q4 turn = get_rotation(walk->hrp, node, "rotation");
  v3_store(v3_add(walk->frame.offset, m3_mulv(&walk->frame.linear, at)), joint->pos);
  q_store(q_mul(tbi_hrp_frame_rotation(&walk->frame), turn), joint->quat);
}

// NOLINTBEGIN(misc-no-recursion): at most TBI_HRP_MAX_DEPTH deep
static void add_joint(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp *hrp = walk->hrp;
  char made[LABEL_SIZE];
  const char *name = name_of(node);
  if (name[0] == '\0') {
    (void)snprintf(made, sizeof made, "joint%d", (int)hrp->nlink);
    name = made;
  }
  tbi_hrp_vrml_check(hrp, node, NULL);
  tbi_hrp_link *link = tbi_hrp_add_link(hrp, name, node->place);
  if (!link) return;
  link->parent = walk->link;
  read_type(hrp, node, walk->link == TABI_NONE, &link->joint);
  read_id(hrp, node, &link->joint);
  place_joint(walk, node, &link->joint);
  tbi_hrp_walk below = *walk;
  below.link = hrp->nlink - 1;
  below.frame = tbi_hrp_frame_identity();
  tbi_hrp_walk_nodes(&below, node, "children");
}

/* -------------------------------------------------------------------------------- segments */

static void add_segment(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp *hrp = walk->hrp;
  double mass = 0;
  double i[9] = {0};
  tbi_hrp_vrml_check(hrp, node, NULL);
  first_number(hrp, node, "mass", &mass);
  v3 com = get_vector(hrp, node, "centerOfMass", v3_zero());
  tbi_hrp_vrml_numbers(hrp, node, "momentsOfInertia", i, 9);
  if (tbi_ok(&hrp->error)) {
    s3 about = {i[0], i[4], i[8], (i[1] + i[3]) / 2, (i[2] + i[6]) / 2, (i[5] + i[7]) / 2};
    m3 turn = q_matrix(tbi_hrp_frame_rotation(&walk->frame));
    v3 at = v3_add(walk->frame.offset, m3_mulv(&walk->frame.linear, com));
    tbi_hrp_add_mass(hrp, walk->link, mass, at, s3_rotate(&turn, about));
  }
  tbi_hrp_walk_nodes(walk, node, "children");
}

/* --------------------------------------------------------------------------------- sensors */

static const struct {
  const char *node;
  tabi_sensor_type type;
  const char *largest[2]; /* fields with three ranges each */
} sensors[] = {
    {"ForceSensor",        TABI_SENSOR_FORCE_TORQUE,  {"maxForce", "maxTorque"}   },
    {"Gyro",               TABI_SENSOR_GYRO,          {"maxAngularVelocity", NULL}},
    {"AccelerationSensor", TABI_SENSOR_ACCELEROMETER, {"maxAcceleration", NULL}   },
};

static tbi_hrp_walk moved(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp_walk below = *walk;
  v3 one = {1, 1, 1};
  tbi_hrp_frame local = tbi_hrp_frame_make(get_vector(walk->hrp, node, "translation", v3_zero()),
                                           get_rotation(walk->hrp, node, "rotation"), one);
  below.frame = tbi_hrp_frame_mul(&walk->frame, &local);
  return below;
}

/* A range that is not positive means that there is none. */
static void read_range(tbi_hrp *hrp, const tbi_vrml_node *node, const char *field, double *range) {
  double values[3];
  if (!field || !tbi_hrp_vrml_numbers(hrp, node, field, values, 3)) return;
  for (int i = 0; i < 3; ++i)
    range[i] = values[i] > 0 ? values[i] : range[i];
}

static bool add_sensor(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  for (size_t i = 0; i < sizeof sensors / sizeof *sensors; ++i) {
    if (strcmp(node->type, sensors[i].node) != 0) continue;
    tbi_hrp *hrp = walk->hrp;
    tbi_hrp_vrml_check(hrp, node, "sensor");
    tbi_hrp_walk below = moved(walk, node);
    tbi_hrp_sensor *sensor =
        tbi_hrp_add_sensor(hrp, walk->link, sensors[i].type, name_of(node), node->place);
    if (!sensor) return true;
    v3_store(below.frame.offset, sensor->def.pos);
    q_store(tbi_hrp_frame_rotation(&below.frame), sensor->def.quat);
    read_range(hrp, node, sensors[i].largest[0], sensor->def.range);
    read_range(hrp, node, sensors[i].largest[1], sensor->def.range + 3);
    tbi_hrp_walk_nodes(&below, node, "children");
    return true;
  }
  return false;
}

static bool is_other_device(const char *type) {
  static const char *const types[] = {"VisionSensor",     "RangeSensor",  "PressureSensor",
                                      "PhotoInterrupter", "TorqueSensor", "HardwareComponent"};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(type, types[i]) == 0) return true;
  }
  return false;
}

/* ---------------------------------------------------------------------------------- groups */

/* center, rotation, scaleOrientation and scale as the standard composes them */
static tbi_hrp_walk transformed(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp *hrp = walk->hrp;
  const v3 zero = v3_zero();
  const v3 one = {1, 1, 1};
  v3 at = get_vector(hrp, node, "translation", zero);
  v3 centre = get_vector(hrp, node, "center", zero);
  q4 stretch_axes = get_rotation(hrp, node, "scaleOrientation");
  q4 back = {stretch_axes.w, -stretch_axes.x, -stretch_axes.y, -stretch_axes.z};
  const tbi_hrp_frame parts[] = {
      tbi_hrp_frame_make(v3_add(at, centre), get_rotation(hrp, node, "rotation"), one),
      tbi_hrp_frame_make(zero, stretch_axes, get_vector(hrp, node, "scale", one)),
      tbi_hrp_frame_make(zero, back, one),
      tbi_hrp_frame_make(v3_neg(centre), q_identity(), one),
  };
  tbi_hrp_walk below = *walk;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    below.frame = tbi_hrp_frame_mul(&below.frame, &parts[i]);
  return below;
}

static void walk_choice(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  double which = -1;
  first_number(walk->hrp, node, "whichChoice", &which);
  const tbi_vrml_field *choice = tbi_vrml_get(node, "choice");
  if (choice && choice->kind == TBI_VRML_NODES && which >= 0 && which < choice->count)
    tbi_hrp_walk_node(walk, choice->of.nodes[(int32_t)which]);
}

static void walk_collision(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp_walk below = *walk;
  double collides = 1;
  first_number(walk->hrp, node, "collide", &collides);
  below.look.collides = walk->look.collides && collides != 0;
  tbi_hrp_walk_nodes(&below, node, "children");
}

static void walk_inline(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  const tbi_vrml_field *url = tbi_vrml_get(node, "url");
  if (!url || url->kind != TBI_VRML_STRINGS) {
    tbi_fail_at(&walk->hrp->error, TABI_ERR_PARSE, node->place, "Inline without url");
    return;
  }
  tbi_hrp_vrml_inline(walk, url->of.strings[0], url->place);
}

static bool walk_group(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  const char *type = node->type;
  tbi_hrp_walk below = *walk;
  if (strcmp(type, "Transform") == 0) {
    below = transformed(walk, node);
    tbi_hrp_walk_nodes(&below, node, "children");
  } else if (strcmp(type, "Group") == 0 || strcmp(type, "Anchor") == 0 ||
             strcmp(type, "Billboard") == 0) {
    tbi_hrp_walk_nodes(walk, node, "children");
  } else if (strcmp(type, "Collision") == 0) {
    walk_collision(walk, node);
  } else if (strcmp(type, "Switch") == 0) {
    walk_choice(walk, node);
  } else if (strcmp(type, "LOD") == 0) {
    const tbi_vrml_node *finest = tbi_hrp_vrml_node(node, "level");
    if (finest) tbi_hrp_walk_node(walk, finest);
  } else if (strcmp(type, "Inline") == 0) {
    walk_inline(walk, node);
  } else {
    return false;
  }
  tbi_hrp_vrml_check(walk->hrp, node, NULL);
  return true;
}

/* ------------------------------------------------------------------------------------ walk */

static void walk_other(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp *hrp = walk->hrp;
  const tbi_format_row *row = tbi_hrp_find_row(&tbi_vrml_format, node->type, NULL);
  if (is_other_device(node->type)) {
    // its children have shapes
    tbi_hrp_walk below = moved(walk, node);
    tbi_hrp_tell(hrp, node->place, row, node->type, name_of(node));
    tbi_hrp_walk_nodes(&below, node, "children");
    return;
  }
  const tbi_vrml_node *body = NULL;
  if (!tbi_take(&hrp->error, tbi_vrml_expand(walk->vrml, node, &body, hrp->error.err))) return;
  if (body) {
    tbi_hrp_walk_node(walk, body);
  } else {
    tbi_hrp_tell(hrp, node->place, row, "node", node->type);
  }
}

static bool enter(tbi_hrp *hrp, const tbi_vrml_node *node) {
  if (!tbi_ok(&hrp->error)) return false;
  if (++hrp->nvisit > MAX_VISITS || hrp->depth >= TBI_HRP_MAX_DEPTH) {
    return tbi_fail_at(&hrp->error, TABI_ERR_MODEL, node->place,
                       "too many nodes, or nested too deeply, by USE, PROTO or Inline");
  }
  return true;
}

void tbi_hrp_walk_node(const tbi_hrp_walk *walk, const tbi_vrml_node *node) {
  tbi_hrp *hrp = walk->hrp;
  if (!enter(hrp, node)) return;
  ++hrp->depth;
  bool on_link = walk->link != TABI_NONE;
  if (strcmp(node->type, "Joint") == 0 && walk->has_joints) {
    add_joint(walk, node);
  } else if (strcmp(node->type, "Segment") == 0 && walk->has_joints && on_link) {
    add_segment(walk, node);
  } else if (strcmp(node->type, "Shape") == 0) {
    if (on_link) tbi_hrp_vrml_shape(walk, node);
  } else if (!walk_group(walk, node) && !(walk->has_joints && on_link && add_sensor(walk, node))) {
    walk_other(walk, node);
  }
  --hrp->depth;
}

void tbi_hrp_walk_nodes(const tbi_hrp_walk *walk, const tbi_vrml_node *node, const char *field) {
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  if (!found || found->kind != TBI_VRML_NODES) return;
  for (int32_t i = 0; i < found->count && tbi_ok(&walk->hrp->error); ++i)
    tbi_hrp_walk_node(walk, found->of.nodes[i]);
}
// NOLINTEND(misc-no-recursion)

/* ----------------------------------------------------------------------------- extra joints */

static void add_extra(tbi_hrp *hrp, const tbi_vrml_node *node) {
  static const struct {
    const char *name;
    tabi_connection_type type;
    uint32_t axes;
  } types[] = {
      {"xyz", TABI_CONNECTION_BALL, 0                        },
      {"xy",  TABI_CONNECTION_AXES, TABI_MOVE_X | TABI_MOVE_Y},
      {"z",   TABI_CONNECTION_AXES, TABI_MOVE_Z              },
  };
  tbi_hrp_vrml_check(hrp, node, NULL);
  const char *type = get_string(node, "jointType");
  tbi_hrp_extra *extra = tbi_hrp_add_extra(hrp, node->name, node->place);
  if (!extra) return;
  extra->links[0] = get_string(node, "link1Name");
  extra->links[1] = get_string(node, "link2Name");
  extra->points[0] = get_vector(hrp, node, "link1LocalPos", v3_zero());
  extra->points[1] = get_vector(hrp, node, "link2LocalPos", v3_zero());
  extra->axis = get_axis(hrp, node, v3_make(1, 0, 0));
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (type && strcmp(type, types[i].name) != 0) continue;
    extra->type = types[i].type;
    extra->axes = types[i].axes;
    return;
  }
  tbi_fail_at(&hrp->error, TABI_ERR_PARSE, node->place,
              "ExtraJoint: unknown jointType '%.40s' (xyz, xy, z)", type);
}

/* ------------------------------------------------------------------------------------- all */

static tbi_hrp_walk begin_walk(tbi_hrp *hrp, tbi_vrml *vrml) {
  return (tbi_hrp_walk){
      .hrp = hrp,
      .vrml = vrml,
      .link = TABI_NONE,
      .frame = tbi_hrp_frame_identity(),
      .look = {.rgba = {0.8, 0.8, 0.8, 1}, .collides = true, .visible = true},
      .has_joints = true,
  };
}

/* A file without a robot is a thing that stands in the world. */
static void read_scenery(tbi_hrp *hrp, tbi_vrml *vrml) {
  const tbi_vrml_field *top = tbi_vrml_top(vrml);
  tbi_hrp_walk walk = begin_walk(hrp, vrml);
  tbi_hrp_link *link = tbi_hrp_add_link(hrp, "base", top->place);
  if (!link) return;
  link->joint.type = TABI_JOINT_FIXED;
  walk.link = 0;
  walk.has_joints = false;
  tbi_note(hrp->def, top->place, "no Humanoid: the shapes become one fixed link");
  for (int32_t i = 0; i < top->count && tbi_ok(&hrp->error); ++i)
    tbi_hrp_walk_node(&walk, top->of.nodes[i]);
}

static void read_top(tbi_hrp *hrp, tbi_vrml *vrml) {
  const tbi_vrml_field *top = tbi_vrml_top(vrml);
  const tbi_hrp_walk walk = begin_walk(hrp, vrml);
  const tbi_vrml_node *robot = NULL;
  for (int32_t i = 0; i < top->count && tbi_ok(&hrp->error); ++i) {
    const tbi_vrml_node *node = top->of.nodes[i];
    if (strcmp(node->type, "ExtraJoint") == 0) add_extra(hrp, node);
    if (strcmp(node->type, "Humanoid") != 0) continue;
    if (robot) tbi_warn(hrp->def, node->place, "a second Humanoid is ignored");
    if (!robot) robot = node;
  }
  if (!robot) {
    read_scenery(hrp, vrml);
    return;
  }
  tbi_hrp_vrml_check(hrp, robot, NULL);
  tbi_hrp_walk_nodes(&walk, robot, "humanoidBody");
  if (hrp->nlink == 0)
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, robot->place, "Humanoid without a Joint");
}

bool tbi_hrp_vrml_read(tbi_hrp *hrp, const char *text, size_t size, const char *path) {
  tbi_vrml *vrml = NULL;
  if (tbi_take(&hrp->error, tbi_vrml_parse(text, size, path, &vrml, hrp->error.err)))
    read_top(hrp, vrml);
  // names of links and extra joints live in the tree
  for (int32_t i = 0; i < hrp->nextra; ++i) {
    tbi_hrp_extra *extra = &hrp->extras[i];
    for (int k = 0; k < 2 && tbi_ok(&hrp->error); ++k)
      extra->links[k] = extra->links[k] ? tbi_hrp_keep(hrp, extra->links[k]) : NULL;
  }
  tbi_vrml_destroy(vrml);
  return tbi_ok(&hrp->error);
}

typedef struct source {
  const char *text, *path;
  size_t size;
} source;

static bool read_source(tbi_hrp *hrp, void *from) {
  const source *s = from;
  return tbi_hrp_vrml_read(hrp, s->text, s->size, s->path);
}

tabi_status tbi_hrp_vrml_load(tabi_builder *builder, const char *text, size_t size,
                              const char *path, const tabi_load_def *def, tabi_error *err) {
  source s = {text, path, size};
  return tbi_hrp_load(builder, path, def, read_source, &s, err);
}
