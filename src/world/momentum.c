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
 * Bodies under ground contact are left alone, since the twist would break the laws there. */
#include "base/assertion.h"
#include "world/world.h"

#include <string.h>

/* -- which clusters may float, once */

static bool has_free_base(const tabi_model *model, int32_t tree) {
  const tbi_body *root = &model->body[model->tree_body[tree]];
  if (root->type != TABI_JOINT_FREE) return false;
  for (int32_t k = root->v; k < root->v + root->nv; ++k)
    if (model->dof_damping[k] != 0 || model->dof_rotor[k] != 0) return false;
  return true;
}

static bool stands(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || model->link_home[link].body == TABI_WORLD;
}

void tbi_world_find_free_bases(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    w->constants.free_base[c] = true;
    w->constants.cluster_mass[c] = 0;
  }
  for (int32_t i = 0; i < model->nbody; ++i)
    w->constants.cluster_mass[model->tree_cluster[model->body[i].tree]] += model->body[i].mass;
  for (int32_t t = 0; t < model->ntree; ++t) {
    int32_t c = model->tree_cluster[t];
    if (!has_free_base(model, t) || w->constants.cluster_mass[c] <= 0)
      w->constants.free_base[c] = false;
  }
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *def = &model->connection[i];
    int32_t cluster = tbi_connection_cluster(model, i);
    if (cluster != TABI_NONE && (stands(model, def->a) || stands(model, def->b)))
      w->constants.free_base[cluster] = false;
  }
}

/* -- islands: clusters joined by contacts, as a forest */

static int32_t leader_of(tbi_floating *island, int32_t cluster) {
  while (island[cluster].leader != cluster) {
    island[cluster].leader = island[island[cluster].leader].leader;
    cluster = island[cluster].leader;
  }
  return cluster;
}

static void join(tbi_floating *island, int32_t a, int32_t b) {
  island[a].touched = island[b].touched = true;
  a = leader_of(island, a);
  b = leader_of(island, b);
  if (a == b) return;
  int32_t leader = a < b ? a : b;
  island[a].leader = island[b].leader = leader;
  island[leader].grounded = island[a].grounded || island[b].grounded;
}

static void ground(tbi_floating *island, int32_t cluster) {
  island[leader_of(island, cluster)].grounded = true;
}

static void join_touching(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  tbi_floating *island = w->floating.cluster;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (c->impulse[0] == 0 && c->impulse[1] == 0 && c->impulse[2] == 0) continue;
    int32_t port = c->port_a == TABI_NONE ? c->port_b : c->port_a;
    int32_t other = c->port_a == TABI_NONE ? c->port_a : c->port_b;
    if (other == TABI_NONE) {
      ground(island, p->port[port].cluster);
    } else {
      join(island, p->port[port].cluster, p->port[other].cluster);
    }
  }
}

/* joints that hit a limit change their velocities at once */
static void mark_limits(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    int32_t tree = w->model->body[w->model->dof_body[row->dof]].tree;
    if (row->impulse != 0 && row->id % TBI_ROW_KINDS != TBI_ROW_FRICTION)
      w->floating.cluster[w->model->tree_cluster[tree]].touched = true;
  }
}

static tbi_floating *island_of(tabi_world *w, int32_t tree) {
  tbi_floating *island = w->floating.cluster;
  return &island[leader_of(island, w->model->tree_cluster[tree])];
}

bool tbi_world_floats(tabi_world *w, int32_t tree) { return !island_of(w, tree)->grounded; }

static bool is_corrected(const tbi_floating *island) { return !island->grounded && !island->exact; }

/* -- moving sums from one point to another */

/* the same wrench or momentum about another point, which lies at -arm */
static sv about(sv f, v4 arm) { return (sv){f.lin, v4_add(f.ang, v4_cross(arm, f.lin))}; }

/* the moment of inertia about the centre of mass c */
static m4 central(const body_inertia *i, v4 c) {
  m4 moved = moment_of_point(v4_scale(-1, i->h), c);
  return m4_add(&i->moment, &moved);
}

static body_inertia moved_inertia(const body_inertia *i, v4 arm) {
  if (i->mass <= 0) return *i;
  v4 c = v4_scale(1 / i->mass, i->h);
  m4 moment = central(i, c);
  return inertia_make(i->mass, v4_add(c, arm), &moment);
}

