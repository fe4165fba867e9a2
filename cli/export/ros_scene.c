/* ros_scene.c - see ros_scene.h. */
#include "export/ros_scene.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- names */

static bool listed(const char *name) { return name && name[0] != '\0'; }

/* The robot whose name stands before a name, or TABI_NONE. */
static int32_t owner_of(const tabi_scene *scene, const char *name) {
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
    const char *robot = tabi_scene_get_robot(scene, i).name;
    size_t length = strlen(robot);
    if (strncmp(name, robot, length) == 0 && name[length] == '/') return i;
  }
  return TABI_NONE;
}

static const char *own_name(const tabi_scene *scene, const char *name) {
  int32_t robot = owner_of(scene, name);
  return robot == TABI_NONE ? name : name + strlen(tabi_scene_get_robot(scene, robot).name) + 1;
}

static char *join(const char *a, const char *b, const char *c) {
  size_t size = strlen(a) + strlen(b) + strlen(c) + 4;
  char *text = malloc(size);
  if (text) (void)snprintf(text, size, "%s/%s%s%s", a, b, c[0] ? "/" : "", c);
  return text;
}

char *tbi_ros_clean(const char *topic) {
  char *clean = malloc(2 * strlen(topic) + 1);
  char *at = clean;
  for (; clean && *topic != '\0'; ++topic) {
    char c = *topic;
    if (c == '.') c = '/';
    if (!isalnum((unsigned char)c) && c != '/') c = '_';
    /* parts are not empty, and underscores stand alone */
    if ((c == '/' || c == '_') && at != clean && at[-1] == c) continue;
    /* no part of a name begins with a digit */
    if (isdigit((unsigned char)c) && at != clean && at[-1] == '/') *at++ = '_';
    *at++ = c;
  }
  if (at && at != clean && at[-1] == '/') --at;
  if (clean) *at = '\0';
  return clean;
}

char *tbi_ros_topic(const tabi_scene *scene, const char *name, const char *what) {
  int32_t robot = owner_of(scene, name);
  const char *before = robot == TABI_NONE ? "" : tabi_scene_get_robot(scene, robot).name;
  char *rooted = robot == TABI_NONE ? strdup("") : join("", before, "");
  char *topic = rooted ? join(rooted, what, own_name(scene, name)) : NULL;
  char *clean = topic ? tbi_ros_clean(topic) : NULL;
  free(rooted);
  free(topic);
  return clean;
}

/* -- frames */

static const char *frame_name(const tabi_scene *scene, const char *name) {
  const char *own = own_name(scene, name);
  bool taken = own != name && tabi_model_find_link(tabi_scene_model(scene), own) != TABI_NONE;
  return tabi_scene_nrobot(scene) > 1 || taken ? name : own;
}

static bool make_link_frames(tbi_ros_scene *ros, const tabi_scene *scene) {
  for (int32_t i = 0; i < tabi_model_nlink(ros->model); ++i) {
    const char *name = tabi_model_link(ros->model, i).name;
    ros->link_frame[i] = TABI_NONE;
    if (!listed(name)) continue;
    tbi_ros_frame frame = {
        .name = strdup(frame_name(scene, name)), .link = i, .quat = {1, 0, 0, 0}
    };
    if (!frame.name) return false;
    ros->link_frame[i] = ros->nframe;
    ros->frame[ros->nframe++] = frame;
  }
  return true;
}

static bool is_at_origin(const tabi_sensor_def *sensor) {
  const double *p = sensor->pos;
  const double *q = sensor->quat;
  return p[0] == 0 && p[1] == 0 && p[2] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0;
}

