/* simulation.c - see simulation.h. */
#include "simulation.h"

#include "options.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void tbi_shipped_path(const char *name, char path[TBI_PATH_SIZE]) {
  tbi_bench_shipped_file(name, path, TBI_PATH_SIZE);
}

tabi_status tbi_simulation_open(tbi_simulation *sim, const char *name, const char *const *set,
                                tabi_error *err) {
  *sim = (tbi_simulation){0};
  char file[128], path[TBI_PATH_SIZE];
  (void)snprintf(file, sizeof file, "scenes/%s", name);
  tbi_shipped_path(file, path);
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  while (set && set[def.nset])
    ++def.nset;
  sim->scene = tabi_scene_load(path, &def, err);
  if (!sim->scene) return err->status;
  sim->model = tabi_scene_model(sim->scene);
  tabi_world_def world = tabi_scene_world_def(sim->scene);
  sim->timestep = world.timestep;
  sim->world = tabi_world_create(sim->model, &world, err);
  if (!sim->world) return err->status;
  return tabi_scene_reset(sim->scene, sim->world, err);
}

tabi_status tbi_simulation_open_model(tbi_simulation *sim, tabi_model *model,
                                      const tabi_world_def *def, tabi_error *err) {
  *sim = (tbi_simulation){.own = model, .model = model, .timestep = def->timestep};
  sim->world = tabi_world_create(model, def, err);
  return sim->world ? TABI_OK : err->status;
}

void tbi_simulation_close(tbi_simulation *sim) {
  tabi_world_destroy(sim->world);
  tabi_scene_destroy(sim->scene);
  tabi_model_destroy(sim->own);
  *sim = (tbi_simulation){0};
}

tabi_status tbi_simulation_step(tbi_simulation *sim, tabi_error *err) {
  if (sim->scene) tabi_scene_control(sim->scene, sim->world);
  tabi_status status = tabi_world_step_or_grow(sim->world, NULL);
  if (status != TABI_OK) *err = *tabi_world_error(sim->world);
  return status;
}

double tbi_simulation_time(const tbi_simulation *sim) { return tabi_world_time(sim->world); }

int32_t tbi_simulation_link(const tbi_simulation *sim, const char *name) {
  int32_t link = tabi_model_find_link(sim->model, name);
  assert(link != TABI_NONE);
  return link;
}

int32_t tbi_simulation_joint(const tbi_simulation *sim, const char *name) {
  int32_t joint = tabi_model_find_joint(sim->model, name);
  assert(joint != TABI_NONE);
  return joint;
}

double tbi_simulation_energy(tbi_simulation *sim) {
  tabi_energy e = tabi_world_energy(sim->world);
  return e.kinetic + e.potential + e.spring - e.work;
}

double tbi_simulation_max_penetration(const tbi_simulation *sim) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(sim->world, &count);
  double depth = 0;
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -contact[i].gap);
  return depth;
}

static int32_t body_of(const tbi_simulation *sim, int32_t link) {
  return link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(sim->model, link);
}

/* +1 if the contact pushes the link by its impulse, -1 by the opposite, 0 if not at all */
static double sign_on(const tbi_simulation *sim, const tabi_contact *contact, int32_t link) {
  int32_t body_a = body_of(sim, contact->link_a), body_b = body_of(sim, contact->link_b);
  if (link != TABI_WORLD) {
    int32_t body = body_of(sim, link);
    return (double)(body_b == body) - (double)(body_a == body);
  }
  return (double)(body_a == TABI_WORLD) - (double)(body_b == TABI_WORLD);
}

void tbi_simulation_contact_force(const tbi_simulation *sim, int32_t link, const double about[3],
                                  double force[3], double moment[3]) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(sim->world, &count);
  for (int k = 0; k < 3; ++k)
    force[k] = moment[k] = 0;
  for (int32_t i = 0; i < count; ++i) {
    double sign = sign_on(sim, &contact[i], link);
    if (sign == 0) continue;
    double f[3], r[3];
    for (int k = 0; k < 3; ++k) {
      f[k] = sign * contact[i].impulse[k] / sim->timestep;
      r[k] = contact[i].point[k] - about[k];
      force[k] += f[k];
    }
    for (int k = 0; k < 3; ++k)
      moment[k] += r[(k + 1) % 3] * f[(k + 2) % 3] - r[(k + 2) % 3] * f[(k + 1) % 3];
  }
}
