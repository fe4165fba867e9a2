/* 05_batch.c - sixty-four humanoids at once, each pushed otherwise: how many stay upright?
 *
 * Run it from the project's folder. */
#include "tabi/tabi_batch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 64 };

/* the gains and the posture of the scene's controller */
static void copy_servos(const tabi_model *model, const tabi_world *world, double *kp, double *kd,
                        double *target) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range dof = tabi_model_joint_v(model, j);
    if (dof.count != 1) continue;
    tabi_servo servo = tabi_world_get_servo(world, j);
    kp[dof.first] = servo.kp;
    kd[dof.first] = servo.kd;
    target[dof.first] = servo.target;
  }
}

/* every world in the posture of the scene, pushed forwards for 0.1 s, each harder than the last */
static int32_t count_standing(tabi_batch *batch, const tabi_world *world, const double *wanted) {
  int32_t nq;
  int32_t nv;
  const double *q = tabi_batch_array(batch, TABI_BATCH_Q, &nq);
  double *target = tabi_batch_array(batch, TABI_BATCH_TARGET, &nv);
  double *push = tabi_batch_array(batch, TABI_BATCH_PUSH, NULL);
  for (int32_t i = 0; i < WORLDS; ++i) {
    tabi_batch_reset(batch, &i, 1, tabi_world_q(world), NULL, NULL);
    memcpy(target + (ptrdiff_t)i * nv, wanted, sizeof *wanted * (size_t)nv);
    push[6 * (ptrdiff_t)i] = 6.0 * i; /* N */
  }
  tabi_batch_step(batch, 100, NULL);
  memset(push, 0, sizeof *push * 6 * WORLDS);
  tabi_batch_step(batch, 1900, NULL);
  int32_t standing = 0;
  for (int32_t i = 0; i < WORLDS; ++i)
    standing += q[(ptrdiff_t)i * nq + 2] > 0.5;
  return standing;
}

int main(void) {
  tabi_error err;
  tabi_scene *scene = tabi_scene_load("scenes/stand.yaml", NULL, &err);
  if (!scene) {
    (void)fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  const tabi_model *model = tabi_scene_model(scene);
  tabi_world_def world_def = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(model, &world_def, &err);
  tabi_scene_reset(scene, world, NULL);
  tabi_scene_control(scene, world);
  size_t nv = (size_t)tabi_model_nv(model);
  double *gains = calloc(3 * nv, sizeof *gains);
  copy_servos(model, world, gains, gains + nv, gains + 2 * nv);

  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = WORLDS;
  def.kp = gains;
  def.kd = gains + nv;
  def.push_link = tabi_model_find_link(model, "robot/chest");
  tabi_batch *batch = tabi_batch_create(model, &world_def, &def, &err);
  if (!batch) {
    (void)fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  int32_t standing = count_standing(batch, world, gains + 2 * nv);
  printf("%d of %d stand after 2 s\n", (int)standing, WORLDS);

  tabi_batch_destroy(batch);
  free(gains);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return standing > 0 && standing < WORLDS ? 0 : 1;
}
