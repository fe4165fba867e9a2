/* momentum.c - what floats freely keeps its momentum.
 *
 * An island is the trees that contacts and connections hold together.  One that the world does not
 * touch floats: with G its centre of mass, F and T all external forces and their moment about G,
 *     P* = P + h (m g + F),   L* = L + h T,   both about G,
 * whatever acts inside it.  A step solves for velocities with inertias at one posture and moves to
 * another, so that it misses both by h^2 and moves G along a bent path.  At the end of the step the
 * island therefore gets the rigid twist
 *     dw = I^-1 (L* - L'),   dv = (P* - P') / m at G
 * and the shift that keeps G on its path.  Neither changes a joint velocity, nor a relative
 * velocity or gap between bodies of the island: contacts and connections are as their laws left
 * them.
 *
 * Islands that the world pushes are left alone, since the twist would break the laws there. */
#include "base/assertion.h"
#include "world/world.h"

#include <string.h>

/* -- which trees may float, once */

static bool has_free_base(const tabi_model *model, int32_t tree) {
  const tbi_body *root = &model->body[model->tree_body[tree]];
  if (root->type != TABI_JOINT_FREE) return false;
  for (int32_t k = root->v; k < root->v + root->nv; ++k)
    if (model->dof_damping[k] != 0 || model->dof_rotor[k] != 0) return false;
  return true;
}

static bool is_fixed(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || model->link_home[link].body == TABI_WORLD;
}

static void unbase_cluster(tabi_world *w, int32_t cluster) {
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (w->model->tree_cluster[t] == cluster) w->floating.tree[t].based = false;
}

/* whether a tendon pulls at the world */
static bool is_anchored(const tabi_model *model, const tabi_tendon_def *def) {
  for (int32_t i = 0; i + 1 < def->npoint; ++i) {
    bool ends = is_fixed(model, def->points[i].link) || is_fixed(model, def->points[i + 1].link);
    if (def->points[i].share > 0 && ends) return true;
  }
  return false;
}

void tbi_world_find_bases(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->floating.tree[t].based = true;
  for (int32_t t = 0; t < model->ntree; ++t)
    if (!has_free_base(model, t)) unbase_cluster(w, model->tree_cluster[t]);
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *def = &model->connection[i];
    int32_t cluster = tbi_connection_cluster(model, i);
    if (cluster != TABI_NONE && (is_fixed(model, def->a) || is_fixed(model, def->b)))
      unbase_cluster(w, cluster);
  }
  for (int32_t i = 0; i < model->ntendon; ++i) {
    int32_t cluster = tbi_tendon_cluster(model, i);
    if (cluster != TABI_NONE && is_anchored(model, &model->tendon[i])) unbase_cluster(w, cluster);
  }
}

/* whether some tree has no free base, or a connection to the world */
static bool holds_trees(const tabi_model *model) {
  bool holds = false;
  for (int32_t t = 0; t < model->ntree; ++t)
    holds = holds || !has_free_base(model, t);
  for (int32_t i = 0; i < model->nconnection; ++i)
    holds =
        holds || is_fixed(model, model->connection[i].a) || is_fixed(model, model->connection[i].b);
  return holds;
}

int32_t tbi_world_nchange(const tabi_world *w) {
  bool flies = w->def.integrator == TABI_MIDPOINT || w->def.integrator == TABI_RK4;
  bool swings = tbi_world_may_swing(w) && holds_trees(w->model);
  return flies || swings ? w->model->nv : 0;
}

/* -- islands in this step */

static int32_t leader_of(tbi_floating *tree, int32_t t) {
  while (tree[t].leader != t) {
    tree[t].leader = tree[tree[t].leader].leader;
    t = tree[t].leader;
  }
  return t;
}

/* The first cluster by name leads, and within a cluster a: sums over an island begin with its
 * leader, and their rounding shall not depend on the order of a file. */
