/* coulomb_newton.c - the stages, each begun only when those before have not met the tolerance.
 *
 *   1  sweeps of Gauss-Seidel, accelerated as nonlinear conjugate gradients (Silcowitz et al.)
 *   2  proximal Newton on the function of Alart and Curnier (coulomb_newton_proximal.c)
 *   3  the same from a centred point, which the convex problem gives (coulomb_newton_interior.c)
 *   4  the same on the natural map
 *   5  both again from elsewhere and with other weights, until the budget is used up
 *
 * Gauss-Seidel settles easy problems and finds which contacts hold; where it crawls (stacks,
 * redundant contacts, large ratios of mass) Newton needs a few factorisations.  No theory promises
 * that it converges: the best impulses are kept, and what is returned says how good they are. */
#include "friction/coulomb_newton_work.h"

#include "base/assertion.h"
#include "base/layout.h"

#include <float.h>
#include <string.h>

enum { COLD_SWEEPS = 30, WARM_SWEEPS = 1, HOPEFUL_SWEEPS = 12 };
enum { FIRST_NEWTON = 100 };

/* A warm start has served if the residual is this share of q; else it is as good as none. */
#define NEAR 1e-2

/* of q: no residual above it is due to rounding */
#define LARGEST_EXCUSE 1e-6

#define PROXIMAL       1e-5
#define LARGE_PROXIMAL 1e-2

/* what Newton needs; it starts from the best there is */
static void place_newton(tbi_layout *at, tbi_newton_work *e, int32_t nlaw, int32_t nunknown) {
  double **vectors[] = {&e->best, &e->r, &e->u,  &e->speed, &e->origin,
                        &e->f,    &e->g, &e->dr, &e->trial, &e->trial_u};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    *vectors[i] = tbi_layout_take(at, nunknown, sizeof(double));
  e->root = tbi_layout_take(at, nlaw, sizeof *e->root);
  e->d = tbi_layout_take(at, nlaw, sizeof *e->d);
  e->start = e->best;
  e->projected = e->dr; /* a direction is used up when the place it led to is measured */
}

static size_t place(tbi_newton_work *e, void *memory, int32_t nlaw, int32_t nunknown) {
  tbi_layout at = {memory, 0};
  place_newton(&at, e, nlaw, nunknown);
  double **vectors[] = {&e->start, &e->centre, &e->low, &e->high, &e->projected};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    *vectors[i] = tbi_layout_take(&at, nunknown, sizeof(double));
  e->cone = tbi_layout_take(&at, nlaw, sizeof *e->cone);
  return at.used;
}

size_t tbi_newton_memsize(int32_t nlaw, int32_t nunknown) {
  TBI_ASSERT(nlaw >= 0 && nlaw <= nunknown && nunknown / 3 <= nlaw);
  tbi_newton_work e;
  return place(&e, NULL, nlaw, nunknown);
}

size_t tbi_newton_refine_memsize(int32_t nlaw, int32_t nunknown) {
  tbi_newton_work e;
  tbi_layout at = {NULL, 0};
  place_newton(&at, &e, nlaw, nunknown);
  return at.used;
}

/* A point on the border stays as it is, in spite of rounding: projecting twice changes nothing. */
static void project_cone(double mu, const double *z, double *p) {
  double t = sqrt(z[1] * z[1] + z[2] * z[2]);
  if (z[0] >= 0 && t <= mu * z[0] * (1 + 4 * DBL_EPSILON)) {
    memcpy(p, z, 3 * sizeof *p);
    return;
  }
  double normal = tbi_max((z[0] + mu * t) / (1 + mu * mu), 0);
  double share = t > 0 ? mu * normal / t : 0;
  p[0] = normal;
  p[1] = share * z[1];
  p[2] = share * z[2];
}

void tbi_newton_project(const tbi_law *law, double root, const double *z, double *p) {
  TBI_CHECK_SLOW(law->size == 1 || law->size == 3);
  if (law->size == 3) {
    project_cone(law->friction, z, p);
  } else {
    p[0] = tbi_min(tbi_max(z[0], root * law->lower), root * law->upper);
  }
}

