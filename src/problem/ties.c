/* ties.c - the independent columns of a cluster by modified Gram-Schmidt with pivoting. */
#include "problem/ties.h"

#include "math/linalg.h"
#include "problem/half_solve.h"

/* a column of which less than this share is new depends on those before it: between these, by how
 * far open ties turn columns away from where they belong, for bars of 0.1 m */
#define DEPENDENT      1e-6
#define DEPENDENT_MOST 1e-3
#define DEPENDENT_TURN 10.0 /* per m or rad of gap */
/* a column this much shorter than the longest of its cluster is rounding: nothing can move there */
#define IMMOBILE 1e-9
/* ties that miss their targets by more than this, m/s or rad/s, contradict each other */
#define CONTRADICTION 1e-9

/* the velocities of a cluster, and one more number for each tie: its slack if it is a spring */
static int32_t width_of(const tabi_model *model, int32_t cluster) {
  return tbi_cluster_dofs(model, cluster) + tbi_cluster_room(model, cluster);
}

void tbi_ties_place(tbi_layout *at, const tabi_model *model, tbi_ties *ties) {
  int32_t most = model->cluster_tie[model->ncluster];
  ties->model = model;
  ties->cluster_column = tbi_layout_take(at, model->ncluster, sizeof *ties->cluster_column);
  ties->cluster_r = tbi_layout_take(at, model->ncluster, sizeof *ties->cluster_r);
  int64_t columns = 0;
  int64_t squares = 0;
  int64_t largest = 0;
  for (int32_t c = 0; c < model->ncluster; ++c) {
    int64_t room = tbi_cluster_room(model, c);
    if (at->base) ties->cluster_column[c] = columns;
    if (at->base) ties->cluster_r[c] = squares;
    columns += room * width_of(model, c);
    squares += room * room;
    largest = room > largest ? room : largest;
  }
  ties->tie = tbi_layout_take(at, most, sizeof *ties->tie);
  ties->regain = tbi_layout_take(at, most, sizeof *ties->regain);
  ties->first = tbi_layout_take(at, model->ncluster, sizeof *ties->first);
  ties->rank = tbi_layout_take(at, model->ncluster, sizeof *ties->rank);
  ties->torn = tbi_layout_take(at, model->ncluster, sizeof *ties->torn);
  ties->order = tbi_layout_take(at, most, sizeof *ties->order);
  ties->column = tbi_layout_take(at, columns, sizeof *ties->column);
  ties->r = tbi_layout_take(at, squares, sizeof *ties->r);
  ties->g = tbi_layout_take(at, most, sizeof *ties->g);
  ties->wanted = tbi_layout_take(at, largest, sizeof *ties->wanted);
  ties->size = tbi_layout_take(at, largest, sizeof *ties->size);
  ties->change = tbi_layout_take(at, largest, sizeof *ties->change);
  ties->normal = tbi_layout_take(at, largest * largest, sizeof *ties->normal);
}

/* entry of R: row by pivot, column by tie */
static double *r_of(const tbi_ties *ties, int32_t cluster, int32_t pivot, int32_t which) {
  int32_t room = tbi_cluster_room(ties->model, cluster);
  return ties->r + ties->cluster_r[cluster] + (int64_t)pivot * room + which;
}

static void subtract(double *to, double a, const double *from, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    to[i] -= a * from[i];
}

