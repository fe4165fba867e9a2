/* loops.c - columns of loop constraints, and the impulses that meet their targets. */
#include "problem/loops.h"

#include "base/assertion.h"
#include "math/linalg.h"
#include "problem/half_solve.h"
#include "problem/loop_basis.h"

/* compliance of an open loop, of its own mobility */
#define OPEN_SHARE 1e-2

void tbi_loops_place(tbi_layout *at, const tabi_model *model, tbi_loops *loops) {
  int32_t max = model->cluster_loop[model->ncluster];
  loops->model = model;
  tbi_bundles_place(at, model, &loops->bundles);
  loops->cluster_column = tbi_layout_take(at, model->ncluster, sizeof *loops->cluster_column);
  loops->cluster_r = tbi_layout_take(at, model->ncluster, sizeof *loops->cluster_r);
  int64_t columns = 0;
  int64_t squares = 0;
  int64_t largest = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    int64_t max_loops = tbi_cluster_max_loops(model, c);
    if (at->base) loops->cluster_column[c] = columns;
    if (at->base) loops->cluster_r[c] = squares;
    columns += max_loops * tbi_cluster_width(model, c);
    squares += max_loops * max_loops;
    largest = max_loops > largest ? max_loops : largest;
  }
  loops->loop = tbi_layout_take(at, max, sizeof *loops->loop);
  loops->regain = tbi_layout_take(at, max, sizeof *loops->regain);
  loops->open = tbi_layout_take(at, max, sizeof *loops->open);
  loops->first = tbi_layout_take(at, model->ncluster, sizeof *loops->first);
  loops->rank = tbi_layout_take(at, model->ncluster, sizeof *loops->rank);
  loops->local = tbi_layout_take(at, model->ncluster, sizeof *loops->local);
  loops->inconsistent = tbi_layout_take(at, model->ncluster, sizeof *loops->inconsistent);
  loops->order = tbi_layout_take(at, max, sizeof *loops->order);
  loops->place = tbi_layout_take(at, max, sizeof *loops->place);
  loops->bundle = tbi_layout_take(at, max, sizeof *loops->bundle);
  loops->support = tbi_layout_take(at, max, sizeof *loops->support);
  loops->late = tbi_layout_take(at, max, sizeof *loops->late);
  loops->column = tbi_layout_take(at, columns, sizeof *loops->column);
  loops->r = tbi_layout_take(at, squares, sizeof *loops->r);
  loops->g = tbi_layout_take(at, max, sizeof *loops->g);
  loops->rest = tbi_layout_take(at, largest, sizeof *loops->rest);
  loops->wanted = tbi_layout_take(at, largest, sizeof *loops->wanted);
  loops->size = tbi_layout_take(at, largest, sizeof *loops->size);
  loops->change = tbi_layout_take(at, largest, sizeof *loops->change);
  loops->normal = tbi_layout_take(at, largest * largest, sizeof *loops->normal);
  if (!at->base) return;
  memset(loops->column, 0, sizeof *loops->column * (size_t)columns);
  for (int32_t i = 0; i < max; ++i) {
    loops->support[i] = (tbi_support){0};
    loops->late[i] = false;
  }
}

/* what columns are made with */
typedef struct maker {
  const tbi_loops *loops;
  const tabi_dynamics *d;
  const double *pivot_root;
  double *scratch; /* one path */
} maker;

/* column += share * the Y in scratch, along the path of dof */
static void add_path(const maker *m, int32_t dof, double share, double *column) {
  const tabi_model *model = m->d->model;
  const int32_t *path = model->dof_path + model->dof_row[dof];
  for (int32_t j = 0; j <= model->dof_depth[dof]; ++j)
    column[model->dof_local[path[j]]] += share * m->scratch[j];
}

static void add_body(const maker *m, int32_t body, sv wrench, double share, double *column) {
  if (body == TABI_WORLD) return;
  int32_t dof = tbi_last_dof(&m->d->model->body[body]);
  tbi_half_solve_wrench(m->d, m->pivot_root, dof, wrench, m->scratch);
  add_path(m, dof, share, column);
}

