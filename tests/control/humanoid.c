/* humanoid.c - see humanoid.h. */
#include "control/humanoid.h"

#include "support/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Knees bent. */
static void crouch(humanoid *robot, const char *prefix) {
  static const char *const joints[] = {"l_hip_pitch", "l_knee", "l_ankle_pitch",
                                       "r_hip_pitch", "r_knee", "r_ankle_pitch"};
  static const double angles[] = {-0.4538, 0.8727, -0.4189};
  for (int i = 0; i < 6; ++i) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s%s", prefix, joints[i]);
    int32_t joint = tabi_model_find_joint(robot->model, name);
    robot->q[tabi_model_joint_q(robot->model, joint).first] = angles[i % 3];
  }
}

humanoid humanoid_load(const char *const *set, int32_t nset) {
  tabi_error err = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  humanoid robot = {.scene = tabi_scene_load(TABI_SOURCE_DIR "/scenes/stand.yaml", &def, &err),
                    .kp = 15000,
                    .kd = 300};
  if (!robot.scene) fail_msg("%s", err.message);
  robot.model = tabi_scene_model(robot.scene);
  tabi_world_def world_def = tabi_scene_world_def(robot.scene);
  robot.world = tabi_world_create(robot.model, &world_def, &err);
  if (!robot.world || tabi_scene_reset(robot.scene, robot.world, &err) != TABI_OK)
    fail_msg("%s", err.message);
  robot.q = calloc((size_t)tabi_model_nq(robot.model), sizeof *robot.q);
  tabi_model_initial_q(robot.model, robot.q);
  crouch(&robot, "robot/");
  return robot;
}

/* On a link or at a joint, whichever the type asks for. */
typedef struct sensor {
  tabi_sensor_type type;
  const char *name, *link, *joint;
  double noise[2]; /* of the first three numbers, and of the others */
} sensor;

static void add_sensor(tabi_builder *builder, const sensor *s, bool noisy) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = s->type;
  def.name = s->name;
  if (s->link) def.link = tabi_builder_find_link(builder, s->link);
  if (s->joint) def.joint = tabi_builder_find_joint(builder, s->joint);
  for (int i = 0; i < tabi_sensor_type_size(s->type) && noisy; ++i)
    def.noise[i] = s->noise[i / 3];
  def.delay = noisy ? 2e-3 : 0;
  (void)tabi_builder_add_sensor(builder, &def);
}

static void add_sensors(tabi_builder *builder, bool noisy) {
  static const char *const legs[] = {"hip_yaw", "hip_roll",    "hip_pitch",
                                     "knee",    "ankle_pitch", "ankle_roll"};
  static const sensor sensors[] = {
      {TABI_SENSOR_FORCE_TORQUE,  "l_force",       NULL,     "l_ankle_roll", {2, 0.2} },
      {TABI_SENSOR_FORCE_TORQUE,  "r_force",       NULL,     "r_ankle_roll", {2, 0.2} },
      {TABI_SENSOR_GYRO,          "gyro",          "pelvis", NULL,           {0.01, 0}},
      {TABI_SENSOR_ACCELEROMETER, "accelerometer", "pelvis", NULL,           {0.2, 0} },
  };
  for (size_t i = 0; i < sizeof sensors / sizeof *sensors; ++i)
    add_sensor(builder, &sensors[i], noisy);
  for (int i = 0; i < 12; ++i) {
    char joint[64];
    (void)snprintf(joint, sizeof joint, "%c_%s", i < 6 ? 'l' : 'r', legs[i % 6]);
    const sensor encoder = {
        TABI_SENSOR_ENCODER, NULL, NULL, joint, {1e-4, 0}
    };
    add_sensor(builder, &encoder, noisy);
  }
}

static tabi_model *build_model(const char *file, bool noisy) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/models/%s", TABI_SOURCE_DIR, file);
  tabi_error err = {0};
  tabi_builder *builder = tabi_builder_create();
  if (tabi_builder_load(builder, path, NULL, &err) != TABI_OK) fail_msg("%s", err.message);
  tabi_shape_def floor = tabi_shape_def_default();
  floor.type = TABI_SHAPE_PLANE;
  floor.link = TABI_WORLD;
  (void)tabi_builder_add_shape(builder, &floor);
  for (int32_t i = 0; i < tabi_builder_nlink(builder); ++i) {
    for (int32_t j = i + 1; j < tabi_builder_nlink(builder); ++j)
      (void)tabi_builder_add_exclusion(builder, i, j);
  }
  add_sensors(builder, noisy);
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return model;
}

humanoid humanoid_build(const char *file, double timestep, bool noisy) {
  tabi_error err = {0};
  humanoid robot = {.model = build_model(file, noisy), .kp = 15000, .kd = 300};
  tabi_world_def def = tabi_world_def_default(robot.model);
  def.timestep = timestep;
  robot.world = tabi_world_create(robot.model, &def, &err);
  if (!robot.world) fail_msg("%s", err.message);
  robot.q = calloc((size_t)tabi_model_nq(robot.model), sizeof *robot.q);
  tabi_model_initial_q(robot.model, robot.q);
  crouch(&robot, "");
  return robot;
}

