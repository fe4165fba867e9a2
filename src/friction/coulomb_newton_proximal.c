/* coulomb_newton_proximal.c - semismooth Newton inside the proximal point method.
 *
 * Given r_k, the problem with  u + del w (r - r_k)  instead of u has a regular Jacobian whatever
 * the rank of W; its solution is the next r_k.  Where contacts are redundant r may have to travel
 * far along directions that W does not feel: del shrinks as long as the inner problems stay easy,
 * and grows when they fail.
 *
 * Alart and Curnier's function, with z = x - y, R = mu max(0, z_n), c = z_t / |z_t|:
 *   normal    z_n > 0:      F_n = y_n            else F_n = x_n
 *   tangent   |z_t| <= R:   F_t = y_t (stick)    R = 0: F_t = x_t    else F_t = x_t - R c (slip)
 * Natural map: F = x - P(x - y - (mu |y_t|, 0, 0)).
 * Row: F = x - clamp(x - y).
 *
 * With dF = A dx + B dy and C = A + del B a Newton step solves  dx + C^-1 B W dx = -C^-1 F.
 *
 * F is not smooth: its norm may have to rise before it falls.  When no shortened step helps, one
 * ends just behind the first place where a law changes: F is continuous, so nothing is lost, and
 * bounds that are met one by one do not let the iteration run in circles.  When that is refused,
 * too, the full step is taken all the same, a few times.
 *
 * Equal springs (tbi_newton_share): where W does not decide how contacts share their load, the
 * solution is not unique, and where it ends depends on where it begins.  The proximal point from
 * r_0 = 0 with the mean mobility instead of each law's own w puts the same spring under every
 * contact.  Each of its problems has one solution; r as given only helps Newton to find it. */
#include "friction/coulomb_newton_work.h"

#include "base/assertion.h"

#include <string.h>

enum { INNER_STEPS = 20, FORCED_STEPS = 5, FREE_STEPS = 2, HALVINGS = 5, CHANGES = 4 };
enum { MAX_FAILURES = 25, MAX_IDLE = 100 };
enum { FORGET = 3 }; /* successes after which a failure is forgotten */

/* Equal springs: the first proximal parameter and the least; how much a residual must shrink lest
 * the parameter does; the share of the impulses that |F| may be, and may be where it falls no
 * further. */
enum { SHARE_FAILURES = 6 };
#define SHARE     1e-4
#define MIN_SHARE 1e-9
#define SLOW      1e-2
#define DEEP      1e-12
#define SHALLOW   1e-9

#define MIN_PROXIMAL 1e-14
#define MAX_PROXIMAL 1.0
#define DECREASE     1e-4
#define BEHIND       1e-11 /* relative: how far behind a change of law a step ends */
#define HERE         1e-12 /* of a step: a change that lies behind already */

/* How many times its rounding errors the residual may have: after a proximal step that did not
 * halve it, and already after a Newton step that had to be forced. */
#define ROUNDING      10
#define DEEP_ROUNDING 2

typedef enum outcome { MET, CONVERGED, FAILED, ENOUGH } outcome;

typedef struct newton {
  tbi_newton_work *e;
  tbi_newton_map map;
  double del;
  double spring;     /* m/s per N s, w of the proximal term for all laws; 0: each has its own */
  double size;       /* |F| at e->r */
  double history[3]; /* of |F|, the latest first */
  int32_t forced, unchecked, changes;
} newton;

/* the scaled unknowns of a law */
typedef struct point {
  double x[3], y[3];
} point;

/* the proximal parameter of a law, in its scaled unknowns */
static double del_of(const newton *n, int32_t i) {
  double root = n->e->root[i];
  return n->spring > 0 ? n->del * n->spring / (root * root) : n->del;
}

static point scaled(const newton *n, int32_t i, const double *r, const double *u) {
  const tbi_law *law = &n->e->w->law[i];
  double root = n->e->root[i];
  double del = del_of(n, i);
  point p = {0};
  for (int32_t k = 0; k < law->size; ++k) {
    int32_t at = law->at + k;
    p.x[k] = root * r[at];
    p.y[k] = u[at] / root + del * root * (r[at] - n->e->origin[at]);
  }
  return p;
}

