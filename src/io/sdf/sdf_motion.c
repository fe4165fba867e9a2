/* sdf_motion.c - what a joint of SDF lets move: axes, limits, springs; and joints in loops. */
#include "io/repair.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct joint_type {
  const char *name;
  tabi_joint_type first, second; /* second: fixed where there is none */
} joint_type;

static const joint_type types[] = {
    {"revolute",   TABI_JOINT_REVOLUTE,  TABI_JOINT_FIXED    },
    {"continuous", TABI_JOINT_REVOLUTE,  TABI_JOINT_FIXED    },
    {"hinge",      TABI_JOINT_REVOLUTE,  TABI_JOINT_FIXED    },
    {"prismatic",  TABI_JOINT_PRISMATIC, TABI_JOINT_FIXED    },
    {"fixed",      TABI_JOINT_FIXED,     TABI_JOINT_FIXED    },
    {"ball",       TABI_JOINT_BALL,      TABI_JOINT_FIXED    },
    {"universal",  TABI_JOINT_REVOLUTE,  TABI_JOINT_REVOLUTE },
    {"revolute2",  TABI_JOINT_REVOLUTE,  TABI_JOINT_REVOLUTE },
    {"screw",      TABI_JOINT_REVOLUTE,  TABI_JOINT_PRISMATIC},
};

static const joint_type *find_type(const tbi_sdf *s, tbi_xml_node *node, const char *what) {
  const char *text = tbi_xml_get(node, "type");
  for (size_t i = 0; text && i < sizeof types / sizeof *types; ++i) {
    if (strcmp(text, types[i].name) == 0) return &types[i];
  }
  tbi_fail_at(s->error, TABI_ERR_PARSE, node->place,
              "%s: unknown type '%.60s' (revolute, continuous, prismatic, fixed, ball, universal, "
              "revolute2, screw, gearbox)",
              what, text ? text : "");
  return NULL;
}

/* The frame whose axes <xyz> is given in: the joint's, unless the file says otherwise; up to
 * version 1.4 the model's. */
static int32_t axis_frame(tbi_sdf *s, int32_t frame, tbi_xml_node *axis, tbi_xml_node *xyz,
                          const char *what) {
  const tbi_sdf_model *model = &s->models[s->frames[frame].model];
  const char *given = tbi_xml_get(xyz, "expressed_in");
  if (given && given[0] != '\0') return tbi_sdf_need(s, s->frames[frame].model, xyz, given, what);
  bool in_model = tbi_sdf_flag(axis, "use_parent_model_frame", model->version <= 4);
  return in_model ? model->frame : frame;
}

static void read_axis(tbi_sdf *s, int32_t frame, tbi_xml_node *axis, const char *what,
                      tabi_joint_def *def) {
  tbi_xml_node *xyz = axis ? tbi_xml_child(axis, "xyz") : NULL;
  v3_store(v3_make(0, 0, 1), def->axis);
  if (!xyz) return;
  (void)tbi_sdf_numbers(s, axis, "xyz", 3, def->axis);
  int32_t in = axis_frame(s, frame, axis, xyz, what);
  if (in == TABI_NONE || in == frame) return;
  m3 from = q_matrix(s->frames[in].world.rot);
  m3 to = q_matrix(s->frames[frame].world.rot);
  v3_store(m3_tmulv(&to, m3_mulv(&from, v3_load(def->axis))), def->axis);
}

static void read_limit(const tbi_sdf *s, tbi_xml_node *limit, const char *what,
                       tabi_joint_def *def) {
  double effort = -1;
  double velocity = -1;
  (void)tbi_sdf_number(s, limit, "lower", &def->lower);
  (void)tbi_sdf_number(s, limit, "upper", &def->upper);
  (void)tbi_sdf_number(s, limit, "effort", &effort);
  (void)tbi_sdf_number(s, limit, "velocity", &velocity);
  if (!(def->lower > -TBI_SDF_NO_LIMIT)) def->lower = -(double)INFINITY;
  if (!(def->upper < TBI_SDF_NO_LIMIT)) def->upper = (double)INFINITY;
  if (effort >= 0) def->effort = effort;
  if (velocity >= 0) def->velocity = velocity;
  tbi_repair_limits(s->error, s->def, limit->place, what, &def->lower, &def->upper);
  if (def->lower > 0 || def->upper < 0) {
    tbi_warn(s->def, limit->place, "%s: start 0 outside [%g,%g]; give the scene a posture inside",
             what, def->lower, def->upper);
  }
}

