/* free_motion.c - the impulses of all forces but constraints, and the motion under them. */
#include "base/assertion.h"
#include "world/active_set/active_set.h"

#define GYRO_STEPS 8
#define SPIN_STEPS 32

/* The couple that makes the gyroscopic moment of a lone body implicit.  Explicit, it feeds energy
 * in; w' of  I (w' - w) + h w' x I w' = 0  (about the centre, by Newton) never does. */
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
    next = v3_sub(next, v3_solve(column, f));
  }
  return v3_sub(v3_cross(w, s3_mulv(i, w)), v3_cross(next, s3_mulv(i, next)));
}

/* The free turn of a lone body about its centre, after Simo and Wong (1991): with I at the start of
 * the step, world axes, and E(t) the rotation by t,
 *     I u = E(-t) I w,   t = h (w + u) / 2,   w+ = E(t) u.
 * The body turns by t, so that I+ = E I E' and I+ w+ = I w; and since t . E(-t) x = t . x, the
 * energies u.I u and w.I w are equal. */
static void find_spin(s3 i, v3 w, double h, tbi_floating *tree) {
  v3 momentum = s3_mulv(i, w);
  const v3 column[3] = {
      {i.xx, i.xy, i.xz},
      {i.xy, i.yy, i.yz},
      {i.xz, i.yz, i.zz}
  };
  v3 u = w;
  m3 turn = m3_identity();
  for (int step = 0; step < SPIN_STEPS; ++step) {
    turn = q_matrix(q_exp(v3_scale(0.5 * h, v3_add(w, u))));
    v3 last = u;
    u = v3_solve(column, m3_tmulv(&turn, momentum));
    if (v3_norm(v3_sub(u, last)) <= 1e-14 * v3_norm(w)) break;
  }
  tree->spin = v3_scale(0.5, v3_add(w, u));
  tree->spin_end = m3_mulv(&turn, u);
}

/* The couple that lets the solution of the step end with that velocity: it takes the place of the
 * gyroscopic moment. */
static v3 spin_couple(s3 i, v3 w, double h, v3 end) {
  v3 change = v3_scale(1 / h, s3_mulv(i, v3_sub(end, w)));
  return v3_add(change, v3_cross(w, s3_mulv(i, w)));
}

/* Lone bodies with nothing near spin freely in this step.  Contacts and connections do not know by
 * how much a body will turn; with these the moment is implicit, which never gains energy. */
static void find_spinning(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_floating *tree = w->floating.tree;
  for (int32_t t = 0; t < model->ntree; ++t)
    tree[t].spins = tbi_world_is_implicit(w) && tbi_is_lone(model, model->tree_body[t]) &&
                    !tbi_tree_has_loops(model, t) && !tbi_tree_sleeps(w, t);
  for (int32_t i = 0; i < w->setup.ncandidate; ++i) {
    int32_t a = w->constants.shape_body[w->candidates.list[i].shape_a];
    int32_t b = w->constants.shape_body[w->candidates.list[i].shape_b];
    if (a != TABI_WORLD) tree[model->body[a].tree].spins = false;
    if (b != TABI_WORLD) tree[model->body[b].tree].spins = false;
  }
}

/* the moment of inertia of a lone body at the start of the step, world axes */
static s3 start_moment(const tabi_world *w, int32_t i) {
  const tbi_body *body = &w->model->body[i];
  m3 turn = q_matrix(q_load(w->state.q + body->q + 3));
  m3 rot = m3_mul(&body->place.rot, &turn);
  return s3_rotate(&rot, body->inertia);
}

static void turn_lone_bodies(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  double h = w->def.timestep;
  for (int32_t t = 0; t < model->ntree; ++t) {
    int32_t i = model->tree_body[t];
    bool middle = tbi_tree_is_middle(w, t);
    if (!tbi_is_lone(model, i) || (middle && !w->floating.tree[t].spins)) continue;
    if (tbi_tree_sleeps(w, t)) continue;
    m3 rot = m4_to(&d->body[i].rot);
    s3 moment = s3_rotate(&rot, model->body[i].inertia);
    v3 turn = v4_to(d->body[i].vel.ang);
    tbi_floating *tree = &w->floating.tree[t];
    if (tree->spins) find_spin(middle ? start_moment(w, i) : moment, turn, h, tree);
    v3 couple =
        tree->spins ? spin_couple(moment, turn, h, tree->spin_end) : gyro_couple(moment, turn, h);
    d->force[i].ang = v4_sub(d->force[i].ang, v4_from(couple));
  }
}