static void add_joint(const maker *m, int32_t dof, double share, double *column) {
  if (dof == TABI_NONE) return;
  tbi_half_solve_joint(m->d, m->pivot_root, dof, m->scratch);
  add_path(m, dof, share, column);
}

static void add_arms(const maker *m, const tbi_arms *arms, double *column) {
  for (int32_t i = 0; i < arms->count; ++i)
    add_joint(m, arms->dof[i], arms->share * arms->arm[i], column);
}

void tbi_loop_pull_spring(tbi_loop *loop, double h, double mobility) {
  double k = loop->stiffness;
  double phase = h * h * k * mobility;
  double late = phase / (1 + phase);
  double even = 0.25 * (1 - late);
  loop->compliance = 1 / (h * h * k * (late + even) + h * loop->damping + loop->give);
  double error = loop->error + late * 0.5 * h * h * loop->drift +
                 even * h * (h * loop->drift - loop->velocity);
  loop->target = loop->compliance * (loop->load - h * k * error);
}

void tbi_loop_give_way(tbi_loop *loop, double h, double mobility) {
  if (tbi_loop_is_spring(loop)) {
    tbi_loop_pull_spring(loop, h, mobility);
  } else if (loop->open) {
    loop->compliance = OPEN_SHARE * mobility;
  }
}

/* the column of a loop, without its slack, in place of what it was in the step before */
static void fill_column(const maker *m, int32_t cluster, int32_t which, bool open) {
  const tbi_loops *loops = m->loops;
  const tbi_loop *loop = &loops->loop[loops->first[cluster] + which];
  double *column = tbi_loops_column(loops, cluster, which);
  tbi_support *s = &loops->support[loops->model->cluster_loop[cluster] + which];
  for (int32_t i = 0; i < s->count; ++i)
    column[s->at[i]] = 0;
  *s = open ? tbi_loops_whole(loops, cluster) : tbi_loops_bundle(loops, cluster, which)->support;
  add_body(m, loop->body_b, loop->wrench_b, 1, column);
  add_body(m, loop->body_a, loop->wrench_a, -1, column);
  add_joint(m, loop->dof, 1, column);
  add_joint(m, loop->leader, -loop->slope, column);
  add_arms(m, &loop->tendon[0], column);
  add_arms(m, &loop->tendon[1], column);
}

/* slacks of open loops spread over all columns of their cluster */
static bool has_open(const tbi_loop *loop, int32_t count) {
  for (int32_t t = 0; t < count; ++t) {
    if (loop[t].open) return true;
  }
  return false;
}

/* rows of one connection, of forces or of couples */
static bool are_alike(const tbi_loop *a, const tbi_loop *b) {
  bool rigid = a->compliance == 0 && b->compliance == 0;
  bool connections = a->dof == TABI_NONE && b->dof == TABI_NONE;
  bool both = (v4_dot(a->wrench_b.lin, a->wrench_b.lin) > 0) ==
              (v4_dot(b->wrench_b.lin, b->wrench_b.lin) > 0);
  return a->owner == b->owner && rigid && connections && both;
}

/* What is new in a column is compared with the longest of its kind in the connection.  A direction
 * in which its bodies hardly move beside others is none of its own, whichever way the axes of the
 * connection lie: hinges of a plane linkage whose axes a file gives to five digits miss each other
 * by 1e-6, and what they let through of a gap would turn them by radians in a step. */
static void compare_alike(const tbi_loops *loops, int32_t cluster, int32_t count) {
  const tbi_loop *loop = loops->loop + loops->first[cluster];
  for (int32_t t = 1; t < count; ++t) {
    for (int32_t before = t - 1; before >= 0 && loop[before].owner == loop[t].owner; --before) {
      if (!are_alike(&loop[before], &loop[t])) continue;
      double longest = fmax(loops->size[before], loops->size[t]);
      loops->size[before] = loops->size[t] = longest;
    }
  }
}

