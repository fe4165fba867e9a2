/* step.c - one time step, read from top to bottom at the end of the file.
 *
 *   forces -> free motion -> touches and rows -> problem -> solution -> velocity -> position
 *
 * Everything new is made beside the state, which is replaced only when all of it is finite. */
#include "base/error.h"
#include "contact/residual.h"
#include "contact/surface.h"
#include "integrate/integrate.h"
#include "world/world.h"

#include <string.h>

#define MARGIN     1e-4 /* m, at which shapes are looked at even when nothing moves */
#define MAX_SPEED  1e8  /* m/s or rad/s; more has diverged */
#define GYRO_STEPS 8

static size_t bytes(int32_t n) { return sizeof(double) * (size_t)n; }

/* The couple that makes the gyroscopic moment of a lone free body implicit.  Explicit, it feeds
 * energy in; w' of  I (w' - w) + h w' x I w' = 0  (about the centre, by Newton) never does. */
static v3 gyro_couple(s3 i, v3 w, double h) {
  v3 next = w;
  for (int step = 0; step < GYRO_STEPS; ++step) {
    v3 l = s3_mulv(i, next);
    v3 f = v3_axpy(s3_mulv(i, v3_sub(next, w)), h, v3_cross(next, l));
    if (v3_norm(f) <= 1e-15 * v3_norm(l)) break;
    /* derivative: I + h ([w'] I - [I w']), column by column */
    v3 column[3];
    const v3 unit[3] = {
        {1, 0, 0},
        {0, 1, 0},
        {0, 0, 1}
    };
    for (int k = 0; k < 3; ++k) {
      v3 ik = s3_mulv(i, unit[k]);
      column[k] = v3_axpy(ik, h, v3_add(v3_cross(next, ik), v3_cross(unit[k], l)));
    }
    double det = v3_dot(column[0], v3_cross(column[1], column[2]));
    v3 step_by = v3_make(v3_dot(f, v3_cross(column[1], column[2])) / det,
                         v3_dot(column[0], v3_cross(f, column[2])) / det,
                         v3_dot(column[0], v3_cross(column[1], f)) / det);
    next = v3_sub(next, step_by);
  }
  return v3_sub(v3_cross(w, s3_mulv(i, w)), v3_cross(next, s3_mulv(i, next)));
}

static bool is_lone(const tabi_model *model, int32_t i) {
  const tbi_body *body = &model->body[i];
  if (body->type != TABI_JOINT_FREE || body->parent != TABI_WORLD) return false;
  return i + 1 == model->nbody || model->body[i + 1].tree != body->tree;
}

/* external wrenches and implicit gyroscopic couples against the forces of rnea.c */
static void apply_wrenches(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  for (int32_t i = 0; w->head->external && i < model->nbody; ++i) {
    d->force[i] = sv_sub(d->force[i], w->external[i]);
  }
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (w->def.integrator != TABI_SEMI_IMPLICIT || !is_lone(model, i)) continue;
    m3 rot = m4_to(&d->body[i].rot);
    s3 moment = s3_rotate(&rot, model->body[i].inertia);
    v3 couple = gyro_couple(moment, v4_to(d->body[i].vel.ang), w->def.timestep);
    d->force[i].ang = v4_sub(d->force[i].ang, v4_from(couple));
  }
}

/* z = D^-1/2 L^-T h (forces - bias) */
static void free_motion(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  double h = w->def.timestep;
  tbi_rnea_forces(d, v4_from(v3_load(w->def.gravity)), NULL);
  apply_wrenches(w);
  tbi_gather(d, w->bias);
  tbi_crba(d, w->diagonal);
  tbi_ltdl_factor(d);
  for (int32_t k = 0; k < model->nv; ++k)
    w->z[k] = h * (w->z[k] + w->force[k] - w->bias[k]);
  tbi_ltdl_solve_transposed(d, w->z);
  for (int32_t k = 0; k < model->nv; ++k) {
    double root = sqrt(d->pivot[k]);
    w->setup.pivot_root[k] = root;
    w->z[k] *= root;
  }
}

