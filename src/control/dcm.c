/* dcm.c - see dcm.h.
 *
 * With p constant for a time t, xi(t) = p + (xi - p) e, e = exp(omega t).  A walk that repeats has
 * at every landing, with T1 the time of a step and W the spacing of the soles,
 *
 *   b_x = v_x T1 / (exp(omega T1) - 1),   b_y = inward W / (1 + exp(omega T1)) + likewise v_y
 *
 * from the new stance foot to the DCM, and steps to n = (v_x T1, +-W + v_y T1).  For each of 25
 * remaining times the centre of pressure p is the one that would bring the DCM to n + b, cut to the
 * sole; what then remains is made up by the place u of the step, cut to what the legs and the swing
 * foot can reach.  The cheapest is taken, lengths over the leg's, times in 1/omega:
 *
 *   |u - n|^2 + 1000 |xi_T - b - u|^2 + 0.037 (t - t_n)^2 + 0.004 (a / g)^2
 *
 * with a the peak acceleration of the swing foot beyond that of usual steps and 1 g.
 *
 * A leg that swings pushes the centre of mass: with p held it accelerates by rho times the foot's
 * acceleration, so that a foot from x with the speed v to u moves the DCM at landing by about
 *
 *   rho (u - x) exp(omega t / 2) - rho v exp(omega t) / omega
 *
 * (by parts, with the way made in the middle of the time).  A step that is thrown far to catch a
 * push takes back some of what it gains. */
#include "control/dcm.h"

#include "base/assertion.h"
#include "math/vec.h"

enum { TIMES = 25 };
#define MISS_COST         1000.0
#define TIME_COST         0.037
#define ACCELERATION_COST 0.004
#define FREE_ACCELERATION 1.0 /* g */
#define GRAVITY           9.81
#define PEAK              5.77 /* of the acceleration of a minimum-jerk motion, over way / time^2 */
#define DESCENT           1.5  /* g, of a foot that comes down in haste */
#define SETTLE            0.02 /* s, before landing when the swing foot is in place */
#define NEAR              0.01 /* m, that a swing foot always reaches */

static double clamp(double x, double low, double high) { return tbi_min(tbi_max(x, low), high); }

static double step_time(const tbi_step_limits *l) { return l->swing_time + l->double_support; }

/* Of the soles: wider than at rest where a robot walks sideways so fast that the foot which follows
 * would come too near. */
static double spacing(const tbi_step_limits *l, const double velocity[2]) {
  return tbi_max(l->spacing, l->min_spacing + fabs(velocity[1]) * step_time(l));
}

void tbi_dcm_offset(const tbi_step_limits *limits, int side, const double velocity[2],
                    double offset[2]) {
  double t = step_time(limits);
  double e = exp(limits->omega * t);
  offset[0] = velocity[0] * t / (e - 1);
  offset[1] = -side * spacing(limits, velocity) / (1 + e) + velocity[1] * t / (e - 1);
}

void tbi_dcm_cop(double omega, const double xi[2], const double place[2], double remaining,
                 double cop[2]) {
  double e = exp(omega * tbi_max(remaining, 0.3 / omega));
  for (int i = 0; i < 2; ++i)
    cop[i] = (place[i] - xi[i] * e) / (1 - e);
}

/* The place of a step cut to what the legs can reach, and the swing foot in the time left: a foot
 * with the speed v that brakes evenly comes to rest v t / 2 ahead, and from there on it goes as far
 * as its acceleration allows. */
static void cut_place(const tbi_step_limits *l, const tbi_step_state *s, double swing_left,
                      double place[2]) {
  double t = tbi_max(swing_left - SETTLE, 1e-3);
  double reach = tbi_min(l->speed * t, l->acceleration * t * t / PEAK + NEAR);
  const double near = s->side > 0 ? l->min_spacing : -l->max_spacing;
  const double far = s->side > 0 ? l->max_spacing : -l->min_spacing;
  place[0] = clamp(place[0], -l->max_stride, l->max_stride);
  place[1] = clamp(place[1], near, far);
  for (int i = 0; i < 2; ++i) {
    double stop = s->swing[i] + 0.5 * t * s->rate[i];
    place[i] = clamp(place[i], stop - reach, stop + reach);
  }
}

