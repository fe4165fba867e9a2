/* humanoid.h - humanoid36 as scenes/stand.yaml has it or on rubber, with walks to plan and to
 * follow. */
#ifndef TEST_HUMANOID_H
#define TEST_HUMANOID_H

#include "tabi/tabi_control.h"
#include "tabi/tabi_io.h"

enum { MAX_STEPS = 32 };

typedef struct humanoid {
  tabi_scene *scene; /* NULL: built without one */
  const tabi_model *model;
  tabi_world *world;
  double *q;     /* [nq] knees bent */
  double kp, kd; /* of its joints */
} humanoid;

/* Loads it, with changes to the scene. */
humanoid humanoid_load(const char *const *set, int32_t nset);
/* It or another robot of models/ without a scene, with rubber in its feet free to give and with
 * sensors: force and torque under the ankles, a gyro and an accelerometer in the pelvis, encoders
 * in the legs.  Noisy ones err by 2 N, 0.2 N m, 0.01 rad/s, 0.2 m/s^2, 1e-4 rad and are 2 ms late.
 */
humanoid humanoid_build(const char *file, double timestep, bool noisy);
void humanoid_free(humanoid *robot);

/* A controller with stiff joints along a walk, with its torques or without; rubber has 1e6 N/m and
 * 2.5e3 N m/rad. */
tabi_pd *humanoid_follow(const humanoid *robot, const tabi_walk *walk, bool torque);
/* A def with the sensors of humanoid_build. */
tabi_stabiliser_def humanoid_stabiliser_def(const humanoid *robot, const tabi_walk *walk);
/* Puts the world to the start of a walk. */
void humanoid_reset(const humanoid *robot, const tabi_walk *walk);

/* A def with the links and the posture filled in. */
tabi_walk_def humanoid_walk_def(const humanoid *robot, int32_t nstep, const tabi_footstep *step);
tabi_walk *humanoid_plan(const humanoid *robot, const tabi_walk_def *def);

/* Each returns the number of steps. */
int32_t steps_straight(tabi_footstep *step); /* five of 0.2 m and one that closes the feet */
int32_t steps_sideways(tabi_footstep *step); /* three to the left, three that close */
int32_t steps_turning(tabi_footstep *step);  /* six of 15 degrees on the spot */
/* 1 in place, 6 of 0.2 m, 5 of 12 degrees on an arc of 0.75 m, 1 that closes, 5 of 0.15 m
 * backwards, 1 that closes */
int32_t steps_nineteen(tabi_footstep *step);

#endif