/* how far the points of each shape may come in this step */
static void set_reaches(tabi_world *w) {
  const tabi_model *model = w->model;
  double h = w->def.timestep;
  double fall = 2 * h * h * v3_norm(v3_load(w->def.gravity));
  int32_t last = TABI_WORLD; /* shapes of one body mostly follow one another */
  double speed = 0;
  double spin = 0;
  for (int32_t s = 0; s < model->nshape; ++s) {
    int32_t body = w->shape_body[s];
    w->reach[s] = 0;
    if (body == TABI_WORLD || !model->shape[s].collides) continue;
    if (body != last) {
      const tbi_body_state *state = &w->d->body[body];
      speed = v3_norm(v4_to(sv_at(state->vel, state->pos)));
      spin = v3_norm(v4_to(state->vel.ang));
      last = body;
    }
    w->reach[s] = MARGIN + fall + h * (speed + spin * w->shape_radius[s]);
  }
}

static bool is_round(const tabi_model *model, int32_t shape) {
  tabi_shape_type type = model->shape[shape].type;
  return type == TABI_SHAPE_SPHERE || type == TABI_SHAPE_CAPSULE;
}

/* where forces act: halfway between the surfaces, but a round shape on a flat one shall roll on its
 * own radius, also where they overlap a little */
static v3 lever_point(const tabi_model *model, const tbi_touch *touch) {
  bool round_a = is_round(model, touch->shape_a);
  bool round_b = is_round(model, touch->shape_b);
  if (round_a == round_b) return touch->point;
  return v3_axpy(touch->point, round_a ? -0.5 * touch->gap : 0.5 * touch->gap, touch->normal);
}

static tabi_status find_touches(tabi_world *w) {
  set_reaches(w);
  int32_t count = tbi_collide(w->collision, w->d, w->reach, w->touch, w->def.max_contacts);
  if (count < 0) {
    return tbi_error_set(&w->error, TABI_ERR_CAPACITY, (tabi_place){NULL, 0},
                         "step %lld: more than max_contacts = %d points of contact; "
                         "raise max_contacts",
                         (long long)w->head->steps, w->def.max_contacts);
  }
  w->setup.ntouch = count;
  for (int32_t i = 0; i < count; ++i) {
    w->gap[i] = w->touch[i].gap;
    w->touch[i].point = lever_point(w->model, &w->touch[i]);
  }
  return TABI_OK;
}

static int32_t tree_of_port(const tbi_problem *p, int32_t port) {
  return port == TABI_NONE ? TABI_NONE : p->port[port].tree;
}

static void note_rebound(tabi_world *w, const tbi_point *c, double share) {
  const int32_t tree[2] = {tree_of_port(&w->setup.problem, c->port_a),
                           tree_of_port(&w->setup.problem, c->port_b)};
  for (int i = 0; i < 2; ++i) {
    if (tree[i] == TABI_NONE) continue;
    double *time = &w->touch_time[tree[i]];
    if (*time < 0 || share < *time) *time = share;
  }
}

/* the share of the step before the gap closes under velocity u and acceleration a; negative if it
 * does not close */
static double closing_share(double gap, double u, double a, double h) {
  if (gap <= 0) return 0;
  double root = u * u - 2 * a * gap;
  if (root < 0) return -1;
  double time = 2 * gap / (-u + sqrt(root)); /* the earlier root, without cancellation */
  return time <= h ? time / h : -1;
}

/* a contact that would close fast enough rebounds: true, and its target is set */
static bool set_rebound(tabi_world *w, tbi_point *c, double e, double approach, double gap) {
  double h = w->def.timestep;
  const tbi_problem *p = &w->setup.problem;
  double a = 0;
  if (w->def.integrator == TABI_MIDPOINT) {
    sv va = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv vb = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    a = (tbi_point_velocity(c, va, vb).x - approach) / h;
  }
  double share = closing_share(gap, approach, a, h);
  if (share < 0) return false;
  /* the speed at the touch, turned round, and what the rest of the step does to it */
  c->target = -e * (approach + a * share * h) + a * (1 - share) * h;
  note_rebound(w, c, share);
  return true;
}

