/* recording_mcap.h - a number of ROS 2 messages in an MCAP file over time.
 *
 *   /signals/com/z                     std_msgs/Float64
 *   /joint_states:l_knee.position      sensor_msgs/JointState: position, velocity, effort
 *   /l_ft:force.z                      geometry_msgs/WrenchStamped: force, torque
 *   /gyro:angular_velocity.x           sensor_msgs/Imu: angular_velocity, linear_acceleration
 *
 * Times are those at which messages were logged, in s; those of a real clock (after 1970) count
 * from the file's first message. */
#ifndef TBI_RECORDING_MCAP_H
#define TBI_RECORDING_MCAP_H

#include "tabi/tabi_study.h"

/* NULL, or what is wrong; column->time and ->value are the caller's to free.  No message of the
 * topic, or none with that number: an empty column. */
const char *tbi_recording_mcap(const unsigned char *bytes, size_t size, const char *name,
                               tabi_column *column);

#endif
