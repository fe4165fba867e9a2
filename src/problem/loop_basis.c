/* loop_basis.c - modified Gram-Schmidt with pivoting, bundle by bundle. */
#include "problem/loop_basis.h"

#include "base/assertion.h"

/* a column of which less than this share is new depends on those before it.  An open loop turns its
 * column by error / length of a bar, here 0.1 m, so the share grows with the largest error */
#define DEPENDENT      1e-6
#define DEPENDENT_MAX  1e-3
#define DEPENDENT_TURN 10.0 /* per m or rad of error */
/* a column this much shorter than the longest of its cluster is rounding: the loop cannot move */
#define IMMOBILE 1e-9
/* where a cluster has several bundles: the share that must be new at the bundle's turn, so that
 * pivots are nearly as good as if the best of all were chosen; and the share that is rounding */
#define GOOD     0.1
#define ROUNDING 1e-10

static double *column_of(const tbi_loops *loops, int32_t cluster, int32_t which) {
  return tbi_loops_column(loops, cluster, which);
}

static int32_t *order_of(const tbi_loops *loops, int32_t cluster) {
  return loops->order + loops->model->cluster_loop[cluster];
}

static int32_t *place_of(const tbi_loops *loops, int32_t cluster) {
  return loops->place + loops->model->cluster_loop[cluster];
}

static bool *late_of(const tbi_loops *loops, int32_t cluster) {
  return loops->late + loops->model->cluster_loop[cluster];
}

static bool has_bundles(const tbi_loops *loops, int32_t cluster) {
  return loops->bundles.cluster_count[cluster] > 1;
}

/* -- entries of R */

void tbi_basis_fill_r(const tbi_loops *loops, int32_t cluster, int32_t which, int32_t rank) {
  int32_t k = 0;
  for (int32_t i = 0; i < tbi_basis_ranges(loops, cluster, which); ++i) {
    tbi_range stored = tbi_basis_range(loops, cluster, which, i, rank);
    for (; k < stored.begin; ++k)
      *tbi_basis_r(loops, cluster, k, which) = 0;
    k = stored.end;
  }
  for (; k < rank; ++k)
    *tbi_basis_r(loops, cluster, k, which) = 0;
}

/* -- one pivot */

static double share_left(const tbi_loops *loops, int32_t cluster, int32_t which) {
  const tbi_support *s = tbi_loops_support(loops, cluster, which);
  const double *column = column_of(loops, cluster, which);
  return tbi_support_dot(s, s->count, column, column);
}

static void subtract(const tbi_support *s, double part, const double *q, double *column) {
  if (s->solid) {
    q += s->at[0];
    column += s->at[0];
    for (int32_t i = 0; i < s->count; ++i)
      column[i] -= part * q[i];
  } else {
    for (int32_t i = 0; i < s->count; ++i)
      column[s->at[i]] -= part * q[s->at[i]];
  }
}

/* takes the k-th pivot out of a column; which part it was */
static double take_from(const tbi_loops *loops, int32_t cluster, int32_t k, double *column) {
  int32_t which = order_of(loops, cluster)[k];
  const tbi_support *s = tbi_loops_support(loops, cluster, which);
  const double *q = column_of(loops, cluster, which);
  double part = tbi_support_dot(s, s->count, q, column);
  subtract(s, part, q, column);
  return part;
}

/* out of the columns of a bundle that are no pivots yet */
static void take_from_bundle(const tbi_loops *loops, int32_t cluster, int32_t k,
                             const tbi_bundle *bundle) {
  const int32_t *place = place_of(loops, cluster);
  for (int32_t t = bundle->loop; t < bundle->loop + bundle->count; ++t) {
    if (place[t] != TABI_NONE) continue;
    *tbi_basis_r(loops, cluster, k, t) = take_from(loops, cluster, k, column_of(loops, cluster, t));
  }
}

/* makes a pivot orthogonal once more to those before it, because what is left of a nearly dependent
 * column is mostly rounding */
static void straighten(const tbi_loops *loops, int32_t cluster, int32_t k) {
  int32_t which = order_of(loops, cluster)[k];
  double *pivot = column_of(loops, cluster, which);
  for (int32_t i = 0; i < tbi_basis_ranges(loops, cluster, which); ++i) {
    tbi_range before = tbi_basis_range(loops, cluster, which, i, k);
    for (int32_t j = before.begin; j < before.end; ++j)
      *tbi_basis_r(loops, cluster, j, which) += take_from(loops, cluster, j, pivot);
  }
}

