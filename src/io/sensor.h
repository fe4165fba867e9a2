/* sensor.h - lists of sensors in YAML, of a robot in a scene or of the file beside a URDF. */
#ifndef TBI_SENSOR_H
#define TBI_SENSOR_H

#include "io/find.h"
#include "tabi/tabi_io.h"

/* Whose sensors are read. */
typedef struct tbi_sensor_list {
  tbi_finder find;     /* its builder receives them */
  int32_t first_joint; /* of the robot */
} tbi_sensor_list;

/* NULL for no list. */
bool tbi_sensor_list_read(const tbi_sensor_list *list, const tbi_yaml_node *nodes);

#endif
