/* coulomb_newton_interior.c - a centred start for Newton: the convex problem, which leaves De
 * Saxce's shift away, by a primal-dual interior point method (Nesterov-Todd scaling, Mehrotra's
 * corrector).
 *
 *   x = (mu r_n, r_t) and y = (u_n / mu, u_t), scaled, both in the cone |t| <= n
 *   y = W x + q,   x o y = tau (1, 0, 0) with tau going to zero
 *   NT: F y = F^-1 x = l;   F^-1 dx + F dy = t,   l o t = what l o l lacks
 *   (W + F^-2) dx = F^-1 t - (W x + q - y),  solved as  dx + F^2 W dx = F t - F^2 (...)
 *
 * A row between bounds has a multiplier for each of them; without bounds y is zero. */
#include "friction/coulomb_newton_work.h"

#include "base/assertion.h"

#include <string.h>

enum { MAX_STEPS = 40, MAX_IDLE = 15 };

#define MIN_FRICTION 0.01 /* of the start only: the cone must have an inside */
#define ENOUGH       1e-7
#define MIN_FORCE    1e-8 /* of a row without bounds, against a singular W */

typedef struct interior {
  tbi_newton_work *e;
  double scale;    /* of impulses and velocities, so that both begin at one */
  double *x, *y;   /* hats */
  double *gap;     /* W x + q - y */
  double *dx, *dy; /* the step */
  double *ax, *ay; /* the step without corrector */
  double tau;
} interior;

static double friction_of(const tbi_law *law) { return tbi_max(law->friction, MIN_FRICTION); }

/* n n - t t, without losing it near the border */
static double determinant(const double *a) {
  double t = sqrt(a[1] * a[1] + a[2] * a[2]);
  return (a[0] - t) * (a[0] + t);
}

static void jordan(const double *a, const double *b, double *c) {
  c[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  c[1] = a[0] * b[1] + b[0] * a[1];
  c[2] = a[0] * b[2] + b[0] * a[2];
}

/* c with l o c = b */
static void jordan_divide(const double *l, const double *b, double *c) {
  double dot = l[1] * b[1] + l[2] * b[2];
  c[0] = (l[0] * b[0] - dot) / determinant(l);
  c[1] = (b[1] - c[0] * l[1]) / l[0];
  c[2] = (b[2] - c[0] * l[2]) / l[0];
}

static tbi_newton_cone make_scaling(const double *x, const double *y) {
  double dx = sqrt(determinant(x));
  double dy = sqrt(determinant(y));
  double dot = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) / (dx * dy);
  double gamma = sqrt((1 + dot) / 2);
  tbi_newton_cone c = {.eta = sqrt(dx / dy)};
  for (int k = 0; k < 3; ++k)
    c.w[k] = (x[k] / dx + (k == 0 ? 1 : -1) * y[k] / dy) / (2 * gamma);
  return c;
}

/* F v, or F^-1 v */
static void apply(const tbi_newton_cone *c, bool inverse, const double *v, double *to) {
  double sign = inverse ? -1 : 1;
  double eta = inverse ? 1 / c->eta : c->eta;
  double dot = c->w[1] * v[1] + c->w[2] * v[2];
  double along = sign * v[0] + dot / (1 + c->w[0]);
  to[0] = eta * (c->w[0] * v[0] + sign * dot);
  to[1] = eta * (v[1] + along * c->w[1]);
  to[2] = eta * (v[2] + along * c->w[2]);
}

static void begin_row(interior *s, int32_t i) {
  const tbi_law *law = &s->e->w->law[i];
  double unit = s->e->root[i] / s->scale;
  double low = unit * law->lower;
  double high = unit * law->upper;
  double *x = s->x + law->at;
  if (isfinite(low) && isfinite(high)) {
    x[0] = (low + high) / 2;
  } else {
    x[0] = isfinite(low) ? low + 1 : isfinite(high) ? high - 1 : 0;
  }
  double *zl = s->e->low + law->at;
  double *zu = s->e->high + law->at;
  *zl = isfinite(low) && high > low ? 1 / (x[0] - low) : 0;
  *zu = isfinite(high) && high > low ? 1 / (high - x[0]) : 0;
  s->y[law->at] = *zl - *zu;
}

