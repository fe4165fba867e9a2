/* check_joints.c - ranges and motors of joints, and what they carry.
 *
 * Loops over all links to find those of one body cost O(links^2) in all, which for a robot is less
 * than reading its file, and needs no memory. */
#include "base/assertion.h"
#include "doctor/doctor.h"
#include "math/quat.h"

#include <math.h>

static double body_mass(const tabi_model *model, int32_t body) {
  double mass = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (tabi_model_link_body(model, i) == body) mass += tabi_model_link(model, i).mass;
  }
  return mass;
}

static bool body_collides(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    if (!s.collides || s.link == TABI_WORLD) continue;
    if (tabi_model_link_body(model, s.link) == body) return true;
  }
  return false;
}

/* The link right below the moving joint of a body. */
static int32_t body_first_link(const tabi_model *model, int32_t link) {
  for (;;) {
    tabi_joint_def joint = tabi_model_joint(model, tabi_model_link_joint(model, link));
    if (joint.type != TABI_JOINT_FIXED) return link;
    link = joint.parent;
  }
}

/* The name of a body that a joint moves: joints of several axes are chains, whose links in between
 * have none. */
static const char *body_name(const tabi_model *model, int32_t link) {
  const char *name = tabi_model_link(model, link).name;
  int32_t body = tabi_model_link_body(model, link);
  for (int32_t i = 0; i < tabi_model_nlink(model) && !name; ++i) {
    if (tabi_model_link_body(model, i) == body) name = tabi_model_link(model, i).name;
  }
  return tbi_doctor_shown(name);
}

/* Inertia about a line through the origin of the body's first link, of the body alone. */
static double body_inertia_about(const tabi_model *model, int32_t body, v3 axis) {
  double sum = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (tabi_model_link_body(model, i) != body) continue;
    tabi_link_def link = tabi_model_link(model, i);
    /* carry the centre of mass up to the first link, and the axis down with the rotations */
    v3 com = v3_load(link.com);
    m3 rot = m3_identity();
    int32_t first = body_first_link(model, i);
    for (int32_t l = i; l != first;) {
      tabi_joint_def joint = tabi_model_joint(model, tabi_model_link_joint(model, l));
      m3 r = q_matrix(q_load(joint.quat));
      com = v3_add(v3_load(joint.pos), m3_mulv(&r, com));
      rot = m3_mul(&r, &rot);
      l = joint.parent;
    }
    v3 local = m3_tmulv(&rot, axis);
    v3 arm = v3_cross(axis, com);
    sum += v3_dot(local, s3_mulv(s3_load(link.inertia), local)) + link.mass * v3_dot(arm, arm);
  }
  return sum;
}

static bool is_leaf(const tabi_model *model, int32_t body) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    if (tabi_model_joint_v(model, j).count == 0) continue;
    tabi_joint_def joint = tabi_model_joint(model, j);
    if (joint.parent != TABI_WORLD && tabi_model_link_body(model, joint.parent) == body) {
      return false;
    }
  }
  return true;
}

static bool has_one_dof(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
         joint->type == TABI_JOINT_PRISMATIC;
}

static bool turns(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS;
}

static void check_initial_q(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  if (!has_one_dof(joint) || joint->type == TABI_JOINT_CONTINUOUS) return;
  double initial = joint->initial_q[0];
  if (initial >= joint->lower && initial <= joint->upper) return;
  tbi_doctor_find(
      d, TBI_ADVICE, joint->place,
      "joint '%s': initial position %g is outside the limits [%g, %g]; set it inside, or "
      "widen the limits",
      tbi_doctor_shown(joint->name), initial, joint->lower, joint->upper);
}

static void check_range(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  if (!has_one_dof(joint) || joint->type == TABI_JOINT_CONTINUOUS) return;
  double farthest = fmax(fabs(joint->lower), fabs(joint->upper));
  if (joint->lower == joint->upper) {
    tbi_doctor_find(
        d, TBI_ADVICE, joint->place,
        "joint '%s': lower and upper are both %g, so it cannot move; make it a fixed joint",
        tbi_doctor_shown(joint->name), joint->lower);
  } else if (turns(joint) && isfinite(farthest) && farthest > 4 * 3.141592653589793) {
    tbi_doctor_find(
        d, TBI_PROBLEM, joint->place,
        "joint '%s': limit %g rad is more than two turns; check that it is not in degrees",
        tbi_doctor_shown(joint->name), farthest);
  }
}

static bool pulls(const tabi_model *model, int32_t tendon, int32_t joint) {
  if (tendon == TABI_NONE) return false;
  tabi_tendon_def def = tabi_model_tendon(model, tendon);
  for (int32_t i = 0; i < def.njoint; ++i) {
    if (def.joints[i].joint == joint) return true;
  }
  return false;
}

static bool is_driven(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    if (actuator.joint == joint || pulls(model, actuator.tendon, joint)) return true;
  }
  return false;
}

static bool is_follower(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    if (tabi_model_coupling(model, i).joint == joint) return true;
  }
  return false;
}

