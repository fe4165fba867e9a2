/* ros_scene.h - the parts of a scene that ROS messages contain, and their names there.
 *
 * Frames are called like links.  With one robot, "robot/" is left out before its links, so that
 * they are called as in its file; joints never have it, since their topic tells the robot. */
#ifndef TBI_ROS_SCENE_H
#define TBI_ROS_SCENE_H

#include "export/ros.h"
#include "tabi/tabi_record.h"

/* A link or a sensor that has its own axes, with its frame in that of the link. */
typedef struct tbi_ros_frame {
  char *name;
  int32_t link;
  double pos[3], quat[4];
} tbi_ros_frame;

/* The joints of a robot that have one coordinate, or those of no robot. */
typedef struct tbi_ros_group {
  char *topic;
  const char **name;
  int32_t *q, *v, *joint; /* where they stand in these, and their index in the model */
  double *position, *velocity, *effort;
  int32_t count;
} tbi_ros_group;

/* A force-torque sensor; or a gyroscope, an accelerometer, or both at one place. */
typedef struct tbi_ros_sensor {
  tbi_ros_kind kind;
  char *topic;
  int32_t frame;
  int32_t first, second; /* where its numbers stand among those of all sensors, or TABI_NONE; of an
                            IMU the gyroscope's and the accelerometer's */
  double noise[2][3];
} tbi_ros_sensor;

typedef struct tbi_ros_scene {
  const tabi_model *model;
  tbi_ros_frame *frame;
  int32_t nframe;
  int32_t *link_frame; /* [nlink] TABI_NONE: it has no name */
  tbi_ros_group *group;
  int32_t ngroup;
  tbi_ros_sensor *sensor;
  int32_t nsensor;
} tbi_ros_scene;

/* False without memory; what was made is freed in any case by tbi_ros_scene_free. */
bool tbi_ros_scene_make(tbi_ros_scene *ros, const tabi_scene *scene);
void tbi_ros_scene_free(tbi_ros_scene *ros);

/* "/robot/contact/l_foot" for a link called "robot/l_foot", "/contact/box" for one of no robot.
 * NULL without memory. */
char *tbi_ros_topic(const tabi_scene *scene, const char *name, const char *what);
/* A topic with no characters that ROS refuses; changes dots to slashes. */
char *tbi_ros_clean(const char *topic);

/* A frame in the world, after tabi_dynamics_set_state. */
void tbi_ros_frame_pose(const tbi_ros_frame *frame, const tabi_dynamics *dynamics, double pos[3],
                        double quat[4]);
/* A vector in the axes of a frame with this orientation in the world. */
void tbi_ros_to_frame(const double quat[4], const double vector[3], double turned[3]);

#endif
