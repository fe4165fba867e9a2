/* pseudo.c - see pseudo.h. */
#include "math/pseudo.h"

#include "math/linalg.h"

#include <string.h>

tbi_pseudo tbi_pseudo_make(int32_t n, double *room) {
  size_t square = (size_t)n * (size_t)n;
  return (tbi_pseudo){.n = n,
                      .l = room,
                      .normal = room + square,
                      .left = room + 2 * square,
                      .y = room + 2 * square + (size_t)n,
                      .pivot = (int32_t *)(void *)(room + 2 * square + 2 * (size_t)n)};
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
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

void tbi_pseudo_factor(tbi_pseudo *p, const double *a, int32_t first, double share) {
  size_t n = (size_t)p->n;
  for (size_t i = 0; i < n; ++i)
    p->left[i] = a[i * n + i];
  for (p->rank = 0; p->rank < p->n; ++p->rank) {
    int32_t k = p->rank;
    int32_t pivot = find_pivot(p, a, 0, first, share);
    if (pivot == p->n) pivot = find_pivot(p, a, first, p->n, share);
    if (pivot == p->n) break;
    p->pivot[k] = pivot;
    const double *top = p->l + (size_t)pivot * n;
    double root = sqrt(p->left[pivot]);
    for (size_t i = 0; i < n; ++i) {
      double *row = p->l + i * n;
      row[k] = (a[i * n + (size_t)pivot] - dot(row, top, k)) / root;
      if ((int32_t)i != pivot) p->left[i] -= row[k] * row[k];
    }
    p->left[pivot] = 0;
  }
  for (int32_t i = 0; i < p->rank; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k)
        sum += p->l[k * n + (size_t)i] * p->l[k * n + (size_t)j];
      p->normal[(size_t)i * n + (size_t)j] = sum;
    }
  }
  tbi_cholesky(p->rank, p->normal, (ptrdiff_t)n);
}

/* x = L (L'L)^-1 y */
static void spread(tbi_pseudo *p, double *x) {
  size_t n = (size_t)p->n;
  tbi_cholesky_solve(p->rank, p->normal, (ptrdiff_t)n, p->y);
  for (size_t i = 0; i < n; ++i)
    x[i] = dot(p->l + i * n, p->y, p->rank);
}

void tbi_pseudo_solve(tbi_pseudo *p, double *x) {
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
    p->y[k] = (x[p->pivot[k]] - dot(row, p->y, k)) / row[k];
  }
  spread(p, x);
}