/* -- momentum of clusters */

/* mass, first moment and momentum of a tree about its origin, and the moment of inertia if asked */
static void add_tree(const tabi_dynamics *d, int32_t tree, bool moments, tbi_floating *to) {
  const tabi_model *model = d->model;
  body_inertia sum = {
      .h = v4_zero(), .moment = {v4_zero(), v4_zero(), v4_zero()}
  };
  sv momentum = sv_zero();
  for (int32_t i = model->tree_body[tree]; i < model->nbody && model->body[i].tree == tree; ++i) {
    const tbi_body_state *body = &d->body[i];
    sum.mass += body->inertia.mass;
    sum.h = v4_add(sum.h, body->inertia.h);
    if (moments) sum.moment = m4_add(&sum.moment, &body->inertia.moment);
    momentum = sv_add(momentum, inertia_mulv(&body->inertia, body->vel));
  }
  if (to->ntree++ == 0) {
    to->origin = d->origin[tree];
    to->inertia = sum;
    to->momentum = momentum;
    return;
  }
  v4 arm = v4_from(v3_sub(d->origin[tree], to->origin));
  body_inertia moved = moved_inertia(&sum, arm);
  to->inertia = inertia_add(&to->inertia, &moved);
  to->momentum = sv_add(to->momentum, about(momentum, arm));
}

/* momentum of a cluster from its sums; .inertia becomes that about the centre of mass */
static tbi_momentum momentum_of(tbi_floating *cluster) {
  body_inertia *sum = &cluster->inertia;
  v4 c = v4_scale(1 / sum->mass, sum->h);
  sv central_momentum = about(cluster->momentum, v4_scale(-1, c));
  sum->moment = central(sum, c);
  return (tbi_momentum){v4_to(central_momentum.lin), v4_to(central_momentum.ang),
                        v3_add(cluster->origin, v4_to(c))};
}

/* Momentum of the clusters of corrected islands at the state of d: of all (with their inertias), or
 * of those whose momentum at the start of the step is not known. */
static void measure(tabi_world *w, bool all, tbi_momentum *to) {
  const tabi_model *model = w->model;
  tbi_floating *cluster = w->floating.cluster;
  for (int32_t c = 0; c < model->ncluster; ++c)
    cluster[c].ntree = 0;
  for (int32_t t = 0; t < model->ntree; ++t) {
    int32_t c = model->tree_cluster[t];
    if (is_corrected(island_of(w, t)) && (all || !w->state.momentum_known[c]))
      add_tree(w->d, t, all, &cluster[c]);
  }
  for (int32_t c = 0; c < model->ncluster; ++c)
    if (cluster[c].ntree > 0) to[c] = momentum_of(&cluster[c]);
}

static void measure_start(tabi_world *w) {
  bool known = true;
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    bool corrected = is_corrected(&w->floating.cluster[leader_of(w->floating.cluster, c)]);
    known = known && (!corrected || w->state.momentum_known[c]);
  }
  if (known) return;
  if (tbi_world_is_middle(w)) tbi_kinematics(w->d, w->state.q, w->state.v);
  measure(w, false, w->state.momentum);
}

/* -- momentum of islands */

static tbi_momentum sum_of(tbi_momentum a, double mass_a, tbi_momentum b, double mass_b) {
  double mass = mass_a + mass_b;
  v3 com = v3_axpy(a.com, mass_b / mass, v3_sub(b.com, a.com));
  v3 ang = v3_add(a.ang, b.ang);
  ang = v3_add(ang, v3_cross(v3_sub(a.com, com), a.lin));
  ang = v3_add(ang, v3_cross(v3_sub(b.com, com), b.lin));
  return (tbi_momentum){v3_add(a.lin, b.lin), ang, com};
}

/* from momenta of clusters to those of islands, in .total and .mass of their leaders */
static void sum_islands(tabi_world *w, const tbi_momentum *momentum) {
  tbi_floating *cluster = w->floating.cluster;
  for (int32_t c = 0; c < w->model->ncluster; ++c)
    cluster[c].mass = 0;
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    tbi_floating *island = &cluster[leader_of(cluster, c)];
    double mass = w->constants.cluster_mass[c];
    if (!is_corrected(island)) continue;
    island->total =
        island->mass == 0 ? momentum[c] : sum_of(island->total, island->mass, momentum[c], mass);
    island->mass += mass;
  }
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

