/* sensor.h - lists of sensors in YAML, of a robot in a scene or of the file beside a URDF. */
#ifndef TBI_SENSOR_H
#define TBI_SENSOR_H

#include "io/yaml.h"
#include "tabi/tabi_io.h"

/* Whose sensors are read. */
typedef struct tbi_sensor_list {
  tabi_builder *builder; /* receives them, and knows links and joints */
  const char *prefix;    /* before all names: "robot/" */
  int32_t first_joint;   /* of the robot */
  tabi_error *err;
} tbi_sensor_list;

/* NULL for no list. */
tabi_status tbi_sensor_list_read(const tbi_sensor_list *list, const tbi_yaml_node *nodes);

#endif
