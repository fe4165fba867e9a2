/* ros.h - ROS 2 messages: their definitions, and their bytes in CDR, little-endian. */
#ifndef TBI_ROS_H
#define TBI_ROS_H

#include "export/bytes.h"

typedef struct tbi_ros_type {
  const char *name;       /* "sensor_msgs/msg/JointState" */
  const char *definition; /* with those that it needs, as in ros2msg */
} tbi_ros_type;

typedef enum tbi_ros_kind {
  TBI_ROS_TF,
  TBI_ROS_JOINT_STATE,
  TBI_ROS_WRENCH,
  TBI_ROS_IMU,
  TBI_ROS_FLOAT,
  TBI_ROS_STRING,
  TBI_ROS_COUNT,
} tbi_ros_kind;

extern const tbi_ros_type tbi_ros_types[TBI_ROS_COUNT];

/* Each of these empties `bytes` and puts one message there.  Times are in ns. */

typedef struct tbi_ros_joints {
  const char *const *name;
  const double *position, *velocity, *effort;
  int32_t count;
} tbi_ros_joints;
void tbi_ros_joint_state(tbi_bytes *bytes, uint64_t time, const tbi_ros_joints *joints);

/* What is pressed and turned with, in the axes of a frame. */
void tbi_ros_wrench(tbi_bytes *bytes, uint64_t time, const char *frame, const double wrench[6]);

typedef struct tbi_ros_imu {
  const char *frame;
  const double *gyro, *accelerometer;             /* [3]; NULL: not measured */
  const double *gyro_noise, *accelerometer_noise; /* [3] standard deviations */
} tbi_ros_imu;
void tbi_ros_imu_put(tbi_bytes *bytes, uint64_t time, const tbi_ros_imu *imu);

void tbi_ros_float(tbi_bytes *bytes, double value);
void tbi_ros_string(tbi_bytes *bytes, const char *text);

/* Transforms from "world" are put one after another, between begin and end. */
void tbi_ros_tf_begin(tbi_bytes *bytes);
void tbi_ros_tf_put(tbi_bytes *bytes, uint64_t time, const char *frame, const double pos[3],
                    const double quat[4]);
void tbi_ros_tf_end(tbi_bytes *bytes, uint32_t count);

#endif