static void set_targets(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  double h = w->def.timestep;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->touch_time[t] = -1;
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    const tbi_touch *touch = &w->touch[c->touch];
    const tabi_material_def *surface =
        tbi_surface_of(w->model, w->surface, touch->shape_a, touch->shape_b);
    double slip = sqrt(c->slip[0] * c->slip[0] + c->slip[1] * c->slip[1]);
    double approach = w->setup.approach[c->touch];
    c->friction = slip > surface->slip_speed ? surface->kinetic : surface->friction;
    if (surface->restitution > 0 && approach < -surface->rest_speed &&
        set_rebound(w, c, surface->restitution, approach, touch->gap)) {
      continue;
    }
    double deep = fmax(-touch->gap - w->def.allowed_depth, 0);
    c->target = touch->gap > 0 ? -touch->gap / h
                               : fmin(w->def.correction * deep / h, w->def.correction_speed);
  }
}

static tabi_status solve_problem(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  tbi_world_rows(w);
  p->timestep = w->def.timestep;
  if (!tbi_setup_problem(&w->setup)) {
    return tbi_error_set(&w->error, TABI_ERR_CAPACITY, (tabi_place){NULL, 0},
                         "step %lld: too many touched bodies and joints in one tree",
                         (long long)w->head->steps);
  }
  set_targets(w);
  tbi_world_warm_start(w);
  tbi_problem_start(p);
  tbi_solution solution = {0, true};
  if (p->npoint + p->nrow > 0) {
    solution = tbi_formulations[w->def.contact]->solve(p, &w->def, w->scratch);
  }
  tbi_problem_sum(p);
  w->certificate = tbi_residual(p, w->gap, w->weight);
  w->certificate.iterations = solution.iterations;
  w->certificate.converged = solution.converged;
  return TABI_OK;
}

/* v+ = v + L^-1 D^-1/2 (z + sum of Y m) */
static void new_velocity(tabi_world *w) {
  const tabi_model *model = w->model;
  const tbi_problem *p = &w->setup.problem;
  double *x = w->v_new;
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] = (w->z[k] + p->sum[k]) * w->setup.pivot_root[k];
  tbi_ltdl_solve_lower(w->d, x);
  for (int32_t k = 0; k < model->nv; ++k)
    x[k] += w->v[k];
}

/* a tree is pushed if any constraint acts on it */
static void mark_pushed(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->pushed[t] = false;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (w->setup.problem.sum[k] != 0) w->pushed[model->body[model->dof_body[k]].tree] = true;
  }
}

/* the velocity that moves a tree over the step, from those before, without and with constraints */
static double moving_velocity(const tabi_world *w, int32_t tree, int32_t k) {
  double before = w->v[k];
  double after = w->v_new[k];
  double share = w->touch_time[tree];
  bool middle = w->def.integrator == TABI_MIDPOINT;
  double gain = middle ? w->v_free[k] - before : 0;
  if (share >= 0) {
    return share * (before + 0.5 * gain * share) + (1 - share) * (after - 0.5 * gain * (1 - share));
  }
  return middle && !w->pushed[tree] ? 0.5 * (before + after) : after;
}

/* the velocity at the end of the step if no constraint acted */
static void free_velocity(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->v_free[k] = w->z[k] * w->setup.pivot_root[k];
  tbi_ltdl_solve_lower(w->d, w->v_free);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->v_free[k] += w->v[k];
}

static void new_position(tabi_world *w) {
  const tabi_model *model = w->model;
  mark_pushed(w);
  if (w->def.integrator == TABI_MIDPOINT) free_velocity(w);
  for (int32_t k = 0; k < model->nv; ++k) {
    int32_t tree = model->body[model->dof_body[k]].tree;
    w->v_move[k] = moving_velocity(w, tree, k);
  }
  tabi_model_integrate(model, w->q, w->v_move, w->def.timestep, w->q_new);
}

typedef struct stages {
  tabi_world *w;
  const double *tau;
  double *held; /* joint forces of constraints and external wrenches, held over the step */
} stages;