void humanoid_free(humanoid *robot) {
  tabi_world_destroy(robot->world);
  if (!robot->scene) tabi_model_destroy((tabi_model *)robot->model);
  tabi_scene_destroy(robot->scene);
  free(robot->q);
}

tabi_pd *humanoid_follow(const humanoid *robot, const tabi_walk *walk, bool torque) {
  int32_t njoint = tabi_model_njoint(robot->model);
  tabi_pd_joint *joint = calloc((size_t)njoint, sizeof *joint);
  tabi_pd_def def = tabi_pd_def_default();
  for (int32_t j = 0; j < njoint; ++j) {
    if (tabi_model_joint_q(robot->model, j).count != 1) continue;
    const char *name = tabi_model_joint(robot->model, j).name;
    tabi_pd_joint *added = &joint[def.njoint++];
    *added = (tabi_pd_joint){.joint = j,
                             .actuator = TABI_NONE,
                             .column = j,
                             .kp = robot->kp,
                             .kd = robot->kd,
                             .implicit = true};
    if (!strstr(name, "bush")) continue;
    added->column = TABI_NONE;
    added->kp = strstr(name, "bush_z") ? 1e6 : 2.5e3;
    added->kd = 0;
  }
  def.joint = joint;
  def.trajectory = tabi_walk_trajectory(walk);
  if (torque) def.torque = tabi_walk_torque(walk);
  tabi_error err = {0};
  tabi_pd *pd = tabi_pd_create(robot->model, &def, &err);
  if (!pd) fail_msg("%s", err.message);
  free(joint);
  return pd;
}

tabi_stabiliser_def humanoid_stabiliser_def(const humanoid *robot, const tabi_walk *walk) {
  tabi_stabiliser_def def = tabi_stabiliser_def_default();
  def.walk = walk;
  def.force[TABI_LEFT] = tabi_model_find_sensor(robot->model, "l_force");
  def.force[TABI_RIGHT] = tabi_model_find_sensor(robot->model, "r_force");
  def.gyro = tabi_model_find_sensor(robot->model, "gyro");
  def.accelerometer = tabi_model_find_sensor(robot->model, "accelerometer");
  return def;
}

void humanoid_reset(const humanoid *robot, const tabi_walk *walk) {
  tabi_error err = {0};
  double *v = calloc((size_t)tabi_model_nv(robot->model), sizeof *v);
  tabi_walk_initial_q(walk, robot->q);
  if (tabi_world_set_state(robot->world, robot->q, v, &err) != TABI_OK) fail_msg("%s", err.message);
  free(v);
}

tabi_walk_def humanoid_walk_def(const humanoid *robot, int32_t nstep, const tabi_footstep *step) {
  tabi_walk_def def = tabi_walk_def_default();
  bool scene = robot->scene != NULL;
  def.waist = tabi_model_find_link(robot->model, scene ? "robot/pelvis" : "pelvis");
  def.foot[TABI_LEFT] = tabi_model_find_link(robot->model, scene ? "robot/l_foot" : "l_foot");
  def.foot[TABI_RIGHT] = tabi_model_find_link(robot->model, scene ? "robot/r_foot" : "r_foot");
  def.posture = robot->q;
  def.nstep = nstep;
  def.step = step;
  return def;
}

tabi_walk *humanoid_plan(const humanoid *robot, const tabi_walk_def *def) {
  tabi_error err = {0};
  tabi_walk *walk = tabi_walk_create(robot->model, def, &err);
  if (!walk) fail_msg("%s", err.message);
  return walk;
}

static void add(tabi_footstep *step, int32_t *count, int32_t times, double forward,
                double sideways) {
  for (int32_t i = 0; i < times; ++i) {
    tabi_footstep *added = &step[(*count)++];
    *added = tabi_footstep_default();
    added->forward = forward;
    added->sideways = sideways;
  }
}

static void add_arc(tabi_footstep *step, int32_t *count, int32_t times, double radius,
                    double degrees) {
  for (int32_t i = 0; i < times; ++i)
    step[(*count)++] = tabi_footstep_arc(radius, degrees * acos(-1) / 180);
}

int32_t steps_straight(tabi_footstep *step) {
  int32_t count = 0;
  add(step, &count, 5, 0.2, 0);
  add(step, &count, 1, 0, 0);
  return count;
}

int32_t steps_sideways(tabi_footstep *step) {
  int32_t count = 0;
  for (int i = 0; i < 3; ++i) {
    add(step, &count, 1, 0, 0.1);
    add(step, &count, 1, 0, 0);
  }
  return count;
}

int32_t steps_turning(tabi_footstep *step) {
  int32_t count = 0;
  add_arc(step, &count, 6, 0, 15);
  return count;
}

int32_t steps_nineteen(tabi_footstep *step) {
  int32_t count = 0;
  add(step, &count, 1, 0, 0);
  add(step, &count, 6, 0.2, 0);
  add_arc(step, &count, 5, 0.75, 12);
  add(step, &count, 1, 0, 0);
  add(step, &count, 5, -0.15, 0);
  add(step, &count, 1, 0, 0);
  return count;
}