/* makes the k-th pivot a unit vector */
static void normalise(const tbi_loops *loops, int32_t cluster, int32_t k) {
  int32_t which = order_of(loops, cluster)[k];
  double *pivot = column_of(loops, cluster, which);
  const tbi_support *s = tbi_loops_support(loops, cluster, which);
  double length = sqrt(tbi_support_dot(s, s->count, pivot, pivot));
  *tbi_basis_r(loops, cluster, k, which) = length;
  for (int32_t i = 0; i < s->count; ++i)
    pivot[s->at[i]] /= length;
  place_of(loops, cluster)[which] = k;
}

/* makes the k-th pivot and takes it out of the columns of its bundle and of those behind */
static void take_pivot(const tbi_loops *loops, int32_t cluster, int32_t k) {
  const tbi_bundle *bundle = tbi_loops_bundle(loops, cluster, order_of(loops, cluster)[k]);
  /* of several bundles, only columns that are new by a good share are pivots here */
  if (!has_bundles(loops, cluster)) straighten(loops, cluster, k);
  normalise(loops, cluster, k);
  take_from_bundle(loops, cluster, k, bundle);
  for (int32_t i = 0; i < bundle->nnext; ++i)
    take_from_bundle(loops, cluster, k, &loops->bundles.bundle[bundle->next[i]]);
}

/* the same of a column that was put off: only others of that kind are left */
static void take_late(const tbi_loops *loops, int32_t cluster, int32_t k, int32_t count) {
  straighten(loops, cluster, k);
  normalise(loops, cluster, k);
  for (int32_t t = 0; t < count; ++t) {
    if (!late_of(loops, cluster)[t] || place_of(loops, cluster)[t] != TABI_NONE) continue;
    *tbi_basis_r(loops, cluster, k, t) = take_from(loops, cluster, k, column_of(loops, cluster, t));
  }
}

/* takes the pivots of all bundles behind its own out of a column that was put off */
static void spread(const tbi_loops *loops, int32_t cluster, int32_t which, int32_t rank) {
  bool *late = &late_of(loops, cluster)[which];
  const tbi_bundle *own = tbi_loops_bundle(loops, cluster, which);
  *late = false;
  tbi_basis_fill_r(loops, cluster, which, rank);
  *late = true;
  loops->support[loops->model->cluster_loop[cluster] + which] = tbi_loops_whole(loops, cluster);
  for (int32_t k = own->pivot + own->rank; k < rank; ++k)
    *tbi_basis_r(loops, cluster, k, which) =
        take_from(loops, cluster, k, column_of(loops, cluster, which));
}

/* -- choice of pivots */

double tbi_basis_min_new_share(const tbi_loop *loop, int32_t count) {
  double share = DEPENDENT;
  for (int32_t t = 0; t < count; ++t)
    if (loop[t].compliance == 0) share = fmax(share, DEPENDENT_TURN * fabs(loop[t].error));
  share = fmin(share, DEPENDENT_MAX);
  return share * share;
}

/* what is asked of a pivot */
typedef struct demand {
  double longest; /* squared length of the longest column */
  double share;   /* squared, of a column that must be new */
} demand;

/* the square of the share of a column that is new; 0 where it is rounding */
static double new_share(const tbi_loops *loops, int32_t cluster, int32_t which, demand min) {
  double size = loops->size[which];
  if (size <= IMMOBILE * IMMOBILE * min.longest) return 0;
  return share_left(loops, cluster, which) / size;
}

/* the column of which most is new, of those at from..end in order; false if all of them depend */
static bool find_pivot(const tbi_loops *loops, int32_t cluster, int32_t from, int32_t end,
                       demand min) {
  int32_t *order = order_of(loops, cluster);
  double best = min.share;
  int32_t found = end;
  for (int32_t k = from; k < end; ++k) {
    double share = new_share(loops, cluster, order[k], min);
    if (share > best) {
      best = share;
      found = k;
    }
  }
  if (found == end) return false;
  int32_t which = order[found];
  order[found] = order[from];
  order[from] = which;
  return true;
}

