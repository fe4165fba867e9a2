/* step.c - one time step, read from top to bottom at the end of the file.
 *
 *   forces -> free motion -> candidates and rows -> problem -> solution -> velocity -> position
 *
 * Everything new is made beside the state, which is replaced only when all of it is finite. */
#include "base/error.h"
#include "problem/residual.h"
#include "world/world.h"

#include <float.h>
#include <string.h>

#define NEAR 1e-4 /* rad or m: limits that get rows at once */

static size_t bytes(int32_t n) { return sizeof(double) * (size_t)n; }

/* what the method left is solved by exact, from where it stands */
static tbi_solution fall_back(tabi_world *w, tbi_solution before) {
  tbi_solution solution = tbi_exact.solve(&w->setup.problem, &w->fallback_def, w->fallback);
  solution.iterations += before.iterations;
  solution.fallback = true;
  return solution;
}

static tbi_solution solve_contacts(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  const tbi_formulation *method = w->method;
  tbi_problem_start(p);
  if (p->npoint + p->nrow == 0) return (tbi_solution){.converged = true};
  if (method->solve_direct && method->solve_direct(p, &w->def, w->scratch))
    return (tbi_solution){.iterations = 1, .converged = true};
  tbi_problem_respond(p);
  tbi_solution solution = method->solve(p, &w->def, w->scratch);
  return solution.converged || !tbi_world_falls_back(w) ? solution : fall_back(w, solution);
}

static void certify(tabi_world *w, tbi_solution solution) {
  w->certificate = tbi_residual(&w->setup.problem, w->gap, w->weight);
  w->certificate.iterations = solution.iterations;
  w->certificate.converged = solution.converged;
  w->certificate.fallback = solution.fallback;
  w->certificate.energy_limited = solution.energy_limited;
}

static tabi_status solve_problem(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  tbi_world_rows(w);
  tbi_world_ties(w);
  p->timestep = w->def.timestep;
  if (!tbi_setup_problem(&w->setup)) {
    return tbi_error_set(&w->error, TABI_ERR_CAPACITY, (tabi_place){NULL, 0},
                         "step %lld: too many touched bodies and joints in one tree",
                         (long long)w->head->steps);
  }
  tbi_world_targets(w);
  tbi_world_warm_start(w);
  tbi_timers_end(&w->timers, TABI_STAGE_PROBLEM);
  tbi_solution solution = solve_contacts(w);
  tbi_problem_sum(p);
  tbi_ties_finish(&w->setup.ties, p->sum);
  certify(w, solution);
  tbi_world_keep_ties(w);
  return TABI_OK;
}

/* v+ = v + L^-1 D^-1/2 (z + sum of Y m) */
static void new_velocity(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  double *x = w->v_new;
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] = (w->z[k] + p->sum[k]) * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, x);
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] += w->v[k];
}

/* v_new and all impulses */
static tabi_status find_velocity(tabi_world *w) {
  tbi_solution solution;
  tbi_world_impulse(w);
  tbi_world_guess_grips(w);
  if (w->method->advance_velocity && w->method->advance_velocity(w, &solution)) {
    certify(w, solution);
    tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
    return TABI_OK;
  }
  tbi_world_guess_limits(w, w->v, NEAR);
  for (int attempt = 0;; ++attempt) {
    tbi_world_apply_grips(w);
    tbi_world_free_motion(w);
    tbi_timers_end(&w->timers, TABI_STAGE_FACTOR);
    tabi_status status = solve_problem(w);
    if (status != TABI_OK) return status;
    new_velocity(w);
    bool proved = tbi_world_prove_grips(w, attempt);
    proved = tbi_world_prove_limits(w) && proved;
    tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
    if (proved) return TABI_OK;
  }
}

/* the usual case, without questions: no number is too large, or none */
static bool is_tame(const double *x, int32_t n, double most) {
  bool tame = true;
  for (int32_t i = 0; i < n; ++i)
    tame &= fabs(x[i]) <= most;
  return tame;
}

static tabi_status check_result(tabi_world *w) {
  const tabi_model *model = w->model;
  if (is_tame(w->v_new, model->nv, TBI_MAX_SPEED) && is_tame(w->v_move, model->nv, TBI_MAX_SPEED) &&
      is_tame(w->q_new, model->nq, DBL_MAX))
    return TABI_OK;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (fabs(w->v_new[k]) <= TBI_MAX_SPEED && fabs(w->v_move[k]) <= TBI_MAX_SPEED) continue;
    const tabi_joint_def *joint = &model->joint[model->body[model->dof_body[k]].joint];
    const char *name = model->link[joint->child].name;
    return tbi_error_set(&w->error, TABI_ERR_DIVERGED, (tabi_place){NULL, 0},
                         "step %lld (%g s): diverged at '%s', velocity %g; try a smaller time step "
                         "or softer gains",
                         (long long)w->head->steps, tabi_world_time(w), name ? name : "(unnamed)",
                         w->v_new[k]);
  }
  for (int32_t i = 0; i < model->nq; ++i) {
    if (isfinite(w->q_new[i])) continue;
    return tbi_error_set(&w->error, TABI_ERR_DIVERGED, (tabi_place){NULL, 0},
                         "step %lld (%g s): diverged, a position is not finite",
                         (long long)w->head->steps, tabi_world_time(w));
  }
  return TABI_OK;
}

