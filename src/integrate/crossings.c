/* crossings.c - see crossings.h.
 *
 * Along a step a guard is interpolated by the polynomial of degree 4 in the share of the step that
 * has its values at the start and at the stages, and its slope at the start.  That is as good as
 * the step's own dense output, and better near the start, where the slope is that of the equation:
 * a guard that has just fired may cross zero again long before the first stage.  Between its
 * turning points the polynomial is monotone, so that no pair of crossings is overlooked. */
#include "integrate/crossings.h"

#include "base/assertion.h"

#include <math.h>

#define DEGREE 4
/* spacing of difference quotients, as a share of the step */
#define START_SHARE 1e-5
#define END_SHARE   1e-4

void tbi_crossings_place(tbi_crossings *crossings, tbi_layout *layout, int32_t n_max) {
  TBI_ASSERT(n_max > 0);
  crossings->point = tbi_layout_take(layout, n_max, sizeof *crossings->point);
}

static bool can_fire(const tbi_guard *guard, int32_t side) {
  if (side == 0 || guard->direction == TBI_EITHER) return side != 0;
  return guard->direction == (side > 0 ? TBI_FALLING : TBI_RISING);
}

static int32_t side_of(double value, double leave) {
  if (!(fabs(value) > leave)) return 0;
  return value > 0 ? 1 : -1;
}

static void evaluate(const tbi_crossings *crossings, double t, const double *y, double *value) {
  if (crossings->nguard > 0) crossings->values(crossings->user, t, y, value);
}

void tbi_crossings_arm(tbi_crossings *crossings, double t, const double *y, int32_t *side) {
  evaluate(crossings, t, y, crossings->beside);
  for (int32_t k = 0; k < crossings->nguard; ++k)
    side[k] = side_of(crossings->beside[k], crossings->guard[k].leave);
}

void tbi_crossings_follow(tbi_crossings *crossings, double t, const double *y, int32_t *side) {
  evaluate(crossings, t, y, crossings->beside);
  for (int32_t k = 0; k < crossings->nguard; ++k) {
    bool stays = crossings->beside[k] * side[k] > 0;
    if (stays || can_fire(&crossings->guard[k], side[k])) continue;
    side[k] = side_of(crossings->beside[k], crossings->guard[k].leave);
  }
}

static bool are_sides(const tbi_crossings *crossings, const int32_t *side) {
  for (int32_t k = 0; k < crossings->nguard; ++k) {
    if (side[k] < -1 || side[k] > 1) return false;
  }
  return true;
}

int32_t tbi_crossings_due(tbi_crossings *crossings, double t, const double *y,
                          const int32_t *side) {
  TBI_CHECK_SLOW(are_sides(crossings, side));
  evaluate(crossings, t, y, crossings->start);
  for (int32_t k = 0; k < crossings->nguard; ++k) {
    if (can_fire(&crossings->guard[k], side[k]) && crossings->start[k] * side[k] <= 0) return k;
  }
  return -1;
}

/* Guards at a state extrapolated by its rate, since there is no step yet. */
static void evaluate_moved(tbi_crossings *crossings, const tbi_radau *step, double time,
                           double *value) {
  for (int32_t i = 0; i < step->ode.n; ++i)
    crossings->point[i] = step->y[i] + time * step->rate[i];
  evaluate(crossings, step->t + time, crossings->point, value);
}

void tbi_crossings_begin(tbi_crossings *crossings, const tbi_radau *step, double length) {
  TBI_ASSERT(length > 0);
  if (crossings->nguard == 0) return;
  double time = START_SHARE * length;
  evaluate_moved(crossings, step, time, crossings->slope);
  evaluate_moved(crossings, step, -time, crossings->beside);
  for (int32_t k = 0; k < crossings->nguard; ++k)
    crossings->slope[k] = (crossings->slope[k] - crossings->beside[k]) / (2 * time);
}

static void evaluate_inside(tbi_crossings *crossings, const tbi_radau *step, double share,
                            double *value) {
  tbi_radau_at(step, share, crossings->point);
  evaluate(crossings, step->t + share * step->h, crossings->point, value);
}

bool tbi_crossings_sample(tbi_crossings *crossings, const tbi_radau *step) {
  double sum = 0;
  crossings->length = step->h;
  for (int i = 0; i < 3 && crossings->nguard > 0; ++i)
    evaluate_inside(crossings, step, tbi_radau_node[i], crossings->stage[i]);
  for (int32_t k = 0; k < crossings->nguard; ++k) {
    sum += fabs(crossings->start[k]) + fabs(crossings->slope[k]);
    sum +=
        fabs(crossings->stage[0][k]) + fabs(crossings->stage[1][k]) + fabs(crossings->stage[2][k]);
  }
  return isfinite(sum);
}

/* The interpolant of guard k: coefficients of the powers of the share.  Without value and slope at
 * the start, the remainder over share^2 is a parabola through the stages. */