typedef enum mode { OPEN, STICK, SLIP } mode;

/* where the tangent stands in Alart and Curnier's function */
typedef struct friction {
  bool closed;
  mode mode;
  double limit;        /* R */
  double length;       /* |z_t| */
  double direction[2]; /* c */
} friction;

static friction classify(double mu, const point *p) {
  double z[3] = {p->x[0] - p->y[0], p->x[1] - p->y[1], p->x[2] - p->y[2]};
  friction s = {.closed = z[0] > 0, .limit = mu * tbi_max(z[0], 0)};
  s.length = sqrt(z[1] * z[1] + z[2] * z[2]);
  if (mu > 0 && s.length <= s.limit) {
    s.mode = STICK;
  } else if (s.limit <= 0) {
    s.mode = OPEN;
  } else {
    s.mode = SLIP;
    s.direction[0] = z[1] / s.length;
    s.direction[1] = z[2] / s.length;
  }
  return s;
}

static void function_alart_curnier(double mu, const point *p, double *f) {
  friction s = classify(mu, p);
  f[0] = s.closed ? p->y[0] : p->x[0];
  for (int k = 0; k < 2; ++k) {
    f[k + 1] = s.mode == STICK ? p->y[k + 1] : p->x[k + 1] - s.limit * s.direction[k];
  }
}

static void function_natural(const tbi_law *law, const point *p, double *f) {
  double shift = law->friction * sqrt(p->y[1] * p->y[1] + p->y[2] * p->y[2]);
  double z[3] = {p->x[0] - p->y[0] - shift, p->x[1] - p->y[1], p->x[2] - p->y[2]};
  double q[3];
  tbi_newton_project(law, 1, z, q);
  for (int k = 0; k < 3; ++k)
    f[k] = p->x[k] - q[k];
}

static void function(const newton *n, int32_t i, const point *p, double *f) {
  const tbi_law *law = &n->e->w->law[i];
  if (law->size == 1) {
    double z = p->x[0] - p->y[0];
    double q;
    tbi_newton_project(law, n->e->root[i], &z, &q);
    f[0] = p->x[0] - q;
  } else if (n->map == TBI_NATURAL_MAP) {
    function_natural(law, p, f);
  } else {
    function_alart_curnier(law->friction, p, f);
  }
}

/* |F| at r */
static double evaluate(const newton *n, const double *r, const double *u, double *f) {
  double sum = 0;
  for (int32_t i = 0; i < n->e->w->nlaw; ++i) {
    point p = scaled(n, i, r, u);
    double *own = f + n->e->w->law[i].at;
    function(n, i, &p, own);
    for (int32_t k = 0; k < n->e->w->law[i].size; ++k)
      sum += own[k] * own[k];
  }
  return sqrt(sum);
}

/* D = C^-1 B and g = C^-1 F of a contact; C is triangular by blocks, so both are written down */
static void linear_alart_curnier(double mu, double del, const point *p, const double *f, double *d,
                                 double *g) {
  friction s = classify(mu, p);
  memset(d, 0, 9 * sizeof *d);
  d[0] = s.closed ? 1 / del : 0;
  g[0] = s.closed ? f[0] / del : f[0];
  g[1] = f[1];
  g[2] = f[2];
  if (s.mode == STICK) {
    d[4] = d[8] = 1 / del;
    g[1] /= del;
    g[2] /= del;
  } else if (s.mode == SLIP) {
    double c[2] = {s.direction[0], s.direction[1]};
    double gamma = s.limit / s.length;
    double across = 1 / (1 - (1 - del) * gamma);
    double b[2];
    for (int k = 0; k < 2; ++k)
      b[k] = f[k + 1] + mu * c[k] * (1 - del) * g[0];
    double along = (1 - across) * (c[0] * b[0] + c[1] * b[1]);
    for (int k = 0; k < 2; ++k) {
      d[3 + 3 * k] = mu * c[k] / del;
      for (int l = 0; l < 2; ++l)
        d[4 + 3 * k + l] = gamma * across * ((k == l ? 1 : 0) - c[k] * c[l]);
      g[k + 1] = across * b[k] + along * c[k];
    }
  }
}

