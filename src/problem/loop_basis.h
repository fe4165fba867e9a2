/* loop_basis.h - the independent columns of a cluster, made orthonormal.
 *
 * Modified Gram-Schmidt with pivoting, bundle by bundle (bundles.h).  A column of which too little
 * is new at its bundle's turn is put off: when all bundles are taken, the best of those follow. */
#ifndef TBI_LOOP_BASIS_H
#define TBI_LOOP_BASIS_H

#include "math/linalg.h"
#include "problem/loops.h"

/* Pivots begin..end. */
typedef struct tbi_range {
  int32_t begin, end;
} tbi_range;

/* the support of a column that may have no zeros */
static inline tbi_support tbi_loops_whole(const tbi_loops *loops, int32_t cluster) {
  return (tbi_support){.at = loops->bundles.all,
                       .count = tbi_cluster_width(loops->model, cluster),
                       .dofs = tbi_cluster_dofs(loops->model, cluster),
                       .solid = true};
}

/* entry of R: row by pivot, column by loop */
static inline double *tbi_basis_r(const tbi_loops *loops, int32_t cluster, int32_t pivot,
                                  int32_t which) {
  int32_t max_loops = tbi_cluster_max_loops(loops->model, cluster);
  return loops->r + loops->cluster_r[cluster] + (int64_t)pivot * max_loops + which;
}

/* The pivots below `end` that a loop's column of R has entries for; it has zeros for all others,
 * which are not stored.  They are that many ranges, ascending. */
static inline int32_t tbi_basis_ranges(const tbi_loops *loops, int32_t cluster, int32_t which) {
  bool late = loops->late[loops->model->cluster_loop[cluster] + which];
  return late ? 1 : tbi_loops_bundle(loops, cluster, which)->nbefore + 1;
}
static inline tbi_range tbi_basis_range(const tbi_loops *loops, int32_t cluster, int32_t which,
                                        int32_t i, int32_t end) {
  int32_t at = loops->model->cluster_loop[cluster] + which;
  int32_t place = loops->place[at];
  if (place != TABI_NONE && place < end) end = place + 1;
  if (loops->late[at]) return (tbi_range){0, end};
  const tbi_bundle *own = &loops->bundles.bundle[loops->bundle[at]];
  const tbi_bundle *b = i < own->nbefore ? &loops->bundles.bundle[own->before[i]] : own;
  int32_t stop = b->pivot + b->rank;
  return (tbi_range){b->pivot < end ? b->pivot : end, stop < end ? stop : end};
}
/* Stores the zeros, too, up to the pivot `rank`. */
void tbi_basis_fill_r(const tbi_loops *loops, int32_t cluster, int32_t which, int32_t rank);

/* Columns and their sizes -> Q, R, order, place; the rank. */
int32_t tbi_basis_find(tbi_loops *loops, int32_t cluster, int32_t count);
/* The same with the pivots found before, as far as they still can be. */
int32_t tbi_basis_find_again(tbi_loops *loops, int32_t cluster, int32_t count);

/* a' b over the first n numbers of a support */
static inline double tbi_support_dot(const tbi_support *s, int32_t n, const double *a,
                                     const double *b) {
  if (s->solid) return tbi_dot(a + s->at[0], b + s->at[0], n);
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += a[s->at[i]] * b[s->at[i]];
  return sum;
}

/* The square of the share of a column that must be new, or it depends on others. */
double tbi_basis_min_new_share(const tbi_loop *loop, int32_t count);

#endif