/* what columns are made with */
typedef struct maker {
  const tbi_ties *ties;
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
static void pull_spring(tbi_tie *tie, double h, double mobility) {
  double k = tie->stiffness;
  double phase = h * h * k * mobility;
  double late = phase / (1 + phase);
  double even = 0.25 * (1 - late);
  tie->compliance = 1 / (h * h * k * (late + even) + h * tie->damping);
  double rest =
      tie->error + late * 0.5 * h * h * tie->drift + even * h * (h * tie->drift - tie->velocity);
  tie->target = -tie->compliance * h * k * rest;
}

/* columns, their lengths, and what is wanted of them beyond what z does */
static void fill_columns(const maker *m, int32_t cluster, int32_t count, const double *z) {
  const tbi_ties *ties = m->ties;
  const int32_t *dof = ties->model->dof_order + ties->model->cluster_dof[cluster];
  int32_t dofs = tbi_cluster_dofs(ties->model, cluster);
  int32_t width = width_of(ties->model, cluster);
  for (int32_t t = 0; t < count; ++t) {
    tbi_tie *tie = &ties->tie[ties->first[cluster] + t];
    double *column = tbi_ties_column(ties, cluster, t);
    memset(column, 0, sizeof *column * (size_t)width);
    add_body(m, tie->body_b, tie->wrench_b, 1, column);
    add_body(m, tie->body_a, tie->wrench_a, -1, column);
    add_joint(m, tie->dof, 1, column);
    add_joint(m, tie->leader, -tie->slope, column);
    if (tie->stiffness > 0 || tie->damping > 0) {
      pull_spring(tie, ties->timestep, tbi_dot(column, column, dofs));
    }
    double moved = tie->velocity;
    for (int32_t i = 0; i < dofs; ++i)
      moved += column[i] * z[dof[i]];
    ties->wanted[t] = tie->target - moved;
    column[dofs + t] = sqrt(tie->compliance);
    ties->size[t] = tbi_dot(column, column, width);
  }
}

/* the square of the share that counts as new */
static double least_share(const tbi_ties *ties, int32_t cluster, int32_t count) {
  double share = DEPENDENT;
  for (int32_t t = 0; t < count; ++t) {
    const tbi_tie *tie = &ties->tie[ties->first[cluster] + t];
    if (tie->compliance == 0) share = fmax(share, DEPENDENT_TURN * fabs(tie->error));
  }
  share = fmin(share, DEPENDENT_MOST);
  return share * share;
}

/* what orthonormalise() asks of a pivot */
typedef struct demand {
  double longest; /* squared length of the longest column */
  double share;   /* squared, of a column that must be new */
} demand;

/* the column of which most is new; its place in order, or `count` if all that are left depend */
static int32_t find_pivot(const tbi_ties *ties, int32_t cluster, int32_t from, int32_t count,
                          demand least) {
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  int32_t width = width_of(ties->model, cluster);
  double best = least.share;
  int32_t found = count;
  for (int32_t k = from; k < count; ++k) {
    double size = ties->size[order[k]];
    if (size <= IMMOBILE * IMMOBILE * least.longest) continue;
    const double *column = tbi_ties_column(ties, cluster, order[k]);
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
static void take_pivot(const tbi_ties *ties, int32_t cluster, int32_t k, int32_t count) {
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  int32_t width = width_of(ties->model, cluster);
  double *pivot = tbi_ties_column(ties, cluster, order[k]);
  for (int32_t i = 0; i < k; ++i) {
    const double *q = tbi_ties_column(ties, cluster, order[i]);
    double part = tbi_dot(q, pivot, width);
    subtract(pivot, part, q, width);
    *r_of(ties, cluster, i, order[k]) += part;
  }
  double length = sqrt(tbi_dot(pivot, pivot, width));
  *r_of(ties, cluster, k, order[k]) = length;
  for (int32_t i = 0; i < width; ++i)
    pivot[i] /= length;
  for (int32_t j = k + 1; j < count; ++j) {
    double *column = tbi_ties_column(ties, cluster, order[j]);
    double part = tbi_dot(pivot, column, width);
    subtract(column, part, pivot, width);
    *r_of(ties, cluster, k, order[j]) = part;
  }
}

/* the pivots found before, as far as they still can be */
static int32_t orthonormalise_again(tbi_ties *ties, int32_t cluster, int32_t count) {
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  int32_t width = width_of(ties->model, cluster);
  for (int32_t k = 0; k < ties->rank[cluster]; ++k) {
    const double *column = tbi_ties_column(ties, cluster, order[k]);
    double size = ties->size[order[k]];
    if (!(tbi_dot(column, column, width) > IMMOBILE * IMMOBILE * size)) return k;
    take_pivot(ties, cluster, k, count);
  }
  return ties->rank[cluster];
}

static int32_t orthonormalise(tbi_ties *ties, int32_t cluster, int32_t count) {
  int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  demand least = {0, least_share(ties, cluster, count)};
  int32_t room = tbi_cluster_room(ties->model, cluster);
  memset(r_of(ties, cluster, 0, 0), 0, sizeof *ties->r * (size_t)room * (size_t)room);
  for (int32_t t = 0; t < count; ++t) {
    order[t] = t;
    least.longest = fmax(least.longest, ties->size[t]);
  }
  for (int32_t k = 0; k < count; ++k) {
    int32_t found = find_pivot(ties, cluster, k, count, least);
    if (found == count) return k;
    int32_t which = order[found];
    order[found] = order[k];
    order[k] = which;
    take_pivot(ties, cluster, k, count);
  }
  return count;
}

/* what tie t gets from g */
static double reached(const tbi_ties *ties, int32_t cluster, int32_t rank, int32_t t,
                      const double *g) {
  double sum = 0;
  for (int32_t k = 0; k < rank; ++k)
    sum += *r_of(ties, cluster, k, t) * g[k];
  return sum;
}

/* R' g = wanted for the independent ties */
static void solve_independent(const tbi_ties *ties, int32_t cluster, int32_t rank, double *g) {
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  for (int32_t k = 0; k < rank; ++k) {
    double rest = ties->wanted[order[k]] - reached(ties, cluster, k, order[k], g);
    g[k] = rest / *r_of(ties, cluster, k, order[k]);
  }
}

static double note_missed(tbi_ties *ties, int32_t cluster, int32_t rank, int32_t count,
                          const double *g) {
  double worst = 0;
  for (int32_t t = 0; t < count; ++t) {
    tbi_tie *tie = &ties->tie[ties->first[cluster] + t];
    tie->missed = ties->wanted[t] - reached(ties, cluster, rank, t, g);
    worst = fmax(worst, fabs(tie->missed));
  }
  return worst;
}

/* g that misses the targets of all ties least: (R R') change = R missed.  Twice, because the matrix
 * squares whatever condition the ties are in. */
static void solve_least_squares(tbi_ties *ties, int32_t cluster, int32_t rank, int32_t count,
                                double *g) {
  double *normal = ties->normal;
  for (int32_t i = 0; i < rank; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int32_t t = 0; t < count; ++t)
        sum += *r_of(ties, cluster, i, t) * *r_of(ties, cluster, j, t);
      normal[(int64_t)i * rank + j] = sum;
    }
  }
  tbi_cholesky(rank, normal, rank);
  double *change = ties->change;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < rank; ++i) {
      change[i] = 0;
      for (int32_t t = 0; t < count; ++t)
        change[i] += *r_of(ties, cluster, i, t) * ties->tie[ties->first[cluster] + t].missed;
    }
    tbi_cholesky_solve(rank, normal, rank, change);
    for (int32_t i = 0; i < rank; ++i)
      g[i] += change[i];
    (void)note_missed(ties, cluster, rank, count, g);
  }
}

