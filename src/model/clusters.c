/* clusters.c - trees that connections, couplings or tendons connect, directly or through others. */
#include "model/clusters.h"

#include "base/assertion.h"
#include "model/tendons.h"

int32_t tbi_connection_ties(const tabi_connection_def *def) {
  switch (def->type) {
  case TABI_CONNECTION_BALL:
    return 3;
  case TABI_CONNECTION_HINGE:
    return 5;
  case TABI_CONNECTION_FIXED:
    return 6;
  case TABI_CONNECTION_AXES: {
    int32_t count = 0;
    for (uint32_t axes = def->axes; axes != 0; axes &= axes - 1)
      ++count;
    return count;
  }
  default:
    return 1;
  }
}

static int32_t tree_of_body(const tabi_model *model, int32_t body) {
  return body == TABI_NONE ? TABI_NONE : model->body[body].tree;
}

static int32_t tree_of_link(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD ? TABI_NONE : tree_of_body(model, model->link_home[link].body);
}

static int32_t tree_of_joint(const tabi_model *model, int32_t joint) {
  return joint == TABI_NONE ? TABI_NONE : tree_of_body(model, model->joint_body[joint]);
}

/* a tree that a tendon moves, or TABI_NONE */
static int32_t tree_of_tendon(const tabi_model *model, int32_t tendon) {
  if (tbi_tendon_ndof(model, tendon) == 0) return TABI_NONE;
  return model->body[model->dof_body[tbi_tendon_dofs(model, tendon)[0]]].tree;
}

/* the first tree of the cluster that a tree is in so far */
static int32_t head_of(const tabi_model *model, int32_t tree) {
  while (model->tree_cluster[tree] != tree)
    tree = model->tree_cluster[tree];
  return tree;
}

static void join(tabi_model *model, int32_t a, int32_t b) {
  if (a == TABI_NONE || b == TABI_NONE) return;
  int32_t head_a = head_of(model, a);
  int32_t head_b = head_of(model, b);
  if (head_a < head_b) {
    model->tree_cluster[head_b] = head_a;
  } else {
    model->tree_cluster[head_a] = head_b;
  }
}

static void join_tendon(tabi_model *model, int32_t tendon) {
  const int32_t *dof = tbi_tendon_dofs(model, tendon);
  int32_t tree = tree_of_tendon(model, tendon);
  for (int32_t k = 1; k < tbi_tendon_ndof(model, tendon); ++k)
    join(model, tree, tree_of_body(model, model->dof_body[dof[k]]));
}

/* numbers clusters as their trees come by name: a cluster gets its number with the first of them */
static void number_clusters(tabi_model *model) {
  int32_t *number = model->tree_order; /* of the cluster of a head; free until trees are ordered */
  for (int32_t t = 0; t < model->ntree; ++t) {
    model->tree_cluster[t] = head_of(model, t);
    number[t] = TABI_NONE;
  }
  for (int32_t i = 0; i < model->ntree; ++i) {
    int32_t tree = model->tree_named[i];
    int32_t *own = &number[model->tree_cluster[tree]];
    if (*own == TABI_NONE) *own = model->ncluster++;
  }
  for (int32_t t = 0; t < model->ntree; ++t)
    model->tree_cluster[t] = number[model->tree_cluster[t]];
}

int32_t tbi_connection_cluster(const tabi_model *model, int32_t connection) {
  const tabi_connection_def *def = &model->connection[connection];
  int32_t tree = tree_of_link(model, def->b);
  if (tree == TABI_NONE) tree = tree_of_link(model, def->a);
  return tree == TABI_NONE ? TABI_NONE : model->tree_cluster[tree];
}

int32_t tbi_coupling_cluster(const tabi_model *model, int32_t coupling) {
  const tabi_coupling_def *def = &model->coupling[coupling];
  int32_t tree = tree_of_joint(model, def->joint);
  if (def->tendon != TABI_NONE) tree = tree_of_tendon(model, def->tendon);
  if (def->tendon_leader != TABI_NONE && tree == TABI_NONE)
    tree = tree_of_tendon(model, def->tendon_leader);
  return tree == TABI_NONE ? TABI_NONE : model->tree_cluster[tree];
}

