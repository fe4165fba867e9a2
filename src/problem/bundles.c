/* bundles.c - supports of bundles and the order of their elimination. */
#include "problem/bundles.h"

#include "base/assertion.h"
#include "model/clusters.h"
#include "model/tendons.h"

/* Bundles must cost less than this share of one bundle.  In clusters with few loops the best pivots
 * of all cost next to nothing more. */
#define WORTHWHILE 0.5
#define FEW        16

/* -- supports */

static void mark_path(const tabi_model *model, int32_t dof, int32_t *mark) {
  for (int32_t k = dof; k >= 0; k = model->dof_parent[k])
    mark[model->dof_local[k]] = 1;
}

static void mark_body(const tabi_model *model, int32_t body, int32_t *mark) {
  if (body < 0) return;
  mark_path(model, model->body[body].v + model->body[body].nv - 1, mark);
}

static void mark_link(const tabi_model *model, int32_t link, int32_t *mark) {
  if (link != TABI_WORLD) mark_body(model, model->link_home[link].body, mark);
}

static void mark_joint(const tabi_model *model, int32_t joint, int32_t *mark) {
  if (joint != TABI_NONE) mark_body(model, model->joint_body[joint], mark);
}

static void mark_tendon(const tabi_model *model, int32_t tendon, int32_t *mark) {
  if (tendon == TABI_NONE) return;
  const int32_t *dof = tbi_tendon_dofs(model, tendon);
  for (int32_t k = 0; k < tbi_tendon_ndof(model, tendon); ++k)
    mark_path(model, dof[k], mark);
}

/* slack: the number behind the velocities that belongs to its first loop */
static void mark_owner(const tabi_model *model, int32_t owner, int32_t slack, int32_t *mark) {
  if (owner < model->nconnection) {
    const tabi_connection_def *def = &model->connection[owner];
    mark_link(model, def->a, mark);
    mark_link(model, def->b, mark);
    if (def->type == TABI_CONNECTION_SPRING) mark[slack] = 1;
  } else if (owner < model->nconnection + model->ncoupling) {
    const tabi_coupling_def *def = &model->coupling[owner - model->nconnection];
    mark_joint(model, def->joint, mark);
    mark_joint(model, def->leader, mark);
    mark_tendon(model, def->tendon, mark);
    mark_tendon(model, def->tendon_leader, mark);
  } else {
    mark_tendon(model, owner - model->nconnection - model->ncoupling, mark);
    mark[slack] = 1;
  }
}

/* the support from what is marked; unmarks it */
static void gather(tbi_support *support, const tabi_model *model, int32_t cluster, int32_t *mark) {
  int32_t dofs = tbi_cluster_dofs(model, cluster);
  support->count = support->dofs = 0;
  for (int32_t i = 0; i < tbi_cluster_width(model, cluster); ++i) {
    if (!mark[i]) continue;
    if (i < dofs) ++support->dofs;
    support->at[support->count++] = i;
    mark[i] = 0;
  }
  int32_t last = support->count - 1;
  support->solid = last >= 0 && support->at[last] - support->at[0] == last;
}

static void fill_supports(const tabi_model *model, tbi_bundles *b) {
  for (int32_t i = 0; i < model->nowner; ++i) {
    if (b->of_owner[i] == TABI_NONE) continue;
    int32_t cluster = tbi_owner_cluster(model, i);
    int32_t slack = tbi_cluster_dofs(model, cluster);
    for (int32_t k = b->cluster_bundle[cluster]; k < b->of_owner[i]; ++k)
      slack += b->bundle[k].ties;
    b->slack[i] = slack;
    mark_owner(model, i, slack, b->mark);
    gather(&b->bundle[b->of_owner[i]].support, model, cluster, b->mark);
  }
}

static bool is_marked(const tbi_support *s, const int32_t *mark) {
  for (int32_t i = 0; i < s->count; ++i) {
    if (mark[s->at[i]]) return true;
  }
  return false;
}

static void set_marks(const tbi_support *s, int32_t value, int32_t *mark) {
  for (int32_t i = 0; i < s->count; ++i)
    mark[s->at[i]] = value;
}

/* -- order */

/* the bundle that touches least, of those from the k-th on, moves there */
static tbi_bundle *choose(tbi_bundles *b, int32_t cluster, int32_t k) {
  int32_t *sequence = b->sequence + b->cluster_bundle[cluster];
  int32_t best = k;
  for (int32_t i = k + 1; i < b->cluster_count[cluster]; ++i) {
    if (b->bundle[sequence[i]].support.count < b->bundle[sequence[best]].support.count) best = i;
  }
  int32_t chosen = sequence[best];
  for (int32_t i = best; i > k; --i)
    sequence[i] = sequence[i - 1];
  sequence[k] = chosen;
  return &b->bundle[chosen];
}

/* spreads the next bundle over those behind it; how many products that takes, but for a factor */
static double eliminate(tbi_bundles *b, const tabi_model *model, int32_t cluster, int32_t k) {
  const int32_t *sequence = b->sequence + b->cluster_bundle[cluster];
  tbi_bundle *bundle = choose(b, cluster, k);
  int32_t ties = bundle->ties;
  set_marks(&bundle->support, 1, b->mark);
  for (int32_t i = k + 1; i < b->cluster_count[cluster]; ++i) {
    tbi_bundle *other = &b->bundle[sequence[i]];
    if (!is_marked(&other->support, b->mark)) continue;
    set_marks(&other->support, 1, b->mark);
    gather(&other->support, model, cluster, b->mark);
    set_marks(&bundle->support, 1, b->mark);
    bundle->next[bundle->nnext++] = sequence[i];
    other->before[other->nbefore++] = sequence[k];
    ties += other->ties;
  }
  set_marks(&bundle->support, 0, b->mark);
  return (double)bundle->ties * ties * bundle->support.count;
}