/* The frame of a sensor: its link's, where they are the same, or one of its own below it. */
static bool find_sensor_frame(tbi_ros_scene *ros, const tabi_scene *scene,
                              const tabi_sensor_def *sensor, int32_t *found) {
  int32_t link = sensor->link;
  if (sensor->joint != TABI_NONE) link = tabi_model_joint(ros->model, sensor->joint).child;
  int32_t above = ros->link_frame[link];
  *found = above;
  if (above != TABI_NONE && is_at_origin(sensor)) return true;
  tbi_ros_frame frame = {.link = link};
  memcpy(frame.pos, sensor->pos, sizeof frame.pos);
  memcpy(frame.quat, sensor->quat, sizeof frame.quat);
  const char *name = tabi_model_link(ros->model, link).name;
  frame.name =
      join(listed(name) ? frame_name(scene, name) : "unnamed", own_name(scene, sensor->name), "");
  if (!frame.name) return false;
  *found = ros->nframe;
  ros->frame[ros->nframe++] = frame;
  return true;
}

/* -- joints */

static bool in_group(const tbi_ros_scene *ros, const tabi_scene *scene, int32_t joint,
                     int32_t robot) {
  const char *name = tabi_model_joint(ros->model, joint).name;
  return listed(name) && tabi_model_joint_q(ros->model, joint).count == 1 &&
         owner_of(scene, name) == robot;
}

static bool make_group(tbi_ros_scene *ros, const tabi_scene *scene, int32_t robot) {
  size_t capacity = (size_t)tabi_model_njoint(ros->model) + 1;
  tbi_ros_group *g = &ros->group[ros->ngroup++];
  *g = (tbi_ros_group){.name = calloc(capacity, sizeof *g->name),
                       .q = calloc(capacity, sizeof *g->q),
                       .v = calloc(capacity, sizeof *g->v),
                       .joint = calloc(capacity, sizeof *g->joint),
                       .position = calloc(capacity, sizeof *g->position),
                       .velocity = calloc(capacity, sizeof *g->velocity),
                       .effort = calloc(capacity, sizeof *g->effort)};
  if (!g->name || !g->q || !g->v || !g->joint || !g->position || !g->velocity || !g->effort)
    return false;
  for (int32_t i = 0; i < tabi_model_njoint(ros->model); ++i) {
    if (!in_group(ros, scene, i, robot)) continue;
    g->name[g->count] = own_name(scene, tabi_model_joint(ros->model, i).name);
    g->joint[g->count] = i;
    g->q[g->count] = tabi_model_joint_q(ros->model, i).first;
    g->v[g->count++] = tabi_model_joint_v(ros->model, i).first;
  }
  bool alone = robot == TABI_NONE || tabi_scene_nrobot(scene) == 1;
  const char *name = alone ? "" : tabi_scene_get_robot(scene, robot).name;
  char *rooted = alone ? strdup("") : join("", name, "");
  char *topic = rooted ? join(rooted, "joint_states", "") : NULL;
  g->topic = topic ? tbi_ros_clean(topic) : NULL;
  free(rooted);
  free(topic);
  return g->topic != NULL;
}

/* -- sensors */

