/* lcp.c - contact as a linear complementarity problem with bounds that follow the normal force
 * (Nakaoka et al., sections 1.2 to 1.4 of the LCP method).
 *
 * Normal:    u_n - target >= 0,  f_N >= 0, one of them zero.
 * Sliding:   one unknown along t, against the slip before the step: 0 <= f_T <= mu f_N, and u_t = 0
 *            between the bounds.
 * At rest:   four unknowns along +-t1 and +-t2, each 0 <= f <= mu f_N: a square pyramid of strength
 *            mu to sqrt(2) mu.  Its axes lie at random, so that over many contacts no direction
 *            is favoured.
 *
 * The two unknowns of a pair +-t have opposite columns, and Gauss-Seidel over both is one visit to
 * their difference between -mu f_N and mu f_N.  For let g be the difference that stops the slip,
 * M = mu f_N, and f+, f- <= M.  The visit to f+ gives p = clamp(g + f-, 0, M), the visit to f- then
 * m = clamp(p - g, 0, M).  If g + f- is inside, p - m = g + f- - f- = g.  If it is above, p = M and
 * p - m = M - clamp(M - g, 0, M) = min(g, M), as g > M - f- >= 0.  If it is below, p = 0 and
 * p - m = -clamp(-g, 0, M) = max(g, -M).  So two unknowns with both signs stand for the four. */
#include "contact/lcp.h"

#include "base/assertion.h"
#include "math/trig.h"

#define SLIDING 1e-3 /* m/s, slip from which a contact slides: section 1.3 */

/* one direction against the slip; the impulse across it goes */
static void add_sliding(tbi_pgs *pgs, const tbi_problem *p, int32_t i, double speed) {
  TBI_ASSERT(speed > SLIDING);
  const tbi_point *c = &p->point[i];
  tbi_unknown *x = tbi_pgs_add_tangents(pgs, p, i, -c->slip[0] / speed, -c->slip[1] / speed);
  x[0].upper = c->friction;
}

static void add_resting(tbi_pgs *pgs, const tbi_problem *p, int32_t i, double share) {
  const tbi_point *c = &p->point[i];
  double sine;
  double cosine;
  tbi_sincos(1, &c->angle, &sine, &cosine);
  tbi_unknown *x = tbi_pgs_add_tangents(pgs, p, i, cosine, sine);
  for (int k = 0; k < 2; ++k) {
    x[k].lower = -share * c->friction;
    x[k].upper = share * c->friction;
  }
}

tbi_pgs tbi_lcp_make(const tbi_problem *problem, const tabi_world_def *def, void *scratch) {
  tbi_pgs pgs = tbi_pgs_make(problem, scratch);
  for (int32_t i = 0; i < problem->npoint; ++i) {
    const double *slip = problem->point[i].slip;
    double speed = sqrt(slip[0] * slip[0] + slip[1] * slip[1]);
    if (speed > SLIDING) {
      add_sliding(&pgs, problem, i, speed);
    } else {
      add_resting(&pgs, problem, i, def->lcp.static_friction ? 1 : 0);
    }
  }
  return pgs;
}

static size_t memsize(const tabi_model *model, const tabi_world_def *def) {
  return tbi_pgs_memsize(model, def, TABI_STORAGE_PORTS);
}

static tbi_solution solve(tbi_problem *problem, const tabi_world_def *def, void *scratch) {
  tbi_pgs pgs = tbi_lcp_make(problem, def, scratch);
  /* fewer sweeps, or exactly so many, may have been asked for */
  pgs.persists = def->iterations >= tbi_lcp.iterations && def->tolerance > 0;
  return tbi_pgs_solve(&pgs, problem, def, TABI_STORAGE_PORTS);
}

const tbi_formulation tbi_lcp = {
    .info = {.name = "lcp",
             .summary = "linear complementarity: one sliding or four static friction directions",
             .method = TABI_CONTACT_LCP,
             .published = TABI_CONTACT_LCP_PAPER,
             .rebounds = true,
             .sweeps = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .predicts_joints = true,
    .limits_rebounds = true,
    .limits_unsettled = true,
    .random_axes = true,
    .memsize = memsize,
    .solve = solve,
};