static void push_islands(tabi_world *w) {
  double h = w->def.timestep;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    tbi_floating *island = island_of(w, t);
    sv wrench = external_wrench(w, t);
    if (!is_corrected(island) || sv_dot(wrench, wrench) == 0) continue;
    v3 arm = v3_sub(tbi_tree_origin_at(w->model, t, w->state.q), island->total.com);
    sv moved = about(wrench, v4_from(arm));
    island->target.lin = v3_axpy(island->target.lin, h, v4_to(moved.lin));
    island->target.ang = v3_axpy(island->target.ang, h, v4_to(moved.ang));
  }
}

/* what momenta shall be at the end of the step, and where the centres of mass */
static void set_targets(tabi_world *w) {
  double h = w->def.timestep;
  double share = w->def.integrator == TABI_MIDPOINT ? 0.5 : 1;
  tbi_floating *cluster = w->floating.cluster;
  sum_islands(w, w->state.momentum);
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    cluster[c].target = cluster[c].total;
    cluster[c].target.lin =
        v3_axpy(cluster[c].total.lin, h * cluster[c].mass, v3_load(w->def.gravity));
  }
  push_islands(w);
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    if (cluster[c].mass == 0) continue;
    v3 change = v3_sub(cluster[c].target.lin, cluster[c].total.lin);
    v3 path = v3_axpy(cluster[c].total.lin, share, change);
    cluster[c].target.com = v3_axpy(cluster[c].total.com, h / cluster[c].mass, path);
  }
}

/* -- which islands there are in this step */

/* A lone body that turns by its spin keeps its momentum by itself, unless a couple acts or its
 * centre of mass is not where its joint moves it. */
static bool keeps_itself(const tabi_world *w, int32_t tree) {
  const tabi_model *model = w->model;
  int32_t root = model->tree_body[tree];
  int32_t cluster = model->tree_cluster[tree];
  if (!w->free.spins[tree] || w->floating.cluster[cluster].touched) return false;
  v3 com = model->body[root].com;
  sv external = external_wrench(w, tree);
  return v3_dot(com, com) == 0 && v4_dot(external.ang, external.ang) == 0;
}

void tbi_world_find_floating(tabi_world *w) {
  TBI_ASSERT(!tbi_world_has_gait(w));
  const tabi_model *model = w->model;
  tbi_floating *cluster = w->floating.cluster;
  for (int32_t c = 0; c < model->ncluster; ++c)
    cluster[c] = (tbi_floating){.leader = c, .grounded = !w->constants.free_base[c]};
  join_touching(w);
  mark_limits(w);
  w->floating.any = false;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tbi_floating *island = island_of(w, t);
    if (!island->grounded) island->exact = keeps_itself(w, t);
    w->floating.any = w->floating.any || is_corrected(island);
  }
}

/* -- the twist and the shift at the end of the step */

/* the moment of inertia of an island about its centre of mass */
static void add_moment(tbi_floating *island, const tbi_floating *cluster, double mass, v3 com) {
  v4 arm = v4_from(v3_sub(com, island->total.com));
  m4 moved = moment_of_point(v4_scale(mass, arm), arm);
  moved = m4_add(&moved, &cluster->inertia.moment);
  island->moment = m4_add(&island->moment, &moved);
}

static v3 solve_moment(const m4 *moment, v3 b) {
  const v3 column[3] = {v4_to(moment->x), v4_to(moment->y), v4_to(moment->z)};
  return v3_solve(column, b);
}

/* into .twist, at the centre of mass, and .shift; no numbers, of islands without inertia, become
 * zeros */
static void find_correction(tbi_floating *island) {
  v3 turn = solve_moment(&island->moment, v3_sub(island->target.ang, island->total.ang));
  v3 move = v3_scale(1 / island->mass, v3_sub(island->target.lin, island->total.lin));
  v3 shift = v3_sub(island->target.com, island->total.com);
  bool usable = isfinite(v3_dot(turn, turn) + v3_dot(move, move) + v3_dot(shift, shift));
  island->twist = usable ? (sv){v4_from(move), v4_from(turn)} : sv_zero();
  island->shift = usable ? shift : v3_zero();
}

