/* pseudo.c - see pseudo.h. */
#include "math/pseudo.h"

#include "base/assertion.h"
#include "math/linalg.h"

#include <string.h>

tbi_pseudo tbi_pseudo_make(int32_t n, double *room) {
  TBI_ASSERT(n >= 0 && room);
  size_t square = (size_t)n * (size_t)n;
  return (tbi_pseudo){.n = n,
                      .l = room,
                      .column = room + square,
                      .normal = room + 2 * square,
                      .left = room + 3 * square,
                      .y = room + 3 * square + (size_t)n,
                      .pivot = (int32_t *)(void *)(room + 3 * square + 2 * (size_t)n)};
}

/* the unknown from..to of which most is left; n if none has enough of its diagonal */
static int32_t find_pivot(const tbi_pseudo *p, const double *a, int32_t from, int32_t to,
                          double share) {
  int32_t best = p->n;
  for (int32_t i = from; i < to; ++i) {
    double own = a[(size_t)i * (size_t)p->n + (size_t)i];
    if (own <= 0 || p->left[i] <= share * own) continue;
    if (best == p->n || p->left[i] > p->left[best]) best = i;
  }
  return best;
}

/* Column k of L, of which `pivot` is the first.  Sums run over all rows at once, each in the order
 * of a dot product. */
static void add_column(tbi_pseudo *p, const double *a, int32_t k, int32_t pivot) {
  size_t n = (size_t)p->n;
  double *column = p->column + (size_t)k * n;
  TBI_ASSERT(pivot < p->n && p->left[pivot] > 0); /* find_pivot() */
  double root = sqrt(p->left[pivot]);
  memset(column, 0, sizeof *column * n);
  for (int32_t j = 0; j < k; ++j) {
    const double *before = p->column + (size_t)j * n;
    double top = before[pivot];
    for (size_t i = 0; i < n; ++i)
      column[i] += before[i] * top;
  }
  for (size_t i = 0; i < n; ++i) {
    column[i] = (a[i * n + (size_t)pivot] - column[i]) / root;
    p->l[i * n + (size_t)k] = column[i];
    if ((int32_t)i != pivot) p->left[i] -= column[i] * column[i];
  }
  p->left[pivot] = 0;
}

/* L'L and its factor, as tbi_cholesky has it, columns taken off as soon as they are known */
static void factor_normal(tbi_pseudo *p) {
  size_t n = (size_t)p->n;
  size_t rank = (size_t)p->rank;
  for (size_t i = 0; i < rank; ++i) {
    double *row = p->normal + i * n;
    memset(row, 0, sizeof *row * (i + 1));
    for (size_t k = 0; k < n; ++k) {
      const double *l = p->l + k * n;
      for (size_t j = 0; j <= i; ++j)
        row[j] += l[i] * l[j];
    }
  }
  for (size_t k = 0; k < rank; ++k) {
    double *top = p->normal + k * n;
    top[k] = 1 / sqrt(top[k]);
    for (size_t i = k + 1; i < rank; ++i) {
      double *row = p->normal + i * n;
      p->y[i] = row[k] *= top[k];
      for (size_t j = k + 1; j <= i; ++j)
        row[j] -= row[k] * p->y[j];
    }
  }
}

void tbi_pseudo_factor(tbi_pseudo *p, const double *a, int32_t first, double share) {
  TBI_ASSERT(first >= 0 && first <= p->n && share >= 0);
  size_t n = (size_t)p->n;
  for (size_t i = 0; i < n; ++i)
    p->left[i] = a[i * n + i];
  for (p->rank = 0; p->rank < p->n; ++p->rank) {
    int32_t pivot = find_pivot(p, a, 0, first, share);
    if (pivot == p->n) pivot = find_pivot(p, a, first, p->n, share);
    if (pivot == p->n) break;
    p->pivot[p->rank] = pivot;
    add_column(p, a, p->rank, pivot);
  }
  factor_normal(p);
}

/* x = L (L'L)^-1 y */
static void spread(tbi_pseudo *p, double *x) {
  size_t n = (size_t)p->n;
  tbi_cholesky_solve(p->rank, p->normal, (ptrdiff_t)n, p->y);
  memset(x, 0, sizeof *x * n);
  for (int32_t k = 0; k < p->rank; ++k) {
    const double *column = p->column + (size_t)k * n;
    for (size_t i = 0; i < n; ++i)
      x[i] += column[i] * p->y[k];
  }
}

void tbi_pseudo_solve(tbi_pseudo *p, double *x) {
  TBI_ASSERT(p->rank >= 0 && p->rank <= p->n); /* tbi_pseudo_factor() was called */
  size_t n = (size_t)p->n;
  memset(p->y, 0, sizeof *p->y * n);
  for (size_t i = 0; i < n; ++i) {
    for (int32_t k = 0; k < p->rank; ++k)
      p->y[k] += p->l[i * n + (size_t)k] * x[i];
  }
  tbi_cholesky_solve(p->rank, p->normal, (ptrdiff_t)n, p->y);
  spread(p, x);
}

void tbi_pseudo_solve_pivots(tbi_pseudo *p, double *x) {
  for (int32_t k = 0; k < p->rank; ++k) {
    const double *row = p->l + (size_t)p->pivot[k] * (size_t)p->n;
    p->y[k] = (x[p->pivot[k]] - tbi_dot(row, p->y, k)) / row[k];
  }
  spread(p, x);
}