static void fit_curve(const tbi_crossings *crossings, int32_t k, double *curve) {
  const double *c = tbi_radau_node;
  double remainder[3];
  curve[0] = crossings->start[k];
  curve[1] = crossings->slope[k] * crossings->length;
  for (int i = 0; i < 3; ++i)
    remainder[i] = ((crossings->stage[i][k] - curve[0]) / c[i] - curve[1]) / c[i];
  double first = (remainder[1] - remainder[0]) / (c[1] - c[0]);
  double second = (remainder[2] - remainder[1]) / (c[2] - c[1]);
  curve[4] = (second - first) / (c[2] - c[0]);
  curve[3] = first - (c[0] + c[1]) * curve[4];
  curve[2] = remainder[0] - c[0] * (curve[3] + c[0] * curve[4]);
}

static double polynomial(int degree, const double *a, double x) {
  double sum = a[degree];
  for (int i = degree - 1; i >= 0; --i)
    sum = a[i] + x * sum;
  return sum;
}

/* The zero of a polynomial that is monotone from a to b, to 12 digits of b. */
static double bisect(int degree, const double *p, double a, double b) {
  TBI_ASSERT(a <= b);
  bool rises = polynomial(degree, p, b) > polynomial(degree, p, a);
  while (b - a > 1e-12 * b) {
    double middle = 0.5 * (a + b);
    if ((polynomial(degree, p, middle) > 0) == rises) {
      b = middle;
    } else {
      a = middle;
    }
  }
  return b;
}

/* Turning points inside the step, in order: between two zeros of the next derivative a derivative
 * has at most one zero, and so on down to a straight line. */
static int find_turns(const double *curve, double *turn) {
  int nturn = 0;
  for (int degree = 1; degree < DEGREE; ++degree) {
    double slope[DEGREE];
    double found[DEGREE];
    int nfound = 0;
    double a = 0;
    for (int i = 0; i <= degree; ++i) {
      slope[i] = curve[i + DEGREE - degree];
      for (int factor = i + 1; factor <= i + DEGREE - degree; ++factor)
        slope[i] *= factor;
    }
    for (int i = 0; i <= nturn; ++i) {
      double b = i < nturn ? turn[i] : 1;
      if (polynomial(degree, slope, a) * polynomial(degree, slope, b) < 0)
        found[nfound++] = bisect(degree, slope, a, b);
      a = b;
    }
    for (int i = 0; i < nfound; ++i)
      turn[i] = found[i];
    nturn = nfound;
  }
  return nturn;
}

/* True where the interpolant cannot reach zero inside the step, as nearly always. */
static bool is_far(const double *curve) {
  double sum = 0;
  for (int i = 1; i <= DEGREE; ++i)
    sum += fabs(curve[i]);
  return fabs(curve[0]) > sum;
}

/* Follows guard k, which begins on `side`, from turning point to turning point. */
static bool follow_curve(const tbi_crossings *crossings, int32_t k, int32_t side,
                         tbi_crossing *crossing) {
  double curve[DEGREE + 1];
  double turn[DEGREE];
  fit_curve(crossings, k, curve);
  if (side != 0 && is_far(curve)) return false;
  int nturn = find_turns(curve, turn);
  bool armed = can_fire(&crossings->guard[k], side);
  *crossing = (tbi_crossing){k, armed, 0, 1};
  double a = 0;
  for (int i = 0; i <= nturn; ++i) {
    double b = i < nturn ? turn[i] : 1;
    double value = i < nturn ? polynomial(DEGREE, curve, b) : crossings->stage[2][k];
    if (armed && value * side <= 0) {
      if (!crossing->fires) return true;
      crossing->share = bisect(DEGREE, curve, a, b);
      crossing->limit = b;
      return true;
    }
    if (!armed && side_of(value, crossings->guard[k].leave) != 0) {
      side = side_of(value, crossings->guard[k].leave);
      armed = can_fire(&crossings->guard[k], side);
      crossing->share = b;
    }
    a = b;
  }
  /* beyond `leave` and back within it: the end of the step alone does not show this */
  return armed && !crossing->fires &&
         side_of(crossings->stage[2][k], crossings->guard[k].leave) == 0;
}

bool tbi_crossings_first(const tbi_crossings *crossings, const int32_t *side, uint32_t skip,
                         tbi_crossing *first) {
  TBI_CHECK_SLOW(are_sides(crossings, side));
  *first = (tbi_crossing){-1, false, HUGE_VAL, 1};
  for (int32_t k = 0; k < crossings->nguard; ++k) {
    tbi_crossing crossing;
    if (skip >> k & 1 || !follow_curve(crossings, k, side[k], &crossing)) continue;
    if (crossing.share < first->share) *first = crossing;
  }
  return first->guard >= 0;
}

double tbi_crossings_end(tbi_crossings *crossings, const tbi_radau *step, int32_t guard,
                         double *slope) {
  TBI_ASSERT(guard >= 0 && guard < crossings->nguard);
  double value[3];
  for (int i = 2; i >= 0; --i) {
    evaluate_inside(crossings, step, 1 - i * END_SHARE, crossings->beside);
    value[i] = crossings->beside[guard];
  }
  /* of the parabola through the three values: near a turning point a secant is too coarse */
  *slope = (1.5 * value[0] - 2 * value[1] + 0.5 * value[2]) / (END_SHARE * step->h);
  return value[0];
}