int32_t tbi_tendon_cluster(const tabi_model *model, int32_t tendon) {
  int32_t tree = tree_of_tendon(model, tendon);
  return tree == TABI_NONE ? TABI_NONE : model->tree_cluster[tree];
}

int32_t tbi_owner_cluster(const tabi_model *model, int32_t owner) {
  if (owner < model->nconnection) return tbi_connection_cluster(model, owner);
  owner -= model->nconnection;
  if (owner < model->ncoupling) return tbi_coupling_cluster(model, owner);
  owner -= model->ncoupling;
  return model->tendon_loops[owner] > 0 ? tbi_tendon_cluster(model, owner) : TABI_NONE;
}

int32_t tbi_owner_ties(const tabi_model *model, int32_t owner) {
  return owner < model->nconnection ? tbi_connection_ties(&model->connection[owner]) : 1;
}

/* trees and velocities cluster by cluster, by counting */
static void order_trees(tabi_model *model) {
  int32_t *next = model->cluster_loop; /* free until loops are counted */
  for (int32_t t = 0; t < model->ntree; ++t)
    ++next[model->tree_cluster[t] + 1];
  for (int32_t c = 0; c < model->ncluster; ++c)
    next[c + 1] += next[c];
  for (int32_t i = 0; i < model->ntree; ++i) {
    int32_t tree = model->tree_named[i];
    model->tree_order[next[model->tree_cluster[tree]]++] = tree;
  }
  for (int32_t c = 0; c <= model->ncluster; ++c)
    next[c] = 0;
}

static void order_dofs(tabi_model *model) {
  int32_t placed = 0;
  for (int32_t i = 0; i < model->ntree; ++i) {
    int32_t tree = model->tree_order[i];
    int32_t c = model->tree_cluster[tree];
    if (i == 0 || model->tree_cluster[model->tree_order[i - 1]] != c) {
      model->cluster_dof[c] = placed;
    }
    TBI_ASSERT(tree >= 0 && tree < model->ntree && c >= 0 && c < model->ncluster);
    int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
    const tbi_body *last = &model->body[end - 1];
    for (int32_t k = model->body[model->tree_body[tree]].v; k < last->v + last->nv; ++k) {
      model->dof_local[k] = placed - model->cluster_dof[c];
      model->dof_order[placed++] = k;
    }
  }
  TBI_ASSERT(placed == model->nv);
  model->cluster_dof[model->ncluster] = placed;
}

static void count_ties(tabi_model *model) {
  for (int32_t i = 0; i < model->nowner; ++i) {
    int32_t c = tbi_owner_cluster(model, i);
    if (c != TABI_NONE) model->cluster_loop[c + 1] += tbi_owner_ties(model, i);
  }
  for (int32_t c = 0; c < model->ncluster; ++c)
    model->cluster_loop[c + 1] += model->cluster_loop[c];
}

static void measure_limbs(tabi_model *model) {
  for (int32_t k = 0; k < model->nv; ++k) {
    int32_t c = model->tree_cluster[model->body[model->dof_body[k]].tree];
    int64_t limb =
        (int64_t)model->dof_depth[k] + 1 + model->cluster_loop[c + 1] - model->cluster_loop[c];
    if (limb > model->longest_limb) model->longest_limb = limb;
  }
}

void tbi_fill_clusters(tabi_model *model) {
  for (int32_t t = 0; t < model->ntree; ++t)
    model->tree_cluster[t] = t;
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *def = &model->connection[i];
    join(model, tree_of_link(model, def->a), tree_of_link(model, def->b));
  }
  for (int32_t i = 0; i < model->ncoupling; ++i) {
    const tabi_coupling_def *def = &model->coupling[i];
    join(model, tree_of_joint(model, def->joint), tree_of_joint(model, def->leader));
    if (def->tendon != TABI_NONE && def->tendon_leader != TABI_NONE)
      join(model, tree_of_tendon(model, def->tendon), tree_of_tendon(model, def->tendon_leader));
  }
  for (int32_t i = 0; i < model->ntendon; ++i)
    join_tendon(model, i);
  number_clusters(model);
  order_trees(model);
  order_dofs(model);
  count_ties(model);
  measure_limbs(model);
}