static void stage_acceleration(void *user, const double *q, const double *v, double *qdd) {
  stages *s = user;
  tabi_world *w = s->w;
  const tabi_model *model = w->model;
  tbi_kinematics(w->d, q, v);
  tbi_rnea_forces(w->d, v4_from(v3_load(w->def.gravity)), NULL);
  tbi_gather(w->d, w->bias);
  tbi_world_forces_at(w, q, v, s->tau, w->v_free);
  for (int32_t k = 0; k < model->nv; ++k)
    w->v_free[k] += s->held[k] - w->bias[k];
  tbi_aba_factor(w->d);
  tbi_aba_solve(w->d, w->v_free, qdd);
}

/* the wrenches of constraints as mean forces, and those from outside, at the joints */
static void hold_forces(tabi_world *w, double *held) {
  const tbi_problem *p = &w->setup.problem;
  double rate = 1 / w->def.timestep;
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->d->force[i] = w->external[i];
  for (int32_t k = 0; k < p->nport; ++k) {
    sv *force = &w->d->force[p->port[k].body];
    *force = sv_axpy(*force, rate, p->received[k]);
  }
  tbi_gather(w->d, held);
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    held[row->dof] += rate * row->impulse;
    if (row->leader != TABI_NONE) held[row->leader] -= rate * row->slope * row->impulse;
  }
}

static void step_by_stages(tabi_world *w, const double *tau) {
  const tabi_model *model = w->model;
  stages s = {w, tau, w->stage};
  hold_forces(w, s.held);
  tbi_motion motion = {model, stage_acceleration, &s, w->stage + model->nv};
  tbi_rk4(&motion, w->def.timestep, w->q, w->v, w->q_new, w->v_new);
  for (int32_t k = 0; k < model->nv; ++k)
    w->v_move[k] = 0.5 * (w->v[k] + w->v_new[k]);
}

static tabi_status check_result(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t k = 0; k < model->nv; ++k) {
    if (fabs(w->v_new[k]) <= MAX_SPEED && fabs(w->v_move[k]) <= MAX_SPEED) continue;
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
    const tbi_touch *touch = &w->touch[c->touch];
    sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    tabi_contact *out = &w->contact[c->touch];
    out->shape_a = touch->shape_a;
    out->shape_b = touch->shape_b;
    out->link_a = w->model->shape[touch->shape_a].link;
    out->link_b = w->model->shape[touch->shape_b].link;
    out->gap = touch->gap;
    out->friction = c->friction;
    v3_store(touch->point, out->point);
    v3_store(touch->normal, out->normal);
    v3_store(v4_to(m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2])),
             out->impulse);
    v3_store(v4_to(v4_sub(sv_at(b, c->arm_b), sv_at(a, c->arm_a))), out->velocity);
  }
}

static void commit(tabi_world *w) {
  const tabi_model *model = w->model;
  w->head->work += work_done(w);
  tbi_world_keep_warm(w);
  tbi_world_keep_rows(w);
  list_contacts(w);
  memcpy(w->q, w->q_new, bytes(model->nq));
  memcpy(w->v, w->v_new, bytes(model->nv));
  ++w->head->steps;
  w->current = false;
}

static tabi_status advance(tabi_world *w, const double *tau) {
  tabi_status status = tbi_world_forces(w, tau);
  if (status != TABI_OK) return status;
  if (!w->current) tbi_kinematics(w->d, w->q, w->v);
  free_motion(w);
  status = find_touches(w);
  if (status != TABI_OK) return status;
  status = solve_problem(w);
  if (status != TABI_OK) return status;
  new_velocity(w);
  if (w->def.integrator == TABI_RK4) {
    step_by_stages(w, tau);
  } else {
    new_position(w);
  }
  return check_result(w);
}

tabi_status tabi_world_step(tabi_world *world, const double *tau) {
  uint64_t random = world->head->random;
  world->error.status = TABI_OK;
  tabi_status status = advance(world, tau);
  world->current = false;
  if (status == TABI_OK) {
    commit(world);
  } else {
    world->head->random = random;
  }
  /* pushes are for one step, also for one that failed: a bad push shall not stay */
  if (world->head->external) {
    memset(world->external, 0, sizeof *world->external * (size_t)world->model->nbody);
    world->head->external = false;
  }
  return status;
}
