/* watch.c - what guards do along a step.
 *
 * A guard's course is taken to be the polynomial of degree 4 in the share of the step that meets
 * its values at the start and at the stages, and its slope at the start.  That is as good as the
 * step's own dense output, and better near the start, where the slope is that of the equation: a
 * guard that has just fired may be through zero again long before the first stage.  Between the
 * turning points of the polynomial the guard goes one way, so that no passing through zero and back
 * is overlooked. */
#include "integrate/watch.h"

#include <math.h>

#define DEGREE 4
/* distance of the samples that make a slope, in steps */
#define START_SHARE 1e-5
#define END_SHARE   1e-4

void tbi_watch_place(tbi_watch *w, tbi_layout *layout, int32_t n_max) {
  w->point = tbi_layout_take(layout, n_max, sizeof *w->point);
}

static bool can_fire(const tbi_guard *guard, int32_t side) {
  if (side == 0 || guard->direction == TBI_EITHER) return side != 0;
  return guard->direction == (side > 0 ? TBI_FALLING : TBI_RISING);
}

static int32_t side_of(double value, double leave) {
  if (!(fabs(value) > leave)) return 0;
  return value > 0 ? 1 : -1;
}

static void evaluate(const tbi_watch *w, double t, const double *y, double *value) {
  if (w->nguard > 0) w->values(w->user, t, y, value);
}

void tbi_watch_arm(tbi_watch *w, double t, const double *y, int32_t *side) {
  evaluate(w, t, y, w->beside);
  for (int32_t k = 0; k < w->nguard; ++k)
    side[k] = side_of(w->beside[k], w->guard[k].leave);
}

void tbi_watch_follow(tbi_watch *w, double t, const double *y, int32_t *side) {
  evaluate(w, t, y, w->beside);
  for (int32_t k = 0; k < w->nguard; ++k) {
    bool stays = w->beside[k] * side[k] > 0;
    if (stays || can_fire(&w->guard[k], side[k])) continue;
    side[k] = side_of(w->beside[k], w->guard[k].leave);
  }
}

int32_t tbi_watch_due(tbi_watch *w, double t, const double *y, const int32_t *side) {
  evaluate(w, t, y, w->start);
  for (int32_t k = 0; k < w->nguard; ++k) {
    if (can_fire(&w->guard[k], side[k]) && w->start[k] * side[k] <= 0) return k;
  }
  return -1;
}

/* The state moved along its rate by a small time, not along the step: there is none yet. */
static void evaluate_moved(tbi_watch *w, const tbi_radau *step, double time, double *value) {
  for (int32_t i = 0; i < step->ode.n; ++i)
    w->point[i] = step->y[i] + time * step->rate[i];
  evaluate(w, step->t + time, w->point, value);
}

void tbi_watch_begin(tbi_watch *w, const tbi_radau *step, double length) {
  if (w->nguard == 0) return;
  double time = START_SHARE * length;
  evaluate_moved(w, step, time, w->slope);
  evaluate_moved(w, step, -time, w->beside);
  for (int32_t k = 0; k < w->nguard; ++k)
    w->slope[k] = (w->slope[k] - w->beside[k]) / (2 * time);
}

static void evaluate_inside(tbi_watch *w, const tbi_radau *step, double share, double *value) {
  tbi_radau_at(step, share, w->point);
  evaluate(w, step->t + share * step->h, w->point, value);
}

bool tbi_watch_sample(tbi_watch *w, const tbi_radau *step) {
  double sum = 0;
  w->length = step->h;
  for (int i = 0; i < 3 && w->nguard > 0; ++i)
    evaluate_inside(w, step, tbi_radau_node[i], w->stage[i]);
  for (int32_t k = 0; k < w->nguard; ++k) {
    sum += fabs(w->start[k]) + fabs(w->slope[k]);
    sum += fabs(w->stage[0][k]) + fabs(w->stage[1][k]) + fabs(w->stage[2][k]);
  }
  return isfinite(sum);
}

/* The course of guard k: coefficients of the powers of the share.  With the value and slope at the
 * start taken out, what remains over share^2 is a parabola through the stages. */