static void fill_gaps(int32_t width, int32_t *mark) {
  int32_t last = width - 1;
  while (last >= 0 && !mark[last])
    --last;
  int32_t first = 0;
  while (first < last && !mark[first])
    ++first;
  for (int32_t i = first; i <= last; ++i)
    mark[i] = 1;
}

/* the united bundle's sums need not look for gaps */
void tbi_bundles_unite(tbi_bundles *b, const tabi_model *model, int32_t cluster) {
  int32_t first = b->cluster_bundle[cluster];
  tbi_bundle *united = &b->bundle[first];
  for (int32_t i = first; i < first + b->cluster_count[cluster]; ++i)
    set_marks(&b->bundle[i].support, 1, b->mark);
  fill_gaps(tbi_cluster_width(model, cluster), b->mark);
  gather(&united->support, model, cluster, b->mark);
  united->ties = tbi_cluster_max_loops(model, cluster);
  united->nnext = united->nbefore = 0;
  b->sequence[first] = first;
  b->cluster_count[cluster] = 1;
  for (int32_t i = 0; i < model->nowner; ++i) {
    if (b->of_owner[i] != TABI_NONE && tbi_owner_cluster(model, i) == cluster)
      b->of_owner[i] = first;
  }
}

/* how many numbers the columns of a cluster touch together */
static int32_t count_touched(tbi_bundles *b, int32_t cluster) {
  int32_t first = b->cluster_bundle[cluster];
  int32_t touched = 0;
  for (int32_t k = first; k < first + b->cluster_count[cluster]; ++k) {
    const tbi_support *s = &b->bundle[k].support;
    for (int32_t i = 0; i < s->count; ++i)
      touched += 1 - b->mark[s->at[i]];
    set_marks(s, 1, b->mark);
  }
  for (int32_t k = first; k < first + b->cluster_count[cluster]; ++k)
    set_marks(&b->bundle[k].support, 0, b->mark);
  return touched;
}

static void arrange(tbi_bundles *b, const tabi_model *model, int32_t cluster) {
  double ties = tbi_cluster_max_loops(model, cluster);
  double most = ties > FEW ? WORTHWHILE * ties * ties * count_touched(b, cluster) : 0;
  double cost = 0;
  for (int32_t k = 0; cost <= most && k < b->cluster_count[cluster]; ++k)
    cost += eliminate(b, model, cluster, k);
  if (cost > most) tbi_bundles_unite(b, model, cluster);
}

/* -- memory */

/* bundles by name of their owners, cluster by cluster */
static void number_bundles(const tabi_model *model, tbi_bundles *b) {
  for (int32_t c = 0; c < model->ncluster; ++c)
    b->cluster_count[c] = 0;
  for (int32_t i = 0; i < model->nowner; ++i) {
    int32_t owner = model->owner_named[i];
    int32_t c = tbi_owner_cluster(model, owner);
    b->of_owner[owner] = c == TABI_NONE ? TABI_NONE : b->cluster_count[c]++;
  }
  int32_t first = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    b->cluster_bundle[c] = first;
    first += b->cluster_count[c];
  }
  for (int32_t i = 0; i < first; ++i)
    b->sequence[i] = i;
  for (int32_t i = 0; i < model->nowner; ++i) {
    if (b->of_owner[i] != TABI_NONE)
      b->of_owner[i] += b->cluster_bundle[tbi_owner_cluster(model, i)];
  }
}

static void place_bundle(tbi_layout *at, const tabi_model *model, int32_t owner, tbi_bundles *b) {
  int32_t cluster = tbi_owner_cluster(model, owner);
  if (cluster == TABI_NONE) return;
  tbi_bundle bundle = {.ties = tbi_owner_ties(model, owner)};
  int32_t others = tbi_cluster_max_loops(model, cluster);
  bundle.support.at =
      tbi_layout_take(at, tbi_cluster_width(model, cluster), sizeof *bundle.support.at);
  bundle.next = tbi_layout_take(at, others, sizeof *bundle.next);
  bundle.before = tbi_layout_take(at, others, sizeof *bundle.before);
  if (at->base) b->bundle[b->of_owner[owner]] = bundle;
}

void tbi_bundles_place(tbi_layout *at, const tabi_model *model, tbi_bundles *b) {
  int32_t owners = model->nowner;
  int32_t widest = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    int32_t width = tbi_cluster_width(model, c);
    if (tbi_cluster_max_loops(model, c) > 0 && width > widest) widest = width;
  }
  b->of_owner = tbi_layout_take(at, owners, sizeof *b->of_owner);
  b->slack = tbi_layout_take(at, owners, sizeof *b->slack);
  b->cluster_bundle = tbi_layout_take(at, model->ncluster, sizeof *b->cluster_bundle);
  b->cluster_count = tbi_layout_take(at, model->ncluster, sizeof *b->cluster_count);
  b->sequence = tbi_layout_take(at, owners, sizeof *b->sequence);
  b->bundle = tbi_layout_take(at, owners, sizeof *b->bundle);
  b->all = tbi_layout_take(at, widest, sizeof *b->all);
  b->mark = tbi_layout_take(at, widest, sizeof *b->mark);
  if (at->base) number_bundles(model, b);
  for (int32_t i = 0; i < owners; ++i)
    place_bundle(at, model, i, b);
  if (!at->base) return;
  for (int32_t i = 0; i < widest; ++i) {
    b->all[i] = i;
    b->mark[i] = 0;
  }
  fill_supports(model, b);
  for (int32_t c = 0; c < model->ncluster; ++c)
    if (b->cluster_count[c] > 0) arrange(b, model, c);
}