/* g of a cluster, of which `rank` ties are independent */
static void solve_targets(tbi_ties *ties, int32_t cluster, int32_t rank, int32_t count,
                          bool again) {
  double *g = ties->g + ties->model->cluster_tie[cluster];
  solve_independent(ties, cluster, rank, g);
  if (rank == count) return;
  double missed = note_missed(ties, cluster, rank, count, g);
  if (!again) ties->torn[cluster] = missed > CONTRADICTION;
  if (ties->torn[cluster]) solve_least_squares(ties, cluster, rank, count, g);
}

static void solve_cluster(tbi_ties *ties, int32_t cluster, int32_t count, bool again, double *z) {
  int32_t rank =
      again ? orthonormalise_again(ties, cluster, count) : orthonormalise(ties, cluster, count);
  if (!again) ties->rank[cluster] = rank;
  solve_targets(ties, cluster, rank, count, again);
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  for (int32_t k = 0; k < count; ++k)
    ties->tie[ties->first[cluster] + order[k]].redundant = k >= rank;
  const double *g = ties->g + ties->model->cluster_tie[cluster];
  const int32_t *dof = ties->model->dof_order + ties->model->cluster_dof[cluster];
  int32_t dofs = tbi_cluster_dofs(ties->model, cluster);
  for (int32_t k = 0; k < rank; ++k) {
    const double *q = tbi_ties_basis(ties, cluster, k);
    for (int32_t i = 0; i < dofs; ++i)
      z[dof[i]] += g[k] * q[i];
  }
}