/* columns, their squared lengths, and by how much z misses the targets */
static void fill_columns(const maker *m, int32_t cluster, int32_t count, const double *z) {
  const tbi_loops *loops = m->loops;
  const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[cluster];
  bool open = has_open(loops->loop + loops->first[cluster], count);
  int32_t slack = 0;
  for (int32_t t = 0; t < count; ++t) {
    tbi_loop *loop = &loops->loop[loops->first[cluster] + t];
    slack = t > 0 && loop->owner == loop[-1].owner ? slack + 1 : loops->bundles.slack[loop->owner];
    const tbi_support *s = tbi_loops_support(loops, cluster, t);
    double *column = tbi_loops_column(loops, cluster, t);
    fill_column(m, cluster, t, open);
    if (loop->open || tbi_loop_is_spring(loop)) {
      tbi_loop_give_way(loop, loops->timestep, tbi_support_dot(s, s->dofs, column, column));
    }
    double moved = loop->velocity;
    for (int32_t i = 0; i < s->dofs; ++i)
      moved += column[s->at[i]] * z[dof[s->at[i]]];
    loops->wanted[t] = loop->target - moved;
    if (loop->compliance > 0) column[slack] = sqrt(loop->compliance);
    loops->size[t] = tbi_support_dot(s, s->count, column, column);
  }
  compare_alike(loops, cluster, count);
}

/* which loops are in which bundle */
static void fill_bundles(tbi_loops *loops, int32_t cluster, int32_t count) {
  const tbi_bundles *b = &loops->bundles;
  int32_t first = b->cluster_bundle[cluster];
  for (int32_t i = first; i < first + b->cluster_count[cluster]; ++i)
    b->bundle[i].count = 0;
  for (int32_t t = 0; t < count; ++t) {
    int32_t at = loops->model->cluster_loop[cluster] + t;
    loops->bundle[at] = b->of_owner[loops->loop[loops->first[cluster] + t].owner];
    tbi_bundle *own = &b->bundle[loops->bundle[at]];
    if (own->count++ == 0) own->loop = t;
    loops->late[at] = false;
  }
}

/* change of the velocity of loop t by g, as far as pivots below `rank` go */
static double reached(const tbi_loops *loops, int32_t cluster, int32_t rank, int32_t t,
                      const double *g) {
  double sum = 0;
  for (int32_t i = 0; i < tbi_basis_ranges(loops, cluster, t); ++i) {
    tbi_range stored = tbi_basis_range(loops, cluster, t, i, rank);
    for (int32_t k = stored.begin; k < stored.end; ++k)
      sum += *tbi_basis_r(loops, cluster, k, t) * g[k];
  }
  return sum;
}

/* R' g = wanted for the independent loops */
static void solve_independent(const tbi_loops *loops, int32_t cluster, int32_t rank, double *g) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  for (int32_t k = 0; k < rank; ++k) {
    double missing = loops->wanted[order[k]] - reached(loops, cluster, k, order[k], g);
    g[k] = missing / *tbi_basis_r(loops, cluster, k, order[k]);
  }
}

static double note_missed(tbi_loops *loops, int32_t cluster, int32_t rank, int32_t count,
                          const double *g) {
  double worst = 0;
  for (int32_t t = 0; t < count; ++t) {
    tbi_loop *loop = &loops->loop[loops->first[cluster] + t];
    loop->missed = loops->wanted[t] - reached(loops, cluster, rank, t, g);
    worst = fmax(worst, fabs(loop->missed));
  }
  return worst;
}

/* g that misses the targets of all loops least: (R R') change = R missed.  Twice, because the
 * matrix squares whatever condition the loops are in. */