static void make_course(const tbi_watch *w, int32_t k, double *course) {
  const double *c = tbi_radau_node;
  double rest[3];
  course[0] = w->start[k];
  course[1] = w->slope[k] * w->length;
  for (int i = 0; i < 3; ++i)
    rest[i] = ((w->stage[i][k] - course[0]) / c[i] - course[1]) / c[i];
  double first = (rest[1] - rest[0]) / (c[1] - c[0]);
  double second = (rest[2] - rest[1]) / (c[2] - c[1]);
  course[4] = (second - first) / (c[2] - c[0]);
  course[3] = first - (c[0] + c[1]) * course[4];
  course[2] = rest[0] - c[0] * (course[3] + c[0] * course[4]);
}

static double polynomial(int degree, const double *a, double x) {
  double sum = a[degree];
  for (int i = degree - 1; i >= 0; --i)
    sum = a[i] + x * sum;
  return sum;
}

/* Where the polynomial, monotone from a to b, passes through zero, to 12 digits of b. */
static double bisect(int degree, const double *p, double a, double b) {
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

/* Turning points inside the step, in order: zeros of the slope lie between zeros of its own slope,
 * and so on down to a straight line. */
static int find_turns(const double *course, double *turn) {
  int nturn = 0;
  for (int degree = 1; degree < DEGREE; ++degree) {
    double slope[DEGREE];
    double found[DEGREE];
    int nfound = 0;
    double a = 0;
    for (int i = 0; i <= degree; ++i) {
      slope[i] = course[i + DEGREE - degree];
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

/* True where the course cannot reach zero inside the step, as nearly always. */
static bool is_far(const double *course) {
  double reach = 0;
  for (int i = 1; i <= DEGREE; ++i)
    reach += fabs(course[i]);
  return fabs(course[0]) > reach;
}

/* Follows guard k, which begins on `side`, from turn to turn. */
static bool follow_course(const tbi_watch *w, int32_t k, int32_t side, tbi_find *find) {
  double course[DEGREE + 1];
  double turn[DEGREE];
  make_course(w, k, course);
  if (side != 0 && is_far(course)) return false;
  int nturn = find_turns(course, turn);
  bool armed = can_fire(&w->guard[k], side);
  *find = (tbi_find){k, armed, 0, 1};
  double a = 0;
  for (int i = 0; i <= nturn; ++i) {
    double b = i < nturn ? turn[i] : 1;
    double value = i < nturn ? polynomial(DEGREE, course, b) : w->stage[2][k];
    if (armed && value * side <= 0) {
      if (!find->fires) return true;
      find->share = bisect(DEGREE, course, a, b);
      find->limit = b;
      return true;
    }
    if (!armed && side_of(value, w->guard[k].leave) != 0) {
      side = side_of(value, w->guard[k].leave);
      armed = can_fire(&w->guard[k], side);
      find->share = b;
    }
    a = b;
  }
  /* beyond `leave` and back within it: the end alone would not tell */
  return armed && !find->fires && side_of(w->stage[2][k], w->guard[k].leave) == 0;
}

bool tbi_watch_first(const tbi_watch *w, const int32_t *side, uint32_t skip, tbi_find *first) {
  *first = (tbi_find){-1, false, HUGE_VAL, 1};
  for (int32_t k = 0; k < w->nguard; ++k) {
    tbi_find find;
    if (skip >> k & 1 || !follow_course(w, k, side[k], &find)) continue;
    if (find.share < first->share) *first = find;
  }
  return first->guard >= 0;
}

double tbi_watch_end(tbi_watch *w, const tbi_radau *step, int32_t guard, double *slope) {
  double value[3];
  for (int i = 2; i >= 0; --i) {
    evaluate_inside(w, step, 1 - i * END_SHARE, w->beside);
    value[i] = w->beside[guard];
  }
  /* of the parabola through the three: a guard that is about to turn has little slope */
  *slope = (1.5 * value[0] - 2 * value[1] + 0.5 * value[2]) / (END_SHARE * step->h);
  return value[0];
}