static bool are_equal(const double *a, const double *b, int count) {
  for (int i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

static bool at_one_place(const tabi_sensor_def *a, const tabi_sensor_def *b) {
  return a->link == b->link && are_equal(a->pos, b->pos, 3) && are_equal(a->quat, b->quat, 4);
}

/* Where the numbers of the first sensor of a type stand that is where another is. */
static int32_t find_beside(const tabi_model *model, const tabi_sensor_def *other,
                           tabi_sensor_type type, double noise[3]) {
  int32_t at = 0;
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    if (sensor.type == type && at_one_place(&sensor, other)) {
      memcpy(noise, sensor.noise, sizeof(double[3]));
      return at;
    }
    at += tabi_sensor_type_size(sensor.type);
  }
  return TABI_NONE;
}

/* An IMU stands where its gyroscope is, or an accelerometer that has none beside it. */
static bool is_imu(const tabi_model *model, const tabi_sensor_def *sensor, int32_t at) {
  double unused[3];
  if (sensor->type == TABI_SENSOR_GYRO)
    return find_beside(model, sensor, TABI_SENSOR_GYRO, unused) == at;
  return sensor->type == TABI_SENSOR_ACCELEROMETER &&
         find_beside(model, sensor, TABI_SENSOR_GYRO, unused) == TABI_NONE;
}

static bool make_sensors(tbi_ros_scene *ros, const tabi_scene *scene) {
  int32_t at = 0;
  for (int32_t i = 0; i < tabi_model_nsensor(ros->model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(ros->model, i);
    int32_t first = at;
    at += tabi_sensor_type_size(sensor.type);
    bool imu = is_imu(ros->model, &sensor, first);
    if (!listed(sensor.name) || (!imu && sensor.type != TABI_SENSOR_FORCE_TORQUE)) continue;
    tbi_ros_sensor *s = &ros->sensor[ros->nsensor++];
    *s = (tbi_ros_sensor){.kind = imu ? TBI_ROS_IMU : TBI_ROS_WRENCH, .first = first};
    if (imu) {
      s->first = find_beside(ros->model, &sensor, TABI_SENSOR_GYRO, s->noise[0]);
      s->second = find_beside(ros->model, &sensor, TABI_SENSOR_ACCELEROMETER, s->noise[1]);
    }
    s->topic = tbi_ros_topic(scene, sensor.name, "sensor");
    if (!s->topic || !find_sensor_frame(ros, scene, &sensor, &s->frame)) return false;
  }
  return true;
}

/* -- the scene */

bool tbi_ros_scene_make(tbi_ros_scene *ros, const tabi_scene *scene) {
  const tabi_model *model = tabi_scene_model(scene);
  size_t nlink = (size_t)tabi_model_nlink(model);
  size_t nsensor = (size_t)tabi_model_nsensor(model);
  int32_t nrobot = tabi_scene_nrobot(scene);
  *ros = (tbi_ros_scene){.model = model};
  ros->frame = calloc(nlink + nsensor + 1, sizeof *ros->frame);
  ros->link_frame = calloc(nlink + 1, sizeof *ros->link_frame);
  ros->group = calloc((size_t)nrobot + 1, sizeof *ros->group);
  ros->sensor = calloc(nsensor + 1, sizeof *ros->sensor);
  if (!ros->frame || !ros->link_frame || !ros->group || !ros->sensor) return false;
  for (int32_t i = TABI_NONE; i < nrobot; ++i) {
    if (!make_group(ros, scene, i)) return false;
  }
  return make_link_frames(ros, scene) && make_sensors(ros, scene);
}

void tbi_ros_scene_free(tbi_ros_scene *ros) {
  for (int32_t i = 0; i < ros->nframe; ++i)
    free(ros->frame[i].name);
  for (int32_t i = 0; i < ros->nsensor; ++i)
    free(ros->sensor[i].topic);
  for (int32_t i = 0; i < ros->ngroup; ++i) {
    tbi_ros_group *g = &ros->group[i];
    free(g->topic);
    free(g->name);
    free(g->q);
    free(g->v);
    free(g->position);
    free(g->velocity);
    free(g->joint);
    free(g->effort);
  }
  free(ros->frame);
  free(ros->link_frame);
  free(ros->group);
  free(ros->sensor);
  *ros = (tbi_ros_scene){0};
}

/* -- poses */

static void multiply(const double a[4], const double b[4], double c[4]) {
  c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  c[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
  c[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}

static void turn(const double quat[4], const double vector[3], double turned[3]) {
  const double conjugate[4] = {quat[0], -quat[1], -quat[2], -quat[3]};
  const double pure[4] = {0, vector[0], vector[1], vector[2]};
  double half[4];
  double whole[4];
  multiply(quat, pure, half);
  multiply(half, conjugate, whole);
  memcpy(turned, whole + 1, sizeof(double[3]));
}

void tbi_ros_to_frame(const double quat[4], const double vector[3], double turned[3]) {
  const double conjugate[4] = {quat[0], -quat[1], -quat[2], -quat[3]};
  turn(conjugate, vector, turned);
}

void tbi_ros_frame_pose(const tbi_ros_frame *frame, const tabi_dynamics *dynamics, double pos[3],
                        double quat[4]) {
  double link[4];
  double arm[3];
  tabi_dynamics_link_pose(dynamics, frame->link, pos, link);
  turn(link, frame->pos, arm);
  for (int i = 0; i < 3; ++i)
    pos[i] += arm[i];
  multiply(link, frame->quat, quat);
}