static void solve_least_squares(tbi_loops *loops, int32_t cluster, int32_t rank, int32_t count,
                                double *g) {
  double *normal = loops->normal;
  for (int32_t t = 0; t < count; ++t)
    tbi_basis_fill_r(loops, cluster, t, rank);
  for (int32_t i = 0; i < rank; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int32_t t = 0; t < count; ++t)
        sum += *tbi_basis_r(loops, cluster, i, t) * *tbi_basis_r(loops, cluster, j, t);
      normal[(int64_t)i * rank + j] = sum;
    }
  }
  tbi_cholesky(rank, normal, rank);
  double *change = loops->change;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < rank; ++i) {
      change[i] = 0;
      for (int32_t t = 0; t < count; ++t)
        change[i] +=
            *tbi_basis_r(loops, cluster, i, t) * loops->loop[loops->first[cluster] + t].missed;
    }
    tbi_cholesky_solve(rank, normal, rank, change);
    for (int32_t i = 0; i < rank; ++i)
      g[i] += change[i];
    (void)note_missed(loops, cluster, rank, count, g);
  }
}

/* g of a cluster, of which `rank` loops are independent */
static void solve_targets(tbi_loops *loops, int32_t cluster, int32_t rank, int32_t count,
                          bool again) {
  double *g = loops->g + loops->model->cluster_loop[cluster];
  solve_independent(loops, cluster, rank, g);
  if (rank == count) return;
  double missed = note_missed(loops, cluster, rank, count, g);
  if (!again) loops->inconsistent[cluster] = missed > loops->contradiction;
  if (loops->inconsistent[cluster]) solve_least_squares(loops, cluster, rank, count, g);
}

static void solve_cluster(tbi_loops *loops, int32_t cluster, int32_t count, bool again, double *z) {
  int32_t rank =
      again ? tbi_basis_find_again(loops, cluster, count) : tbi_basis_find(loops, cluster, count);
  if (!again) loops->rank[cluster] = rank;
  solve_targets(loops, cluster, rank, count, again);
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  for (int32_t k = 0; k < count; ++k)
    loops->loop[loops->first[cluster] + order[k]].redundant = k >= rank;
  const double *g = loops->g + loops->model->cluster_loop[cluster];
  const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[cluster];
  for (int32_t k = 0; k < rank; ++k) {
    const double *q = tbi_loops_basis(loops, cluster, k);
    const tbi_support *s = tbi_loops_support(loops, cluster, order[k]);
    for (int32_t i = 0; i < s->dofs; ++i)
      z[dof[s->at[i]]] += g[k] * q[s->at[i]];
  }
}

static int32_t count_of(const tbi_loops *loops, int32_t first, int32_t cluster) {
  int32_t end = first;
  while (end < loops->count && loops->loop[end].cluster == cluster)
    ++end;
  return end - first;
}

void tbi_loops_solve(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root, double *z,
                     double *scratch) {
  TBI_ASSERT(loops->count <= loops->model->cluster_loop[loops->model->ncluster]);
  TBI_ASSERT(loops->count == 0 || loops->timestep > 0);
  maker m = {.loops = loops, .d = d, .pivot_root = pivot_root};
  m.scratch = scratch; /* clang-tidy takes it for an input in the initialiser */
  int32_t first = 0;
  for (int32_t c = 0; c < loops->model->ncluster; ++c) {
    int32_t count = count_of(loops, first, c);
    loops->first[c] = first;
    loops->rank[c] = 0;
    loops->inconsistent[c] = false;
    if (count == 0) continue;
    fill_bundles(loops, c, count);
    fill_columns(&m, c, count, z);
    solve_cluster(loops, c, count, false, z);
    first += count;
  }
}

void tbi_loops_solve_again(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root,
                           double *z, double *scratch) {
  maker m = {.loops = loops, .d = d, .pivot_root = pivot_root};
  m.scratch = scratch; /* clang-tidy takes it for an input in the initialiser */
  for (int32_t c = 0; c < loops->model->ncluster; ++c) {
    int32_t count = count_of(loops, loops->first[c], c);
    if (count == 0) continue;
    fill_columns(&m, c, count, z);
    solve_cluster(loops, c, count, true, z);
  }
}

