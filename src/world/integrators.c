/* integrators.c - from the new velocity to the new position.
 *
 *   semi-implicit  along the new velocity
 *   midpoint       along the mean of old and new in free motion, up to and after a rebound apart
 *   euler          along the old velocity
 *   rk4            position and velocity anew by four stages, contact forces constant
 *
 * The implicit parts of forces are in forces.c, the gyroscopic moment of free bodies in
 * free_motion.c. */
#include "base/assertion.h"
#include "contact/penalty_law.h"
#include "contact/surface.h"
#include "integrate/rk4.h"
#include "problem/sweep.h"
#include "world/world.h"

#include <string.h>

/* whether any constraint acts on a tree */
static bool is_pushed(const tabi_world *w, int32_t tree) {
  tabi_range dofs = tbi_tree_dofs(w->model, tree);
  if (w->setup.loops.rank[w->model->tree_cluster[tree]] > 0) return true;
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k) {
    if (w->setup.problem.sum[k] != 0 || w->active_set.friction_impulse[k] != 0) return true;
  }
  return false;
}

/* whether an impact within the step (impacts.c) moves a tree */
static bool is_struck(const tabi_world *w, tabi_range dofs) {
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
    if (w->impacts.v_early[k] != 0) return true;
  return false;
}

/* The share of the step before a tree rebounds; negative: it does not.  Impulses act at the posture
 * of the start.  Trees that float rebound from each other there, too: paths that part later would
 * change the moment of their momenta. */
static double rebound_share(tabi_world *w, int32_t tree) {
  double share = w->candidates.impact_time[tree];
  return share > 0 && tbi_world_floats(w, tree) ? 0 : share;
}

/* the velocity that moves a tree over the step, from those before, without and with constraints */
static void set_moving_velocity(tabi_world *w, int32_t tree) {
  tabi_range dofs = tbi_tree_dofs(w->model, tree);
  const double *before = w->state.v + dofs.first;
  const double *after = w->solution.v_new + dofs.first;
  double *move = w->solution.v_move + dofs.first;
  double share = rebound_share(w, tree);
  bool middle = w->def.integrator == TABI_MIDPOINT;
  bool mean =
      w->floating.tree[tree].swings || (middle && (tbi_world_is_middle(w) || !is_pushed(w, tree)));
  bool struck = w->impacts.any && is_struck(w, dofs);
  /* up to there it goes on as before, also what others carry meanwhile; then the contact holds */
  bool lands = share >= 0 && tbi_world_is_middle(w) && !w->floating.tree[tree].rebounds;
  for (int32_t k = 0; k < dofs.count; ++k) {
    double gain = middle ? w->free.v_free[dofs.first + k] - before[k] : 0;
    if (lands) gain = w->state.v_change[dofs.first + k];
    double early = before[k] + 0.5 * gain * share;
    double late = after[k] - (lands ? 0 : 0.5 * gain * (1 - share));
    move[k] = mean ? 0.5 * (before[k] + after[k]) : after[k];
    if (share >= 0) move[k] = share * early + (1 - share) * late;
    if (struck) move[k] -= w->impacts.v_early[dofs.first + k] + 0.5 * gain;
  }
}

/* whether a tree turns by its spin alone */
static bool is_spinning(tabi_world *w, int32_t tree) {
  return w->floating.tree[tree].spins && tbi_world_floats(w, tree) &&
         w->candidates.impact_time[tree] < 0;
}

/* A lone body in free motion turns by its spin, and by what external couples add to its velocity:
 * all of it or, under midpoint, half. */
static void set_turning_velocity(tabi_world *w, int32_t tree) {
  const tabi_model *model = w->model;
  const tbi_body *root = &model->body[model->tree_body[tree]];
  const tbi_floating *free = &w->floating.tree[tree];
  double share = w->def.integrator == TABI_MIDPOINT ? 0.5 : 1;
  v3 more =
      v3_sub(v3_load(w->solution.v_new + root->v + 3), m3_tmulv(&root->place.rot, free->spin_end));
  v3 turn = v3_axpy(m3_tmulv(&root->place.rot, free->spin), share, more);
  v3_store(turn, w->solution.v_move + root->v + 3);
}

/* second half of the step: along the new velocity, but where one velocity moves a tree over all of
 * it */
