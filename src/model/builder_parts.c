/* builder_parts.c - what is added to links and joints: actuators, couplings, connections. */
#include "model/builder.h"
#include "model/limits.h"

#include <math.h>

static bool moves_in_one(const tabi_builder *builder, int32_t joint) {
  return tbi_builder_is_joint(builder, joint) &&
         tbi_joint_nq(tbi_builder_joint(builder, joint)->type) == 1;
}

static bool is_tendon(const tabi_builder *builder, int32_t tendon) {
  return tendon >= 0 && tendon < builder->tendons.count;
}

int32_t tabi_builder_add_actuator(tabi_builder *builder, const tabi_actuator_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "actuator")) return TABI_NONE;
  const char *name = tbi_shown(def->name);
  tabi_actuator_def kept = *def;
  if (def->tendon != TABI_NONE ? def->joint != TABI_NONE || !is_tendon(builder, def->tendon)
                               : !moves_in_one(builder, def->joint)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "actuator '%s': needs a joint with one coordinate, or a tendon", name);
  } else if (!isfinite(def->gear) || !isfinite(def->gain) || !tbi_all_finite(def->bias, 3)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "actuator '%s': gear, gain and bias must be finite", name);
  } else if (!(def->control_min <= def->control_max) || !(def->force_min <= def->force_max)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "actuator '%s': a range has its ends swapped", name);
  } else if (tbi_actuator_within(builder, def) &&
             tbi_builder_keep(builder, &kept.name, &kept.place)) {
    return tbi_builder_append(builder, &builder->actuators, &kept, sizeof kept);
  }
  return TABI_NONE;
}

static bool couples_joints(const tabi_builder *builder, const tabi_coupling_def *def) {
  bool leader_fits = def->leader == TABI_NONE || moves_in_one(builder, def->leader);
  return def->tendon == TABI_NONE && def->tendon_leader == TABI_NONE &&
         moves_in_one(builder, def->joint) && leader_fits;
}

static bool couples_tendons(const tabi_builder *builder, const tabi_coupling_def *def) {
  bool leader_fits = def->tendon_leader == TABI_NONE || is_tendon(builder, def->tendon_leader);
  return def->joint == TABI_NONE && def->leader == TABI_NONE && is_tendon(builder, def->tendon) &&
         leader_fits;
}

int32_t tabi_builder_add_coupling(tabi_builder *builder, const tabi_coupling_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "coupling")) return TABI_NONE;
  const char *name = tbi_shown(def->name);
  tabi_coupling_def kept = *def;
  if (!couples_joints(builder, def) && !couples_tendons(builder, def)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "coupling '%s': needs joints with one coordinate, or tendons", name);
  } else if (def->tendon == TABI_NONE ? def->joint == def->leader
                                      : def->tendon == def->tendon_leader) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "coupling '%s': a joint cannot lead itself", name);
  } else if (!tbi_all_finite(def->coef, 5)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "coupling '%s': coefficients must be finite", name);
  } else if (tbi_coupling_within(builder, def) &&
             tbi_builder_keep(builder, &kept.name, &kept.place)) {
    return tbi_builder_append(builder, &builder->couplings, &kept, sizeof kept);
  }
  return TABI_NONE;
}

/* what is wrong with a connection beyond its links and frames, or NULL */
static const char *connection_complaint(const tabi_connection_def *def) {
  const uint32_t all =
      TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z | TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z;
  switch (def->type) {
  case TABI_CONNECTION_AXES:
    return def->axes == 0 || (def->axes & ~all) != 0 ? "names no axes, or some that are none"
                                                     : NULL;
  case TABI_CONNECTION_ROD:
    return def->length > 0 && isfinite(def->length) ? NULL : "length of a rod must be > 0";
  case TABI_CONNECTION_SPRING:
    if (!(def->length >= 0 && isfinite(def->length))) return "length must be >= 0";
    if (!(def->stiffness >= 0 && isfinite(def->stiffness))) return "stiffness must be >= 0";
    if (!(def->damping >= 0 && isfinite(def->damping))) return "damping must be >= 0";
    return def->stiffness + def->damping > 0 ? NULL : "a spring needs stiffness or damping";
  default:
    return NULL;
  }
}

int32_t tabi_builder_add_connection(tabi_builder *builder, const tabi_connection_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "connection")) return TABI_NONE;
  const char *name = tbi_shown(def->name);
  tabi_connection_def kept = *def;
  if ((int)def->type < 0 || def->type >= TABI_CONNECTION_COUNT) {
    tbi_builder_fail(builder, TABI_ERR_ARGUMENT, def->place, "connection '%s': unknown type %d",
                     name, (int)def->type);
  } else if (!tbi_builder_is_link_or_world(builder, def->a) ||
             !tbi_builder_is_link_or_world(builder, def->b) || def->a == def->b) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "connection '%s': needs two different links", name);
  } else if (!tbi_all_finite(def->pos_a, 3) || !tbi_all_finite(def->pos_b, 3) ||
             !tbi_unit_quat(kept.quat_a) || !tbi_unit_quat(kept.quat_b)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                     "connection '%s': a frame is not finite or no rotation", name);
  } else if (connection_complaint(def)) {
    tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "connection '%s': %s", name,
                     connection_complaint(def));
  } else if (tbi_connection_within(builder, def) &&
             tbi_builder_keep(builder, &kept.name, &kept.place)) {
    return tbi_builder_append(builder, &builder->connections, &kept, sizeof kept);
  }
  return TABI_NONE;
}