/* R p = g by back substitution for the independent loops; the others have no impulse */
static void find_impulses(const tbi_loops *loops, int32_t cluster, double *g) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  tbi_loop *loop = loops->loop + loops->first[cluster];
  for (int32_t k = loops->rank[cluster] - 1; k >= 0; --k) {
    int32_t t = order[k];
    double impulse = g[k] / *tbi_basis_r(loops, cluster, k, t);
    loop[t].impulse = impulse;
    if (loop[t].open) loop[t].missed = loop[t].compliance * impulse;
    for (int32_t i = 0; i < tbi_basis_ranges(loops, cluster, t); ++i) {
      tbi_range stored = tbi_basis_range(loops, cluster, t, i, k);
      for (int32_t j = stored.begin; j < stored.end; ++j)
        g[j] -= *tbi_basis_r(loops, cluster, j, t) * impulse;
    }
  }
}

/* takes from a sum what lies along the k-th basis vector, slacks of springs included, which other
 * impulses do not have; how much that was */
static double take_along(const tbi_loops *loops, int32_t cluster, int32_t k, double *sum,
                         double *slack) {
  const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[cluster];
  int32_t dofs = tbi_cluster_dofs(loops->model, cluster);
  int32_t which = loops->order[loops->model->cluster_loop[cluster] + k];
  const double *q = tbi_loops_column(loops, cluster, which);
  const tbi_support *s = tbi_loops_support(loops, cluster, which);
  double taken = 0;
  for (int32_t i = 0; i < s->dofs; ++i)
    taken += q[s->at[i]] * sum[dof[s->at[i]]];
  for (int32_t i = s->dofs; i < s->count; ++i)
    taken += q[s->at[i]] * slack[s->at[i] - dofs];
  for (int32_t i = 0; i < s->dofs; ++i)
    sum[dof[s->at[i]]] -= taken * q[s->at[i]];
  for (int32_t i = s->dofs; i < s->count; ++i)
    slack[s->at[i] - dofs] -= taken * q[s->at[i]];
  return taken;
}

static void push_arms(const tbi_arms *arms, double impulse, double *at_joints) {
  for (int32_t i = 0; i < arms->count; ++i)
    at_joints[arms->dof[i]] += arms->share * arms->arm[i] * impulse;
}

void tbi_loops_push(const tbi_loops *loops, double share, sv *at_bodies, double *at_joints) {
  for (int32_t i = 0; i < loops->count; ++i) {
    const tbi_loop *loop = &loops->loop[i];
    double impulse = share * loop->impulse;
    push_arms(&loop->tendon[0], impulse, at_joints);
    push_arms(&loop->tendon[1], impulse, at_joints);
    if (loop->dof == TABI_NONE) {
      at_bodies[loop->body_a] = sv_axpy(at_bodies[loop->body_a], -impulse, loop->wrench_a);
      at_bodies[loop->body_b] = sv_axpy(at_bodies[loop->body_b], impulse, loop->wrench_b);
      continue;
    }
    at_joints[loop->dof] += impulse;
    if (loop->leader != TABI_NONE) at_joints[loop->leader] -= loop->slope * impulse;
  }
}

void tbi_loops_project(const tbi_loops *loops, double *sum) {
  for (int32_t c = 0; c < loops->model->ncluster; ++c) {
    double *slack = loops->wanted;
    memset(slack, 0, sizeof *slack * (size_t)tbi_cluster_max_loops(loops->model, c));
    for (int32_t k = 0; k < loops->rank[c]; ++k)
      (void)take_along(loops, c, k, sum, slack);
  }
}

void tbi_loops_finish(tbi_loops *loops, double *sum) {
  TBI_ASSERT(sum);
  for (int32_t t = 0; t < loops->count; ++t)
    loops->loop[t].impulse = 0;
  for (int32_t c = 0; c < loops->model->ncluster; ++c) {
    double *g = loops->g + loops->model->cluster_loop[c];
    double *slack = loops->wanted;
    memset(slack, 0, sizeof *slack * (size_t)tbi_cluster_max_loops(loops->model, c));
    for (int32_t k = 0; k < loops->rank[c]; ++k)
      g[k] -= take_along(loops, c, k, sum, slack);
    if (loops->rank[c] > 0) find_impulses(loops, c, g);
  }
}