static void move_from_middle(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tabi_range bodies = tbi_tree_bodies(model, t);
    if (!tbi_tree_is_middle(w, t) || w->candidates.impact_time[t] >= 0 || is_spinning(w, t))
      continue;
    tbi_model_integrate_bodies(model, bodies.first, bodies.first + bodies.count, w->free.q_middle,
                               w->solution.v_new, tbi_tree_remaining(w, t), w->solution.q_new);
  }
}

static void move_once(tabi_world *w) {
  const tabi_model *model = w->model;
  if (w->def.integrator == TABI_EULER) {
    memcpy(w->solution.v_move, w->state.v, sizeof *w->state.v * (size_t)model->nv);
  } else {
    if (w->def.integrator == TABI_MIDPOINT) tbi_world_free_velocity(w);
    tbi_world_find_floating(w);
    for (int32_t tree = 0; tree < model->ntree; ++tree) {
      set_moving_velocity(w, tree);
      if (is_spinning(w, tree)) set_turning_velocity(w, tree);
    }
  }
  if (w->def.sleep) {
    tbi_sleep_move(w);
  } else {
    tabi_model_integrate(model, w->state.q, w->solution.v_move, w->def.timestep, w->solution.q_new);
  }
  if (tbi_world_is_middle(w) || w->floating.swings) move_from_middle(w);
}

typedef struct stages {
  tabi_world *w;
  const double *tau;
  double *constant; /* joint forces of constraints and external wrenches, the same in all stages */
  bool begun;       /* a stage is done */
} stages;

/* Errors at the stages themselves are not corrected, since stages lie off the path by design: nor
 * do they open a loop. */
static void regain(tabi_world *w) {
  tbi_loops *loops = &w->setup.loops;
  for (int32_t i = 0; i < loops->count; ++i) {
    loops->regain[i] = tbi_loop_regain(&loops->loop[i], w->def.timestep);
    loops->open[i] = loops->loop[i].open;
  }
}

/* From joint forces in qdd and wrenches in d->flow to the acceleration under loop constraints,
 * whose second derivatives are those of regain().  Which of them are independent is found where the
 * step begins: later, where they are not quite closed, redundant ones look independent. */
static void constrained_acceleration(tabi_world *w, bool begins, double *qdd) {
  const tabi_model *model = w->model;
  tbi_loops *loops = &w->setup.loops;
  tbi_world_loops(w);
  if (begins) regain(w);
  loops->contradiction = TBI_CONTRADICTION / w->def.timestep;
  for (int32_t i = 0; i < loops->count; ++i) {
    tbi_loop *loop = &loops->loop[i];
    loop->target = loops->regain[i] - loop->drift;
    loop->open = loops->open[i];
    loop->velocity = 0;
    loop->load =
        -loop->give * loop->drift; /* of a spring: inertia of a tendon, which has no target */
  }
  tbi_aba_factor(w->d, model->dof_rotor, tbi_world_told(w));
  tbi_aba_gather(w->d, qdd);
  double *root = w->setup.pivot_root;
  for (int32_t k = 0; k < model->nv; ++k) {
    root[k] = sqrt(w->d->D_inv[k]);
    qdd[k] *= root[k];
  }
  (begins ? tbi_loops_solve : tbi_loops_solve_again)(loops, w->d, root, qdd, w->setup.scratch);
  for (int32_t k = 0; k < model->nv; ++k)
    qdd[k] *= root[k];
  tbi_aba_solve_lower(w->d, qdd);
}

/* tangential deflection of a contact at the start of the step */
static v3 deflection_of(const tabi_world *w, const tbi_candidate *candidate) {
  int64_t at = tbi_world_find_warm(w, tbi_candidate_id(w->model, candidate));
  return at < 0 ? v3_zero() : w->state.warm[at].deflection;
}

/* the spring of a contact, with the sign of rnea.c */
static void push_surface(tabi_world *w, const tbi_candidate *candidate) {
  int32_t body[2] = {w->constants.shape_body[candidate->shape_a],
                     w->constants.shape_body[candidate->shape_b]};
  const tabi_material_def *surface =
      tbi_surface_of(w->model, w->constants.surface, candidate->shape_a, candidate->shape_b);
  m4 frame = tbi_contact_frame(candidate->normal);
  v4 arm[2];
  v4 speed[2];
  for (int i = 0; i < 2; ++i) {
    arm[i] = v4_from(v3_sub(candidate->point, tbi_tree_origin(w->d, body[i])));
    speed[i] = sv_at(w->d->body[body[i]].vel, arm[i]);
  }
  v4 u = v4_sub(speed[1], speed[0]);
  v4 s = v4_from(deflection_of(w, candidate));
  v3 slip = v3_make(v4_dot(u, frame.x), v4_dot(u, frame.y), v4_dot(u, frame.z));
  double rate = sqrt(slip.y * slip.y + slip.z * slip.z);
  double friction = tbi_surface_friction(surface, rate > surface->slip_speed, rate);
  tbi_spring_law law = tbi_spring_law_of(surface, friction, w->def.penalty.tangential_stiffness);
  v3 deflection = v3_make(0, v4_dot(s, frame.y), v4_dot(s, frame.z));
  v3 f = tbi_spring_law_force(&law, candidate->gap, deflection, slip);
  v4 force = m4_mulv3(&frame, f);
  for (int i = 0; i < 2; ++i) {
    sv *on = &w->d->force[body[i]];
    *on = sv_axpy(*on, i == 0 ? 1 : -1, tbi_wrench(arm[i], force));
  }
}