static void begin(interior *s, tbi_newton_work *e) {
  /* what Newton uses for itself is free here */
  TBI_ASSERT(e->cone && e->low && e->high); /* tbi_newton_begin() places them */
  *s = (interior){.e = e, .x = e->projected, .y = e->speed, .gap = e->f, .dx = e->trial};
  s->dy = e->trial_u;
  s->ax = e->origin;
  s->ay = e->u;
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    for (int32_t k = law->at; k < law->at + law->size; ++k)
      sum += e->w->q[k] * e->w->q[k] / law->mobility;
  }
  s->scale = sqrt(sum / e->w->nlaw);
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    if (law->size == 1) {
      begin_row(s, i);
    } else {
      double *x = s->x + law->at;
      double *y = s->y + law->at;
      x[0] = y[0] = 1;
      x[1] = x[2] = y[1] = y[2] = 0;
    }
  }
}

/* From hats to impulses, in e->start, and back again for the velocity of these. */
static double update_gap(interior *s) {
  tbi_newton_work *e = s->e;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    double unit = s->scale / e->root[i];
    for (int32_t k = 0; k < law->size; ++k)
      e->start[law->at + k] = unit * s->x[law->at + k];
    if (law->size == 3) e->start[law->at] /= friction_of(law);
  }
  tbi_newton_velocity(e, e->start, s->gap);
  double sum = 0;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    double unit = 1 / (s->scale * e->root[i]);
    if (law->size == 3) s->gap[law->at] /= friction_of(law);
    for (int32_t k = law->at; k < law->at + law->size; ++k) {
      s->gap[k] = unit * s->gap[k] - s->y[k];
      sum += s->gap[k] * s->gap[k];
    }
  }
  return sqrt(sum / e->w->nlaw);
}

/* how far a row is from its bounds, below and above */
static void row_slack(const interior *s, int32_t i, double *below, double *above) {
  const tbi_law *law = &s->e->w->law[i];
  double unit = s->e->root[i] / s->scale;
  *below = s->x[law->at] - unit * law->lower;
  *above = unit * law->upper - s->x[law->at];
}

/* How the multipliers of a row change with dx, on the way to tau. */
static void row_rates(const interior *s, int32_t i, double dx, double tau, double rate[2]) {
  double below;
  double above;
  row_slack(s, i, &below, &above);
  double zl = s->e->low[s->e->w->law[i].at];
  double zu = s->e->high[s->e->w->law[i].at];
  rate[0] = zl > 0 ? (tau - zl * dx) / below - zl : 0;
  rate[1] = zu > 0 ? (tau + zu * dx) / above - zu : 0;
}

/* The mean of x o y over cones and bounds, a share a of the step (dx, dy) ahead, which leads to
 * tau. */
static double centre(const interior *s, const double *dx, const double *dy, double a, double tau) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->e->w->nlaw; ++i) {
    int32_t at = s->e->w->law[i].at;
    if (s->e->w->law[i].size == 3) {
      for (int32_t k = at; k < at + 3; ++k)
        sum += (s->x[k] + a * dx[k]) * (s->y[k] + a * dy[k]);
      ++count;
      continue;
    }
    double below;
    double above;
    double rate[2];
    row_slack(s, i, &below, &above);
    row_rates(s, i, dx[at], tau, rate);
    double zl = s->e->low[at];
    double zu = s->e->high[at];
    if (zl > 0) sum += (zl + a * rate[0]) * (below + a * dx[at]);
    if (zu > 0) sum += (zu + a * rate[1]) * (above - a * dx[at]);
    count += (zl > 0) + (zu > 0);
  }
  return count > 0 ? sum / count : 0;
}

