/* preview.c - see preview.h (Kajita et al. 2003; Katayama et al. 1985).
 *
 * The cart x = (position, velocity, acceleration) moves by x+ = A x + B u under the jerk u, and its
 * ZMP is p = C x = position - height / gravity * acceleration.  With the error e = p - reference
 * and the change of the state between samples as the state of a regulator,
 *
 *   [e; dx]+ = F [e; dx] + G du,   F = [1 CA; 0 A],   G = [CB; B],
 *
 * the minimum of the sum of error_weight e^2 + jerk_weight du^2 has, with the solution P of the
 * Riccati equation and s = jerk_weight + G'PG, the gains
 *
 *   K = G'PF / s,   integral = K[0],   state = K[1..3],   horizon[j] = G' Fc'^(j-1) P I / s,
 *
 * where Fc = F - G K and I = (1, 0, 0, 0). */
#include "control/preview.h"

#include "base/assertion.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RICCATI_STEPS 1000000

typedef double vec4[4];

/* The cart-table model: A, B and C. */
typedef struct cart_model {
  double a[3][3], b[3], c[3];
} cart_model;

/* Discretised cart-table model, with p = x - height / gravity x'' (Kajita et al. 2003). */
static cart_model make_cart(const tbi_preview_def *def) {
  double t = def->period;
  return (cart_model){
      .a = {{1, t, t * t / 2}, {0, 1, t}, {0, 0, 1}                  },
      .b = {t * t * t / 6,     t * t / 2, t                          },
      .c = {1,                 0,         -def->height / def->gravity},
  };
}

static double dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* F and G of the augmented system (Katayama et al. 1985). */
static void augment(const cart_model *cart, vec4 *f, double *g) {
  memset(f, 0, 4 * sizeof *f);
  f[0][0] = 1;
  g[0] = dot3(cart->c, cart->b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      f[0][1 + j] += cart->c[i] * cart->a[i][j];
      f[1 + i][1 + j] = cart->a[i][j];
    }
    g[1 + i] = cart->b[i];
  }
}

/* to = p x, for 4 x 4 */
static void multiply(const vec4 *p, const double *x, double *to) {
  for (int i = 0; i < 4; ++i)
    to[i] = p[i][0] * x[0] + p[i][1] * x[1] + p[i][2] * x[2] + p[i][3] * x[3];
}

/* to = f' x */
static void multiply_transposed(const vec4 *f, const double *x, double *to) {
  for (int i = 0; i < 4; ++i)
    to[i] = f[0][i] * x[0] + f[1][i] * x[1] + f[2][i] * x[2] + f[3][i] * x[3];
}

/* The regulator's gains K = G'PF / s, and s (Katayama et al. 1985). */
static double regulator(const vec4 *p, const vec4 *f, const double *g, double weight, double *k) {
  double pg[4];
  multiply(p, g, pg);
  double s = weight + g[0] * pg[0] + dot3(g + 1, pg + 1);
  multiply_transposed(f, pg, k);
  for (int i = 0; i < 4; ++i)
    k[i] /= s;
  return s;
}

/* One step of the Riccati recursion, P = Q + F'P(F - G K), in place; returns the relative change.
 */
static double riccati_step(const tbi_preview_def *def, const vec4 *f, const double *g, vec4 *p) {
  double k[4];
  regulator((const vec4 *)p, f, g, def->jerk_weight, k);
  double change = 0;
  vec4 next[4];
  for (int j = 0; j < 4; ++j) {
    double closed[4];
    double under[4];
    for (int i = 0; i < 4; ++i)
      closed[i] = f[i][j] - g[i] * k[j];
    multiply((const vec4 *)p, closed, under);
    multiply_transposed(f, under, closed);
    for (int i = 0; i < 4; ++i)
      next[i][j] = closed[i];
  }
  next[0][0] += def->error_weight;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      double value = 0.5 * (next[i][j] + next[j][i]);
      change = fmax(change, fabs(value - p[i][j]) / (fabs(value) + 1e-300));
      p[i][j] = value;
    }
  }
  return change;
}

