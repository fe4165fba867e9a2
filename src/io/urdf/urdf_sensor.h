/* urdf_sensor.h - sensors that URDF files have for Gazebo. */
#ifndef TBI_URDF_SENSOR_H
#define TBI_URDF_SENSOR_H

#include "io/urdf/urdf_extra.h"

/* Adds the sensors that <gazebo reference="name"> gives a link or a joint; the index of the other
 * is TABI_NONE.  An imu on a link becomes a gyro and an accelerometer, force_torque at a joint and
 * contact on a link themselves; others are left to be told as ignored. */
void tbi_urdf_sensors_add(const tbi_urdf_extras *x, const char *name, int32_t link, int32_t joint);

#endif
