/* limits.c - see limits.h.  Whether numbers are finite and have the right sign is checked before.
 */
#include "model/limits.h"

#include "base/error.h"
#include "model/builder.h"

#include <math.h>

static const tbi_limit position = {"position", TBI_MAX_LENGTH, 0, " m"};

bool tbi_within(tabi_builder *builder, tbi_item item, tbi_limit limit, const double *x, int count) {
  for (int i = 0; i < count; ++i) {
    double size = fabs(x[i]);
    bool small = size > 0 && size < limit.min;
    if (size <= limit.max && !small) continue;
    return tbi_builder_fail(builder, TABI_ERR_MODEL, item.place,
                            "%s '%s': %s %g%s is %s the limit of %g%s; check the units", item.kind,
                            tbi_shown(item.name), limit.what, x[i], limit.unit,
                            small ? "below" : "beyond", small ? limit.min : limit.max, limit.unit);
  }
  return true;
}

/* One number of an item and what limits it. */
typedef struct bounded {
  tbi_limit limit;
  double value;
} bounded;

static bool all_within(tabi_builder *builder, tbi_item item, const bounded *number, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!tbi_within(builder, item, number[i].limit, &number[i].value, 1)) return false;
  }
  return true;
}

bool tbi_link_within(tabi_builder *builder, const tabi_link_def *def) {
  const tbi_item item = {"link", def->name, def->place};
  const tbi_limit mass = {"mass", TBI_MAX_MASS, 0, " kg"};
  const tbi_limit centre = {"centre of mass", TBI_MAX_LENGTH, 0, " m"};
  const tbi_limit inertia = {"inertia", TBI_MAX_INERTIA, 0, " kg m^2"};
  return tbi_within(builder, item, mass, &def->mass, 1) &&
         tbi_within(builder, item, centre, def->com, 3) &&
         tbi_within(builder, item, inertia, def->inertia, 6);
}

bool tbi_joint_within(tabi_builder *builder, tabi_joint_def *def) {
  const tbi_item item = {"joint", def->name, def->place};
  const bounded numbers[] = {
      {{"rotor inertia", TBI_MAX_MASS, 0, " kg m^2"}, def->rotor_inertia},
      {{"gear", TBI_MAX_RATIO, 0, ""},                def->gear         },
      {{"stiffness", TBI_MAX_STIFFNESS, 0, ""},       def->stiffness    },
      {{"damping", TBI_MAX_STIFFNESS, 0, ""},         def->damping      },
      {{"friction", TBI_MAX_STIFFNESS, 0, ""},        def->friction     },
      {{"rest position", TBI_MAX_LENGTH, 0, ""},      def->rest_position},
  };
  const tbi_limit initial = {"initial position", TBI_MAX_LENGTH, 0, ""};
  if (def->lower > TBI_MAX_POSITION || def->upper < -TBI_MAX_POSITION) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "joint '%s': limits %g and %g leave no position within %g; without "
                            "limits give -inf and inf",
                            tbi_shown(def->name), def->lower, def->upper, TBI_MAX_POSITION);
  }
  if (def->lower < -TBI_MAX_POSITION) def->lower = -INFINITY;
  if (def->upper > TBI_MAX_POSITION) def->upper = INFINITY;
  return tbi_within(builder, item, position, def->pos, 3) &&
         tbi_within(builder, item, initial, def->initial_q, 7) &&
         all_within(builder, item, numbers, sizeof numbers / sizeof *numbers);
}

bool tbi_shape_within(tabi_builder *builder, const tabi_shape_def *def) {
  const tbi_item item = {"shape", def->name, def->place};
  const tbi_limit size = {"size", TBI_MAX_LENGTH, TBI_MIN_SIZE, " m"};
  return tbi_within(builder, item, position, def->pos, 3) &&
         tbi_within(builder, item, size, def->size, tbi_shape_sizes(def->type));
}

bool tbi_mesh_within(tabi_builder *builder, const tabi_mesh_def *def) {
  const tbi_item item = {"mesh", def->name, def->place};
  const tbi_limit vertex = {"vertex", TBI_MAX_LENGTH, 0, " m"};
  for (int32_t i = 0; i < def->nvertex; ++i) {
    if (!tbi_within(builder, item, vertex, def->vertices + 3 * (size_t)i, 3)) return false;
  }
  return true;
}