/* |w (r - P(r - u~ / w))|^2, with the mobility as metric */
static double breach(const tbi_law *law, const double *r, const double *u) {
  double w = law->mobility;
  if (law->size == 1) {
    double p = tbi_min(tbi_max(r[0] - u[0] / w, law->lower), law->upper);
    return w * w * (r[0] - p) * (r[0] - p);
  }
  double shift = law->friction * sqrt(u[1] * u[1] + u[2] * u[2]);
  double z[3] = {r[0] - (u[0] + shift) / w, r[1] - u[1] / w, r[2] - u[2] / w};
  double p[3];
  project_cone(law->friction, z, p);
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += (r[k] - p[k]) * (r[k] - p[k]);
  return w * w * sum;
}

double tbi_newton_residual(const tbi_delassus *w, const double *r, const double *u) {
  TBI_ASSERT(w && (w->nlaw == 0 || (w->law && r && u)));
  double sum = 0;
  for (int32_t i = 0; i < w->nlaw; ++i)
    sum += breach(&w->law[i], r + w->law[i].at, u + w->law[i].at);
  return sqrt(sum);
}

void tbi_newton_velocity(const tbi_newton_work *e, const double *r, double *u) {
  e->w->multiply(e->w->self, r, u);
  for (int32_t i = 0; i < e->w->nunknown; ++i)
    u[i] += e->w->q[i];
}

/* Where there is no solution impulses grow without end, until rounding hides what they lack. */
static bool can_be_judged(const tbi_newton_work *e, const double *r) {
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      sum += law->mobility * r[k] * law->mobility * r[k];
  }
  return DBL_EPSILON * sqrt(sum) <= tbi_max(LARGEST_EXCUSE * e->size, e->tolerance);
}

double tbi_newton_measure(tbi_newton_work *e, const double *r, const double *u) {
  bool inside = true;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    double *p = e->projected + law->at;
    /* friction and bounds are the same before and after scaling */
    tbi_newton_project(law, 1, r + law->at, p);
    for (int32_t k = 0; k < law->size; ++k)
      inside = inside && p[k] == r[law->at + k];
  }
  if (!inside) {
    tbi_newton_velocity(e, e->projected, e->speed);
    u = e->speed;
  }
  double residual = tbi_newton_residual(e->w, e->projected, u);
  if (residual < e->residual && can_be_judged(e, e->projected)) {
    e->residual = residual;
    memcpy(e->best, e->projected, (size_t)e->w->nunknown * sizeof *e->best);
  }
  return residual;
}

/* What rounding alone leaves of the residual: the difference of W r computed in two ways. */
static double rounding(tbi_newton_work *e) {
  double sum = 0;
  for (int32_t i = 0; i < e->w->nunknown; ++i)
    e->projected[i] = e->best[i] / 3;
  e->w->multiply(e->w->self, e->best, e->g);
  e->w->multiply(e->w->self, e->projected, e->speed);
  for (int32_t i = 0; i < e->w->nunknown; ++i) {
    double difference = e->g[i] - 3 * e->speed[i];
    sum += difference * difference;
  }
  double found = sqrt(sum + DBL_EPSILON * DBL_EPSILON * e->size * e->size);
  return tbi_min(found, LARGEST_EXCUSE * e->size);
}

bool tbi_newton_met(tbi_newton_work *e, double share) {
  if (e->residual <= e->tolerance) return true;
  return share > 0 && e->residual <= share * rounding(e);
}

bool tbi_newton_factor(tbi_newton_work *e) {
  TBI_ASSERT(e->left >= 0 && e->w->newton);
  if (e->left == 0) return false;
  --e->left;
  ++e->used;
  return e->w->newton(e->w->self, e->d, e->g, e->dr);
}