/* the derivative of the projection on the cone */
static void projection_derivative(double mu, const double *z, double *m) {
  double t = sqrt(z[1] * z[1] + z[2] * z[2]);
  memset(m, 0, 9 * sizeof *m);
  if (z[0] >= 0 && t <= mu * z[0]) {
    m[0] = m[4] = m[8] = 1;
    return;
  }
  double along = z[0] + mu * t;
  if (along <= 0) return;
  double share = 1 / (1 + mu * mu);
  double normal = along * share;
  double v[3] = {1, mu * z[1] / t, mu * z[2] / t};
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l)
      m[3 * k + l] = share * v[k] * v[l];
  }
  for (int k = 1; k < 3; ++k) {
    for (int l = 1; l < 3; ++l)
      m[3 * k + l] += mu * normal / t * ((k == l ? 1 : 0) - z[k] * z[l] / (t * t));
  }
}

/* b = a^-1 b with b of 3 x columns; a is lost */
static void solve_small(double *a, double *b, int columns) {
  for (int k = 0; k < 3; ++k) {
    int best = k;
    for (int i = k + 1; i < 3; ++i) {
      if (fabs(a[3 * i + k]) > fabs(a[3 * best + k])) best = i;
    }
    for (int j = 0; j < 3; ++j) {
      double t = a[3 * k + j];
      a[3 * k + j] = a[3 * best + j];
      a[3 * best + j] = t;
    }
    for (int j = 0; j < columns; ++j) {
      double t = b[columns * k + j];
      b[columns * k + j] = b[columns * best + j];
      b[columns * best + j] = t;
    }
    double pivot = 1 / a[3 * k + k];
    for (int i = 0; i < 3; ++i) {
      double l = a[3 * i + k] * pivot;
      for (int j = 0; j < 3 && i != k; ++j)
        a[3 * i + j] -= l * a[3 * k + j];
      for (int j = 0; j < columns && i != k; ++j)
        b[columns * i + j] -= l * b[columns * k + j];
    }
  }
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < columns; ++j)
      b[columns * k + j] /= a[3 * k + k];
  }
}

static void linear_natural(const tbi_law *law, double del, const point *p, const double *f,
                           double *d, double *g) {
  double slip = sqrt(p->y[1] * p->y[1] + p->y[2] * p->y[2]);
  double z[3] = {p->x[0] - p->y[0] - law->friction * slip, p->x[1] - p->y[1], p->x[2] - p->y[2]};
  double m[9];
  projection_derivative(law->friction, z, m);
  /* B = m (1 + mu e_n c'), A = 1 - m, the right side beside B */
  double c[12];
  double a[9];
  for (int k = 0; k < 3; ++k) {
    const double *row = m + (ptrdiff_t)3 * k;
    for (int l = 0; l < 3; ++l) {
      double turn = l > 0 && slip > 0 ? law->friction * p->y[l] / slip : 0;
      double b = row[l] + row[0] * turn;
      c[4 * k + l] = b;
      a[3 * k + l] = (k == l ? 1 : 0) - row[l] + del * b;
    }
    c[4 * k + 3] = f[k];
  }
  solve_small(a, c, 4);
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l)
      d[3 * k + l] = c[4 * k + l];
    g[k] = c[4 * k + 3];
  }
}

static void linear_row(const newton *n, int32_t i, const point *p, const double *f, double *d,
                       double *g) {
  const tbi_law *law = &n->e->w->law[i];
  double z = p->x[0] - p->y[0];
  bool inside = z > n->e->root[i] * law->lower && z < n->e->root[i] * law->upper;
  double del = del_of(n, i);
  d[0] = inside ? 1 / del : 0;
  g[0] = inside ? f[0] / del : f[0];
}

