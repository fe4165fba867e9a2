/* ros.c - messages field by field.
 *
 * CDR puts every number at a multiple of its own size, counted from behind the four bytes that say
 * how it is encoded.  A text has its length before it, and a zero behind it that counts too; a list
 * has its count before it. */
#include "export/ros.h"

#include <string.h>

#define NEXT \
  "================================================================================\nMSG: "
#define HEADER                                                                  \
  NEXT "std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" NEXT \
       "builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
#define VECTOR     NEXT "geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
#define QUATERNION NEXT "geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"

const tbi_ros_type tbi_ros_types[TBI_ROS_COUNT] = {
    [TBI_ROS_TF] = {"tf2_msgs/msg/TFMessage",
                    "geometry_msgs/TransformStamped[] transforms\n" NEXT
                    "geometry_msgs/TransformStamped\n"
                    "std_msgs/Header header\n"
                    "string child_frame_id\n"
                    "geometry_msgs/Transform transform\n" HEADER NEXT "geometry_msgs/Transform\n"
                    "geometry_msgs/Vector3 translation\n"
                    "geometry_msgs/Quaternion rotation\n" VECTOR QUATERNION                                                            },
    [TBI_ROS_JOINT_STATE] = {"sensor_msgs/msg/JointState",      "std_msgs/Header header\n"
                                                           "string[] name\n"
                                                           "float64[] position\n"
                                                           "float64[] velocity\n"
                                                           "float64[] effort\n" HEADER},
    [TBI_ROS_WRENCH] = {"geometry_msgs/msg/WrenchStamped",
                    "std_msgs/Header header\n"
                        "geometry_msgs/Wrench wrench\n" HEADER NEXT "geometry_msgs/Wrench\n"
                        "geometry_msgs/Vector3 force\n"
                        "geometry_msgs/Vector3 torque\n" VECTOR                                                                        },
    [TBI_ROS_IMU] = {"sensor_msgs/msg/Imu",
                    "std_msgs/Header header\n"
                     "geometry_msgs/Quaternion orientation\n"
                     "float64[9] orientation_covariance\n"
                     "geometry_msgs/Vector3 angular_velocity\n"
                     "float64[9] angular_velocity_covariance\n"
                     "geometry_msgs/Vector3 linear_acceleration\n"
                     "float64[9] linear_acceleration_covariance\n" HEADER QUATERNION VECTOR                                            },
    [TBI_ROS_STRING] = {"std_msgs/msg/String",             "string data\n"                                                                 },
    [TBI_ROS_FLOAT] = {"std_msgs/msg/Float64",            "float64 data\n"                                                                },
};

/* -- CDR */

enum { ENCAPSULATION = 4 };

static void begin(tbi_bytes *bytes) {
  static const unsigned char little_endian[ENCAPSULATION] = {0, 1, 0, 0};
  bytes->size = 0;
  tbi_bytes_put(bytes, little_endian, sizeof little_endian);
}

static void align(tbi_bytes *bytes, size_t size) {
  static const unsigned char zeros[8] = {0};
  size_t over = (bytes->size - ENCAPSULATION) % size;
  if (over > 0) tbi_bytes_put(bytes, zeros, size - over);
}

static void put_u32(tbi_bytes *bytes, uint32_t number) {
  align(bytes, 4);
  tbi_bytes_put_u32(bytes, number);
}

static void put_double(tbi_bytes *bytes, double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  align(bytes, 8);
  tbi_bytes_put_u64(bytes, bits);
}

static void put_doubles(tbi_bytes *bytes, const double *number, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    put_double(bytes, number[i]);
}

static void put_list(tbi_bytes *bytes, const double *number, int32_t count) {
  put_u32(bytes, (uint32_t)count);
  put_doubles(bytes, number, count);
}

static void put_text(tbi_bytes *bytes, const char *text) {
  size_t size = strlen(text) + 1;
  put_u32(bytes, (uint32_t)size);
  tbi_bytes_put(bytes, text, size);
}

static void put_header(tbi_bytes *bytes, uint64_t time, const char *frame) {
  const uint64_t second = 1000000000;
  put_u32(bytes, (uint32_t)(time / second));
  put_u32(bytes, (uint32_t)(time % second));
  put_text(bytes, frame);
}

/* -- messages */

void tbi_ros_joint_state(tbi_bytes *bytes, uint64_t time, const tbi_ros_joints *joints) {
  begin(bytes);
  put_header(bytes, time, "");
  put_u32(bytes, (uint32_t)joints->count);
  for (int32_t i = 0; i < joints->count; ++i)
    put_text(bytes, joints->name[i]);
  put_list(bytes, joints->position, joints->count);
  put_list(bytes, joints->velocity, joints->count);
  put_list(bytes, joints->effort, joints->count);
}

void tbi_ros_wrench(tbi_bytes *bytes, uint64_t time, const char *frame, const double wrench[6]) {
  begin(bytes);
  put_header(bytes, time, frame);
  put_doubles(bytes, wrench, 6);
}

/* A vector with its covariance, whose first number is -1 for what is not measured. */
static void put_measured(tbi_bytes *bytes, const double *vector, const double *noise) {
  double covariance[9] = {0};
  const double nothing[3] = {0};
  if (!vector) covariance[0] = -1;
  for (size_t i = 0; vector && i < 3; ++i)
    covariance[4 * i] = noise[i] * noise[i];
  put_doubles(bytes, vector ? vector : nothing, 3);
  put_doubles(bytes, covariance, 9);
}

void tbi_ros_imu_put(tbi_bytes *bytes, uint64_t time, const tbi_ros_imu *imu) {
  const double orientation[4] = {0, 0, 0, 1};
  const double unknown[9] = {-1};
  begin(bytes);
  put_header(bytes, time, imu->frame);
  put_doubles(bytes, orientation, 4);
  put_doubles(bytes, unknown, 9);
  put_measured(bytes, imu->gyro, imu->gyro_noise);
  put_measured(bytes, imu->accelerometer, imu->accelerometer_noise);
}

void tbi_ros_float(tbi_bytes *bytes, double value) {
  begin(bytes);
  put_double(bytes, value);
}

void tbi_ros_string(tbi_bytes *bytes, const char *text) {
  begin(bytes);
  put_text(bytes, text);
}

void tbi_ros_tf_begin(tbi_bytes *bytes) {
  begin(bytes);
  put_u32(bytes, 0);
}

void tbi_ros_tf_put(tbi_bytes *bytes, uint64_t time, const char *frame, const double pos[3],
                    const double quat[4]) {
  const double rotation[4] = {quat[1], quat[2], quat[3], quat[0]};
  put_header(bytes, time, "world");
  put_text(bytes, frame);
  put_doubles(bytes, pos, 3);
  put_doubles(bytes, rotation, 4);
}

void tbi_ros_tf_end(tbi_bytes *bytes, uint32_t count) {
  for (size_t i = 0; !bytes->no_memory && i < 4; ++i)
    bytes->data[ENCAPSULATION + i] = (unsigned char)(count >> (8 * i) & 0xff);
}
