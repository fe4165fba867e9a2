/* floating_balance.c - what floats and nothing drives keeps its energy.
 *
 * The motion of an island is that of a rigid body with its momenta P and L, and what its joints
 * add.  In the frame of its centre of mass the energies of both add up,
 *     T = L.w / 2 + T_in,   w = I^-1 L,
 * since neither has a share in the momenta of the other.  A step misses T by h^2, under midpoint by
 * h^3, either way.  At its end, when P and L are right (momentum.c), the inner part is therefore
 * scaled by
 *     s = sqrt(1 - (T' - T*) / T_in'),
 * which changes neither P nor L.  T* is T + the work of dampers and dry friction at joints where
 * nothing else touches the island.  Where contacts among its bodies or limits of joints push, of
 * whose work nothing is known here, T* = T, and only gains are taken.
 *
 * Left alone: islands that are driven, or have springs or tendons; contacts with springs, which are
 * not part of T, and those of published variants; single bodies, which keep their energy by
 * themselves (free_motion.c); errors that are large, since these are none of the integrator. */
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>

#define SMALL 0.1   /* share of T_in' that a step may miss */
#define NOISE 1e-14 /* of energies, in rounding */

static tbi_floating *leader_of(tabi_world *w, int32_t tree) {
  return &w->floating.tree[tbi_world_leader(w, tree)];
}

static bool has_springs(const tabi_model *model, int32_t tree) {
  tabi_range dofs = tbi_tree_dofs(model, tree);
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
    if (model->dof_stiffness[k] > 0) return true;
  int32_t cluster = model->tree_cluster[tree];
  for (int32_t i = 0; i < model->nconnection; ++i)
    if (model->connection[i].type == TABI_CONNECTION_SPRING &&
        tbi_connection_cluster(model, i) == cluster)
      return true;
  for (int64_t k = 0; k < model->tendon_first[model->ntendon]; ++k)
    if (model->body[model->dof_body[model->tendon_dof[k]]].tree == tree) return true;
  return false;
}

static void leave_contacts(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (c->port_a == TABI_NONE || c->port_b == TABI_NONE || c->impulse[0] == 0) continue;
    leader_of(w, p->port[c->port_a].tree)->kept = false;
  }
}

/* a body that nothing is joined to */
static bool is_single(tabi_world *w, int32_t tree) {
  const tbi_floating *leader = leader_of(w, tree);
  return leader->next == TABI_NONE && tbi_is_lone(w->model, w->model->tree_body[tree]);
}

bool tbi_world_find_kept(tabi_world *w) {
  const tabi_model *model = w->model;
  bool any = false;
  for (int32_t t = 0; t < model->ntree; ++t)
    w->floating.tree[t].kept = false;
  if (!w->floating.any || w->impacts.any) return false;
  for (int32_t t = 0; t < model->ntree; ++t)
    if (tbi_world_is_restored(w, t) && !is_single(w, t)) leader_of(w, t)->kept = true;
  for (int32_t t = 0; t < model->ntree; ++t) {
    const tbi_floating *tree = &w->floating.tree[t];
    tbi_floating *leader = leader_of(w, t);
    if (!leader->kept) continue;
    if (tbi_world_drives_tree(w, t) || has_springs(model, t)) leader->kept = false;
    if (tree->touched || tree->rebounds) leader->works = true;
  }
  if (w->method->info.compliant || w->method->as_published) leave_contacts(w);
  for (int32_t t = 0; t < model->ntree; ++t)
    any = any || w->floating.tree[t].kept;
  return any;
}

/* J, of an island in the frame of its centre of mass, at the state of d */
static double inner_kinetic(const tabi_world *w, int32_t leader, v3 lin, double mass) {
  double sum = 0;
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next)
    sum += tbi_kinetic(w->d, tbi_tree_bodies(w->model, t), tbi_tree_dofs(w->model, t));
  return sum - 0.5 * v3_dot(lin, lin) / mass;
}

static double mass_of(const tabi_world *w, int32_t leader) {
  double mass = 0;
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next) {
    tabi_range bodies = tbi_tree_bodies(w->model, t);
    for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i)
      mass += w->model->body[i].mass;
  }
  return mass;
}

void tbi_world_measure_kept(tabi_world *w) {
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    tbi_floating *island = &w->floating.tree[t];
    if (island->kept) island->before = inner_kinetic(w, t, w->state.momentum[t].lin, mass_of(w, t));
  }
}

/* v+ = rigid motion + s (v+ - rigid motion) */
static void scale_tree(tabi_world *w, int32_t tree, sv rigid, v3 com, double scale) {
  const tbi_body *root = &w->model->body[w->model->tree_body[tree]];
  const m3 *axes = &root->place.rot;
  tabi_range dofs = tbi_tree_dofs(w->model, tree);
  v4 arm = v4_from(v3_sub(w->d->origin[tree], com));
  double base[6];
  v3_store(m3_tmulv(axes, v4_to(sv_at(rigid, arm))), base);
  v3_store(m3_tmulv(axes, v4_to(rigid.ang)), base + 3);
  double *v = w->solution.v_new + dofs.first;
  w->floating.tree[tree].scale = scale;
  for (int32_t k = 0; k < dofs.count; ++k) {
    double change = (scale - 1) * (v[k] - (k < 6 ? base[k] : 0));
    if (k < 6) w->floating.tree[tree].change[k] += change;
    v[k] += change;
  }
}

double tbi_world_inner_energy(const tabi_world *w, int32_t leader, const tbi_momentum *at,
                              double mass, v3 turn) {
  return inner_kinetic(w, leader, at->lin, mass) - 0.5 * v3_dot(at->ang, turn);
}

void tbi_world_keep_energy(tabi_world *w, int32_t leader, const tbi_momentum *end, double mass,
                           v3 turn, double inner) {
  TBI_ASSERT(w->floating.tree[leader].kept);
  double now = inner + 0.5 * v3_dot(end->ang, turn);
  double gain = now - w->floating.tree[leader].before;
  double surplus =
      w->floating.tree[leader].works ? fmax(gain, 0) : gain - tbi_world_joint_work(w, leader);
  double noise = NOISE * (now + 0.5 * v3_dot(end->lin, end->lin) / mass);
  if (!(fabs(surplus) <= SMALL * inner) || fabs(surplus) <= noise) return;
  double scale = sqrt(1 - surplus / inner);
  sv rigid = {v4_from(v3_scale(1 / mass, end->lin)), v4_from(turn)};
  for (int32_t t = leader; t != TABI_NONE; t = w->floating.tree[t].next)
    scale_tree(w, t, rigid, end->com, scale);
  w->solution.certificate.balance_work -= surplus;
}