/* The plan for one remaining time, and its cost. */
static double try_time(const tbi_step_limits *l, const tbi_step_state *s, const double nominal[2],
                       double nominal_time, tbi_step_plan *plan) {
  double e = exp(l->omega * plan->remaining);
  double swing_left = plan->remaining + tbi_min(s->elapsed, 0);
  double gain = l->reaction * exp(0.5 * l->omega * swing_left);
  double slowing = l->reaction * exp(l->omega * swing_left) / l->omega;
  double end[2];
  for (int i = 0; i < 2; ++i) {
    double own = -gain * s->swing[i] - slowing * s->rate[i];
    double aim = (1 - gain) * nominal[i] + plan->offset[i] - own;
    double p = clamp((aim - s->xi[i] * e) / (1 - e), -l->half[i], l->half[i]);
    end[i] = p + (s->xi[i] - p) * e + own;
    plan->place[i] = (end[i] - plan->offset[i]) / (1 - gain);
  }
  cut_place(l, s, swing_left, plan->place);
  for (int i = 0; i < 2; ++i) {
    plan->shift[i] = gain * (plan->place[i] - s->swing[i]) - slowing * s->rate[i];
    end[i] += gain * plan->place[i];
  }
  double t = tbi_max(swing_left - SETTLE, 1e-3);
  double cost = 0;
  double miss = 0;
  double way = 0;
  for (int i = 0; i < 2; ++i) {
    double off = end[i] - plan->offset[i] - plan->place[i];
    miss += off * off;
    cost += (plan->place[i] - nominal[i]) * (plan->place[i] - nominal[i]);
    double own = plan->place[i] - s->swing[i] - 0.5 * t * s->rate[i];
    way += own * own;
  }
  double usual = 2 * step_time(l) * hypot(s->velocity[0], s->velocity[1]) /
                 ((l->swing_time - SETTLE) * (l->swing_time - SETTLE));
  double a = tbi_max(PEAK * (sqrt(way) / (t * t) - usual) / GRAVITY - FREE_ACCELERATION, 0);
  double late = l->omega * (plan->remaining - nominal_time);
  plan->missed = sqrt(miss);
  return (cost + MISS_COST * miss) / (l->reach * l->reach) + TIME_COST * late * late +
         ACCELERATION_COST * a * a;
}

tbi_step_plan tbi_dcm_adjust(const tbi_step_limits *limits, const tbi_step_state *state) {
  TBI_ASSERT(state->side == 1 || state->side == -1);
  const tbi_step_limits *l = limits;
  double t = step_time(l);
  const double nominal[2] = {state->velocity[0] * t,
                             state->side * spacing(l, state->velocity) + state->velocity[1] * t};
  double low = tbi_max(l->min_time - state->elapsed, 0.02);
  /* a foot high above the ground needs time to come down */
  low = tbi_max(low, sqrt(PEAK * tbi_max(state->swing[2], 0) / (DESCENT * GRAVITY)));
  double high = tbi_max(tbi_min(l->max_time - state->elapsed, state->latest), 0.02);
  low = tbi_min(low, high);
  double nominal_time = tbi_max(l->swing_time - state->elapsed, 0.02);
  tbi_step_plan best = {.remaining = low};
  double least = HUGE_VAL;
  for (int i = 0; i < TIMES; ++i) {
    tbi_step_plan plan = {.remaining = low + (high - low) * i / (TIMES - 1)};
    tbi_dcm_offset(l, state->side, state->velocity, plan.offset);
    double cost = try_time(l, state, nominal, nominal_time, &plan);
    if (cost >= least) continue;
    least = cost;
    best = plan;
  }
  return best;
}
