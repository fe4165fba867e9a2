/* loops.c - the independent columns of a cluster by modified Gram-Schmidt with pivoting. */
#include "problem/loops.h"

#include "base/assertion.h"
#include "math/linalg.h"
#include "problem/half_solve.h"

/* a column of which less than this share is new depends on those before it.  An open loop turns its
 * column by error / length of a bar, here 0.1 m, so the share grows with the largest error */
#define DEPENDENT      1e-6
#define DEPENDENT_MAX  1e-3
#define DEPENDENT_TURN 10.0 /* per m or rad of error */
/* a column this much shorter than the longest of its cluster is rounding: the loop cannot move */
#define IMMOBILE 1e-9
/* loops that miss their targets by more than this, m/s or rad/s, contradict each other */
#define CONTRADICTION 1e-9

/* the velocities of a cluster, and one more number for each loop: its slack if it is a spring */
static int32_t width_of(const tabi_model *model, int32_t cluster) {
  return tbi_cluster_dofs(model, cluster) + tbi_cluster_max_loops(model, cluster);
}

void tbi_loops_place(tbi_layout *at, const tabi_model *model, tbi_loops *loops) {
  int32_t max = model->cluster_loop[model->ncluster];
  loops->model = model;
  loops->cluster_column = tbi_layout_take(at, model->ncluster, sizeof *loops->cluster_column);
  loops->cluster_r = tbi_layout_take(at, model->ncluster, sizeof *loops->cluster_r);
  int64_t columns = 0;
  int64_t squares = 0;
  int64_t largest = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    int64_t max_loops = tbi_cluster_max_loops(model, c);
    if (at->base) loops->cluster_column[c] = columns;
    if (at->base) loops->cluster_r[c] = squares;
    columns += max_loops * width_of(model, c);
    squares += max_loops * max_loops;
    largest = max_loops > largest ? max_loops : largest;
  }
  loops->loop = tbi_layout_take(at, max, sizeof *loops->loop);
  loops->regain = tbi_layout_take(at, max, sizeof *loops->regain);
  loops->first = tbi_layout_take(at, model->ncluster, sizeof *loops->first);
  loops->rank = tbi_layout_take(at, model->ncluster, sizeof *loops->rank);
  loops->inconsistent = tbi_layout_take(at, model->ncluster, sizeof *loops->inconsistent);
  loops->order = tbi_layout_take(at, max, sizeof *loops->order);
  loops->column = tbi_layout_take(at, columns, sizeof *loops->column);
  loops->r = tbi_layout_take(at, squares, sizeof *loops->r);
  loops->g = tbi_layout_take(at, max, sizeof *loops->g);
  loops->wanted = tbi_layout_take(at, largest, sizeof *loops->wanted);
  loops->size = tbi_layout_take(at, largest, sizeof *loops->size);
  loops->change = tbi_layout_take(at, largest, sizeof *loops->change);
  loops->normal = tbi_layout_take(at, largest * largest, sizeof *loops->normal);
}

/* entry of R: row by pivot, column by loop */
static double *r_of(const tbi_loops *loops, int32_t cluster, int32_t pivot, int32_t which) {
  TBI_ASSERT(pivot < tbi_cluster_max_loops(loops->model, cluster));
  int32_t max_loops = tbi_cluster_max_loops(loops->model, cluster);
  return loops->r + loops->cluster_r[cluster] + (int64_t)pivot * max_loops + which;
}

