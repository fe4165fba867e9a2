/* active_set.c - the new velocity, by prediction and verification.
 *
 *   predict which joints and tendons stick, slip or stay away from their limits, which drives are
 * at theirs repeat free motion with that prediction problem of the contacts, rows and loop
 * constraints that are left, and its solution new velocity until it agrees with the prediction;
 * joints and limits that do not get rows
 *
 * Rows are only added, and drives and tendons change a limited number of times, so the loop ends.
 * docs/active_set.md derives it. */
#include "world/active_set/active_set.h"

#include "base/assertion.h"
#include "base/error.h"
#include "problem/residual.h"

#include <float.h>
#include <math.h>

/* exact goes on from the impulses that the method has left */
static tbi_solution fall_back(tabi_world *w, tbi_solution before) {
  tbi_solution solution = tbi_exact.solve(&w->setup.problem, &w->fallback_def, w->scratch.fallback);
  solution.iterations += before.iterations;
  solution.fallback = true;
  return solution;
}

/* that all contacts stick is predicted first, where the method has a direct solution for it */
tbi_solution tbi_solve_contacts(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  const tbi_formulation *method = w->method;
  tbi_problem_start(p);
  if (p->npoint + p->nrow + p->nloop == 0) return (tbi_solution){.converged = true};
  /* a direct solution starts from the motion without impacts, brings all to rest and knows no
   * couples */
  if (method->solve_direct && !w->impacts.any && !p->still && p->ncouple == 0 &&
      method->solve_direct(p, &w->def, w->scratch.method))
    return (tbi_solution){.iterations = 1, .converged = true};
  tbi_problem_respond(p);
  tbi_solution solution = method->solve(p, &w->def, w->scratch.method);
  return solution.converged || !tbi_world_falls_back(w) ? solution : fall_back(w, solution);
}

static void certify(tabi_world *w, tbi_solution solution) {
  tabi_certificate *certificate = &w->solution.certificate;
  *certificate = tbi_residual(&w->setup.problem, w->constants.weight);
  if (w->def.sleep) certificate->contacts += w->sleep.npush;
  certificate->iterations = solution.iterations;
  certificate->converged = solution.converged;
  certificate->fallback = solution.fallback;
  certificate->energy_limited = solution.energy_limited;
  certificate->too_large = solution.too_large;
  certificate->contact_work = solution.stored;
  certificate->correction_work = solution.found;
  certificate->elastic = solution.elastic;
}

/* after the new velocity is known */
static void certify_work(tabi_world *w) {
  tabi_certificate *certificate = &w->solution.certificate;
  tbi_work work =
      tbi_residual_work(&w->setup.problem, w->solution.v_new, w->method->info.compliant);
  certificate->contact_work += work.all - work.correction;
  certificate->correction_work += work.correction;
}

static tabi_status make_problem(tabi_world *w) {
  tbi_make_rows(w);
  tbi_world_loops(w);
  w->setup.problem.timestep = w->def.timestep;
  w->setup.problem.remaining = tbi_world_remaining(w);
  w->setup.problem.still = NULL;
  if (!tbi_setup_problem(&w->setup)) return tbi_world_lacks_blocks(w);
  tbi_world_targets(w);
  tbi_world_warm_start(w);
  if (tbi_world_is_middle(w)) tbi_middle_targets(w);
  tbi_world_make_couples(w);
  return TABI_OK;
}

/* whether the mass matrix could be factored: masses that differ by more digits than a double has
 * make pivots of rounding, and what follows of them is no contact problem */
static bool is_factored(const tabi_world *w) {
  bool sound = true;
  for (int32_t k = 0; k < w->model->nv; ++k) {
    sound &= w->setup.pivot_root[k] >= 0 && w->setup.pivot_root[k] <= DBL_MAX;
    sound &= fabs(w->free.z[k]) <= DBL_MAX;
  }
  return sound;
}