/* mobility |a - b|^2, over all laws */
static double square_distance(const tbi_newton_work *e, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      sum += law->mobility * (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sum;
}

/* Whether sweeps that came from `before` to `now` in `sweeps` will soon be there. */
static bool hopeful(const tbi_newton_work *e, double before, double now, int32_t sweeps) {
  if (!(now < before)) return false;
  double needed = log(now / e->tolerance) / log(before / now) * sweeps;
  return needed < HOPEFUL_SWEEPS;
}

/* From e->r.  Returns the number of sweeps; fewer than `max` where the residual is `near` or
 * better and further ones would crawl. */
static int32_t sweep(tbi_newton_work *e, int32_t max, int32_t min, double near) {
  int32_t n = e->w->nunknown;
  double *before = e->origin;
  double *p = e->trial;
  memset(p, 0, (size_t)n * sizeof *p);
  double square = 0;
  double last = e->residual;
  int32_t tested = 0;
  for (int32_t s = 1; s <= max; ++s) {
    memcpy(before, e->r, (size_t)n * sizeof *before);
    e->w->sweep(e->w->self, e->r);
    if (s < 10 || s % 5 == 0) {
      tbi_newton_velocity(e, e->r, e->u);
      double now = tbi_newton_measure(e, e->r, e->u);
      if (e->residual <= e->tolerance) return s;
      bool leave = s >= min && e->residual <= near;
      if (leave && !hopeful(e, last, now, s - tested)) return s;
      last = now;
      tested = s;
    }
    double next = square_distance(e, before, e->r);
    double beta = s == 1 ? 0 : next / square;
    square = next;
    if (next == 0) return s;
    for (int32_t i = 0; i < n; ++i) {
      double step = e->r[i] - before[i];
      if (beta > 1) {
        p[i] = 0;
      } else {
        e->r[i] += beta * p[i];
        p[i] = beta * p[i] + step;
      }
    }
  }
  return max;
}

static void copy(const tbi_newton_work *e, double *to, const double *from) {
  memcpy(to, from, (size_t)e->w->nunknown * sizeof *to);
}

/* Scales impulses by the root of the mobility, times a weight; velocities by its inverse. */
static void set_weight(tbi_newton_work *e, double weight) {
  for (int32_t i = 0; i < e->w->nlaw; ++i)
    e->root[i] = weight * sqrt(e->w->law[i].mobility);
}

/* How Newton is begun anew.  Where it goes in circles, another weight between impulses and
 * velocities leads it over other pieces of its function. */
typedef struct attempt {
  bool from_best; /* else from the convex problem */
  tbi_newton_map map;
  double proximal;
  double weight;
  int32_t max; /* factorisations */
} attempt;

static const attempt attempts[] = {
    {false, TBI_ALART_CURNIER, PROXIMAL,       1,   200 },
    {false, TBI_NATURAL_MAP,   PROXIMAL,       1,   200 },
    {true,  TBI_ALART_CURNIER, LARGE_PROXIMAL, 1,   1000},
    {false, TBI_ALART_CURNIER, PROXIMAL,       3,   200 },
    {true,  TBI_NATURAL_MAP,   LARGE_PROXIMAL, 1,   1000},
    {false, TBI_ALART_CURNIER, PROXIMAL,       0.3, 200 },
};

static bool restart(tbi_newton_work *e) {
  tbi_newton_interior(e);
  copy(e, e->centre, e->start);
  for (size_t k = 0; k < sizeof attempts / sizeof attempts[0] && e->left > 0; ++k) {
    const attempt *a = &attempts[k];
    set_weight(e, a->weight);
    copy(e, e->start, a->from_best ? e->best : e->centre);
    if (tbi_newton_proximal(e, a->map, a->proximal, a->max)) return true;
  }
  return false;
}

static bool run_stages(tbi_newton_work *e, bool warm, int32_t *sweeps) {
  *sweeps = sweep(e, COLD_SWEEPS, warm ? WARM_SWEEPS : COLD_SWEEPS, NEAR * e->size);
  if (e->residual <= e->tolerance) return true;
  copy(e, e->start, e->best);
  if (tbi_newton_proximal(e, TBI_ALART_CURNIER, PROXIMAL, FIRST_NEWTON)) return true;
  return restart(e);
}

/* that laws follow one another without gaps, and can be scaled */
static bool laws_are_sound(const tbi_delassus *w) {
  int32_t at = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    const tbi_law *law = &w->law[i];
    if (law->at != at || (law->size != 1 && law->size != 3) || !(law->mobility >= 0)) return false;
    if (law->size == 3 ? law->friction < 0 : law->lower > law->upper) return false;
    at += law->size;
  }
  return at == w->nunknown;
}