static void find_corrections(tabi_world *w) {
  tbi_floating *cluster = w->floating.cluster;
  const tbi_momentum *momentum = w->floating.momentum;
  sum_islands(w, momentum);
  for (int32_t c = 0; c < w->model->ncluster; ++c)
    cluster[c].moment = (m4){v4_zero(), v4_zero(), v4_zero()};
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    tbi_floating *island = &cluster[leader_of(cluster, c)];
    if (is_corrected(island))
      add_moment(island, &cluster[c], w->constants.cluster_mass[c], momentum[c].com);
  }
  for (int32_t c = 0; c < w->model->ncluster; ++c)
    if (cluster[c].mass > 0) find_correction(&cluster[c]);
}

static void add_to_joint(const tbi_body *root, v3 x, double *to) {
  v3_store(v3_add(v3_load(to), m3_tmulv(&root->place.rot, x)), to);
}

static void correct_base(tabi_world *w, int32_t tree, const tbi_floating *island) {
  const tbi_body *root = &w->model->body[w->model->tree_body[tree]];
  v4 arm = v4_from(v3_sub(w->d->origin[tree], island->total.com));
  add_to_joint(root, v4_to(sv_at(island->twist, arm)), w->solution.v_new + root->v);
  add_to_joint(root, v4_to(island->twist.ang), w->solution.v_new + root->v + 3);
  add_to_joint(root, island->shift, w->solution.q_new + root->q);
  tbi_kinematics_of_base(w->d, tree, w->solution.q_new, w->solution.v_new);
}

/* The momentum of a cluster for the next step: that of an island alone is its target, so that
 * rounding does not add up. */
static tbi_momentum corrected(const tabi_world *w, int32_t c, const tbi_floating *island) {
  const tbi_floating *own = &w->floating.cluster[c];
  tbi_momentum m = w->floating.momentum[c];
  if (island->mass == w->constants.cluster_mass[c]) return island->target;
  v4 arm = v4_from(v3_sub(m.com, island->total.com));
  m.lin = v3_axpy(m.lin, w->constants.cluster_mass[c], v4_to(sv_at(island->twist, arm)));
  m.ang = v3_add(m.ang, v4_to(m4_mulv(&own->inertia.moment, island->twist.ang)));
  m.com = v3_add(m.com, island->shift);
  return m;
}

static void restore_momentum(tabi_world *w) {
  const tabi_model *model = w->model;
  measure_start(w);
  set_targets(w);
  tbi_kinematics(w->d, w->solution.q_new, w->solution.v_new);
  measure(w, true, w->floating.momentum);
  find_corrections(w);
  for (int32_t t = 0; t < model->ntree; ++t) {
    const tbi_floating *island = island_of(w, t);
    if (is_corrected(island)) correct_base(w, t, island);
  }
}

static void keep_known(tabi_world *w) {
  tbi_floating *cluster = w->floating.cluster;
  for (int32_t c = 0; c < w->model->ncluster; ++c) {
    const tbi_floating *island = &cluster[leader_of(cluster, c)];
    w->state.momentum_known[c] = is_corrected(island);
    if (is_corrected(island)) w->state.momentum[c] = corrected(w, c, island);
  }
}

/* What the next step extrapolates from.  Lone bodies need nothing: their spin is found anew. */
static void keep_change(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tabi_range dofs = tbi_tree_dofs(model, t);
    if (tbi_is_lone(model, model->tree_body[t])) continue;
    bool smooth = tbi_world_floats(w, t) && !w->floating.cluster[model->tree_cluster[t]].touched;
    for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
      w->state.v_change[k] = smooth ? w->solution.v_new[k] - w->state.v[k] : 0;
  }
}

void tbi_world_keep_momentum(tabi_world *w) {
  if (w->floating.any) restore_momentum(w);
  keep_known(w);
  if (!tbi_world_is_middle(w)) keep_change(w);
}

void tbi_world_forget_motion(tabi_world *w) {
  memset(w->state.v_change, 0, sizeof *w->state.v_change * (size_t)w->model->nv);
  size_t rolling = tbi_world_is_middle(w) ? (size_t)w->def.max_contacts : 0;
  memset(w->state.rolling, 0, sizeof *w->state.rolling * rolling);
  memset(w->state.momentum_known, 0, sizeof *w->state.momentum_known * (size_t)w->model->ncluster);
}