/* One axis with all that it says; a joint that turns without limits is continuous. */
static void read_coordinate(tbi_sdf *s, int32_t frame, const char *element, const char *what,
                            tabi_joint_def *def) {
  tbi_xml_node *axis = tbi_xml_child(s->frames[frame].node, element);
  read_axis(s, frame, axis, what, def);
  tbi_xml_node *limit = axis ? tbi_xml_child(axis, "limit") : NULL;
  tbi_xml_node *dynamics = axis ? tbi_xml_child(axis, "dynamics") : NULL;
  if (limit) read_limit(s, limit, what, def);
  if (dynamics) {
    (void)tbi_sdf_number(s, dynamics, "damping", &def->damping);
    (void)tbi_sdf_number(s, dynamics, "friction", &def->friction);
    tbi_repair_negative(s->error, s->def, dynamics->place, what, "damping", &def->damping);
    tbi_repair_negative(s->error, s->def, dynamics->place, what, "friction", &def->friction);
    (void)tbi_sdf_number(s, dynamics, "spring_stiffness", &def->stiffness);
    (void)tbi_sdf_number(s, dynamics, "spring_reference", &def->rest_position);
  }
  bool free_turn = isinf(def->lower) && isinf(def->upper);
  if (def->type == TABI_JOINT_REVOLUTE && free_turn) def->type = TABI_JOINT_CONTINUOUS;
}

/* m along the axis for a radian: older files give rad/m of a left-handed thread. */
static double read_lead(const tbi_sdf *s, tbi_xml_node *node, const char *what) {
  double pitch = 0;
  if (tbi_sdf_number(s, node, "screw_thread_pitch", &pitch)) return pitch / (2 * PI);
  pitch = 1;
  (void)tbi_sdf_number(s, node, "thread_pitch", &pitch);
  if (pitch != 0) return -1 / pitch;
  tbi_fail_at(s->error, TABI_ERR_MODEL, node->place, "%s: thread_pitch must not be zero", what);
  return 0;
}

static void reverse(tbi_sdf_motion *motion) {
  for (int32_t i = 0; i < motion->count; ++i)
    v3_store(v3_neg(v3_load(motion->def[i].axis)), motion->def[i].axis);
  if (motion->count < 2 || motion->lead != 0) return;
  tabi_joint_def first = motion->def[0];
  motion->def[0] = motion->def[1];
  motion->def[1] = first;
}

bool tbi_sdf_read_motion(tbi_sdf *s, const tbi_sdf_joint *joint, tbi_sdf_motion *motion) {
  tbi_xml_node *node = s->frames[joint->frame].node;
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[joint->frame], what);
  const joint_type *type = find_type(s, node, what);
  *motion = (tbi_sdf_motion){.count = 1};
  if (!type) return false;
  motion->def[0] = motion->def[1] = tabi_joint_def_default();
  motion->def[0].type = type->first;
  motion->def[0].place = motion->def[1].place = node->place;
  bool has_axis = type->first == TABI_JOINT_REVOLUTE || type->first == TABI_JOINT_PRISMATIC;
  if (has_axis) read_coordinate(s, joint->frame, "axis", what, &motion->def[0]);
  if (type->second != TABI_JOINT_FIXED) {
    motion->count = 2;
    motion->def[1].type = type->second;
    bool screw = type->second == TABI_JOINT_PRISMATIC;
    if (screw) memcpy(motion->def[1].axis, motion->def[0].axis, sizeof motion->def[0].axis);
    if (screw) motion->lead = read_lead(s, node, what);
    if (!screw) read_coordinate(s, joint->frame, "axis2", what, &motion->def[1]);
  }
  if (joint->reversed) reverse(motion);
  return tbi_ok(s->error);
}