static void push_surfaces(tabi_world *w) {
  int32_t count = tbi_collide(w->collision, w->d, w->candidates.margin, w->candidates.stage_list,
                              w->def.max_contacts);
  w->candidates.stage_lacks |= count < 0;
  for (int32_t i = 0; i < count; ++i)
    push_surface(w, &w->candidates.stage_list[i]);
}

static void stage_acceleration(void *user, const double *q, const double *v, double *qdd) {
  stages *s = user;
  tabi_world *w = s->w;
  const tabi_model *model = w->model;
  tbi_kinematics(w->d, q, v);
  tbi_rnea_forces(w->d, v4_from(v3_load(w->def.gravity)), NULL);
  tbi_world_pull_springs(w);
  if (w->method->info.compliant) push_surfaces(w);
  for (int32_t i = 0; i < model->nbody; ++i)
    w->d->flow[i] = sv_scale(-1, w->d->force[i]);
  tbi_world_forces_at(w, q, v, s->tau, qdd);
  tbi_world_pull_tendons(w, qdd);
  for (int32_t k = 0; k < model->nv; ++k)
    qdd[k] += s->constant[k];
  if (w->constants.nloop > 0 && !w->setup.sweeps_loops) {
    constrained_acceleration(w, !s->begun, qdd);
  } else {
    tbi_aba_factor(w->d, model->dof_rotor, tbi_world_told(w));
    tbi_aba_solve_flow(w->d, qdd);
  }
  s->begun = true;
}

/* mean forces of constraints over the step and external wrenches, at the joints */
static void find_constant_forces(tabi_world *w, double *constant) {
  const tbi_problem *p = &w->setup.problem;
  double rate = 1 / w->def.timestep;
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->d->force[i] = w->state.external[i];
  tbi_world_add_jumps(w, rate, w->d->force);
  /* every stage computes the springs of contacts itself */
  int32_t nport = w->method->info.compliant ? 0 : p->nport;
  for (int32_t k = 0; k < nport; ++k) {
    sv *force = &w->d->force[p->port[k].body];
    *force = sv_axpy(*force, rate, p->received[k]);
  }
  double *at_joints = w->scratch.dofs;
  for (int32_t k = 0; k < w->model->nv; ++k)
    at_joints[k] = rate * w->active_set.friction_impulse[k];
  if (w->setup.sweeps_loops) tbi_loops_push(&w->setup.loops, rate, w->d->force, at_joints);
  tbi_gather(w->d, constant);
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    constant[row->dof] += rate * row->impulse;
  }
  for (int32_t k = 0; k < w->model->nv; ++k)
    constant[k] += at_joints[k];
}

static void move_by_stages(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  stages s = {w, tau, w->scratch.stage, false};
  w->candidates.stage_lacks = false;
  find_constant_forces(w, s.constant);
  tbi_motion motion = {model, stage_acceleration, &s, w->scratch.stage + model->nv};
  tbi_rk4(&motion, w->def.timestep, w->state.q, w->state.v, w->solution.q_new, w->solution.v_new);
  for (int32_t k = 0; k < model->nv; ++k)
    w->solution.v_move[k] = 0.5 * (w->state.v[k] + w->solution.v_new[k]);
}

tabi_status tbi_world_integrate(tabi_world *w, const double *tau) {
  TBI_ASSERT(w->def.integrator != TABI_RK4 || w->scratch.stage);
  if (w->def.integrator != TABI_RK4) {
    move_once(w);
    return TABI_OK;
  }
  move_by_stages(w, tau);
  return w->candidates.stage_lacks ? tbi_world_lacks_contacts(w) : TABI_OK;
}