static void check_effort(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  if (!has_one_dof(joint) || is_follower(d->model, j)) return;
  if (joint->effort == 0) {
    tbi_doctor_find(
        d, TBI_ADVICE, joint->place,
        "joint '%s': effort limit is 0, so no motor can move it; give the motor's torque",
        tbi_doctor_shown(joint->name));
  } else if (isinf(joint->effort) && !is_driven(d->model, j)) {
    if (d->unlimited == 0) d->first_unlimited = j;
    ++d->unlimited;
  }
  if (joint->velocity == 0) {
    tbi_doctor_find(d, TBI_ADVICE, joint->place,
                    "joint '%s': velocity limit is 0, so it may not move; give the motor's speed",
                    tbi_doctor_shown(joint->name));
  }
}

/* The nearest body above a joint that has mass, or TABI_WORLD; *above gets its joint. */
static int32_t body_above(const tabi_model *model, const tabi_joint_def *joint, int32_t *above) {
  int32_t link = joint->parent;
  while (link != TABI_WORLD) {
    int32_t body = tabi_model_link_body(model, link);
    if (body == TABI_WORLD) return TABI_WORLD;
    *above = tabi_model_link_joint(model, body_first_link(model, link));
    if (body_mass(model, body) > 0) return body;
    link = tabi_model_joint(model, *above).parent;
  }
  return TABI_WORLD;
}

static void check_mass_ratio(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  const tabi_model *model = d->model;
  double mass = body_mass(model, tabi_model_link_body(model, joint->child));
  if (mass > 0 && mass < 1e-3) {
    tbi_doctor_find(
        d, TBI_PROBLEM, joint->place,
        "joint '%s': moves only %g kg; merge link '%s' into its parent by a fixed joint",
        tbi_doctor_shown(joint->name), mass, body_name(model, joint->child));
  }
  int32_t above;
  int32_t parent = body_above(model, joint, &above);
  if (parent == TABI_WORLD) return;
  double carrier = body_mass(model, parent);
  if (mass < 1000 * carrier) return;
  int32_t link = tabi_model_joint(model, above).child;
  tbi_doctor_find(
      d, TBI_PROBLEM, tabi_model_link(model, link).place,
      "link '%s': %g kg carry %g kg of link '%s', a ratio of %.0f; give it its real mass, or "
      "rotor inertia to its joint",
      body_name(model, link), carrier, mass, body_name(model, joint->child), mass / carrier);
}

/* What a last joint has to turn, against what the joint before it turns. */
static void check_joint_inertia(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  const tabi_model *model = d->model;
  int32_t body = tabi_model_link_body(model, joint->child);
  if (!turns(joint) || !is_leaf(model, body)) return;
  int32_t above;
  int32_t parent = body_above(model, joint, &above);
  if (parent == TABI_WORLD) return;
  tabi_joint_def up = tabi_model_joint(model, above);
  v3 up_axis = turns(&up) ? v3_load(up.axis) : v3_make(0, 0, 1);
  double before = body_inertia_about(model, parent, up_axis);
  double rotor = joint->gear * joint->gear * joint->rotor_inertia;
  double here = body_inertia_about(model, body, v3_load(joint->axis)) + rotor;
  if (here >= 1e-6 * before) return;
  tbi_doctor_find(
      d, TBI_PROBLEM, joint->place,
      "joint '%s': turns only %.3g kg m^2, %.1g of what the body before it has; give it a rotor "
      "inertia of about %.1g kg m^2",
      tbi_doctor_shown(joint->name), here, here / before, 1e-4 * before);
}

/* What a connection holds does not end there. */
static bool is_connected(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    const int32_t links[2] = {c.a, c.b};
    for (int k = 0; k < 2; ++k) {
      if (links[k] != TABI_WORLD && tabi_model_link_body(model, links[k]) == body) return true;
    }
  }
  return false;
}

static void check_leaf_shape(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  int32_t body = tabi_model_link_body(d->model, joint->child);
  if (!d->collides || !is_leaf(d->model, body) || body_collides(d->model, body)) return;
  if (is_connected(d->model, body)) return;
  tabi_link_def link = tabi_model_link(d->model, joint->child);
  tbi_doctor_find(
      d, TBI_ADVICE, link.place,
      "link '%s': ends a limb but has no collision shape, so it passes through everything",
      body_name(d->model, joint->child));
}

static void (*const checks[])(tbi_doctor *d, int32_t j, const tabi_joint_def *joint) = {
    check_initial_q,  check_range,         check_effort,
    check_mass_ratio, check_joint_inertia, check_leaf_shape,
};

/* Files of many robots have no limit at any joint: that is one finding. */
void tbi_doctor_tell_unlimited(tbi_doctor *d) {
  if (d->unlimited == 0) return;
  tabi_joint_def first = tabi_model_joint(d->model, d->first_unlimited);
  const char *name = tbi_doctor_shown(first.name);
  int others = (int)d->unlimited - 1;
  if (others == 0) {
    tbi_doctor_find(d, TBI_ADVICE, first.place,
                    "joint '%s': has no effort limit; a controller may use any torque on it", name);
  } else {
    tbi_doctor_find(d, TBI_ADVICE, first.place,
                    "joint '%s' and %d other%s have no effort limit; a controller may use any "
                    "torque on them",
                    name, others, others == 1 ? "" : "s");
  }
}

void tbi_doctor_check_joint(tbi_doctor *d, int32_t j) {
  TBI_ASSERT(tabi_model_joint_v(d->model, j).count > 0);
  tabi_joint_def joint = tabi_model_joint(d->model, j);
  for (size_t k = 0; k < sizeof checks / sizeof checks[0]; ++k)
    checks[k](d, j, &joint);
}