/* -- joints that close loops */

/* The turn from joint axes to those in which a connection is told, z along the axis; of a universal
 * joint x and y along its two. */
static q4 connection_axes(const tbi_sdf_motion *motion) {
  v3 first = v3_load(motion->def[0].axis);
  double norm = v3_norm(first);
  if (!(norm > 0)) return q_identity();
  first = v3_scale(1 / norm, first);
  m3 turn = q_matrix_to(first);
  v3 normal = v3_cross(first, v3_load(motion->def[1].axis));
  double length = v3_norm(normal);
  bool universal = motion->count == 2 && motion->lead == 0 && length > 1e-6;
  if (universal) {
    normal = v3_scale(1 / length, normal);
    turn = m3_from_columns(first, v3_cross(normal, first), normal);
  }
  return q_from_matrix(&turn);
}

static void choose_connection(const tbi_sdf_motion *motion, tabi_connection_def *def) {
  const uint32_t moves = TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z;
  const uint32_t turns = TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z;
  def->type = TABI_CONNECTION_AXES;
  if (motion->count == 2) {
    bool screw = motion->lead != 0;
    def->axes = screw ? TABI_MOVE_X | TABI_MOVE_Y | TABI_TURN_X | TABI_TURN_Y : moves | TABI_TURN_Z;
    return;
  }
  switch (motion->def[0].type) {
  case TABI_JOINT_FIXED:
    def->type = TABI_CONNECTION_FIXED;
    break;
  case TABI_JOINT_BALL:
    def->type = TABI_CONNECTION_BALL;
    break;
  case TABI_JOINT_PRISMATIC:
    def->axes = TABI_MOVE_X | TABI_MOVE_Y | turns;
    break;
  default:
    def->type = TABI_CONNECTION_HINGE;
    break;
  }
}

/* A connection only holds: what else the joint says is lost. */
static void warn_lost(const tbi_sdf *s, const tbi_sdf_joint *joint, const tbi_sdf_motion *motion) {
  bool lost = motion->lead != 0;
  for (int32_t i = 0; i < motion->count; ++i) {
    const tabi_joint_def *def = &motion->def[i];
    lost = lost || def->damping != 0 || def->friction != 0 || def->stiffness != 0 ||
           !isinf(def->lower) || !isinf(def->upper);
  }
  if (!lost) return;
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[joint->frame], what);
  tbi_warn(s->def, s->frames[joint->frame].node->place,
           "%s closes a loop: its limits, springs, damping and thread are ignored", what);
}

void tbi_sdf_add_connection(tbi_sdf *s, const tbi_sdf_joint *joint, const tbi_sdf_motion *motion) {
  const tbi_sdf_frame *parent = &s->frames[joint->parent];
  const tbi_sdf_frame *child = &s->frames[joint->child];
  tabi_connection_def def = tabi_connection_def_default();
  choose_connection(motion, &def);
  warn_lost(s, joint, motion);
  const tbi_pose turn = {v3_zero(), connection_axes(motion)};
  tbi_pose at = tbi_pose_compose(s->frames[joint->frame].world, turn);
  def.a = joint->parent == 0 ? TABI_WORLD : parent->link;
  def.b = joint->child == 0 ? TABI_WORLD : child->link;
  tbi_pose_store(tbi_pose_compose(tbi_pose_inverse(parent->world), at), def.pos_a, def.quat_a);
  tbi_pose_store(tbi_pose_compose(tbi_pose_inverse(child->world), at), def.pos_b, def.quat_b);
  def.place = s->frames[joint->frame].node->place;
  def.name = tbi_sdf_output_name(s, joint->frame, "");
  if (!tbi_ok(s->error)) return;
  (void)tabi_builder_add_connection(s->builder, &def);
  tbi_take_builder(s->error, s->builder);
}