bool tbi_surface_within(tabi_builder *builder, const tabi_material_def *def) {
  const tbi_item item = {"material", def->name, def->place};
  const bounded numbers[] = {
      {{"friction", TBI_MAX_COEFFICIENT, 0, ""},         def->friction    },
      {{"kinetic friction", TBI_MAX_COEFFICIENT, 0, ""}, fmax(def->kinetic, 0)},
      {{"stiffness", TBI_MAX_STIFFNESS, 0, " N/m"},                                                def->stiffness                      },
      {{"damping", TBI_MAX_STIFFNESS, 0, " N s/m"},                                                def->damping},
      {{"viscous", TBI_MAX_STIFFNESS, 0, ""},                                                def->viscous                            },
      {{"slip_speed", TBI_MAX_SPEED, 0, " m/s"},                                                def->slip_speed},
      {{"rest_speed", TBI_MAX_SPEED, 0, " m/s"},                                                def->rest_speed                            },
      {{"rolling_friction", TBI_MAX_COEFFICIENT, 0, " m"},                                                def->rolling_friction},
      {{"torsional_friction", TBI_MAX_COEFFICIENT, 0, " m"},                                                def->torsional_friction                          },
  };
  return all_within(builder, item, numbers, sizeof numbers / sizeof *numbers);
}

static bool obstacle_within(tabi_builder *builder, tbi_item item, const tabi_tendon_point *point) {
  const tbi_limit radius = {"radius", TBI_MAX_LENGTH, 0, ""};
  const tbi_limit axis = {"axis", TBI_MAX_RATIO, 0, ""};
  return point->wrap == TABI_WRAP_NONE || (tbi_within(builder, item, radius, &point->radius, 1) &&
                                           tbi_within(builder, item, axis, point->axis, 3) &&
                                           tbi_within(builder, item, position, point->side, 3));
}

bool tbi_tendon_within(tabi_builder *builder, tabi_tendon_def *def) {
  const tbi_item item = {"tendon", def->name, def->place};
  const tbi_limit coefficient = {"coefficient", TBI_MAX_RATIO, 0, ""};
  const tbi_limit share = {"share", TBI_MAX_RATIO, 0, ""};
  const bounded numbers[] = {
      {{"stiffness", TBI_MAX_STIFFNESS, 0, ""}, def->stiffness },
      {{"damping", TBI_MAX_STIFFNESS, 0, ""},   def->damping   },
      {{"friction", TBI_MAX_STIFFNESS, 0, ""},  def->friction  },
      {{"inertia", TBI_MAX_MASS, 0, ""},        def->inertia   },
      {{"rest length", TBI_MAX_LENGTH, 0, ""},  def->rest_lower},
      {{"rest length", TBI_MAX_LENGTH, 0, ""},  def->rest_upper},
  };
  for (int32_t i = 0; i < def->njoint; ++i)
    if (!tbi_within(builder, item, coefficient, &def->joints[i].coef, 1)) return false;
  for (int32_t i = 0; i < def->npoint; ++i)
    if (!tbi_within(builder, item, position, def->points[i].pos, 3) ||
        !tbi_within(builder, item, share, &def->points[i].share, 1) ||
        !obstacle_within(builder, item, &def->points[i]))
      return false;
  if (def->lower < -TBI_MAX_POSITION) def->lower = -INFINITY;
  if (def->upper > TBI_MAX_POSITION) def->upper = INFINITY;
  return all_within(builder, item, numbers, sizeof numbers / sizeof *numbers);
}

bool tbi_actuator_within(tabi_builder *builder, const tabi_actuator_def *def) {
  const tbi_item item = {"actuator", def->name, def->place};
  const tbi_limit gear = {"gear", TBI_MAX_RATIO, 0, ""};
  const tbi_limit gain = {"gain", TBI_MAX_STIFFNESS, 0, ""};
  const tbi_limit bias = {"bias", TBI_MAX_STIFFNESS, 0, ""};
  return tbi_within(builder, item, gear, &def->gear, 1) &&
         tbi_within(builder, item, gain, &def->gain, 1) &&
         tbi_within(builder, item, bias, def->bias, 3);
}

bool tbi_coupling_within(tabi_builder *builder, const tabi_coupling_def *def) {
  const tbi_item item = {"coupling", def->name, def->place};
  const tbi_limit coefficient = {"coefficient", TBI_MAX_RATIO, 0, ""};
  return tbi_within(builder, item, coefficient, def->coef, 5);
}

bool tbi_connection_within(tabi_builder *builder, const tabi_connection_def *def) {
  const tbi_item item = {"connection", def->name, def->place};
  const tbi_limit length = {"length", TBI_MAX_LENGTH, TBI_MIN_SIZE, " m"};
  const tbi_limit stiffness = {"stiffness", TBI_MAX_STIFFNESS, 0, " N/m"};
  const tbi_limit damping = {"damping", TBI_MAX_STIFFNESS, 0, " N s/m"};
  return tbi_within(builder, item, position, def->pos_a, 3) &&
         tbi_within(builder, item, position, def->pos_b, 3) &&
         tbi_within(builder, item, length, &def->length, 1) &&
         tbi_within(builder, item, stiffness, &def->stiffness, 1) &&
         tbi_within(builder, item, damping, &def->damping, 1);
}

bool tbi_sensor_within(tabi_builder *builder, const tabi_sensor_def *def) {
  return tbi_within(builder, (tbi_item){"sensor", def->name, def->place}, position, def->pos, 3);
}