/* external wrenches, explicit springs and the couples of lone bodies, with the sign of rnea.c: what
 * a body needs from its joint */
static void apply_wrenches(tabi_world *w) {
  const tabi_model *model = w->model;
  tabi_dynamics *d = w->d;
  for (int32_t i = 0; w->state.head->external && i < model->nbody; ++i) {
    d->force[i] = sv_sub(d->force[i], w->state.external[i]);
  }
  tbi_world_pull_springs(w);
  if (tbi_world_is_implicit(w)) turn_lone_bodies(w);
}

/* whether the bias forces of a tree are taken at v + (v - v_before) / 2 */
static bool is_extrapolated(const tabi_world *w, int32_t tree) {
  const tabi_model *model = w->model;
  tabi_range dofs = tbi_tree_dofs(model, tree);
  if (w->floating.tree[tree].spins) return false;
  if (!tbi_tree_is_middle(w, tree) && tbi_tree_has_loops(model, tree)) return false;
  if (!tbi_tree_is_middle(w, tree) && tbi_is_lone(model, model->tree_body[tree])) return false;
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
    if (w->state.v_change[k] != 0) return true;
  return false;
}

/* The velocities of the bias forces: under midpoint, and in the solution at the middle of the step,
 * trees without jumps have theirs extrapolated to the middle, since those at the start would feed
 * energy in.  False: they are all those of the state. */
static bool extrapolate(tabi_world *w, double *to) {
  bool any = false;
  bool asked = w->def.integrator == TABI_MIDPOINT || tbi_world_is_middle(w) || w->floating.swings;
  for (int32_t t = 0; asked && t < w->model->ntree; ++t) {
    tabi_range dofs = tbi_tree_dofs(w->model, t);
    bool on = w->floating.tree[t].extrapolated = is_extrapolated(w, t);
    any = any || on;
    for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
      to[k] = w->state.v[k] + (on ? 0.5 * w->state.v_change[k] : 0);
  }
  return any;
}

static void find_bias(tabi_world *w) {
  v4 gravity = v4_from(v3_load(w->def.gravity));
  double *v = tbi_world_is_middle(w) || w->floating.swings ? w->free.v_bias : w->scratch.dofs;
  if (!extrapolate(w, v)) {
    tbi_rnea_forces(w->d, gravity, NULL);
    return;
  }
  tbi_rnea_forces_at(w->d, gravity, v);
  /* loop constraints are those of the state: near singular postures they would amplify v_change */
  if (w->constants.nloop > 0) tbi_bias_accelerations(w->d, gravity);
}

void tbi_world_free_velocity(tabi_world *w) {
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->free.v_free[k] = w->free.z[k] * w->setup.pivot_root[k];
  tbi_aba_solve_lower(w->d, w->free.v_free);
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->free.v_free[k] += w->state.v[k];
}

void tbi_world_joint_impulse(tabi_world *w) {
  double h = w->def.timestep;
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->forces.joint_impulse[k] = h * (w->forces.passive[k] + w->forces.drive[k]);
}

void tbi_world_impulse(tabi_world *w) {
  double h = w->def.timestep;
  tbi_world_measure_tendons(w);
  find_spinning(w);
  find_bias(w);
  for (int32_t i = 0; tbi_world_is_middle(w) && i < w->model->nbody; ++i)
    w->free.bias[i] = w->d->force[i];
  apply_wrenches(w);
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->forces.body_impulse[i] = sv_scale(-h, w->d->force[i]);
  tbi_world_add_jumps(w, 1, w->forces.body_impulse);
  tbi_world_joint_impulse(w);
}

void tbi_world_free_motion(tabi_world *w) {
  TBI_ASSERT(w->d->model == w->model);
  tabi_dynamics *d = w->d;
  tbi_aba_factor(d, w->forces.diagonal, w->active_set.stuck);
  for (int32_t i = 0; i < w->model->nbody; ++i)
    d->flow[i] = w->forces.body_impulse[i];
  if (w->active_set.stops) tbi_stop_stuck_joints(w);
  tbi_aba_gather(d, w->free.u);
  for (int32_t k = 0; k < w->model->nv; ++k) {
    double root = tbi_dof_sleeps(w, k) ? 0 : sqrt(d->D_inv[k]);
    w->setup.pivot_root[k] = root;
    w->free.z[k] = w->free.u[k] * root;
  }
}
