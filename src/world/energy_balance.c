/* energy_balance.c - what nothing drives gains no energy.
 *
 * An island that the world holds, by contacts, connections or a fixed base, and in which nothing is
 * active, can only lose energy.  A step solves at one posture and moves to another: it sinks by h^2
 * into a curved path and is pushed out, and bias forces are those of its start, so that it misses
 * the balance by h^2 either way.  At the end of the step the velocities of such an island are
 * therefore scaled by
 *     s = sqrt(1 - (E' - E*) / T'),
 * E' its energy and T' its kinetic energy.  Scaling all velocities of an island alike changes
 * nothing in the laws: what sticks has no velocity, what parts goes on parting, loops stay closed.
 *
 * E* is E + W where the balance is known: no contact pushes, or under middle.c all that push stick
 * and have pushed before; W is the work of dampers and dry friction at joints.  Elsewhere E* = E,
 * and only gains are taken.
 *
 * Velocities and positions must then be those of one time: what swings without contact is solved
 * for at the middle of the step also by default (swinging.c).
 *
 * Left alone: what floats, whose momentum counts (momentum.c); what is driven; steps with rebounds,
 * which begin and end at times of their own, unless by midpoint, which then loses gains; springs,
 * which lose energy where they are stiff, and of whose energy, which errs either way, only gains
 * could be taken; contacts of published variants, and those with springs, which are not part of E;
 * errors that are large, since these are none of the integrator. */
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>

/* Share of T' that a step may miss; more is due to something else, as where depth correction lifts
 * what overlapped. */
#define SMALL   0.1
#define WITHIN  (1 - 1e-6) /* share of the friction that a sticking contact may bear */
#define AT_REST 1e-8       /* scale of velocities that are taken, from which theirs can be told */
#define STILL   1e-9       /* m/s or rad/s: what moves slower at a limit rests there */
#define NOISE   1e-14      /* of energies, in rounding */

/* -- which islands */

static tbi_floating *leader_of(tabi_world *w, int32_t tree) {
  return &w->floating.tree[tbi_world_leader(w, tree)];
}

static int32_t tree_of_dof(const tabi_model *model, int32_t dof) {
  return model->body[model->dof_body[dof]].tree;
}

static void leave_driven(tabi_world *w) {
  tbi_world_find_driven(w);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (w->floating.tree[t].driven) leader_of(w, t)->balanced = false;
}

/* Whether friction does no work: the contact is within its cone, or has none. */
static bool is_idle(const tbi_point *c) {
  double max = WITHIN * c->friction * c->impulse[0];
  double square = c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2];
  return square < max * max || c->friction == 0;
}

/* a contact that does work, of which nothing is known here */
static void note_work(tabi_world *w, int32_t port) {
  if (port == TABI_NONE) return;
  tbi_floating *island = leader_of(w, w->setup.problem.port[port].tree);
  island->works = true;
  if (w->method->as_published) island->balanced = false;
}

/* -- springs of penalty, whose energy is part of that of an island
 *
 * What they have at the start of a step is what the step before has predicted for its end.  They
 * may be found to be loaded more, where a body has turned or rolled on a curved path: then nobody
 * has done that work. */

static int32_t tree_of_point(const tbi_problem *p, const tbi_point *c) {
  return p->port[c->port_b != TABI_NONE ? c->port_b : c->port_a].tree;
}

static const tbi_momentum *left_by_springs(const tabi_world *w, int32_t tree) {
  const tbi_momentum *left = &w->state.momentum[tree];
  return left->known == TBI_LEFT_SPRINGS ? left : NULL;
}

static bool note_springs(tabi_world *w, const tbi_point *c) {
  int32_t tree = tree_of_point(&w->setup.problem, c);
  double before = left_by_springs(w, tree) ? 0 : c->spring.before;
  leader_of(w, tree)->loaded += c->spring.after - before;
  return c->spring.after != c->spring.before;
}

static void unload_springs(tabi_world *w) {
  for (int32_t i = 0; i < w->model->ntree; ++i) {
    int32_t t = w->model->tree_order[i];
    const tbi_momentum *left = left_by_springs(w, t);
    if (!left || left->elastic == 0) continue;
    leader_of(w, t)->loaded -= left->elastic;
    leader_of(w, t)->works = true;
  }
}

void tbi_world_keep_springs(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    if (w->state.momentum[t].known == TBI_LEFT_NOTHING)
      w->state.momentum[t] = (tbi_momentum){.elastic = 0, .known = TBI_LEFT_SPRINGS};
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_momentum *left = &w->state.momentum[tree_of_point(p, &p->point[i])];
    if (left->known == TBI_LEFT_SPRINGS) left->elastic += p->point[i].spring.after;
  }
}

/* -- contacts and joints */

static void note_depth(tabi_world *w, int32_t port) {
  if (port != TABI_NONE) leader_of(w, w->setup.problem.port[port].tree)->deep = true;
}

