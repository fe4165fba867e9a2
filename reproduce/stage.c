/* stage.c - scenes that experiments run, and what can be read off them. */
#include "experiment.h"
#include "process.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tbi_shipped_path(const char *name, char path[TBI_PATH_SIZE]) {
  char self[TBI_PATH_SIZE];
  char *slash = tbi_process_self(self, sizeof self) ? strrchr(self, '/') : NULL;
  if (slash) *slash = '\0';
  int length =
      snprintf(path, TBI_PATH_SIZE, "%s/" TABI_DATA_FROM_BIN "/%s", slash ? self : ".", name);
  if (length < TBI_PATH_SIZE && access(path, R_OK) == 0) return;
  (void)snprintf(path, TBI_PATH_SIZE, "%s/%s", TABI_SOURCE, name);
}

tabi_status tbi_stage_open(tbi_stage *stage, const char *name, const char *const *set,
                           tabi_error *err) {
  *stage = (tbi_stage){0};
  char file[128], path[TBI_PATH_SIZE];
  (void)snprintf(file, sizeof file, "scenes/%s", name);
  tbi_shipped_path(file, path);
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  while (set && set[def.nset])
    ++def.nset;
  stage->scene = tabi_scene_load(path, &def, err);
  if (!stage->scene) return err->status;
  stage->model = tabi_scene_model(stage->scene);
  tabi_world_def world = tabi_scene_world_def(stage->scene);
  stage->timestep = world.timestep;
  stage->world = tabi_world_create(stage->model, &world, err);
  if (!stage->world) return err->status;
  return tabi_scene_reset(stage->scene, stage->world, err);
}

tabi_status tbi_stage_open_model(tbi_stage *stage, tabi_model *model, const tabi_world_def *def,
                                 tabi_error *err) {
  *stage = (tbi_stage){.own = model, .model = model, .timestep = def->timestep};
  stage->world = tabi_world_create(model, def, err);
  return stage->world ? TABI_OK : err->status;
}

void tbi_stage_close(tbi_stage *stage) {
  tabi_world_destroy(stage->world);
  tabi_scene_destroy(stage->scene);
  tabi_model_destroy(stage->own);
  *stage = (tbi_stage){0};
}

tabi_status tbi_stage_step(tbi_stage *stage, tabi_error *err) {
  if (stage->scene) tabi_scene_control(stage->scene, stage->world);
  tabi_status status = tabi_world_step(stage->world, NULL);
  if (status != TABI_OK) *err = *tabi_world_error(stage->world);
  return status;
}

double tbi_stage_time(const tbi_stage *stage) { return tabi_world_time(stage->world); }

int32_t tbi_stage_link(const tbi_stage *stage, const char *name) {
  int32_t link = tabi_model_find_link(stage->model, name);
  assert(link != TABI_NONE);
  return link;
}

int32_t tbi_stage_joint(const tbi_stage *stage, const char *name) {
  int32_t joint = tabi_model_find_joint(stage->model, name);
  assert(joint != TABI_NONE);
  return joint;
}

double tbi_stage_energy(tbi_stage *stage) {
  tabi_energy e = tabi_world_energy(stage->world);
  return e.kinetic + e.potential + e.spring - e.work;
}

double tbi_stage_depth(const tbi_stage *stage) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(stage->world, &count);
  double depth = 0;
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -contact[i].gap);
  return depth;
}

static int32_t body_of(const tbi_stage *stage, int32_t link) {
  return link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(stage->model, link);
}

/* +1 if the contact pushes the link by its impulse, -1 by the opposite, 0 if not at all */
static double sign_on(const tbi_stage *stage, const tabi_contact *contact, int32_t link) {
  int32_t body_a = body_of(stage, contact->link_a), body_b = body_of(stage, contact->link_b);
  if (link != TABI_WORLD) {
    int32_t body = body_of(stage, link);
    return (double)(body_b == body) - (double)(body_a == body);
  }
  return (double)(body_a == TABI_WORLD) - (double)(body_b == TABI_WORLD);
}

void tbi_stage_contact_force(const tbi_stage *stage, int32_t link, const double about[3],
                             double force[3], double moment[3]) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(stage->world, &count);
  for (int k = 0; k < 3; ++k)
    force[k] = moment[k] = 0;
  for (int32_t i = 0; i < count; ++i) {
    double sign = sign_on(stage, &contact[i], link);
    if (sign == 0) continue;
    double f[3], r[3];
    for (int k = 0; k < 3; ++k) {
      f[k] = sign * contact[i].impulse[k] / stage->timestep;
      r[k] = contact[i].point[k] - about[k];
      force[k] += f[k];
    }
    for (int k = 0; k < 3; ++k)
      moment[k] += r[(k + 1) % 3] * f[(k + 2) % 3] - r[(k + 2) % 3] * f[(k + 1) % 3];
  }
}