static void subtract(double *to, double a, const double *from, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    to[i] -= a * from[i];
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

/* A spring of force -k g' - d u.  With g' = g plus a quarter of what g turns away from a straight
 * line over this step and the one before, it is stable at any stiffness and keeps its energy; with
 * g' at the end of the step it loses some, and what a step cannot resolve dies out.  The share of
 * the latter grows with the square of the phase that the spring alone would pass in a step. */
static void pull_spring(tbi_loop *loop, double h, double mobility) {
  double k = loop->stiffness;
  double phase = h * h * k * mobility;
  double late = phase / (1 + phase);
  double even = 0.25 * (1 - late);
  loop->compliance = 1 / (h * h * k * (late + even) + h * loop->damping);
  double error = loop->error + late * 0.5 * h * h * loop->drift +
                 even * h * (h * loop->drift - loop->velocity);
  loop->target = -loop->compliance * h * k * error;
}

/* columns, their squared lengths, and by how much z misses the targets */
static void fill_columns(const maker *m, int32_t cluster, int32_t count, const double *z) {
  const tbi_loops *loops = m->loops;
  const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[cluster];
  int32_t dofs = tbi_cluster_dofs(loops->model, cluster);
  int32_t width = width_of(loops->model, cluster);
  for (int32_t t = 0; t < count; ++t) {
    tbi_loop *loop = &loops->loop[loops->first[cluster] + t];
    double *column = tbi_loops_column(loops, cluster, t);
    memset(column, 0, sizeof *column * (size_t)width);
    add_body(m, loop->body_b, loop->wrench_b, 1, column);
    add_body(m, loop->body_a, loop->wrench_a, -1, column);
    add_joint(m, loop->dof, 1, column);
    add_joint(m, loop->leader, -loop->slope, column);
    if (loop->stiffness > 0 || loop->damping > 0) {
      pull_spring(loop, loops->timestep, tbi_dot(column, column, dofs));
    }
    double moved = loop->velocity;
    for (int32_t i = 0; i < dofs; ++i)
      moved += column[i] * z[dof[i]];
    loops->wanted[t] = loop->target - moved;
    column[dofs + t] = sqrt(loop->compliance);
    loops->size[t] = tbi_dot(column, column, width);
  }
}

/* the square of the share of a column that must be new */
static double min_new_share(const tbi_loops *loops, int32_t cluster, int32_t count) {
  double share = DEPENDENT;
  for (int32_t t = 0; t < count; ++t) {
    const tbi_loop *loop = &loops->loop[loops->first[cluster] + t];
    if (loop->compliance == 0) share = fmax(share, DEPENDENT_TURN * fabs(loop->error));
  }
  share = fmin(share, DEPENDENT_MAX);
  return share * share;
}

/* what orthonormalise() asks of a pivot */
typedef struct demand {
  double longest; /* squared length of the longest column */
  double share;   /* squared, of a column that must be new */
} demand;

/* the column of which most is new; its place in order, or `count` if all that are left depend */
static int32_t find_pivot(const tbi_loops *loops, int32_t cluster, int32_t from, int32_t count,
                          demand min) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  int32_t width = width_of(loops->model, cluster);
  double best = min.share;
  int32_t found = count;
  for (int32_t k = from; k < count; ++k) {
    double size = loops->size[order[k]];
    if (size <= IMMOBILE * IMMOBILE * min.longest) continue;
    const double *column = tbi_loops_column(loops, cluster, order[k]);
    double share = tbi_dot(column, column, width) / size;
    if (share > best) {
      best = share;
      found = k;
    }
  }
  return found;
}

/* make the k-th pivot a unit vector and take it out of the columns behind; once more against those
 * before it, because what is left of a nearly dependent column is mostly rounding */
static void take_pivot(const tbi_loops *loops, int32_t cluster, int32_t k, int32_t count) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  int32_t width = width_of(loops->model, cluster);
  double *pivot = tbi_loops_column(loops, cluster, order[k]);
  for (int32_t i = 0; i < k; ++i) {
    const double *q = tbi_loops_column(loops, cluster, order[i]);
    double part = tbi_dot(q, pivot, width);
    subtract(pivot, part, q, width);
    *r_of(loops, cluster, i, order[k]) += part;
  }
  double length = sqrt(tbi_dot(pivot, pivot, width));
  *r_of(loops, cluster, k, order[k]) = length;
  for (int32_t i = 0; i < width; ++i)
    pivot[i] /= length;
  for (int32_t j = k + 1; j < count; ++j) {
    double *column = tbi_loops_column(loops, cluster, order[j]);
    double part = tbi_dot(pivot, column, width);
    subtract(column, part, pivot, width);
    *r_of(loops, cluster, k, order[j]) = part;
  }
}

/* the pivots found before, as far as they still can be */
static int32_t orthonormalise_again(tbi_loops *loops, int32_t cluster, int32_t count) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  int32_t width = width_of(loops->model, cluster);
  for (int32_t k = 0; k < loops->rank[cluster]; ++k) {
    const double *column = tbi_loops_column(loops, cluster, order[k]);
    double size = loops->size[order[k]];
    if (!(tbi_dot(column, column, width) > IMMOBILE * IMMOBILE * size)) return k;
    take_pivot(loops, cluster, k, count);
  }
  return loops->rank[cluster];
}