/* The direction e->dr at e->r; false: singular, or no factorisation is left. */
static bool direction(newton *n) {
  tbi_newton_work *e = n->e;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    const double *f = e->f + law->at;
    double *g = e->g + law->at;
    double *d = e->d[i].m;
    point p = scaled(n, i, e->r, e->u);
    if (law->size == 1) {
      linear_row(n, i, &p, f, d, g);
    } else if (n->map == TBI_NATURAL_MAP) {
      linear_natural(law, del_of(n, i), &p, f, d, g);
    } else {
      linear_alart_curnier(law->friction, del_of(n, i), &p, f, d, g);
    }
    for (int32_t k = 0; k < law->size * law->size; ++k)
      d[k] /= e->root[i] * e->root[i];
    for (int32_t k = 0; k < law->size; ++k)
      g[k] /= -e->root[i];
  }
  return tbi_newton_factor(e);
}

/* |F| at r + share dr, which is left in e->trial */
static double try_step(newton *n, double share) {
  tbi_newton_work *e = n->e;
  for (int32_t i = 0; i < e->w->nunknown; ++i)
    e->trial[i] = e->r[i] + share * e->dr[i];
  tbi_newton_velocity(e, e->trial, e->trial_u);
  return evaluate(n, e->trial, e->trial_u, e->f);
}

static void exchange(double **a, double **b) {
  double *t = *a;
  *a = *b;
  *b = t;
}

static void accept(newton *n, double size) {
  tbi_newton_work *e = n->e;
  exchange(&e->r, &e->trial);
  exchange(&e->u, &e->trial_u);
  n->size = size;
  n->history[2] = n->history[1];
  n->history[1] = n->history[0];
  n->history[0] = size;
}

/* where a + b t is zero within a step; 1: nowhere */
static double crossing(double a, double b) {
  double t = b != 0 ? -a / b : 1;
  return t > HERE && t < 1 ? t : 1;
}

/* the same of a + 2 b t + c t^2, the first place */
static double first_crossing(double a, double b, double c) {
  double square = b * b - a * c;
  if (square < 0) return 1;
  double k = b + copysign(sqrt(square), b);
  return tbi_min(crossing(k, c), crossing(a, k));
}

/* the share of a step, from one point to the other, at which a law changes */
static double first_change(const newton *n, int32_t i, const point *from, const point *to) {
  const tbi_law *law = &n->e->w->law[i];
  double z[3];
  double d[3];
  for (int k = 0; k < 3; ++k) {
    z[k] = from->x[k] - from->y[k];
    d[k] = to->x[k] - to->y[k] - z[k];
  }
  if (law->size == 1) {
    double root = n->e->root[i];
    return tbi_min(crossing(z[0] - root * law->lower, d[0]),
                   crossing(z[0] - root * law->upper, d[0]));
  }
  double mu = law->friction * law->friction;
  double slips = first_crossing(z[1] * z[1] + z[2] * z[2] - mu * z[0] * z[0],
                                z[1] * d[1] + z[2] * d[2] - mu * z[0] * d[0],
                                d[1] * d[1] + d[2] * d[2] - mu * d[0] * d[0]);
  return tbi_min(crossing(z[0], d[0]), slips);
}

/* A step behind the first change of a law, if there is one before `share` of e->dr; false: no. */
static bool pass_change(newton *n, double share, double reference) {
  tbi_newton_work *e = n->e;
  if (n->map != TBI_ALART_CURNIER || n->changes == CHANGES) return false;
  ++n->changes;
  double first = 1;
  (void)try_step(n, 1);
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    point from = scaled(n, i, e->r, e->u);
    point to = scaled(n, i, e->trial, e->trial_u);
    first = tbi_min(first, first_change(n, i, &from, &to));
  }
  if (first >= share) return false;
  double size = try_step(n, (1 + BEHIND) * first);
  if (!(size <= reference)) return false;
  accept(n, size);
  return true;
}

