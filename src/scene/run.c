/* run.c - a scene and its world: initial state, controllers, external forces. */
#include "base/assertion.h"
#include "base/error.h"
#include "scene/scene.h"

#include <math.h>

const tabi_model *tabi_scene_model(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->model;
}

const char *tabi_scene_name(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->name;
}

tabi_world_def tabi_scene_world_def(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->world;
}

double tabi_scene_duration(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->duration;
}

int32_t tabi_scene_nrobot(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->nrobot;
}

tabi_scene_log tabi_scene_get_log(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->log;
}

tabi_scene_check tabi_scene_get_check(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  return scene->check;
}

tabi_scene_robot tabi_scene_get_robot(const tabi_scene *scene, int32_t robot) {
  TBI_ASSERT(scene && robot >= 0 && robot < scene->nrobot);
  const tbi_scene_robot *r = &scene->robots[robot];
  return (tabi_scene_robot){r->name, r->base, r->moving};
}

/* What the keyframes of robots say, else nothing. */
static void set_controls(const tabi_scene *scene, tabi_world *world) {
  for (int32_t i = 0; i < tabi_model_nactuator(scene->model); ++i)
    tabi_world_set_control(world, i, isnan(scene->u[i]) ? 0 : scene->u[i]);
}

tabi_status tabi_scene_reset(const tabi_scene *scene, tabi_world *world, tabi_error *err) {
  TBI_ASSERT(scene && world);
  if (tabi_world_model(world) != scene->model) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "tabi_scene_reset: the world was not made of this scene's model");
  }
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (robot->controller && robot->control->reset) robot->control->reset(robot->controller);
  }
  set_controls(scene, world);
  return tabi_world_set_state(world, scene->q, scene->v, err);
}

void tabi_scene_control(tabi_scene *scene, tabi_world *world) {
  TBI_ASSERT(scene && world && tabi_world_model(world) == scene->model);
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (robot->controller) robot->control->update(robot->controller, world, scene->world.timestep);
  }
  tbi_scene_apply_motions(scene, world);
  tbi_scene_apply_forces(scene, world);
}