/* Fills D and g of a contact; t is what F^-1 dx + F dy shall be. */
static void put_contact(interior *s, int32_t i, const double *t) {
  tbi_newton_work *e = s->e;
  const tbi_law *law = &e->w->law[i];
  const tbi_newton_cone *c = &e->cone[i];
  double hat[3] = {1 / friction_of(law), 1, 1};
  double *d = e->d[i].m;
  double *g = e->g + law->at;
  apply(c, false, t, g);
  for (int k = 0; k < 3; ++k) {
    double sum = 0;
    for (int l = 0; l < 3; ++l) {
      double j = k != l ? 0 : k == 0 ? 1 : -1;
      double square = c->eta * c->eta * (2 * c->w[k] * c->w[l] - j);
      sum += square * s->gap[law->at + l];
      d[3 * k + l] = hat[k] * square * hat[l] / law->mobility;
    }
    g[k] = (g[k] - sum) * hat[k] * s->scale / e->root[i];
  }
}

static void put_row(interior *s, int32_t i, double tau) {
  tbi_newton_work *e = s->e;
  const tbi_law *law = &e->w->law[i];
  double below;
  double above;
  row_slack(s, i, &below, &above);
  e->g[law->at] = e->d[i].m[0] = 0;
  if (!(below + above > 0)) return;
  double zl = e->low[law->at];
  double zu = e->high[law->at];
  double force = tbi_max(zl / below + zu / above, MIN_FORCE);
  double push = tau / below - tau / above - s->y[law->at] - s->gap[law->at];
  e->d[i].m[0] = 1 / (force * law->mobility);
  e->g[law->at] = push / force * s->scale / e->root[i];
}

/* The step for x o y = tau e, or with corrector the one that also knows what the step (ax, ay)
 * leaves out. */
static bool find_step(interior *s, double tau, bool corrector) {
  tbi_newton_work *e = s->e;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    if (law->size == 1) {
      put_row(s, i, tau);
      continue;
    }
    double l[3];
    double square[3];
    double t[3];
    apply(&e->cone[i], false, s->y + law->at, l);
    jordan(l, l, square);
    double lack[3] = {tau - square[0], -square[1], -square[2]};
    if (corrector) {
      double a[3];
      double b[3];
      double product[3];
      apply(&e->cone[i], true, s->ax + law->at, a);
      apply(&e->cone[i], false, s->ay + law->at, b);
      jordan(a, b, product);
      for (int k = 0; k < 3; ++k)
        lack[k] -= product[k];
    }
    jordan_divide(l, lack, t);
    put_contact(s, i, t);
    memcpy(s->dy + law->at, t, sizeof t);
  }
  return tbi_newton_factor(e);
}

/* dx and dy in hats from the impulses dr; dy holds t before */
static void read_step(interior *s, double tau, double *dx, double *dy) {
  tbi_newton_work *e = s->e;
  for (int32_t i = 0; i < e->w->nlaw; ++i) {
    const tbi_law *law = &e->w->law[i];
    double unit = e->root[i] / s->scale;
    double *x = dx + law->at;
    for (int32_t k = 0; k < law->size; ++k)
      x[k] = unit * e->dr[law->at + k];
    if (law->size == 1) {
      double below;
      double above;
      row_slack(s, i, &below, &above);
      double force = e->low[law->at] / below + e->high[law->at] / above;
      dy[law->at] = tau / below - tau / above - s->y[law->at] - force * x[0];
      if (!(below + above > 0)) dy[law->at] = 0;
      continue;
    }
    x[0] *= friction_of(law);
    double scaled[3];
    double t[3];
    apply(&e->cone[i], true, x, scaled);
    for (int k = 0; k < 3; ++k)
      t[k] = s->dy[law->at + k] - scaled[k];
    apply(&e->cone[i], true, t, dy + law->at);
  }
}