/* Preview gains, horizon[j] = G' Fc'^(j-1) P I / s (Katayama et al. 1985). */
static void fill_horizon_gains(tbi_preview *preview, const vec4 *p, const vec4 *f, const double *g,
                               double s) {
  const double *k_state = preview->state;
  const double k[4] = {preview->integral, k_state[0], k_state[1], k_state[2]};
  double x[4] = {p[0][0], p[1][0], p[2][0], p[3][0]};
  for (int32_t j = 0; j < preview->def.horizon; ++j) {
    double gx = g[0] * x[0] + dot3(g + 1, x + 1);
    preview->horizon_gain[j] = gx / s;
    /* x = Fc' x = F' x - K' (G' x) */
    double fx[4];
    multiply_transposed(f, x, fx);
    for (int i = 0; i < 4; ++i)
      x[i] = fx[i] - k[i] * gx;
  }
}

static bool positive(double value) { return isfinite(value) && value > 0; }

tabi_status tbi_preview_make(tbi_preview *preview, const tbi_preview_def *def, tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  *preview = (tbi_preview){.def = *def};
  if (!positive(def->height) || !positive(def->gravity) || !positive(def->period) ||
      def->horizon < 1 || !positive(def->error_weight) || !positive(def->jerk_weight)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "preview control: height, gravity, period, horizon and weights must be "
                         "positive");
  }
  preview->horizon_gain = calloc((size_t)def->horizon, sizeof *preview->horizon_gain);
  if (!preview->horizon_gain) return tbi_error_memory(err);
  cart_model cart = make_cart(def);
  vec4 f[4];
  vec4 p[4] = {{def->error_weight}};
  double g[4];
  double k[4];
  augment(&cart, f, g);
  int steps = 0;
  while (steps < MAX_RICCATI_STEPS && riccati_step(def, (const vec4 *)f, g, p) > 1e-13)
    ++steps;
  if (steps == MAX_RICCATI_STEPS) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "preview control: no gains found; take a longer period or less weight on "
                         "the jerk");
  }
  double s = regulator((const vec4 *)p, (const vec4 *)f, g, def->jerk_weight, k);
  preview->integral = k[0];
  memcpy(preview->state, k + 1, sizeof preview->state);
  fill_horizon_gains(preview, (const vec4 *)p, (const vec4 *)f, g, s);
  return TABI_OK;
}

void tbi_preview_free(tbi_preview *preview) {
  free(preview->horizon_gain);
  preview->horizon_gain = NULL;
}

/* Sum of gains and reference over the preview horizon, as eight independent sums. */
static double horizon_sum(const tbi_preview *preview, int32_t now, int32_t count,
                          const double *reference) {
  TBI_ASSERT(now >= 0 && now < count);
  double sum[8] = {0};
  int32_t horizon = preview->def.horizon;
  int32_t known = count - 1 - now < horizon ? count - 1 - now : horizon;
  const double *upcoming = reference + now + 1;
  int32_t j = 0;
  for (; j + 7 < known; j += 8) {
    for (int i = 0; i < 8; ++i)
      sum[i] += preview->horizon_gain[j + i] * upcoming[j + i];
  }
  for (; j < horizon; ++j)
    sum[0] += preview->horizon_gain[j] * (j < known ? upcoming[j] : reference[count - 1]);
  for (int i = 0; i < 4; ++i)
    sum[i] += sum[4 + i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The control law u = -integral sum(e) - state x + sum(horizon reference) (Kajita et al. 2003). */
void tbi_preview_follow(const tbi_preview *preview, int32_t count, const double *reference,
                        double (*com)[3]) {
  TBI_ASSERT(count > 0);
  cart_model cart = make_cart(&preview->def);
  double x[3] = {reference[0], 0, 0};
  double error_sum = 0;
  /* over an infinite horizon these gains would sum up to the gain of the position; the difference
   * is spread over them, or a cart at rest would creep towards the origin */
  double sum = 0;
  for (int32_t j = 0; j < preview->def.horizon; ++j)
    sum += preview->horizon_gain[j];
  for (int32_t k = 0; k < count; ++k) {
    memcpy(com[k], x, sizeof x);
    error_sum += dot3(cart.c, x) - reference[k];
    double u = -preview->integral * error_sum - dot3(preview->state, x) +
               preview->state[0] / sum * horizon_sum(preview, k, count, reference);
    double next[3];
    for (int i = 0; i < 3; ++i)
      next[i] = dot3(cart.a[i], x) + cart.b[i] * u;
    memcpy(x, next, sizeof x);
  }
}
