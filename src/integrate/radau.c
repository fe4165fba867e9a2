/* radau.c - three-stage Radau IIA by simplified Newton iteration.
 *
 * The stages' increments z_i = y(t + c_i h) - y(t) solve  (A^-1 / h) z = f(t + c h, y + z).  A^-1
 * has one real eigenvalue and a pair of complex ones, so in the coordinates w = T^-1 z a Newton
 * step is one system of n equations,  (gamma / h - J) dw_0 = r_0,  and one of 2n,
 *
 *   [ alpha / h - J    beta / h      ] [dw_1]   [r_1]
 *   [ -beta / h        alpha / h - J ] [dw_2] = [r_2]
 *
 * which is kept real, so that one LU serves both.  The error estimate is that of Hairer and Wanner
 * (Solving Ordinary Differential Equations II, IV.8): of order 3, filtered by the real system. */
#include "integrate/radau.h"

#include "base/assertion.h"
#include "math/lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SQRT6      2.4494897427831780982
#define GAMMA      3.6378342527444957322
#define ALPHA      2.6810828736277521339
#define BETA       3.0504301992474105694
#define ITERATIONS 12
/* the iteration ends at this part of the tolerance */
#define NEWTON_SHARE 1e-3

const double tbi_radau_node[3] = {(4 - SQRT6) / 10, (4 + SQRT6) / 10, 1};

static const double inverse_a[3][3] = {
    {3.2247448713915890491,  1.1678400846904054949,  -0.25319726474218082619},
    {-3.5678400846904054949, 0.7752551286084109509,  1.0531972647421808262  },
    {5.5319726474218082619,  -7.5319726474218082619, 5.0                    }
};
static const double from_eigen[3][3] = {
    {0.094438762488975241487, -0.14125529502095420843, 0.030029194105147424492},
    {0.25021312296533331138,  0.204129352293799932,    -0.3829421127572619378 },
    {1,                       1,                       0                      }
};
static const double to_eigen[3][3] = {
    {4.1787185915519047273,  0.32768282076106238708,  0.52337644549944954804},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {0.50287263494578687595, -2.5719269498556054292,  0.59603920482822492497}
};

void tbi_radau_place(tbi_radau *r, tbi_layout *layout, int32_t n_max) {
  TBI_ASSERT(n_max > 0);
  int64_t n = n_max;
  r->y = tbi_layout_take(layout, n, sizeof *r->y);
  r->rate = tbi_layout_take(layout, n, sizeof *r->rate);
  r->stage = tbi_layout_take(layout, 3 * n, sizeof *r->stage);
  r->divided = tbi_layout_take(layout, 3 * n, sizeof *r->divided);
  r->jacobian = tbi_layout_take(layout, n * n, sizeof *r->jacobian);
  r->real_lu = tbi_layout_take(layout, n * n, sizeof *r->real_lu);
  r->pair_lu = tbi_layout_take(layout, 4 * n * n, sizeof *r->pair_lu);
  r->real_pivot = tbi_layout_take(layout, n, sizeof *r->real_pivot);
  r->pair_pivot = tbi_layout_take(layout, 2 * n, sizeof *r->pair_pivot);
  r->newton = tbi_layout_take(layout, 3 * n, sizeof *r->newton);
  r->change = tbi_layout_take(layout, 3 * n, sizeof *r->change);
  r->probe = tbi_layout_take(layout, n, sizeof *r->probe);
  r->probe_rate = tbi_layout_take(layout, n, sizeof *r->probe_rate);
}

/* One column per equation.  Only the speed of the iteration depends on it. */
static void difference_jacobian(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  memcpy(r->probe, r->y, sizeof *r->probe * (size_t)n);
  for (ptrdiff_t j = 0; j < n; ++j) {
    double step = sqrt(DBL_EPSILON) * fmax(fabs(r->y[j]), 0.1);
    r->probe[j] = r->y[j] + step;
    step = r->probe[j] - r->y[j];
    r->ode.rate(r->ode.user, r->t, r->probe, r->probe_rate);
    for (ptrdiff_t i = 0; i < n; ++i)
      r->jacobian[i * n + j] = (r->probe_rate[i] - r->rate[i]) / step;
    r->probe[j] = r->y[j];
  }
}