/* Goes along e->dr as far as |F| allows; false: it allows nothing, and force is used up. */
static bool advance(newton *n) {
  double reference = tbi_max(n->history[0], tbi_max(n->history[1], n->history[2]));
  double share = 1;
  double full = 0;
  for (int32_t k = 0; k <= HALVINGS; ++k) {
    double size = try_step(n, share);
    if (k == 0) full = size;
    bool take = n->unchecked > 0 ? isfinite(size) : size <= (1 - DECREASE * share) * reference;
    if (take) {
      if (n->unchecked > 0) --n->unchecked;
      accept(n, size);
      return true;
    }
    if (n->unchecked > 0) return false;
    share /= 2;
  }
  if (isfinite(full) && pass_change(n, 2 * share, reference)) return true;
  if (n->forced == FORCED_STEPS || !isfinite(full)) return false;
  ++n->forced;
  n->unchecked = FREE_STEPS;
  accept(n, try_step(n, 1));
  return true;
}

static double distance(const tbi_newton_work *e, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      sum += law->mobility * (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sqrt(sum);
}

static void begin_inner(newton *n) {
  n->size = evaluate(n, n->e->r, n->e->u, n->e->f);
  n->history[0] = n->history[1] = n->history[2] = n->size;
  n->forced = n->unchecked = n->changes = 0;
}

/* |x| */
static double size_of(const tbi_newton_work *e, const double *r) {
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      sum += law->mobility * r[k] * r[k];
  }
  return sqrt(sum);
}

/* One proximal problem, with the present r as r_k.  Counts its steps. */
static outcome solve_inner(newton *n, int32_t *steps, double *residual) {
  tbi_newton_work *e = n->e;
  memcpy(e->origin, e->r, (size_t)e->w->nunknown * sizeof *e->origin);
  begin_inner(n);
  double begin = n->size;
  for (*steps = 0; *steps < INNER_STEPS;) {
    if (!direction(n) || !advance(n)) return FAILED;
    ++*steps;
    double best = e->residual;
    *residual = tbi_newton_measure(e, e->r, e->u);
    if (tbi_newton_met(e, n->unchecked == FREE_STEPS ? DEEP_ROUNDING : 0)) return MET;
    if (e->residual <= e->enough && e->residual > best / 2) return ENOUGH;
    double moved = distance(e, e->r, e->origin);
    if (n->size <= 0.2 * n->del * moved || n->size < 1e-3 * begin) return CONVERGED;
  }
  return FAILED;
}

/* How the proximal parameter goes on after a success. */
static double shrink(int32_t steps, bool failed_before) {
  if (!failed_before) return steps <= 2 ? 0.05 : steps <= 5 ? 0.2 : 0.7;
  return steps <= 2 ? 0.15 : steps <= 4 ? 0.39 : steps <= 7 ? 0.8 : 1.2;
}

static void go_back(newton *n) {
  tbi_newton_work *e = n->e;
  memcpy(e->r, e->origin, (size_t)e->w->nunknown * sizeof *e->r);
  tbi_newton_velocity(e, e->r, e->u);
}

/* What became of the proximal steps so far. */
typedef struct record {
  double reached;    /* residual at r_k */
  double halved;     /* the last that was half of the one before */
  int32_t failures;  /* of all inner solves */
  int32_t successes; /* in a row */
  int32_t idle;      /* successes since `halved` */
  bool succeeded;    /* ever */
} record;

static void fail(newton *n, record *c, double residual) {
  ++c->failures;
  c->successes = 0;
  n->del *= c->succeeded ? 3 : 20;
  if (residual <= c->reached) {
    c->reached = residual;
  } else {
    go_back(n);
  }
}