static void join(tabi_world *w, int32_t a, int32_t b) {
  tbi_floating *tree = w->floating.tree;
  a = leader_of(tree, a);
  b = leader_of(tree, b);
  if (a == b) return;
  bool a_leads = w->model->tree_cluster[a] <= w->model->tree_cluster[b];
  int32_t leader = a_leads ? a : b;
  int32_t other = a_leads ? b : a;
  tree[tree[leader].last].next = other;
  tree[leader].last = tree[other].last;
  tree[other].leader = leader;
  tree[leader].grounded = tree[a].grounded || tree[b].grounded;
}

static void ground(tbi_floating *tree, int32_t t) { tree[leader_of(tree, t)].grounded = true; }

/* every tree alone, then those of each cluster together */
static void join_clusters(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_floating *tree = w->floating.tree;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tree[t].leader = tree[t].last = t;
    tree[t].next = TABI_NONE;
    tree[t].grounded = !tree[t].based || tbi_tree_sleeps(w, t);
    tree[t].touched = tree[t].exact = false;
  }
  for (int32_t k = 1; k < model->ntree; ++k) {
    int32_t a = model->tree_order[k - 1];
    int32_t b = model->tree_order[k];
    if (model->tree_cluster[a] == model->tree_cluster[b]) join(w, a, b);
  }
}

static void touch(tabi_world *w, int32_t port, bool grounds) {
  if (port == TABI_NONE) return;
  int32_t t = w->setup.problem.port[port].tree;
  w->floating.tree[t].touched = true;
  if (grounds) ground(w->floating.tree, t);
}

/* Impacts one after another act at times of their own, for which positions account (impacts.c): L
 * at the end of the step is then not that of impulses at its start, and a twist would add energy.
 */
static void join_touching(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (c->impulse[0] == 0 && c->impulse[1] == 0 && c->impulse[2] == 0) continue;
    bool grounds = c->port_a == TABI_NONE || c->port_b == TABI_NONE || w->impacts.any;
    touch(w, c->port_a, grounds);
    touch(w, c->port_b, grounds);
    if (!grounds) join(w, p->port[c->port_a].tree, p->port[c->port_b].tree);
  }
}

/* A base that moves as told takes momentum from the world, and so does what moves in place. */
static void ground_told(tabi_world *w) {
  const tabi_model *model = w->model;
  const bool *told = tbi_world_told(w);
  for (int32_t k = 0; told && k < model->nv; ++k) {
    int32_t body = model->dof_body[k];
    bool from_world = model->body[body].parent == TABI_WORLD || w->state.in_place[k];
    if (told[k] && from_world) ground(w->floating.tree, model->body[body].tree);
  }
}

/* joints that hit a limit change their velocities at once */
static void touch_limits(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    int32_t tree = w->model->body[w->model->dof_body[row->dof]].tree;
    if (row->impulse != 0 && row->id % TBI_ROW_KINDS != TBI_ROW_FRICTION)
      w->floating.tree[tree].touched = true;
  }
}

int32_t tbi_world_leader(tabi_world *w, int32_t tree) { return leader_of(w->floating.tree, tree); }

bool tbi_world_floats(tabi_world *w, int32_t tree) {
  return !w->floating.tree[leader_of(w->floating.tree, tree)].grounded;
}

/* joint forces at the base and external wrenches, about the tree's origin at the start */
static sv external_wrench(const tabi_world *w, int32_t tree) {
  const tabi_model *model = w->model;
  const tbi_body *root = &model->body[model->tree_body[tree]];
  const double *drive = w->forces.drive + root->v;
  sv sum = {v4_from(m3_mulv(&root->place.rot, v3_load(drive))),
            v4_from(m3_mulv(&root->place.rot, v3_load(drive + 3)))};
  if (!w->state.head->external) return sum;
  for (int32_t i = model->tree_body[tree]; i < model->nbody && model->body[i].tree == tree; ++i)
    sum = sv_add(sum, w->state.external[i]);
  return sum;
}