void tbi_radau_start(tbi_radau *r, const tbi_ode *ode, tbi_tolerance tolerance, double t,
                     const double *y) {
  TBI_ASSERT(ode->n > 0 && tolerance.absolute > 0 && tolerance.relative >= 0);
  r->ode = *ode;
  r->tolerance = tolerance;
  r->t = t;
  r->h = 0;
  memcpy(r->y, y, sizeof *y * (size_t)ode->n);
  ode->rate(ode->user, t, y, r->rate);
  if (ode->jacobian) {
    ode->jacobian(ode->user, t, y, r->jacobian);
  } else {
    difference_jacobian(r);
  }
}

static bool factor_systems(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  ptrdiff_t two = 2 * n;
  memset(r->pair_lu, 0, sizeof *r->pair_lu * (size_t)(two * two));
  for (ptrdiff_t i = 0; i < n; ++i) {
    double *upper = r->pair_lu + i * two;
    double *lower = r->pair_lu + (n + i) * two + n;
    for (ptrdiff_t j = 0; j < n; ++j) {
      double entry = -r->jacobian[i * n + j];
      r->real_lu[i * n + j] = entry + (i == j ? GAMMA / r->h : 0);
      upper[j] = lower[j] = entry + (i == j ? ALPHA / r->h : 0);
    }
    upper[n + i] = BETA / r->h;
    lower[i - n] = -BETA / r->h;
  }
  return tbi_lu_factor(n, r->real_lu, r->real_pivot) &&
         tbi_lu_factor(two, r->pair_lu, r->pair_pivot);
}

/* to = matrix x from, the three rows being vectors of length n; to and from must differ */
static void mix(ptrdiff_t n, const double (*matrix)[3], const double *from, double *to) {
  for (int i = 0; i < 3; ++i) {
    for (ptrdiff_t k = 0; k < n; ++k) {
      to[i * n + k] =
          matrix[i][0] * from[k] + matrix[i][1] * from[n + k] + matrix[i][2] * from[2 * n + k];
    }
  }
}

/* r->newton = f(t + c h, y + z) - (A^-1 / h) z */
static void residual(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  mix(n, inverse_a, r->stage, r->change);
  for (int i = 0; i < 3; ++i) {
    for (ptrdiff_t k = 0; k < n; ++k)
      r->probe[k] = r->y[k] + r->stage[i * n + k];
    r->ode.rate(r->ode.user, r->t + tbi_radau_node[i] * r->h, r->probe, r->newton + i * n);
    for (ptrdiff_t k = 0; k < n; ++k)
      r->newton[i * n + k] -= r->change[i * n + k] / r->h;
  }
}

static double weight(const tbi_radau *r, ptrdiff_t k) {
  return r->tolerance.absolute + r->tolerance.relative * fabs(r->y[k]);
}

/* Largest change against what the iteration is to reach, which is never below rounding. */
static double change_size(const tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  double size = 0;
  for (ptrdiff_t k = 0; k < n; ++k) {
    double reach = NEWTON_SHARE * weight(r, k) + 2 * DBL_EPSILON * fabs(r->y[k]);
    for (int i = 0; i < 3; ++i)
      size = fmax(size, fabs(r->change[i * n + k]) / reach);
  }
  return size;
}

/* One Newton step; returns its size, infinite if it is no number. */
static double improve(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  residual(r);
  mix(n, to_eigen, r->newton, r->change);
  tbi_lu_solve(n, r->real_lu, r->real_pivot, r->change);
  tbi_lu_solve(2 * n, r->pair_lu, r->pair_pivot, r->change + n);
  memcpy(r->newton, r->change, sizeof *r->newton * (size_t)(3 * n));
  mix(n, from_eigen, r->newton, r->change);
  double sum = 0;
  for (ptrdiff_t k = 0; k < 3 * n; ++k) {
    r->stage[k] += r->change[k];
    sum += fabs(r->change[k]);
  }
  return isfinite(sum) ? change_size(r) : HUGE_VAL;
}

