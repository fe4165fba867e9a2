/* sensors.c - sensors of a model as a list, and their last readings as JSON. */
#include "common/sensors.h"

json_t *tbi_sensor_json(const tabi_world *world) {
  const tabi_model *model = tabi_world_model(world);
  json_t *sensors = json_object();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    double value[TABI_SENSOR_MAX];
    int32_t size = tabi_world_sensor(world, i, value);
    const char *name = tabi_model_sensor(model, i).name;
    if (!name) continue; /* a controller's own */
    bad |= json_object_set_new(sensors, name, tbi_json_numbers(value, size));
  }
  if (!bad) return sensors;
  json_decref(sensors);
  return NULL;
}

/* The joint or link where a sensor is. */
static const char *place_of(const tabi_model *model, const tabi_sensor_def *sensor) {
  if (sensor->joint != TABI_NONE) return tabi_model_joint(model, sensor->joint).name;
  return tabi_model_link(model, sensor->link).name;
}

void tbi_sensor_list(FILE *out, const tabi_model *model) {
  int32_t count = tabi_model_nsensor(model);
  if (count > 0) (void)fprintf(out, "\nsensors:\n");
  for (int32_t i = 0; i < count; ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    (void)fprintf(out, "  %s (%s: %s)\n", sensor.name, tabi_sensor_type_name(sensor.type),
                  place_of(model, &sensor));
  }
}

json_t *tbi_sensor_list_json(const tabi_model *model) {
  json_t *sensors = json_array();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    json_t *object = json_object();
    bool at_joint = sensor.joint != TABI_NONE;
    bad |= json_object_set_new(object, "name", tbi_json_text(sensor.name));
    bad |= json_object_set_new(object, "type", json_string(tabi_sensor_type_name(sensor.type)));
    bad |= json_object_set_new(object, at_joint ? "joint" : "link",
                               tbi_json_text(place_of(model, &sensor)));
    bad |= json_object_set_new(object, "line", json_integer(sensor.place.line));
    bad |= json_array_append_new(sensors, object);
  }
  if (!bad) return sensors;
  json_decref(sensors);
  return NULL;
}