static int32_t count_of(const tbi_ties *ties, int32_t first, int32_t cluster) {
  int32_t end = first;
  while (end < ties->count && ties->tie[end].cluster == cluster)
    ++end;
  return end - first;
}

void tbi_ties_solve(tbi_ties *ties, const tabi_dynamics *d, const double *pivot_root, double *z,
                    double *scratch) {
  maker m = {ties, d, pivot_root, NULL};
  m.scratch = scratch;
  int32_t first = 0;
  for (int32_t c = 0; c < ties->model->ncluster; ++c) {
    int32_t count = count_of(ties, first, c);
    ties->first[c] = first;
    ties->rank[c] = 0;
    ties->torn[c] = false;
    if (count == 0) continue;
    fill_columns(&m, c, count, z);
    solve_cluster(ties, c, count, false, z);
    first += count;
  }
}

void tbi_ties_solve_again(tbi_ties *ties, const tabi_dynamics *d, const double *pivot_root,
                          double *z, double *scratch) {
  maker m = {ties, d, pivot_root, NULL};
  m.scratch = scratch;
  for (int32_t c = 0; c < ties->model->ncluster; ++c) {
    int32_t count = count_of(ties, ties->first[c], c);
    if (count == 0) continue;
    fill_columns(&m, c, count, z);
    solve_cluster(ties, c, count, true, z);
  }
}

/* R p = g back for the independent ties; the others rest */
static void find_impulses(const tbi_ties *ties, int32_t cluster, double *g) {
  const int32_t *order = ties->order + ties->model->cluster_tie[cluster];
  tbi_tie *tie = ties->tie + ties->first[cluster];
  int32_t rank = ties->rank[cluster];
  for (int32_t k = rank - 1; k >= 0; --k) {
    double impulse = g[k] / *r_of(ties, cluster, k, order[k]);
    tie[order[k]].impulse = impulse;
    for (int32_t i = 0; i < k; ++i)
      g[i] -= *r_of(ties, cluster, i, order[k]) * impulse;
  }
}

void tbi_ties_finish(tbi_ties *ties, double *sum) {
  for (int32_t t = 0; t < ties->count; ++t)
    ties->tie[t].impulse = 0;
  for (int32_t c = 0; c < ties->model->ncluster; ++c) {
    const int32_t *dof = ties->model->dof_order + ties->model->cluster_dof[c];
    int32_t dofs = tbi_cluster_dofs(ties->model, c);
    double *g = ties->g + ties->model->cluster_tie[c];
    for (int32_t k = 0; k < ties->rank[c]; ++k) {
      const double *q = tbi_ties_basis(ties, c, k);
      double taken = 0;
      for (int32_t i = 0; i < dofs; ++i)
        taken += q[i] * sum[dof[i]];
      for (int32_t i = 0; i < dofs; ++i)
        sum[dof[i]] -= taken * q[i];
      g[k] -= taken;
    }
    if (ties->rank[c] > 0) find_impulses(ties, c, g);
  }
}
