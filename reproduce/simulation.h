/* simulation.h - a scene or a model with its world, for experiments: steps, and what is read off.
 */
#ifndef TBI_SIMULATION_H
#define TBI_SIMULATION_H

#include "experiment.h"

/* A scene and a world in its initial state, or a world with a model of its own. */
typedef struct tbi_simulation {
  tabi_scene *scene; /* NULL: none */
  tabi_model *own;   /* NULL: the scene's */
  const tabi_model *model;
  tabi_world *world;
  double timestep;
} tbi_simulation;

/* A scene of the folder scenes/, with changes, the last of which is NULL; `set` itself may be NULL.
 * tbi_simulation_close also after a failure. */
tabi_status tbi_simulation_open(tbi_simulation *sim, const char *name, const char *const *set,
                                tabi_error *err);
/* The same with a model, which the simulation then owns, in its initial state. */
tabi_status tbi_simulation_open_model(tbi_simulation *sim, tabi_model *model,
                                      const tabi_world_def *def, tabi_error *err);
void tbi_simulation_close(tbi_simulation *sim);
/* Controllers, forces and a step. */
tabi_status tbi_simulation_step(tbi_simulation *sim, tabi_error *err);
double tbi_simulation_time(const tbi_simulation *sim);
/* A link by name; the scene must have it. */
int32_t tbi_simulation_link(const tbi_simulation *sim, const char *name);
int32_t tbi_simulation_joint(const tbi_simulation *sim, const char *name);

/* Kinetic, potential and spring energy without the work that was done, J. */
double tbi_simulation_energy(tbi_simulation *sim);
/* The deepest penetration at the start of the last step, m. */
double tbi_simulation_max_penetration(const tbi_simulation *sim);
/* Force on the link in the last step, world axes, and its moment about a point; link TABI_WORLD: on
 * everything that moves, from what stands still. */
void tbi_simulation_contact_force(const tbi_simulation *sim, int32_t link, const double about[3],
                                  double force[3], double moment[3]);

#endif
