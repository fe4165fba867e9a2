/* settle.c - robots that settle on their springs before time 0.
 *
 * A keyframe or a file has the springs of a robot without load.  Put on the ground like that its
 * weight falls on them, and the robot rebounds or tips over.  With `settle: SECONDS` the scene runs
 * so long with its controllers, the base of the robot held back by a damper in every direction, and
 * begins at rest where that ends.  Targets of controllers stay those of the posture. */
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 20.0 /* 1/s at which the damper takes the velocity of the base */

typedef struct damper {
  int32_t base;        /* link */
  double mass, moment; /* kg, kg m^2, of the whole robot */
  double rate;         /* 1/s */
} damper;

static bool floats(const tabi_model *model, int32_t base) {
  int32_t joint = tabi_model_link_joint(model, base);
  return joint != TABI_NONE && tabi_model_joint(model, joint).type == TABI_JOINT_FREE;
}

/* whether a link is part of what hangs on a base */
static bool belongs(const tabi_model *model, int32_t link, int32_t base) {
  while (link != TABI_WORLD && link != base) {
    int32_t joint = tabi_model_link_joint(model, link);
    link = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
  }
  return link == base;
}

/* the links as points about the origin of the base */
static damper damper_of(const tabi_model *model, const tabi_dynamics *d, int32_t base) {
  damper made = {.base = base, .rate = RATE};
  double origin[3];
  double quat[4];
  tabi_dynamics_link_pose(d, base, origin, quat);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (!belongs(model, i, base)) continue;
    double mass = tabi_model_link(model, i).mass;
    double pos[3];
    tabi_dynamics_link_pose(d, i, pos, quat);
    made.mass += mass;
    for (int k = 0; k < 3; ++k)
      made.moment += mass * (pos[k] - origin[k]) * (pos[k] - origin[k]);
  }
  return made;
}

/* How fast the damper would take velocity from a base whose limbs hang loose, 1/s: the trace of
 * damper times inverse inertia of the base, above every eigenvalue of it. */
static double quickest(const tabi_model *model, tabi_dynamics *d, const damper *by, double *work) {
  size_t nv = (size_t)tabi_model_nv(model);
  double *tau = work;
  double *still = work + nv;
  double *moved = work + 2 * nv;
  int32_t first = tabi_model_joint_v(model, tabi_model_link_joint(model, by->base)).first;
  double sum = 0;
  memset(tau, 0, nv * sizeof *tau);
  tabi_dynamics_forward(d, tau, still);
  for (int32_t k = first; k < first + 6; ++k) {
    tau[k] = 1;
    tabi_dynamics_forward(d, tau, moved);
    tau[k] = 0;
    sum += by->rate * (k < first + 3 ? by->mass : by->moment) * (moved[k] - still[k]);
  }
  return sum;
}

/* The damper is a force held for a step, in which it may take no more than all velocity: at the
 * end of a light rope it would throw what it should hold. */
static bool soften(const tabi_scene *scene, damper *by) {
  const tabi_model *model = scene->model;
  size_t nv = (size_t)tabi_model_nv(model);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  double *work = calloc(3 * nv + 1, sizeof *work);
  bool good = d && work;
  if (good) {
    tabi_dynamics_set_state(d, scene->q, work);
    double rate = quickest(model, d, by, work);
    if (rate * scene->world.timestep > 1) by->rate /= rate * scene->world.timestep;
  }
  free(work);
  tabi_dynamics_destroy(d);
  return good;
}

static void hold_back(tabi_world *world, const damper *by) {
  const tabi_dynamics *d = tabi_world_dynamics(world);
  double pos[3];
  double quat[4];
  double force[3];
  double torque[3];
  tabi_dynamics_link_pose(d, by->base, pos, quat);
  tabi_dynamics_link_velocity(d, by->base, force, torque);
  for (int k = 0; k < 3; ++k) {
    force[k] *= -by->rate * by->mass;
    torque[k] *= -by->rate * by->moment;
  }
  tabi_world_apply(world, by->base, force, torque, pos);
}

static tabi_status run(tbi_scene_reader *r, tabi_world *world, damper *by, tabi_error *err) {
  tabi_scene *scene = r->scene;
  tabi_status status = tabi_scene_reset(scene, world, err);
  if (status != TABI_OK) return status;
  double h = scene->world.timestep;
  int64_t last = 0;
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    if (r->robots[i].settle > 0 && floats(scene->model, scene->robots[i].base)) {
      by[i] = damper_of(scene->model, tabi_world_dynamics(world), scene->robots[i].base);
      if (!soften(scene, &by[i])) return TABI_ERR_MEMORY;
    }
    last = (int64_t)fmax((double)last, r->robots[i].settle / h);
  }
  for (int64_t k = 0; k < last && status == TABI_OK; ++k) {
    tabi_scene_control(scene, world);
    for (int32_t i = 0; i < scene->nrobot; ++i)
      if (by[i].mass > 0 && (double)k * h < r->robots[i].settle) hold_back(world, &by[i]);
    status = tabi_world_step_or_grow(world, NULL);
  }
  if (status != TABI_OK) *err = *tabi_world_error(world);
  return status;
}

/* positions of robots that settle; others begin where they were */
static void take_positions(const tbi_scene_reader *r, const tabi_world *world) {
  const tabi_model *model = r->scene->model;
  for (int32_t i = 0; i < r->scene->nrobot; ++i) {
    for (int32_t j = 0; r->robots[i].settle > 0 && j < tabi_model_njoint(model); ++j) {
      tabi_range q = tabi_model_joint_q(model, j);
      if (!belongs(model, tabi_model_joint(model, j).child, r->scene->robots[i].base)) continue;
      memcpy(r->scene->q + q.first, tabi_world_q(world) + q.first,
             (size_t)q.count * sizeof *r->scene->q);
    }
  }
}

bool tbi_scene_settle(tbi_scene_reader *r) {
  tabi_scene *scene = r->scene;
  bool any = false;
  for (int32_t i = 0; i < scene->nrobot; ++i)
    any = any || r->robots[i].settle > 0;
  if (!any) return true;
  tabi_error err = {0};
  damper *by = calloc((size_t)scene->nrobot + 1, sizeof *by);
  tabi_world *world = by ? tabi_world_create(scene->model, &scene->world, &err) : NULL;
  tabi_status status = TABI_ERR_MEMORY;
  if (world) status = run(r, world, by, &err);
  if (status == TABI_OK) take_positions(r, world);
  tabi_world_destroy(world);
  free(by);
  if (status == TABI_OK) return true;
  if (err.status == TABI_OK) return tbi_fail_memory(r->error);
  return tbi_fail_as(r->error, &err);
}
