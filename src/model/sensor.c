/* sensor.c - the types of sensors, and the checks that a sensor has to pass. */
#include "base/assertion.h"
#include "model/builder.h"
#include "model/limits.h"

#include <string.h>

static const struct {
  const char *name;
  int32_t size;
  bool at_joint, one_coordinate;
} types[TABI_SENSOR_COUNT] = {
    [TABI_SENSOR_FORCE_TORQUE] = {"force_torque",    6, true,  false},
    [TABI_SENSOR_GYRO] = {"gyro",            3, false, false},
    [TABI_SENSOR_ACCELEROMETER] = {"accelerometer",   3, false, false},
    [TABI_SENSOR_ENCODER] = {"encoder",         1, true,  true },
    [TABI_SENSOR_JOINT_TORQUE] = {"joint_torque",    1, true,  true },
    [TABI_SENSOR_CONTACT] = {"contact",         2, false, false},
    [TABI_SENSOR_PRESSURE_CENTRE] = {"pressure_centre", 3, false, false},
    [TABI_SENSOR_ZMP] = {"zmp",             4, false, false},
};

static bool is_type(tabi_sensor_type type) { return (unsigned)type < TABI_SENSOR_COUNT; }

int32_t tabi_sensor_type_size(tabi_sensor_type type) {
  return is_type(type) ? types[type].size : 0;
}

const char *tabi_sensor_type_name(tabi_sensor_type type) {
  return is_type(type) ? types[type].name : NULL;
}

int32_t tabi_sensor_type_find(const char *name) {
  TBI_ASSERT(name);
  for (int32_t i = 0; i < TABI_SENSOR_COUNT; ++i) {
    if (strcmp(types[i].name, name) == 0) return i;
  }
  return TABI_NONE;
}

static bool check_place(tabi_builder *builder, const tabi_sensor_def *def) {
  TBI_ASSERT(is_type(def->type)); /* check() */
  const char *name = tbi_shown(def->name);
  const char *type = types[def->type].name;
  if (!types[def->type].at_joint) {
    if (tbi_builder_is_link(builder, def->link)) return true;
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "sensor '%s': type %s needs a link", name, type);
  }
  if (!tbi_builder_is_joint(builder, def->joint)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "sensor '%s': type %s needs a joint", name, type);
  }
  if (!types[def->type].one_coordinate ||
      tbi_joint_nq(tbi_builder_joint(builder, def->joint)->type) == 1) {
    return true;
  }
  return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                          "sensor '%s': type %s needs a joint with one coordinate", name, type);
}

/* whether all numbers of a kind are in [low, infinity], above low if it is open */
static bool all_above(const double *value, double low, bool open) {
  for (int i = 0; i < TABI_SENSOR_MAX; ++i) {
    if (!(open ? value[i] > low : value[i] >= low)) return false;
  }
  return true;
}

/* what is wrong with the numbers of a def, or NULL */
static const char *complaint(const tabi_sensor_def *def) {
  if (!all_above(def->noise, 0, false) || !tbi_all_finite(def->noise, TABI_SENSOR_MAX))
    return "noise must be >= 0";
  if (!all_above(def->resolution, 0, false) || !tbi_all_finite(def->resolution, TABI_SENSOR_MAX))
    return "resolution must be >= 0";
  if (!all_above(def->range, 0, true)) return "range must be > 0";
  return def->delay >= 0 && isfinite(def->delay) ? NULL : "delay must be >= 0";
}

static bool check(tabi_builder *builder, tabi_sensor_def *def) {
  const char *name = tbi_shown(def->name);
  if (!is_type(def->type)) {
    return tbi_builder_fail(builder, TABI_ERR_ARGUMENT, def->place, "sensor '%s': unknown type %d",
                            name, (int)def->type);
  }
  if (def->name && tbi_names_find(&builder->sensor_names, def->name) != TABI_NONE) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "sensor '%s' defined twice; give each sensor its own name", name);
  }
  if (!tbi_all_finite(def->pos, 3) || !tbi_unit_quat(def->quat)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place,
                            "sensor '%s': its frame is not finite or no rotation", name);
  }
  if (complaint(def)) {
    return tbi_builder_fail(builder, TABI_ERR_MODEL, def->place, "sensor '%s': %s", name,
                            complaint(def));
  }
  return tbi_sensor_within(builder, def) && check_place(builder, def);
}

int32_t tabi_builder_add_sensor(tabi_builder *builder, const tabi_sensor_def *def) {
  if (!tbi_builder_begin(builder, def, sizeof *def, "sensor")) return TABI_NONE;
  tabi_sensor_def kept = *def;
  if (!check(builder, &kept) || !tbi_builder_keep(builder, &kept.name, &kept.place))
    return TABI_NONE;
  if (kept.type == TABI_SENSOR_CONTACT) {
    /* a switch is on or off */
    kept.noise[0] = kept.resolution[0] = 0;
    kept.range[0] = INFINITY;
  }
  int32_t sensor = tbi_builder_append(builder, &builder->sensors, &kept, sizeof kept);
  return tbi_builder_list(builder, &builder->sensor_names, kept.name, sensor);
}