/* work of what pulls from outside, along the way that was gone */
static double work_done(const tabi_world *w) {
  const tabi_model *model = w->model;
  double power = 0;
  for (int32_t k = 0; k < model->nv; ++k)
    power += w->force[k] * w->v_move[k];
  for (int32_t j = 0; j < model->njoint; ++j) {
    const tabi_servo *servo = &w->servo[j];
    if (!servo->implicit || (servo->kp == 0 && servo->kd == 0)) continue;
    const tbi_body *body = &model->body[model->joint_body[j]];
    double force = servo->kp * (servo->target - w->q_new[body->q]) +
                   servo->kd * (servo->target_rate - w->v_new[body->v]);
    power += force * w->v_move[body->v];
  }
  for (int32_t i = 0; w->head->external && i < model->nbody; ++i) {
    power += sv_dot(w->external[i], w->d->body[i].vel);
  }
  return power * w->def.timestep;
}

static void list_contacts(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  w->ncontact = p->npoint;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const tbi_candidate *candidate = &w->candidate[c->candidate];
    sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    tabi_contact *out = &w->contact[c->candidate];
    out->shape_a = candidate->shape_a;
    out->shape_b = candidate->shape_b;
    out->link_a = w->model->shape[candidate->shape_a].link;
    out->link_b = w->model->shape[candidate->shape_b].link;
    out->gap = candidate->gap;
    out->friction = c->friction;
    v3_store(candidate->point, out->point);
    v3_store(candidate->normal, out->normal);
    v3_store(v4_to(m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2])),
             out->impulse);
    v3_store(v4_to(v4_sub(sv_at(b, c->arm_b), sv_at(a, c->arm_a))), out->velocity);
  }
}

static void commit(tabi_world *w) {
  const tabi_model *model = w->model;
  if (tbi_world_has_gait(w)) {
    tbi_world_keep_walk(w);
  } else {
    w->head->work += work_done(w);
    tbi_world_keep_warm(w);
    tbi_world_keep_rows(w);
    list_contacts(w);
  }
  tbi_timers_end(&w->timers, TABI_STAGE_REST);
  tbi_sensors_measure(w);
  tbi_timers_end(&w->timers, TABI_STAGE_SENSORS);
  memcpy(w->q, w->q_new, bytes(model->nq));
  memcpy(w->v, w->v_new, bytes(model->nv));
  ++w->head->steps;
  w->current = false;
  if (model->nsensor > 0) {
    /* those of the next step, too */
    (void)tbi_world_dynamics(w);
    tbi_timers_end(&w->timers, TABI_STAGE_KINEMATICS);
    tbi_sensors_read(w);
    tbi_timers_end(&w->timers, TABI_STAGE_SENSORS);
  }
  if (w->timers.clock) ++w->timers.steps;
}

static tabi_status advance(tabi_world *w, const double *tau) {
  tbi_timers *timers = &w->timers;
  tabi_status status = tbi_world_forces(w, tau);
  if (status != TABI_OK) return status;
  tbi_timers_end(timers, TABI_STAGE_FORCES);
  if (!w->current) tbi_kinematics(w->d, w->q, w->v);
  tbi_timers_end(timers, TABI_STAGE_KINEMATICS);
  status = tbi_world_candidates(w);
  if (status != TABI_OK) return status;
  tbi_timers_end(timers, TABI_STAGE_COLLISION);
  status = find_velocity(w);
  if (status != TABI_OK) return status;
  if (w->def.integrator == TABI_RK4) {
    tbi_world_move_by_stages(w, tau);
  } else {
    tbi_world_move(w);
  }
  status = check_result(w);
  tbi_timers_end(timers, TABI_STAGE_MOVE);
  return status;
}

/* the same by contact modes and events */
static tabi_status advance_by_method(tabi_world *w, const double *tau) {
  tabi_status status = tbi_world_forces(w, tau);
  if (status != TABI_OK) return status;
  tbi_timers_end(&w->timers, TABI_STAGE_FORCES);
  status = w->method->advance(w, tau);
  tbi_timers_end(&w->timers, TABI_STAGE_SOLVE);
  if (status != TABI_OK) return status;
  status = check_result(w);
  if (status != TABI_OK) tbi_world_undo_walk(w);
  return status;
}

tabi_status tabi_world_step(tabi_world *world, const double *tau) {
  uint64_t random = world->head->random;
  world->error.status = TABI_OK;
  tbi_timers_begin(&world->timers);
  tabi_status status = world->method->advance ? advance_by_method(world, tau) : advance(world, tau);
  world->current = false;
  if (status == TABI_OK) {
    commit(world);
  } else {
    world->head->random = random;
    world->ncontact = 0; /* the solution was made where they stood */
  }
  /* pushes are for one step, also for one that failed: a bad push shall not stay */
  if (world->head->external) {
    memset(world->external, 0, sizeof *world->external * (size_t)world->model->nbody);
    if (world->sensors.feels_forces) {
      size_t links = (size_t)world->model->nlink;
      memset(world->sensors.external, 0, sizeof *world->sensors.external * links);
    }
    world->head->external = false;
  }
  return status;
}