static void succeed(newton *n, record *c, double residual, int32_t steps) {
  if (!(residual < 3 * c->reached) && !(residual < 10 * n->e->residual)) {
    ++c->failures;
    go_back(n);
    n->del *= 10;
    return;
  }
  c->succeeded = true;
  ++c->successes;
  c->reached = residual;
  c->idle = residual <= c->halved / 2 ? 0 : c->idle + 1;
  if (c->idle == 0) c->halved = residual;
  n->del *= shrink(steps, c->failures > 0 && c->successes < FORGET);
}

bool tbi_newton_proximal(tbi_newton_work *e, tbi_newton_map map, double proximal, int32_t max) {
  TBI_ASSERT(proximal > 0 && MIN_PROXIMAL <= proximal && proximal <= MAX_PROXIMAL);
  newton n = {.e = e, .map = map, .del = proximal};
  memcpy(e->r, e->start, (size_t)e->w->nunknown * sizeof *e->r);
  tbi_newton_velocity(e, e->r, e->u);
  record c = {.reached = tbi_newton_measure(e, e->r, e->u)};
  c.halved = c.reached;
  bool improves = false;
  int32_t limit = e->used + max;
  while (e->left > 0 && c.failures < MAX_FAILURES && c.idle <= MAX_IDLE) {
    /* no reason to begin anew what goes well */
    if (e->used >= limit && !improves) break;
    int32_t steps = 0;
    double residual = INFINITY;
    double before = e->residual;
    outcome end = solve_inner(&n, &steps, &residual);
    if (end == MET) return true;
    if (end == ENOUGH) return false;
    if (end == FAILED) {
      fail(&n, &c, residual);
    } else {
      succeed(&n, &c, residual, steps);
    }
    n.del = tbi_min(tbi_max(n.del, MIN_PROXIMAL), MAX_PROXIMAL);
    improves = e->residual <= before / 2;
    if (tbi_newton_met(e, improves ? 0 : ROUNDING)) return true;
  }
  return false;
}

/* -- equal springs */

/* Solves the proximal problem about e->origin from e->r by at least one step, as exactly as
 * rounding allows: along what W does not feel an error of F grows by 1 / del. */
static bool solve_deeply(newton *n) {
  tbi_newton_work *e = n->e;
  begin_inner(n);
  for (int32_t step = 0; step < INNER_STEPS; ++step) {
    double before = n->size;
    double load = size_of(e, e->r);
    if (step > 0 && n->size <= DEEP * load) return true;
    if (!direction(n) || !advance(n)) return n->size <= SHALLOW * load;
    if (n->unchecked == 0 && n->size > before / 2 && n->size <= SHALLOW * load) return true;
  }
  return false;
}

static double mean_mobility(const tbi_delassus *w) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < w->nlaw; ++i) {
    if (w->law[i].size != 3) continue;
    sum += w->law[i].mobility;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

bool tbi_newton_share(tbi_newton_work *e) {
  newton n = {.e = e, .map = TBI_ALART_CURNIER, .del = SHARE, .spring = mean_mobility(e->w)};
  if (!(n.spring > 0)) return false;
  size_t size = (size_t)e->w->nunknown * sizeof *e->r;
  memset(e->origin, 0, size);
  memcpy(e->r, e->start, size);
  tbi_newton_velocity(e, e->r, e->u);
  double reached = INFINITY;
  for (int32_t failures = 0, rounds = 0; failures < SHARE_FAILURES && e->left > 0; ++rounds) {
    if (!solve_deeply(&n)) {
      ++failures;
      n.del = tbi_min(10 * n.del, MAX_PROXIMAL);
      go_back(&n);
      continue;
    }
    e->residual = INFINITY; /* what counts is where this path ends, not the best along it */
    double residual = tbi_newton_measure(e, e->r, e->u);
    if (tbi_newton_met(e, 0)) return true;
    if (rounds > 0 && residual > reached / 2 && tbi_newton_met(e, ROUNDING)) return true;
    if (rounds > 0 && residual > SLOW * reached) n.del = tbi_max(0.1 * n.del, MIN_SHARE);
    reached = residual;
    memcpy(e->origin, e->r, size);
  }
  return false;
}