/* A lone body that turns by its spin keeps its momentum by itself, unless a couple acts or its
 * centre of mass is not where its joint moves it. */
static bool keeps_itself(const tabi_world *w, int32_t tree) {
  const tbi_floating *t = &w->floating.tree[tree];
  if (!t->spins || t->touched) return false;
  v3 com = w->model->body[w->model->tree_body[tree]].com;
  sv external = external_wrench(w, tree);
  return v3_dot(com, com) == 0 && v4_dot(external.ang, external.ang) == 0;
}

static bool is_restored(const tabi_world *w, int32_t leader) {
  const tbi_floating *t = &w->floating.tree[leader];
  return t->leader == leader && !t->grounded && !t->exact;
}

void tbi_world_find_floating(tabi_world *w) {
  TBI_ASSERT(!tbi_world_has_gait(w));
  join_clusters(w);
  join_touching(w);
  ground_told(w);
  touch_limits(w);
  w->floating.any = false;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    tbi_floating *tree = &w->floating.tree[t];
    if (tree->leader == t && !tree->grounded) tree->exact = keeps_itself(w, t);
    w->floating.any = w->floating.any || is_restored(w, t);
  }
}

/* -- momentum of an island */

/* Mass, first moment, moment of inertia and momentum about a point. */
typedef struct sums {
  v3 origin;
  body_inertia inertia;
  sv momentum;
} sums;

/* in two loops, whose sums stay in registers */
static sums sums_of_tree(const tabi_dynamics *d, int32_t tree) {
  const tabi_model *model = d->model;
  int32_t first = model->tree_body[tree];
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  body_inertia inertia = d->body[first].inertia;
  for (int32_t i = first + 1; i < end; ++i)
    inertia = inertia_add(&inertia, &d->body[i].inertia);
  sv momentum = inertia_mulv(&d->body[first].inertia, d->body[first].vel);
  for (int32_t i = first + 1; i < end; ++i)
    momentum = sv_add(momentum, inertia_mulv(&d->body[i].inertia, d->body[i].vel));
  return (sums){d->origin[tree], inertia, momentum};
}

/* the same wrench or momentum about another point, which lies at -arm */
static sv about(sv f, v4 arm) { return (sv){f.lin, v4_add(f.ang, v4_cross(arm, f.lin))}; }

/* the moment of inertia about the centre of mass c */
static m4 central(const body_inertia *i, v4 c) {
  m4 moved = moment_of_point(v4_scale(-1, i->h), c);
  return m4_add(&i->moment, &moved);
}

static void add_sums(sums *to, const sums *s) {
  v4 arm = v4_from(v3_sub(s->origin, to->origin));
  v4 c = v4_scale(1 / s->inertia.mass, s->inertia.h);
  m4 moment = central(&s->inertia, c);
  body_inertia moved = inertia_make(s->inertia.mass, v4_add(c, arm), &moment);
  to->inertia = inertia_add(&to->inertia, &moved);
  to->momentum = sv_add(to->momentum, about(s->momentum, arm));
}

/* of an island at the state of d */
static sums sums_of_island(const tabi_world *w, int32_t leader) {
  sums all = sums_of_tree(w->d, leader);
  for (int32_t t = w->floating.tree[leader].next; t != TABI_NONE; t = w->floating.tree[t].next) {
    sums one = sums_of_tree(w->d, t);
    add_sums(&all, &one);
  }
  return all;
}

static tbi_momentum momentum_of(const sums *s) {
  v4 c = v4_scale(1 / s->inertia.mass, s->inertia.h);
  sv p = about(s->momentum, v4_scale(-1, c));
  return (tbi_momentum){.lin = v4_to(p.lin),
                        .ang = v4_to(p.ang),
                        .com = v3_add(s->origin, v4_to(c)),
                        .known = TBI_LEFT_MOMENTUM};
}

/* whether an island is one cluster: its trees come first */
static bool is_cluster(const tabi_world *w, int32_t leader) {
  const int32_t *cluster = w->model->tree_cluster;
  return cluster[w->floating.tree[leader].last] == cluster[leader];
}

