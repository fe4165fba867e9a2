/* impulse_solve.c - M f = -q for active points and rows, by the pseudo-inverse of its M.
 *
 * Friction of points that slide follows their normal impulses, which a small system of these
 * normals alone takes into account. */
#include "base/assertion.h"
#include "contact/impulse_work.h"

#include <string.h>

#define RANK 1e-9 /* share of its diagonal: an unknown with a smaller pivot depends on others */

void tbi_impulse_factor(tbi_impulse_island *c) {
  TBI_ASSERT(c->n == c->island->w.nunknown);
  const tbi_delassus *w = &c->island->w;
  c->nfixed = c->nsliding = 0;
  for (int32_t k = 0; k < 3; ++k) {
    for (int32_t i = 0; i < w->nlaw; ++i) {
      if (c->part[i].mode == TBI_SLIDES && k == 0 &&
          tbi_impulse_kinetic(c, tbi_impulse_point(c, i)) > 0) {
        c->sliding[c->nsliding].law = i;
        c->sliding[c->nsliding++].fixed = c->nfixed;
      }
      bool asked = c->part[i].mode == TBI_STICKS || (c->part[i].mode == TBI_SLIDES && k == 0);
      if (asked && k < w->law[i].size) c->fixed[c->nfixed++] = w->law[i].at + k;
    }
    if (k == 0) c->nnormal = c->nfixed;
  }
  for (int32_t i = 0; i < c->nfixed; ++i) {
    for (int32_t j = 0; j < c->nfixed; ++j)
      c->a[(size_t)i * (size_t)c->nfixed + (size_t)j] =
          tbi_impulse_row(c, c->fixed[i])[c->fixed[j]];
  }
  c->pseudo = tbi_pseudo_make(c->nfixed, c->pseudo.l);
  tbi_pseudo_factor(&c->pseudo, c->a, c->nnormal, RANK);
}

void tbi_impulse_follow(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_part *p = &c->part[i];
    double *f = c->f + w->law[i].at;
    if (p->mode == TBI_FREE) memset(f, 0, sizeof *f * (size_t)w->law[i].size);
    if (p->mode == TBI_BOUND) f[0] = p->bound;
    if (p->mode != TBI_SLIDES) continue;
    double max = tbi_impulse_kinetic(c, tbi_impulse_point(c, i)) * f[0];
    f[1] = max * p->along[0];
    f[2] = max * p->along[1];
  }
}

void tbi_impulse_multiply(tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->n; ++i) {
    const double *row = tbi_impulse_row(c, i);
    double sum = c->q[i];
    for (int32_t j = 0; j < c->n; ++j)
      sum += row[j] * c->f[j];
    c->u[i] = sum;
  }
}

/* the impulses of active unknowns that take away what is left of their velocities */
static void solve_velocities(tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->nfixed; ++i)
    c->x[i] = -c->u[c->fixed[i]];
  tbi_pseudo_solve(&c->pseudo, c->x);
}

/* Gauss, rows exchanged: n equations, row by row with their right sides behind; false: singular */
static bool eliminate(double *a, int32_t n) {
  size_t width = (size_t)n + 1;
  for (int32_t k = 0; k < n; ++k) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; ++i) {
      if (fabs(a[(size_t)i * width + (size_t)k]) > fabs(a[(size_t)best * width + (size_t)k]))
        best = i;
    }
    double *top = a + (size_t)k * width;
    double *swap = a + (size_t)best * width;
    if (!(fabs(swap[k]) > 1e-12)) return false;
    for (size_t j = (size_t)k; j < width && best != k; ++j) {
      double kept = top[j];
      top[j] = swap[j];
      swap[j] = kept;
    }
    for (int32_t i = 0; i < n; ++i) {
      double *row = a + (size_t)i * width;
      double share = i == k ? 0 : row[k] / top[k];
      for (size_t j = (size_t)k; j < width && share != 0; ++j)
        row[j] -= share * top[j];
    }
  }
  for (int32_t k = 0; k < n; ++k)
    a[(size_t)k * width + (size_t)n] /= a[(size_t)k * width + (size_t)k];
  return true;
}

/* Normal impulses of the points that slide, whose friction acts back on them: x = g + X x, g being
 * the impulses without friction (in c->x) and X the normal impulses that balance the friction of
 * unit impulses. */
static bool solve_sliding(tbi_impulse_island *c) {
  const tbi_law *law = c->island->w.law;
  int32_t n = c->nsliding;
  size_t width = (size_t)n + 1;
  for (int32_t i = 0; i < n; ++i)
    c->a[(size_t)i * width + (size_t)n] = c->x[c->sliding[i].fixed];
  for (int32_t j = 0; j < n; ++j) {
    const tbi_part *p = &c->part[c->sliding[j].law];
    double mu = tbi_impulse_kinetic(c, tbi_impulse_point(c, c->sliding[j].law));
    int32_t at = law[c->sliding[j].law].at;
    for (int32_t i = 0; i < c->nfixed; ++i) {
      const double *row = tbi_impulse_row(c, c->fixed[i]) + at;
      c->x[i] = -mu * (row[1] * p->along[0] + row[2] * p->along[1]);
    }
    tbi_pseudo_solve(&c->pseudo, c->x);
    for (int32_t i = 0; i < n; ++i)
      c->a[(size_t)i * width + (size_t)j] = (i == j ? 1 : 0) - c->x[c->sliding[i].fixed];
  }
  if (!eliminate(c->a, n)) return false;
  for (int32_t i = 0; i < n; ++i)
    c->f[law[c->sliding[i].law].at] = c->a[(size_t)i * width + (size_t)n];
  return true;
}

bool tbi_impulse_solve_fixed(tbi_impulse_island *c) {
  tbi_impulse_factor(c);
  memset(c->f, 0, sizeof *c->f * (size_t)c->n);
  tbi_impulse_follow(c);
  tbi_impulse_multiply(c);
  solve_velocities(c);
  if (c->nsliding > 0) {
    if (!solve_sliding(c)) return false;
    tbi_impulse_follow(c);
    /* once more from zero, so that the impulses have the least norm */
    for (int32_t i = 0; i < c->nfixed; ++i)
      c->f[c->fixed[i]] = 0;
    tbi_impulse_multiply(c);
    solve_velocities(c);
  }
  for (int32_t i = 0; i < c->nfixed; ++i)
    c->f[c->fixed[i]] = c->x[i];
  return true;
}