/* Loops that are no pivots within their bundles: those put off, and those that depend. */
typedef struct leftover {
  int32_t late, lost;
} leftover;

static void set_aside(const tbi_loops *loops, int32_t cluster, int32_t which, demand min,
                      leftover *rest) {
  bool lost =
      !has_bundles(loops, cluster) || new_share(loops, cluster, which, min) <= ROUNDING * ROUNDING;
  loops->rest[lost ? --rest->lost : rest->late++] = which;
}

/* the pivots of a bundle, from `rank` on; the rank then */
static int32_t take_bundle(const tbi_loops *loops, int32_t cluster, tbi_bundle *bundle,
                           int32_t rank, demand min, leftover *rest) {
  int32_t *order = order_of(loops, cluster);
  int32_t end = rank + bundle->count;
  demand local = min;
  if (has_bundles(loops, cluster)) local.share = fmax(min.share, GOOD * GOOD);
  bundle->pivot = rank;
  bundle->rank = 0;
  for (int32_t i = 0; i < bundle->count; ++i)
    order[rank + i] = bundle->loop + i;
  for (; rank < end && find_pivot(loops, cluster, rank, end, local); ++rank) {
    ++bundle->rank;
    take_pivot(loops, cluster, rank);
  }
  for (int32_t k = rank; k < end; ++k)
    set_aside(loops, cluster, order[k], min, rest);
  return rank;
}

/* the pivots among columns that were put off */
static int32_t take_rest(const tbi_loops *loops, int32_t cluster, int32_t rank, int32_t count,
                         demand min, leftover rest) {
  int32_t *order = order_of(loops, cluster);
  int32_t end = rank + rest.late;
  for (int32_t i = 0; i < rest.late; ++i) {
    order[rank + i] = loops->rest[i];
    spread(loops, cluster, loops->rest[i], rank);
  }
  for (int32_t i = end; i < count; ++i)
    order[i] = loops->rest[i];
  for (; rank < end && find_pivot(loops, cluster, rank, end, min); ++rank)
    take_late(loops, cluster, rank, count);
  return rank;
}

static void begin_basis(const tbi_loops *loops, int32_t cluster, int32_t count) {
  for (int32_t t = 0; t < count; ++t)
    place_of(loops, cluster)[t] = TABI_NONE;
}

int32_t tbi_basis_find(tbi_loops *loops, int32_t cluster, int32_t count) {
  const tbi_bundles *b = &loops->bundles;
  demand min = {0, tbi_basis_min_new_share(loops->loop + loops->first[cluster], count)};
  for (int32_t t = 0; t < count; ++t)
    min.longest = fmax(min.longest, loops->size[t]);
  begin_basis(loops, cluster, count);
  leftover rest = {0, count};
  int32_t rank = 0;
  for (int32_t i = 0; i < b->cluster_count[cluster]; ++i) {
    tbi_bundle *bundle = &b->bundle[b->sequence[b->cluster_bundle[cluster] + i]];
    rank = take_bundle(loops, cluster, bundle, rank, min, &rest);
  }
  loops->local[cluster] = rank;
  return take_rest(loops, cluster, rank, count, min, rest);
}

/* whether the k-th pivot of before is still one */
static bool is_still_pivot(const tbi_loops *loops, int32_t cluster, int32_t k) {
  int32_t which = order_of(loops, cluster)[k];
  return share_left(loops, cluster, which) > IMMOBILE * IMMOBILE * loops->size[which];
}

int32_t tbi_basis_find_again(tbi_loops *loops, int32_t cluster, int32_t count) {
  int32_t local = loops->local[cluster];
  int32_t rank = 0;
  begin_basis(loops, cluster, count);
  for (; rank < local && is_still_pivot(loops, cluster, rank); ++rank)
    take_pivot(loops, cluster, rank);
  for (int32_t t = 0; t < count; ++t) {
    if (late_of(loops, cluster)[t]) spread(loops, cluster, t, rank);
  }
  if (rank < local) return rank;
  for (; rank < loops->rank[cluster] && is_still_pivot(loops, cluster, rank); ++rank)
    take_late(loops, cluster, rank, count);
  return rank;
}
