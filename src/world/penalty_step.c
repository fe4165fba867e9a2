/* penalty_step.c - the velocity of a step of penalty, or its published variant, in linear time.
 *
 * If all contacts are with the world and there are no loop constraints, the springs are eliminated
 * along the trees (contact/penalty_tree.c).  The responses of ports to each other, which for a
 * chain of a hundred links are nearly the whole cost, are then not needed.  The published variant
 * needs none for contacts between bodies and for loops either (contact/penalty_assembly.c).  All
 * other steps are solved by active_set.c. */
#include "base/assertion.h"
#include "contact/penalty_assembly.h"
#include "contact/penalty_tree.h"
#include "contact/surface.h"
#include "math/linalg.h"
#include "problem/couples.h"
#include "world/active_set/active_set.h"

#include <string.h>

#define NEAR 0.01 /* rad or m: limits nearer than this get rows */

static bool has_mass(const tbi_body *body) {
  double e[3];
  tbi_s3_eigenvalues(body->inertia, e);
  return body->mass > 0 && e[0] > 0;
}

/* one side is fixed in the world, the other a body with inertia */
static bool is_on_ground(const tabi_world *w, const tbi_candidate *candidate) {
  int32_t a = w->constants.shape_body[candidate->shape_a];
  int32_t b = w->constants.shape_body[candidate->shape_b];
  if ((a == TABI_WORLD) == (b == TABI_WORLD)) return false;
  return has_mass(&w->model->body[a == TABI_WORLD ? b : a]);
}

static bool is_plain(const tabi_world *w) {
  /* what tendons do is predicted and verified */
  return !w->state.head->prescribes && w->def.integrator == TABI_SEMI_IMPLICIT &&
         w->model->ntendon == 0;
}

/* couples are solved with the others only */
static bool has_couples(const tabi_world *w, const tbi_candidate *candidate) {
  return tbi_has_couples(
      tbi_surface_of(w->model, w->constants.surface, candidate->shape_a, candidate->shape_b));
}

static bool suits(const tabi_world *w) {
  if (w->constants.nloop > 0 || !is_plain(w)) return false;
  for (int32_t i = 0; i < w->setup.ncandidate; ++i)
    if (!is_on_ground(w, &w->candidates.list[i])) return false;
  for (int32_t i = 0; i < w->setup.ncandidate && w->has_couples; ++i)
    if (has_couples(w, &w->candidates.list[i])) return false;
  return true;
}

/* all impulses at the joints, into free.u */
static void gather_impulse(tabi_world *w) {
  double *bias = w->scratch.dofs;
  tbi_gather(w->d, bias);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->free.u[k] = w->forces.joint_impulse[k] - w->def.timestep * bias[k];
}

/* rows and points of the problem, from the free velocity in v_new */
static void set_up_problem(tabi_world *w) {
  memcpy(w->free.v_free, w->solution.v_new, sizeof *w->free.v_free * (size_t)w->model->nv);
  w->setup.problem.timestep = w->setup.problem.remaining = w->def.timestep;
  w->setup.problem.ncouple = 0; /* suits() */
  /* limits are predicted from v_free too: forces may accelerate a joint much in one step */
  tbi_predict_joint_limits(w, w->free.v_free, NEAR);
  tbi_make_rows(w);
  tbi_setup_points(&w->setup);
  tbi_world_targets(w);
  tbi_world_warm_start(w);
}

bool tbi_penalty_advance_velocity(tabi_world *w, tbi_solution *solution) {
  TBI_ASSERT(w->method->info.compliant && w->free.v_free);
  if (!suits(w)) return false;
  gather_impulse(w);
  tbi_penalty_tree t = {.d = w->d,
                        .p = &w->setup.problem,
                        .def = &w->def,
                        .diagonal = w->forces.diagonal,
                        .impulse = w->free.u,
                        .v_new = w->solution.v_new};
  (void)tbi_penalty_tree_place(&t, w->scratch.method, w->model, &w->def);
  tbi_penalty_tree_free(&t);
  set_up_problem(w);
  *solution = tbi_penalty_tree_solve(&t);
  return solution->converged;
}

/* a massless body cannot bear a force of its own: whether a contact, a loop or a push is there */
static bool is_loaded(const tabi_world *w, int32_t body) {
  if (sv_dot(w->forces.body_impulse[body], w->forces.body_impulse[body]) > 0) return true;
  for (int32_t i = 0; i < w->setup.ncandidate; ++i) {
    const tbi_candidate *candidate = &w->candidates.list[i];
    if (w->constants.shape_body[candidate->shape_a] == body) return true;
    if (w->constants.shape_body[candidate->shape_b] == body) return true;
  }
  for (int32_t i = 0; i < w->setup.loops.count; ++i) {
    const tbi_loop *loop = &w->setup.loops.loop[i];
    if (loop->body_a == body || loop->body_b == body) return true;
  }
  return false;
}

static bool can_be_assembled(const tabi_world *w) {
  const tabi_model *model = w->model;
  if (model->cluster_loop[model->ncluster] > TBI_PENALTY_MAX_LOOPS) return false;
  if (tbi_ada_obstacle(model) != TABI_NONE) return false;
  for (int32_t i = 0; i < model->nbody; ++i)
    if (!has_mass(&model->body[i]) && is_loaded(w, i)) return false;
  return true;
}

bool tbi_penalty_paper_advance_velocity(tabi_world *w, tbi_solution *solution) {
  TBI_ASSERT(w->method->info.compliant && w->free.v_free);
  if (!is_plain(w)) return false;
  tbi_world_loops(w);
  if (!can_be_assembled(w)) return false;
  tbi_penalty_assembly t = {.d = w->d,
                            .p = &w->setup.problem,
                            .def = &w->def,
                            .diagonal = w->forces.diagonal,
                            .joint_impulse = w->forces.joint_impulse,
                            .body_impulse = w->forces.body_impulse,
                            .loops = &w->setup.loops,
                            .v_new = w->solution.v_new};
  (void)tbi_penalty_assembly_place(&t, w->scratch.method, w->model, &w->def);
  tbi_penalty_assembly_free(&t);
  set_up_problem(w);
  *solution = tbi_penalty_assembly_solve(&t);
  w->d->ada = NULL; /* in scratch memory */
  return true;
}
