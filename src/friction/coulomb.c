/* coulomb.c - open, stick or slip.
 *
 * Slip: eliminating the normal by u_n = 0 leaves u_t = S p_t + c with the Schur complement S.
 * Friction against slip means u_t = -lambda p_t, so that p_t(lambda) = -(S + lambda)^-1 c, and
 * lambda > 0 is the root of |p_t| - mu p_n: positive at 0, where sticking was found too weak, and
 * negative far out, where p_t vanishes.  In the eigenvectors of S this is a secular equation in one
 * unknown, solved by Newton's method kept inside a shrinking interval. */
#include "friction/coulomb.h"

#include "base/assertion.h"

#include <stdbool.h>

#define MAX_STEPS 60
#define CLOSE     1e-15 /* relative; below is rounding */

/* p = -w^-1 b by elimination, normal first */
static v3 stick(const double (*w)[3], v3 b) {
  double l10 = w[1][0] / w[0][0];
  double l20 = w[2][0] / w[0][0];
  double d1 = w[1][1] - l10 * w[1][0];
  double e21 = w[2][1] - l20 * w[1][0];
  double d2 = w[2][2] - l20 * w[2][0] - e21 * e21 / d1;
  double y1 = b.y - l10 * b.x;
  double y2 = b.z - l20 * b.x - e21 / d1 * y1;
  double z = -y2 / d2;
  double y = -(y1 + e21 * z) / d1;
  double x = -(b.x + w[0][1] * y + w[0][2] * z) / w[0][0];
  return v3_make(x, y, z);
}

/* The slip problem in the eigenvectors of S. */
typedef struct secular {
  double cosine, sine; /* the first eigenvector */
  double s[2], c[2];
  double slope[2]; /* d p_n / d p_t */
  double normal;   /* p_n without friction */
  double mu;
} secular;

static secular make_secular(const double (*w)[3], v3 b, double mu) {
  double gy = w[1][0] / w[0][0];
  double gz = w[2][0] / w[0][0];
  double yy = w[1][1] - gy * w[1][0];
  double yz = w[1][2] - gy * w[2][0];
  double zz = w[2][2] - gz * w[2][0];
  double cy = b.y - gy * b.x;
  double cz = b.z - gz * b.x;
  double half = 0.5 * (yy - zz);
  double radius = sqrt(half * half + yz * yz);
  double mean = 0.5 * (yy + zz);
  /* eigenvector of the larger eigenvalue, from the better of two equal forms */
  double ex = half >= 0 ? half + radius : yz;
  double ey = half >= 0 ? yz : radius - half;
  double length = sqrt(ex * ex + ey * ey);
  double cosine = length > 0 ? ex / length : 1;
  double sine = length > 0 ? ey / length : 0;
  return (secular){
      .cosine = cosine,
      .sine = sine,
      .s = {mean + radius,              mean - radius             },
      .c = {cosine * cy + sine * cz,    cosine * cz - sine * cy   },
      .slope = {-(cosine * gy + sine * gz), -(cosine * gz - sine * gy)},
      .normal = -b.x / w[0][0],
      .mu = mu,
  };
}

/* Where friction stands at some lambda. */
typedef struct trial {
  double p[2];                    /* p_t */
  double length, limit;           /* |p_t| and mu p_n */
  double length_rate, limit_rate; /* their derivatives */
} trial;

static trial try_lambda(const secular *q, double lambda) {
  trial t;
  double d[2];
  for (int i = 0; i < 2; ++i) {
    double inverse = 1 / (q->s[i] + lambda);
    t.p[i] = -q->c[i] * inverse;
    d[i] = -t.p[i] * inverse;
  }
  t.length = sqrt(t.p[0] * t.p[0] + t.p[1] * t.p[1]);
  t.length_rate = t.length > 0 ? (t.p[0] * d[0] + t.p[1] * d[1]) / t.length : 0;
  t.limit = q->mu * (q->normal + q->slope[0] * t.p[0] + q->slope[1] * t.p[1]);
  t.limit_rate = q->mu * (q->slope[0] * d[0] + q->slope[1] * d[1]);
  return t;
}

/* Newton's step to where both are equal.  Their reciprocals are nearly straight lines in lambda, so
 * the difference of those is used wherever it exists. */
static double newton(const trial *t, double lambda) {
  if (!(t->limit > 0) || !(t->length > 0)) {
    return lambda - (t->length - t->limit) / (t->length_rate - t->limit_rate);
  }
  double g = 1 / t->length - 1 / t->limit;
  double rate = t->limit_rate / (t->limit * t->limit) - t->length_rate / (t->length * t->length);
  return lambda - g / rate;
}

static v3 slip(const double (*w)[3], v3 b, double mu) {
  secular q = make_secular(w, b, mu);
  double low = 0;
  double high = INFINITY;
  double c = sqrt(q.c[0] * q.c[0] + q.c[1] * q.c[1]);
  /* exact where S is a multiple of one and the normal feels no friction */
  double lambda = tbi_max(c / (mu * q.normal) - 0.5 * (q.s[0] + q.s[1]), 0);
  trial t = try_lambda(&q, lambda);
  for (int step = 0; step < MAX_STEPS; ++step) {
    if (fabs(t.length - t.limit) <= CLOSE * t.limit) break;
    *(t.length > t.limit ? &low : &high) = lambda;
    double next = newton(&t, lambda);
    if (!(next > low && next < high)) next = isinf(high) ? 2 * low + q.s[0] : 0.5 * (low + high);
    if (next == lambda) break;
    lambda = next;
    t = try_lambda(&q, lambda);
  }
  double y = q.cosine * t.p[0] - q.sine * t.p[1];
  double z = q.sine * t.p[0] + q.cosine * t.p[1];
  /* in the cone to the last bit: the normal from its own equation, the tangent cut to it.  It may
   * end inside where sticking failed by rounding only, as with fewer than three freedoms */
  double normal = q.normal + q.slope[0] * t.p[0] + q.slope[1] * t.p[1];
  double scale = t.length > mu * normal ? mu * normal / t.length : 1;
  return v3_make(normal, scale * y, scale * z);
}

v3 tbi_coulomb(const double (*w)[3], v3 b, double mu) {
  TBI_CHECK_SLOW(w[0][0] > 0 && !(mu < 0));
  if (b.x >= 0) return v3_zero();
  if (mu <= 0) return v3_make(-b.x / w[0][0], 0, 0);
  v3 p = stick(w, b);
  if (p.x >= 0 && p.y * p.y + p.z * p.z <= mu * mu * p.x * p.x) return p;
  return slip(w, b, mu);
}