/* the largest a for which p + a d stays in the cone */
static double cone_step(const double *p, const double *d) {
  double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
  double b = p[0] * d[0] - p[1] * d[1] - p[2] * d[2];
  double c = determinant(p);
  double root = b * b - a * c;
  if (root < 0) return d[0] < 0 ? -p[0] / d[0] : (double)INFINITY;
  root = sqrt(root);
  /* c + 2 b x + a x^2 = 0, in the form without cancellation */
  double best = INFINITY;
  double q = -(b + (b >= 0 ? root : -root));
  if (q != 0 && c / q > 0) best = c / q;
  if (a != 0 && q / a > 0) best = tbi_min(best, q / a);
  return best;
}

static double longest(const interior *s, const double *dx, const double *dy, double tau) {
  double max = INFINITY;
  for (int32_t i = 0; i < s->e->w->nlaw; ++i) {
    const tbi_law *law = &s->e->w->law[i];
    int32_t at = law->at;
    if (law->size == 3) {
      max = tbi_min(max, tbi_min(cone_step(s->x + at, dx + at), cone_step(s->y + at, dy + at)));
      continue;
    }
    double below;
    double above;
    row_slack(s, i, &below, &above);
    if (dx[at] < 0) max = tbi_min(max, -below / dx[at]);
    if (dx[at] > 0) max = tbi_min(max, above / dx[at]);
    double rate[2];
    row_rates(s, i, dx[at], tau, rate);
    if (rate[0] < 0) max = tbi_min(max, -s->e->low[at] / rate[0]);
    if (rate[1] < 0) max = tbi_min(max, -s->e->high[at] / rate[1]);
  }
  return max;
}

static void go(interior *s, double a, double tau) {
  for (int32_t i = 0; i < s->e->w->nlaw; ++i) {
    const tbi_law *law = &s->e->w->law[i];
    int32_t at = law->at;
    if (law->size == 1) {
      double rate[2];
      row_rates(s, i, s->dx[at], tau, rate);
      s->e->low[at] += a * rate[0];
      s->e->high[at] += a * rate[1];
    }
    for (int32_t k = at; k < at + law->size; ++k) {
      s->x[k] += a * s->dx[k];
      s->y[k] += a * s->dy[k];
    }
    if (law->size == 1) s->y[at] = s->e->low[at] - s->e->high[at];
  }
}

static void rescale(interior *s) {
  for (int32_t i = 0; i < s->e->w->nlaw; ++i) {
    int32_t at = s->e->w->law[i].at;
    if (s->e->w->law[i].size == 3) s->e->cone[i] = make_scaling(s->x + at, s->y + at);
  }
}

/* One step; false when nothing more comes of it. */
static bool improve(interior *s) {
  rescale(s);
  if (!find_step(s, 0, false)) return false;
  read_step(s, 0, s->ax, s->ay);
  double max = tbi_min(longest(s, s->ax, s->ay, 0), 1);
  double share = s->tau > 0 ? tbi_max(centre(s, s->ax, s->ay, max, 0), 0) / s->tau : 0;
  double tau = tbi_min(tbi_max(share * share * share, 1e-6), 1) * s->tau;
  if (!find_step(s, tau, true)) return false;
  read_step(s, tau, s->dx, s->dy);
  double a = tbi_min((s->tau < 1e-4 ? 0.999 : 0.9) * longest(s, s->dx, s->dy, tau), 1);
  if (!(a > 1e-8) || !isfinite(a)) return false;
  go(s, a, tau);
  s->tau = centre(s, s->dx, s->dy, 0, 0);
  return true;
}

void tbi_newton_interior(tbi_newton_work *e) {
  interior s;
  begin(&s, e);
  s.tau = 1;
  double best = INFINITY;
  int32_t idle = 0;
  for (int32_t k = 0; k < MAX_STEPS && idle < MAX_IDLE && e->left > 0; ++k) {
    double now = tbi_max(update_gap(&s), s.tau);
    idle = now < best ? 0 : idle + 1;
    best = tbi_min(best, now);
    if (now < ENOUGH || !improve(&s)) break;
  }
  (void)update_gap(&s);
}