static void note_contacts(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  bool may_be_idle = tbi_world_is_middle(w) && p->ncouple == 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (c->gap < -w->def.allowed_depth) {
      note_depth(w, c->port_a);
      note_depth(w, c->port_b);
    }
    bool springs = w->method->info.compliant && note_springs(w, c);
    if (!springs && (c->impulse[0] == 0 || (may_be_idle && is_idle(c)))) continue;
    note_work(w, c->port_a);
    note_work(w, c->port_b);
  }
}

/* Connections that are open pull their parts together. */
static void note_closing(tabi_world *w) {
  const tbi_loops *loops = &w->setup.loops;
  for (int32_t i = 0; i < loops->count; ++i) {
    const tbi_loop *loop = &loops->loop[i];
    double work = -loop->impulse * loop->correction / w->def.timestep;
    if (tbi_loop_is_spring(loop) || fabs(loop->error) <= w->def.allowed_depth) continue;
    leader_of(w, tbi_loop_tree(w->model, loop))->closing += fmax(work, 0);
  }
}

/* joints that move to or from their limits; at rest there they do no work */
static void note_limits(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    double speed = fmax(fabs(w->state.v[row->dof]), fabs(w->solution.v_new[row->dof]));
    bool limit = row->id % TBI_ROW_KINDS != TBI_ROW_FRICTION;
    if (limit && row->impulse != 0 && speed > STILL)
      leader_of(w, tree_of_dof(w->model, row->dof))->works = true;
  }
}

/* a tree that a connection holds, or TABI_NONE */
static int32_t tree_of_connection(const tabi_model *model, const tabi_connection_def *def) {
  int32_t a = def->a == TABI_WORLD ? TABI_WORLD : model->link_home[def->a].body;
  int32_t b = def->b == TABI_WORLD ? TABI_WORLD : model->link_home[def->b].body;
  int32_t body = a != TABI_WORLD ? a : b;
  return body == TABI_WORLD ? TABI_NONE : model->body[body].tree;
}

static void leave_springs(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t i = 0; i < model->nconnection; ++i) {
    int32_t tree = tree_of_connection(model, &model->connection[i]);
    if (model->connection[i].type == TABI_CONNECTION_SPRING && tree != TABI_NONE)
      leader_of(w, tree)->balanced = false;
  }
  for (int32_t k = 0; k < model->nv; ++k)
    if (model->dof_stiffness[k] > 0) leader_of(w, tree_of_dof(model, k))->balanced = false;
  for (int64_t k = 0; k < model->tendon_first[model->ntendon]; ++k)
    leader_of(w, tree_of_dof(model, model->tendon_dof[k]))->balanced = false;
}

static bool any_balanced(const tabi_world *w) {
  bool any = false;
  for (int32_t t = 0; t < w->model->ntree; ++t)
    any = any || w->floating.tree[t].balanced;
  return any;
}

bool tbi_world_find_balanced(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_floating *tree = w->floating.tree;
  bool is_middle = tbi_world_is_middle(w);
  bool is_midpoint = w->def.integrator == TABI_MIDPOINT;
  for (int32_t t = 0; t < model->ntree; ++t) {
    tree[t].scale = 1;
    tree[t].works = tree[t].deep = false;
    tree[t].loaded = tree[t].closing = 0;
    tree[t].balanced =
        tree[t].leader == t && tree[t].grounded && !w->impacts.any && !tbi_tree_sleeps(w, t);
  }
  if (!any_balanced(w)) return false;
  for (int32_t t = 0; t < model->ntree; ++t) {
    if (tree[t].rebounds && !is_midpoint) leader_of(w, t)->balanced = false;
    if (tree[t].rebounds || (is_middle && tree[t].jumps)) leader_of(w, t)->works = true;
  }
  leave_driven(w);
  if (!any_balanced(w)) return false;
  leave_springs(w);
  note_contacts(w);
  note_closing(w);
  if (w->method->info.compliant) unload_springs(w);
  note_limits(w);
  return any_balanced(w);
}

/* -- energies */

/* J, of gravity */
static double weight_energy(const tabi_world *w, int32_t tree) {
  const tabi_dynamics *d = w->d;
  tabi_range bodies = tbi_tree_bodies(w->model, tree);
  v4 moment = v4_zero();
  double mass = 0;
  for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i) {
    moment = v4_add(moment, d->body[i].inertia.h);
    mass += d->body[i].inertia.mass;
  }
  v3 where = v3_axpy(v4_to(moment), mass, d->origin[tree]);
  return -v3_dot(v3_load(w->def.gravity), where);
}

static double kinetic_energy(const tabi_world *w, int32_t tree) {
  return tbi_kinetic(w->d, tbi_tree_bodies(w->model, tree), tbi_tree_dofs(w->model, tree));
}