/* Ends when the next change would be below reach, or when the changes, being small, no longer
 * shrink: they are rounding then. */
static bool iterate(tbi_radau *r) {
  memset(r->stage, 0, sizeof *r->stage * (size_t)(3 * r->ode.n));
  double last = INFINITY;
  for (int i = 0; i < ITERATIONS; ++i) {
    double size = improve(r);
    if (!isfinite(size)) return false;
    double shrink = size / last;
    if (size == 0 || (i > 0 && shrink < 1 && size * shrink <= 1 - shrink)) return true;
    if (i > 1 && shrink > 0.5 && size < 1 / NEWTON_SHARE) return true;
    if (i > 1 && shrink >= 2) return false;
    last = size;
  }
  return false;
}

static double error_size(const tbi_radau *r, const double *error) {
  double sum = 0;
  for (ptrdiff_t k = 0; k < r->ode.n; ++k) {
    double part = error[k] / weight(r, k);
    sum += part * part;
  }
  return sqrt(sum / r->ode.n);
}

/* The filter takes out stiff parts once; where the error is still large, a second time. */
static double estimate_error(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  double *jump = r->newton;
  double *error = r->change;
  const double *z = r->stage;
  for (ptrdiff_t k = 0; k < n; ++k) {
    jump[k] = ((-13 - 7 * SQRT6) * z[k] + (-13 + 7 * SQRT6) * z[n + k] - z[2 * n + k]) / (3 * r->h);
    error[k] = jump[k] + r->rate[k];
  }
  tbi_lu_solve(n, r->real_lu, r->real_pivot, error);
  double size = error_size(r, error);
  if (size < 1) return size;
  for (ptrdiff_t k = 0; k < n; ++k)
    r->probe[k] = r->y[k] + error[k];
  r->ode.rate(r->ode.user, r->t, r->probe, r->probe_rate);
  for (ptrdiff_t k = 0; k < n; ++k)
    error[k] = jump[k] + r->probe_rate[k];
  tbi_lu_solve(n, r->real_lu, r->real_pivot, error);
  return error_size(r, error);
}

/* Newton's form of the polynomial through 0 at 0 and the stages. */
static void divide_differences(tbi_radau *r) {
  ptrdiff_t n = r->ode.n;
  const double *c = tbi_radau_node;
  for (ptrdiff_t k = 0; k < n; ++k) {
    double first = r->stage[k] / c[0];
    double second = (r->stage[n + k] - r->stage[k]) / (c[1] - c[0]);
    double third = (r->stage[2 * n + k] - r->stage[n + k]) / (c[2] - c[1]);
    double first_two = (second - first) / c[1];
    double last_two = (third - second) / (c[2] - c[0]);
    r->divided[k] = first;
    r->divided[n + k] = first_two;
    r->divided[2 * n + k] = (last_two - first_two) / c[2];
  }
}

bool tbi_radau_try(tbi_radau *r, double h) {
  TBI_ASSERT(h > 0);
  r->h = h;
  r->error = INFINITY;
  if (!factor_systems(r) || !iterate(r)) return false;
  r->error = estimate_error(r);
  divide_differences(r);
  return isfinite(r->error);
}

void tbi_radau_at(const tbi_radau *r, double share, double *y) {
  TBI_ASSERT(share >= 0 && share <= 1 && r->h > 0);
  ptrdiff_t n = r->ode.n;
  const double *c = tbi_radau_node;
  for (ptrdiff_t k = 0; k < n; ++k) {
    double inner = r->divided[n + k] + (share - c[1]) * r->divided[2 * n + k];
    double increment = share * (r->divided[k] + (share - c[0]) * inner);
    /* at the end the method's own result, to the bit */
    y[k] = r->y[k] + (share == 1 ? r->stage[2 * n + k] : increment);
  }
}

double tbi_radau_suggest(const tbi_radau *r) {
  TBI_ASSERT(r->h > 0);
  double factor = isfinite(r->error) ? 0.9 / sqrt(sqrt(fmax(r->error, 1e-8))) : 0.25;
  return r->h * fmin(fmax(factor, 0.2), 5);
}