static bool is_known(const tabi_world *w, int32_t tree) {
  return w->state.momentum[tree].known == TBI_LEFT_MOMENTUM;
}

/* whether the step before has not left the momentum of an island */
static bool is_missing(tabi_world *w, int32_t t) {
  return is_restored(w, t) && !(is_cluster(w, t) && is_known(w, t));
}

/* Momenta that the step before did not leave, and energies that shall be kept.  d is at the start
 * of the step, but for integrators that solve at its middle and joints that move as told, which had
 * other velocities before. */
static void measure_start(tabi_world *w) {
  bool keeps = tbi_world_find_kept(w);
  bool needed = keeps;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    needed = needed || is_missing(w, t);
  bool at_start = !w->state.head->prescribes && !tbi_world_is_middle(w) && !w->floating.swings;
  if (needed && !at_start) tbi_sleep_pose(w);
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    if (!is_missing(w, t)) continue;
    sums s = sums_of_island(w, t);
    w->state.momentum[t] = momentum_of(&s);
  }
  if (keeps) tbi_world_measure_kept(w);
}

/* what momentum shall be at the end of the step, and where the centre of mass */
static tbi_momentum target_of(const tabi_world *w, int32_t leader, double mass) {
  double h = w->def.timestep;
  double share = w->def.integrator == TABI_MIDPOINT ? 0.5 : 1;
  const tbi_momentum *start = &w->state.momentum[leader];
  tbi_momentum m = *start;
  m.lin = v3_axpy(m.lin, h * mass, v3_load(w->def.gravity));
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next) {
    sv wrench = external_wrench(w, t);
    v3 arm = v3_sub(tbi_tree_origin_at(w->model, t, w->state.q), start->com);
    m.lin = v3_axpy(m.lin, h, v4_to(wrench.lin));
    m.ang = v3_axpy(m.ang, h, v4_to(about(wrench, v4_from(arm)).ang));
  }
  v3 path = v3_axpy(start->lin, share, v3_sub(m.lin, start->lin));
  m.com = v3_axpy(m.com, h / mass, path);
  return m;
}

/* -- the twist and the shift at the end of the step */

typedef struct correction {
  v3 com;   /* before the shift */
  sv twist; /* at the centre of mass */
  v3 shift; /* m */
} correction;

/* no numbers, of islands without inertia, become zeros */
static correction find_correction(const sums *s, const tbi_momentum *target) {
  tbi_momentum now = momentum_of(s);
  m4 moment = central(&s->inertia, v4_from(v3_sub(now.com, s->origin)));
  const v3 column[3] = {v4_to(moment.x), v4_to(moment.y), v4_to(moment.z)};
  v3 turn = v3_solve(column, v3_sub(target->ang, now.ang));
  v3 move = v3_scale(1 / s->inertia.mass, v3_sub(target->lin, now.lin));
  v3 shift = v3_sub(target->com, now.com);
  if (!isfinite(v3_dot(turn, turn) + v3_dot(move, move) + v3_dot(shift, shift)))
    return (correction){now.com, sv_zero(), v3_zero()};
  return (correction){
      now.com, {v4_from(move), v4_from(turn)},
       shift
  };
}

static void correct_base(tabi_world *w, int32_t tree, const correction *by) {
  const tbi_body *root = &w->model->body[w->model->tree_body[tree]];
  const m3 *axes = &root->place.rot;
  double *change = w->floating.tree[tree].change;
  v4 arm = v4_from(v3_sub(w->d->origin[tree], by->com));
  v3_store(m3_tmulv(axes, v4_to(sv_at(by->twist, arm))), change);
  v3_store(m3_tmulv(axes, v4_to(by->twist.ang)), change + 3);
  for (int k = 0; k < 6; ++k)
    w->solution.v_new[root->v + k] += change[k];
  double *place = w->solution.q_new + root->q;
  v3_store(v3_add(v3_load(place), m3_tmulv(axes, by->shift)), place);
}

