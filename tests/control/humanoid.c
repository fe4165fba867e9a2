/* humanoid.c - see humanoid.h. */
#include "control/humanoid.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

humanoid humanoid_load(const char *const *set, int32_t nset) {
  tabi_error err = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = nset;
  humanoid robot = {.scene = tabi_scene_load(TABI_SOURCE_DIR "/scenes/stand.yaml", &def, &err)};
  if (!robot.scene) fail_msg("%s", err.message);
  robot.model = tabi_scene_model(robot.scene);
  tabi_world_def world_def = tabi_scene_world_def(robot.scene);
  robot.world = tabi_world_create(robot.model, &world_def, &err);
  if (!robot.world || tabi_scene_reset(robot.scene, robot.world, &err) != TABI_OK)
    fail_msg("%s", err.message);
  size_t size = (size_t)tabi_model_nq(robot.model) * sizeof *robot.q;
  robot.q = malloc(size);
  memcpy(robot.q, tabi_world_q(robot.world), size);
  return robot;
}

void humanoid_free(humanoid *robot) {
  tabi_world_destroy(robot->world);
  tabi_scene_destroy(robot->scene);
  free(robot->q);
}

tabi_walk_def humanoid_walk_def(const humanoid *robot, int32_t nstep, const tabi_footstep *step) {
  tabi_walk_def def = tabi_walk_def_default();
  def.waist = tabi_model_find_link(robot->model, "robot/pelvis");
  def.foot[TABI_LEFT] = tabi_model_find_link(robot->model, "robot/l_foot");
  def.foot[TABI_RIGHT] = tabi_model_find_link(robot->model, "robot/r_foot");
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
  for (int32_t i = 0; i < times; i++) {
    tabi_footstep *added = &step[(*count)++];
    *added = tabi_footstep_default();
    added->forward = forward;
    added->sideways = sideways;
  }
}

static void add_arc(tabi_footstep *step, int32_t *count, int32_t times, double radius,
                    double degrees) {
  for (int32_t i = 0; i < times; i++)
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
  for (int i = 0; i < 3; i++) {
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
