/* impulse_share.c - static friction shared in proportion to the normal impulses.
 *
 * The tangents of least norm are equal at all points of a flat body, while its normals differ as
 * soon as it has height: the least loaded corner would leave its cone first, and slip would be
 * declared where the body could hold.  So before it is, the tangents t of all sticking points are
 * found anew, with the least
 *     sum of |t_i|^2 / s_i,   s_i = mu_i n_i,
 * which makes |t_i| / mu_i n_i equal wherever the velocities leave it open; and where some point is
 * still beyond its cone, again with s_i divided by that ratio (Lawson's reweighting), which drives
 * the largest ratio down to the least possible, or until that is known to be more than one.
 *
 * Normals stay.  M is positive semidefinite, so tangents that give the same tangential velocities
 * to the points they act on give the same velocities to all others, too. */
#include "base/assertion.h"
#include "contact/impulse_work.h"

#include <string.h>

enum { ROUNDS = 30 };
#define RANK      1e-9 /* as in impulse_solve.c */
#define MIN_SHARE 1e-8 /* of the largest s: points with less carry no friction */
#define HELD      1e-8 /* m/s: prescribed velocities that the new tangents may miss */

static double static_limit(const tbi_impulse_island *c, int32_t law) {
  double normal = c->f[c->island->w.law[law].at];
  return c->friction * tbi_impulse_point(c, law)->surface->friction * tbi_max(normal, 0);
}

static bool sticks(const tbi_impulse_island *c, int32_t law) {
  return c->part[law].mode == TBI_STICKS && tbi_impulse_point(c, law);
}

/* |t| / mu n; 0 for a point without tangents, HUGE_VAL for one without normal */
static double ratio_of(const tbi_impulse_island *c, int32_t law) {
  const double *f = c->f + c->island->w.law[law].at;
  double tangent = sqrt(f[1] * f[1] + f[2] * f[2]);
  double max = static_limit(c, law);
  if (tangent == 0) return 0;
  return max > 0 ? tangent / max : HUGE_VAL;
}

static bool is_beyond(const tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->island->w.nlaw; ++i)
    if (sticks(c, i) && ratio_of(c, i) > 1 + 1e-12) return true;
  return false;
}

/* sqrt(s) of both tangents of a point */
static void set_root(tbi_impulse_island *c, int32_t law, double root) {
  c->root[c->island->w.law[law].at + 1] = c->root[c->island->w.law[law].at + 2] = root;
}

/* false: no sticking point is loaded */
static bool start_roots(tbi_impulse_island *c) {
  const tbi_delassus *w = &c->island->w;
  double max = 0;
  for (int32_t i = 0; i < w->nlaw; ++i)
    if (sticks(c, i)) max = tbi_max(max, static_limit(c, i));
  if (!(max > 0)) return false;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (!sticks(c, i)) continue;
    double share = static_limit(c, i) / max;
    set_root(c, i, share > MIN_SHARE ? sqrt(share) : 0);
  }
  return true;
}

static void reweight(tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->island->w.nlaw; ++i) {
    if (!sticks(c, i)) continue;
    double ratio = tbi_min(tbi_max(ratio_of(c, i), 0.2), 5);
    set_root(c, i, c->root[c->island->w.law[i].at + 1] / sqrt(ratio));
  }
}

/* S M (t - s), the tangents t of c->kept and s of c->f, into c->x */
static void missing_velocities(tbi_impulse_island *c, const int32_t *tangent, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    const double *row = tbi_impulse_row(c, tangent[i]);
    double sum = 0;
    for (int32_t j = 0; j < n; ++j)
      sum += row[tangent[j]] * (c->kept[tangent[j]] - c->f[tangent[j]]);
    c->x[i] = c->root[tangent[i]] * sum;
  }
}

/* The tangents with the velocities of c->kept: (S M S) y = S M t,  t = S y,  S the roots.  Roots
 * differ by orders, so once more for what rounding has left. */
static void solve_tangents(tbi_impulse_island *c) {
  const int32_t *tangent = c->fixed + c->nnormal;
  int32_t n = c->nfixed - c->nnormal;
  for (int32_t i = 0; i < n; ++i) {
    const double *row = tbi_impulse_row(c, tangent[i]);
    for (int32_t j = 0; j < n; ++j)
      c->a[(size_t)i * (size_t)n + (size_t)j] =
          c->root[tangent[i]] * row[tangent[j]] * c->root[tangent[j]];
    c->f[tangent[i]] = 0;
  }
  c->pseudo = tbi_pseudo_make(n, c->pseudo.l);
  tbi_pseudo_factor(&c->pseudo, c->a, 0, RANK);
  for (int time = 0; time < 2; ++time) {
    missing_velocities(c, tangent, n);
    tbi_pseudo_solve(&c->pseudo, c->x);
    for (int32_t i = 0; i < n; ++i)
      c->f[tangent[i]] += c->root[tangent[i]] * c->x[i];
  }
}

/* The mean of the squared ratios, with the weights under which it is least, bounds that of the
 * largest ratio from below: above one, no sharing keeps all points within their cones. */
static bool must_slip(const tbi_impulse_island *c) {
  double sum = 0;
  double weights = 0;
  for (int32_t i = 0; i < c->island->w.nlaw; ++i) {
    if (!sticks(c, i)) continue;
    double root = c->root[c->island->w.law[i].at + 1];
    if (!(root > 0)) continue;
    double weight = static_limit(c, i) / root;
    double ratio = ratio_of(c, i);
    weights += weight * weight;
    sum += weight * weight * ratio * ratio;
  }
  return sum > weights;
}

static bool are_held(const tbi_impulse_island *c) {
  for (int32_t i = 0; i < c->nfixed; ++i)
    if (!(fabs(c->u[c->fixed[i]]) <= HELD)) return false;
  return true;
}

void tbi_impulse_share_friction(tbi_impulse_island *c) {
  TBI_ASSERT(c->nnormal >= 0 && c->nnormal <= c->nfixed); /* tbi_impulse_factor() */
  if (!is_beyond(c) || !are_held(c) || !start_roots(c)) return;
  memcpy(c->kept, c->f, sizeof *c->f * (size_t)c->n);
  solve_tangents(c);
  for (int round = 1; round < ROUNDS && is_beyond(c) && !must_slip(c); ++round) {
    reweight(c);
    solve_tangents(c);
  }
  tbi_impulse_multiply(c);
  if (are_held(c)) return;
  memcpy(c->f, c->kept, sizeof *c->f * (size_t)c->n);
  tbi_impulse_multiply(c);
}