static void solve_problem(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  bool energy_limited;
  bool impacts = tbi_world_impacts(w, &energy_limited);
  tbi_solution solution = tbi_solve_contacts(w);
  tbi_limit_depth_correction(w, &solution);
  if (w->limits_energy) tbi_energy_limit(p, &w->fallback_def, w->scratch.energy_limit, &solution);
  solution.energy_limited |= energy_limited;
  certify(w, solution);
  tbi_problem_sum(p);
  if (impacts) tbi_world_add_impacts(w);
  tbi_setup_finish_loops(&w->setup);
  tbi_world_keep_loops(w);
}

/* v+ = v + L^-1 D^-1/2 (z + sum of Y m) */
static void new_velocity(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  double *x = w->solution.v_new;
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] = (w->free.z[k] + p->sum[k]) * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, x);
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] += w->state.v[k];
}

static tabi_status solve_predicted(tabi_world *w) {
  tbi_apply_joint_friction(w);
  tbi_apply_tendons(w);
  tbi_world_free_motion(w);
  tbi_timers_end(&w->timers, TABI_STAGE_FACTOR);
  if (!is_factored(w)) return tbi_world_blame(w);
  tabi_status status = make_problem(w);
  if (status != TABI_OK) return status;
  tbi_timers_end(&w->timers, TABI_STAGE_PROBLEM);
  solve_problem(w);
  new_velocity(w);
  return TABI_OK;
}

/* all are always checked, so that one further solution can correct all; drives last, at the final
 * velocity */
static bool verify(tabi_world *w, const double *tau, int attempt) {
  bool friction = tbi_verify_joint_friction(w, attempt);
  bool limits = tbi_verify_joint_limits(w);
  bool tendons = tbi_verify_tendons(w, attempt);
  if (friction && limits && tendons) {
    certify_work(w);
    if (tbi_world_is_middle(w)) tbi_middle_refresh(w);
  }
  bool drives = tbi_verify_drive_limits(w, tau, attempt);
  return friction && limits && tendons && drives;
}

/* each attempt but the last gives some joint a row, a lower or an upper limit, moves drives to
 * or from their limits, or changes what tendons do */
static int max_attempts(const tabi_model *model) {
  return TBI_DRIVE_ATTEMPTS + TBI_TENDON_ATTEMPTS + 3 * model->nv + model->njoint +
         model->nactuator + 1;
}

/* the linear-time solution of a method, where it has one for this step */
static bool find_by_method(tabi_world *w, const double *tau) {
  tbi_solution solution;
  bool verified = false;
  for (int attempt = 0; !verified; ++attempt) {
    TBI_ASSERT(attempt <= max_attempts(w->model));
    if (!w->method->advance_velocity || !w->method->advance_velocity(w, &solution)) return false;
    verified = tbi_verify_drive_limits(w, tau, attempt);
    /* the solution has used up the forces on bodies */
    for (int32_t i = 0; !verified && i < w->model->nbody; ++i)
      w->d->force[i] = sv_scale(-1 / w->def.timestep, w->forces.body_impulse[i]);
  }
  certify(w, solution);
  certify_work(w);
  tbi_world_keep_loops(w);
  tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
  return true;
}

tabi_status tbi_world_find_velocity(tabi_world *w, const double *tau) {
  tbi_world_impulse(w);
  tbi_predict_joint_friction(w);
  if (find_by_method(w, tau)) return TABI_OK;
  tbi_predict_joint_limits(w, w->state.v, TBI_NEAR_LIMIT);
  tbi_predict_tendons(w);
  tbi_sleep_hold(w);
  bool verified = false;
  for (int attempt = 0; !verified; ++attempt) {
    TBI_ASSERT(attempt <= max_attempts(w->model));
    tabi_status status = solve_predicted(w);
    if (status != TABI_OK) return status;
    verified = verify(w, tau, attempt);
    tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
  }
  tbi_world_keep_tendons(w);
  return TABI_OK;
}
