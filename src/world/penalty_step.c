/* penalty_step.c - the velocity of a step of penalty in linear time.
 *
 * Where bodies touch nothing but the ground and no connections tie them, springs fit into the trees
 * (contact/spring_tree.c): what contacts do to each other need not be known, which for a chain of a
 * hundred links is the whole cost.  All other steps go the common way. */
#include "contact/spring_tree.h"
#include "math/linalg.h"
#include "world/world.h"

#include <string.h>

#define NEAR 0.01 /* rad or m, of limits */

static bool has_mass(const tbi_body *body) {
  double e[3];
  tbi_s3_eigenvalues(body->inertia, e);
  return body->mass > 0 && e[0] > 0;
}

/* one side stands in the world */
static bool is_on_ground(const tabi_world *w, const tbi_candidate *candidate) {
  int32_t a = w->shape_body[candidate->shape_a];
  int32_t b = w->shape_body[candidate->shape_b];
  if ((a == TABI_WORLD) == (b == TABI_WORLD)) return false;
  return has_mass(&w->model->body[a == TABI_WORLD ? b : a]);
}

static bool suits(const tabi_world *w) {
  const tabi_world_def *def = &w->def;
  if (w->ntied > 0) return false;
  if (def->integrator != TABI_SEMI_IMPLICIT) return false;
  for (int32_t i = 0; i < w->setup.ncandidate; ++i)
    if (!is_on_ground(w, &w->candidate[i])) return false;
  return true;
}

/* all impulses at the joints, into z */
static void gather_impulse(tabi_world *w) {
  tbi_gather(w->d, w->bias);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->z[k] = w->impulse[k] - w->def.timestep * w->bias[k];
}

bool tbi_penalty_advance_velocity(tabi_world *w, tbi_solution *solution) {
  if (!suits(w)) return false;
  gather_impulse(w);
  tbi_spring_tree t = {.d = w->d,
                       .p = &w->setup.problem,
                       .def = &w->def,
                       .diagonal = w->diagonal,
                       .impulse = w->z,
                       .v_new = w->v_new};
  (void)tbi_spring_tree_place(&t, w->scratch, w->model, &w->def);
  tbi_spring_tree_free(&t);
  memcpy(w->v_free, w->v_new, sizeof *w->v_free * (size_t)w->model->nv);
  t.p->timestep = w->def.timestep;
  /* what pulls in this step may be much faster than what moved before */
  tbi_world_guess_limits(w, w->v_free, NEAR);
  tbi_world_rows(w);
  tbi_setup_points(&w->setup);
  tbi_world_targets(w);
  tbi_world_warm_start(w);
  *solution = tbi_spring_tree_solve(&t);
  return solution->converged;
}