bool tbi_world_is_restored(tabi_world *w, int32_t tree) {
  return w->floating.any && is_restored(w, leader_of(w->floating.tree, tree));
}

/* the angular velocity that an island has as a rigid body of that angular momentum */
static v3 rigid_turn(const sums *s, v3 ang) {
  m4 moment = central(&s->inertia, v4_scale(1 / s->inertia.mass, s->inertia.h));
  const v3 column[3] = {v4_to(moment.x), v4_to(moment.y), v4_to(moment.z)};
  return v3_solve(column, ang);
}

/* J, which the rigid twist does not change */
static double inner_energy(const tabi_world *w, int32_t leader, const sums *s) {
  tbi_momentum now = momentum_of(s);
  return tbi_world_inner_energy(w, leader, &now, s->inertia.mass, rigid_turn(s, now.ang));
}

/* The momentum of one cluster is known from then on, so that rounding does not add up. */
static void restore(tabi_world *w, int32_t leader) {
  sums s = sums_of_island(w, leader);
  tbi_momentum target = target_of(w, leader, s.inertia.mass);
  correction by = find_correction(&s, &target);
  double inner = w->floating.tree[leader].kept ? inner_energy(w, leader, &s) : 0;
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next)
    correct_base(w, t, &by);
  if (w->floating.tree[leader].kept) {
    tbi_momentum unshifted = target; /* as d is */
    unshifted.com = by.com;
    v3 turn = rigid_turn(&s, target.ang);
    tbi_world_keep_energy(w, leader, &unshifted, s.inertia.mass, turn, inner);
  }
  target.known = is_cluster(w, leader) ? TBI_LEFT_MOMENTUM : TBI_LEFT_NOTHING;
  w->state.momentum[leader] = target;
}

/* What the next step extrapolates from.  Lone bodies need nothing: their spin is found anew. */
static void keep_change(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tabi_range dofs = tbi_tree_dofs(model, t);
    if (tbi_is_lone(model, model->tree_body[t]) || w->floating.tree[t].swings) continue;
    bool smooth = tbi_world_floats(w, t) && !w->floating.tree[t].touched;
    for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
      w->state.v_change[k] = smooth ? w->solution.v_new[k] - w->state.v[k] : 0;
  }
}

static void restore_all(tabi_world *w) {
  measure_start(w);
  if (w->floating.balanced) tbi_world_measure_balanced(w);
  tbi_kinematics_without_drift(w->d, w->solution.q_new, w->solution.v_new);
  if (w->floating.balanced) tbi_world_balance_energy(w);
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    if (is_restored(w, t)) {
      restore(w, t);
    } else {
      w->state.momentum[t].known = TBI_LEFT_NOTHING;
    }
  }
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (!tbi_tree_sleeps(w, t))
      tbi_velocities_of_tree(w->d, t, w->solution.q_new, w->solution.v_new);
}

void tbi_world_keep_momentum(tabi_world *w) {
  w->floating.balanced = tbi_world_find_balanced(w);
  if (w->floating.any || w->floating.balanced) {
    restore_all(w);
  } else {
    for (int32_t t = 0; t < w->model->ntree; ++t)
      w->state.momentum[t].known = TBI_LEFT_NOTHING;
  }
  if (w->method->info.compliant) tbi_world_keep_springs(w);
  if (w->def.integrator == TABI_MIDPOINT && !tbi_world_is_middle(w)) keep_change(w);
}

void tbi_world_forget_motion(tabi_world *w) {
  memset(w->state.v_change, 0, sizeof *w->state.v_change * (size_t)tbi_world_nchange(w));
  size_t rolling = tbi_world_is_middle(w) ? (size_t)w->def.max_contacts : 0;
  memset(w->state.rolling, 0, sizeof *w->state.rolling * rolling);
  memset(w->state.momentum, 0, sizeof *w->state.momentum * (size_t)w->model->ntree);
}