/* energies of balanced islands at the state of d, summed at their leaders, by name */
static void measure(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->floating.tree[t].kinetic = w->floating.tree[t].potential = 0;
  for (int32_t i = 0; i < model->ntree; ++i) {
    int32_t t = model->tree_order[i];
    tbi_floating *leader = leader_of(w, t);
    if (!leader->balanced) continue;
    leader->kinetic += kinetic_energy(w, t);
    leader->potential += weight_energy(w, t);
  }
}

void tbi_world_measure_balanced(tabi_world *w) {
  if (tbi_world_is_middle(w)) tbi_kinematics(w->d, w->state.q, w->state.v);
  measure(w);
  /* in this order leaders come before the others of their islands */
  for (int32_t i = 0; i < w->model->ntree; ++i) {
    int32_t t = w->model->tree_order[i];
    tbi_floating *tree = &w->floating.tree[t];
    if (!tree->swings) {
      tree->before = tree->kinetic + tree->potential;
    } else if (tree->leader != t) {
      leader_of(w, t)->before += tree->before;
    }
  }
}

void tbi_world_measure_swinging(tabi_world *w) {
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    tbi_floating *tree = &w->floating.tree[t];
    if (tree->swings) tree->before = kinetic_energy(w, t) + weight_energy(w, t);
  }
}

double tbi_world_joint_work(const tabi_world *w, int32_t leader) {
  const tabi_model *model = w->model;
  double work = 0;
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next) {
    tabi_range dofs = tbi_tree_dofs(model, t);
    for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k) {
      double end = w->solution.v_new[k];
      double impulse = w->state.row_impulse[tbi_row_id(k, TBI_ROW_FRICTION)] -
                       w->def.timestep * model->dof_damping[k] * end;
      work += impulse * 0.5 * (w->state.v[k] + end);
    }
  }
  return work;
}

/* -- the scale */

/* J, to take from an island, which may be negative */
static double surplus_of(const tabi_world *w, int32_t leader) {
  const tbi_floating *island = &w->floating.tree[leader];
  double gain = island->kinetic + island->potential + island->loaded - island->before;
  double noise = NOISE * (island->kinetic + fabs(island->potential) + fabs(island->before));
  double surplus = island->works ? fmax(gain, 0) : gain - tbi_world_joint_work(w, leader);
  bool small = fabs(surplus) <= SMALL * island->kinetic;
  return small && fabs(surplus) > noise ? surplus : 0;
}

static void scale_island(tabi_world *w, int32_t leader, double scale) {
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next) {
    tabi_range dofs = tbi_tree_dofs(w->model, t);
    w->floating.tree[t].scale = scale;
    for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
      w->solution.v_new[k] *= scale;
  }
}

static void stay(tabi_world *w, int32_t leader) {
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next) {
    tabi_range bodies = tbi_tree_bodies(w->model, t);
    const tbi_body *first = &w->model->body[bodies.first];
    int32_t end = bodies.first + bodies.count;
    int32_t last = end < w->model->nbody ? w->model->body[end].q : w->model->nq;
    for (int32_t i = first->q; i < last; ++i)
      w->solution.q_new[i] = w->state.q[i];
    tbi_kinematics_of_tree(w->d, t, w->solution.q_new, w->solution.v_new);
  }
}

/* What comes to rest at the middle of the step has next to no motion to take from, and a step may
 * gain more.  It loses all of its velocity, and where that is not enough, it stays where it was,
 * too: its energy then is not above that of the start.  Not so far as depth beyond what is allowed
 * lifts it, or connections that are open.
 */
static void come_to_rest(tabi_world *w, int32_t leader) {
  const tbi_floating *island = &w->floating.tree[leader];
  double gain = island->kinetic + island->potential - island->before;
  double depth = island->deep ? fmax(w->solution.certificate.correction_work, 0) : 0;
  double unexplained = gain - depth - island->closing;
  bool at_middle = tbi_world_is_middle(w) || island->swings;
  if (!at_middle || gain <= SMALL * island->kinetic || unexplained <= 0) return;
  double rest = unexplained < island->kinetic ? 1 - unexplained / island->kinetic : 0;
  bool enough = gain <= island->kinetic;
  w->solution.certificate.balance_work -= enough ? fmin(unexplained, island->kinetic) : gain;
  scale_island(w, leader, fmax(sqrt(rest), AT_REST));
  if (!enough) stay(w, leader);
}

void tbi_world_balance_energy(tabi_world *w) {
  measure(w);
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    const tbi_floating *island = &w->floating.tree[t];
    if (!island->balanced || !(island->kinetic > 0)) continue;
    double surplus = surplus_of(w, t);
    if (surplus == 0) {
      come_to_rest(w, t);
      continue;
    }
    w->solution.certificate.balance_work -= surplus;
    scale_island(w, t, sqrt(1 - surplus / island->kinetic));
  }
}
