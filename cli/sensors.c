/* sensors.c - readings of sensors: columns of the CSV log, and the last ones as JSON. */
#include "sensors.h"

/* What the numbers of a type are called. */
static const char *const parts[TABI_SENSOR_COUNT][TABI_SENSOR_MAX] = {
    [TABI_SENSOR_FORCE_TORQUE] = {"fx",  "fy", "fz",  "tx", "ty", "tz"},
    [TABI_SENSOR_GYRO] = {"wx", "wy",     "wz"      },
    [TABI_SENSOR_ACCELEROMETER] = {"ax",     "ay",      "az"},
    [TABI_SENSOR_ENCODER] = {"q"  },
    [TABI_SENSOR_JOINT_TORQUE] = {"tau" },
    [TABI_SENSOR_CONTACT] = {"on",     "f"    },
    [TABI_SENSOR_PRESSURE_CENTRE] = {"x",     "y","f"     },
    [TABI_SENSOR_ZMP] = {"x",      "y",       "z", "f"      },
};

void tbi_sensor_names(FILE *file, const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    for (int32_t k = 0; k < tabi_sensor_type_size(sensor.type); ++k)
      (void)fprintf(file, ",%s.%s", sensor.name, parts[sensor.type][k]);
  }
}

void tbi_sensor_row(FILE *file, const tabi_world *world) {
  for (int32_t i = 0; i < tabi_model_nsensor(tabi_world_model(world)); ++i) {
    double value[TABI_SENSOR_MAX];
    int32_t size = tabi_world_sensor(world, i, value);
    for (int32_t k = 0; k < size; ++k)
      (void)fprintf(file, ",%.12g", value[k]);
  }
}

json_t *tbi_sensor_json(const tabi_world *world) {
  const tabi_model *model = tabi_world_model(world);
  json_t *sensors = json_object();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    double value[TABI_SENSOR_MAX];
    int32_t size = tabi_world_sensor(world, i, value);
    const char *name = tabi_model_sensor(model, i).name;
    bad |= json_object_set_new(sensors, name, tbi_json_numbers(value, size));
  }
  if (!bad) return sensors;
  json_decref(sensors);
  return NULL;
}