static int32_t orthonormalise(tbi_loops *loops, int32_t cluster, int32_t count) {
  int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  demand min = {0, min_new_share(loops, cluster, count)};
  int32_t max_loops = tbi_cluster_max_loops(loops->model, cluster);
  memset(r_of(loops, cluster, 0, 0), 0, sizeof *loops->r * (size_t)max_loops * (size_t)max_loops);
  for (int32_t t = 0; t < count; ++t) {
    order[t] = t;
    min.longest = fmax(min.longest, loops->size[t]);
  }
  for (int32_t k = 0; k < count; ++k) {
    int32_t found = find_pivot(loops, cluster, k, count, min);
    if (found == count) return k;
    int32_t which = order[found];
    order[found] = order[k];
    order[k] = which;
    take_pivot(loops, cluster, k, count);
  }
  return count;
}

/* change of the velocity of loop t by g */
static double reached(const tbi_loops *loops, int32_t cluster, int32_t rank, int32_t t,
                      const double *g) {
  double sum = 0;
  for (int32_t k = 0; k < rank; ++k)
    sum += *r_of(loops, cluster, k, t) * g[k];
  return sum;
}

/* R' g = wanted for the independent loops */
static void solve_independent(const tbi_loops *loops, int32_t cluster, int32_t rank, double *g) {
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  for (int32_t k = 0; k < rank; ++k) {
    double missing = loops->wanted[order[k]] - reached(loops, cluster, k, order[k], g);
    g[k] = missing / *r_of(loops, cluster, k, order[k]);
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
  for (int32_t i = 0; i < rank; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int32_t t = 0; t < count; ++t)
        sum += *r_of(loops, cluster, i, t) * *r_of(loops, cluster, j, t);
      normal[(int64_t)i * rank + j] = sum;
    }
  }
  tbi_cholesky(rank, normal, rank);
  double *change = loops->change;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < rank; ++i) {
      change[i] = 0;
      for (int32_t t = 0; t < count; ++t)
        change[i] += *r_of(loops, cluster, i, t) * loops->loop[loops->first[cluster] + t].missed;
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
  if (!again) loops->inconsistent[cluster] = missed > CONTRADICTION;
  if (loops->inconsistent[cluster]) solve_least_squares(loops, cluster, rank, count, g);
}

static void solve_cluster(tbi_loops *loops, int32_t cluster, int32_t count, bool again, double *z) {
  int32_t rank =
      again ? orthonormalise_again(loops, cluster, count) : orthonormalise(loops, cluster, count);
  if (!again) loops->rank[cluster] = rank;
  solve_targets(loops, cluster, rank, count, again);
  const int32_t *order = loops->order + loops->model->cluster_loop[cluster];
  for (int32_t k = 0; k < count; ++k)
    loops->loop[loops->first[cluster] + order[k]].redundant = k >= rank;
  const double *g = loops->g + loops->model->cluster_loop[cluster];
  const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[cluster];
  int32_t dofs = tbi_cluster_dofs(loops->model, cluster);
  for (int32_t k = 0; k < rank; ++k) {
    const double *q = tbi_loops_basis(loops, cluster, k);
    for (int32_t i = 0; i < dofs; ++i)
      z[dof[i]] += g[k] * q[i];
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
  int32_t rank = loops->rank[cluster];
  for (int32_t k = rank - 1; k >= 0; --k) {
    double impulse = g[k] / *r_of(loops, cluster, k, order[k]);
    loop[order[k]].impulse = impulse;
    for (int32_t i = 0; i < k; ++i)
      g[i] -= *r_of(loops, cluster, i, order[k]) * impulse;
  }
}

void tbi_loops_finish(tbi_loops *loops, double *sum) {
  TBI_ASSERT(sum);
  for (int32_t t = 0; t < loops->count; ++t)
    loops->loop[t].impulse = 0;
  for (int32_t c = 0; c < loops->model->ncluster; ++c) {
    const int32_t *dof = loops->model->dof_order + loops->model->cluster_dof[c];
    int32_t dofs = tbi_cluster_dofs(loops->model, c);
    double *g = loops->g + loops->model->cluster_loop[c];
    for (int32_t k = 0; k < loops->rank[c]; ++k) {
      const double *q = tbi_loops_basis(loops, c, k);
      double taken = 0;
      for (int32_t i = 0; i < dofs; ++i)
        taken += q[i] * sum[dof[i]];
      for (int32_t i = 0; i < dofs; ++i)
        sum[dof[i]] -= taken * q[i];
      g[k] -= taken;
    }
    if (loops->rank[c] > 0) find_impulses(loops, c, g);
  }
}