static void set_out(tbi_newton_work *e, double tolerance, int32_t budget) {
  TBI_ASSERT(budget >= 0 && !(tolerance < 0));
  TBI_CHECK_SLOW(laws_are_sound(e->w));
  double square = 0;
  for (int32_t i = 0; i < e->w->nunknown; ++i)
    square += e->w->q[i] * e->w->q[i];
  e->size = sqrt(square);
  e->tolerance = tolerance;
  e->left = budget;
  e->residual = INFINITY;
  set_weight(e, 1);
}

tbi_newton_work tbi_newton_begin(const tbi_delassus *w, double tolerance, int32_t budget,
                                 void *scratch) {
  tbi_newton_work e = {.w = w};
  (void)place(&e, scratch, w->nlaw, w->nunknown);
  set_out(&e, tolerance, budget);
  return e;
}

/* takes r as the best so far; whether any of it is not zero */
static bool start_from(tbi_newton_work *e, const double *r) {
  bool warm = false;
  for (int32_t i = 0; i < e->w->nunknown; ++i) {
    e->r[i] = e->best[i] = r[i];
    warm = warm || r[i] != 0;
  }
  tbi_newton_velocity(e, e->r, e->u);
  (void)tbi_newton_measure(e, e->r, e->u);
  return warm;
}

static void store_result(const tbi_newton_work *e, tbi_newton_result *result, double *r) {
  copy(e, r, e->best);
  result->factorisations = e->used;
  result->residual = e->residual;
}

tbi_newton_result tbi_newton_solve(const tbi_delassus *w, double tolerance, int32_t budget,
                                   double *r, void *scratch) {
  TBI_ASSERT(w && w->multiply && w->sweep && w->newton && (scratch || w->nunknown == 0));
  tbi_newton_work e = tbi_newton_begin(w, tolerance, budget, scratch);
  bool warm = start_from(&e, r);
  tbi_newton_result result = {.converged = e.residual <= tolerance};
  if (!result.converged) result.converged = run_stages(&e, warm, &result.sweeps);
  store_result(&e, &result, r);
  return result;
}

/* likewise, with the memory of Newton's method alone */
static tbi_newton_work begin_refining(const tbi_delassus *w, double tolerance, int32_t budget,
                                      void *scratch) {
  TBI_ASSERT(w && w->multiply && w->newton && (scratch || w->nunknown == 0));
  tbi_newton_work e = {.w = w};
  tbi_layout at = {scratch, 0};
  place_newton(&at, &e, w->nlaw, w->nunknown);
  set_out(&e, tolerance, budget);
  return e;
}

tbi_newton_result tbi_newton_refine(const tbi_delassus *w, double tolerance, tbi_newton_effort most,
                                    double *r, void *scratch) {
  tbi_newton_work e = begin_refining(w, tolerance, most.factorisations, scratch);
  e.enough = most.enough;
  (void)start_from(&e, r);
  tbi_newton_result result = {.converged = e.residual <= tolerance};
  if (!result.converged && most.sweeps > 0) {
    result.sweeps = sweep(&e, most.sweeps, WARM_SWEEPS, most.factorisations > 0 ? INFINITY : 0);
    result.converged = e.residual <= tolerance;
  }
  if (!result.converged && most.factorisations > 0)
    result.converged = tbi_newton_proximal(&e, TBI_ALART_CURNIER, PROXIMAL, most.factorisations);
  store_result(&e, &result, r);
  return result;
}

tbi_newton_result tbi_newton_share_load(const tbi_delassus *w, double tolerance, int32_t budget,
                                        double *r, void *scratch) {
  tbi_newton_work e = begin_refining(w, tolerance, budget, scratch);
  copy(&e, e.start, r);
  bool found = tbi_newton_share(&e);
  if (found) copy(&e, r, e.best);
  return (tbi_newton_result){.factorisations = e.used, .residual = e.residual, .converged = found};
}
