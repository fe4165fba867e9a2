/* test_crossings.c - guards along steps: hard ones, and many of random shape at once, against a
 * fine look at the exact solution. */
#include "support/event_solver.h"

#include "support/near.h"
#include "support/rng.h"

#include <stdlib.h>

#define LOG_SIZE 2000
#define T_END    7.0
#define SAMPLES  7000

/* Guards of the two circles y: a . (1, y0, y1, y0 y1, y2 y0, y3) */
typedef struct shapes {
  double a[TBI_MAX_GUARDS][6];
  tbi_guard guard[TBI_MAX_GUARDS];
  int count;
  int32_t fired[LOG_SIZE];
  double time[LOG_SIZE];
} shapes;

static void circles(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = -y[1];
  rate[1] = y[0];
  rate[2] = -3 * y[3];
  rate[3] = 3 * y[2];
}

static double shape(const double *a, const double *y) {
  return a[0] + a[1] * y[0] + a[2] * y[1] + a[3] * y[0] * y[1] + a[4] * y[2] * y[0] + a[5] * y[3];
}

static void all_shapes(void *user, double t, const double *y, double *value) {
  (void)t;
  const shapes *s = user;
  for (int k = 0; k < TBI_MAX_GUARDS; ++k)
    value[k] = shape(s->a[k], y);
}

static double exact(const double *a, double t) {
  const double y[4] = {cos(t), sin(t), cos(3 * t), sin(3 * t)};
  return shape(a, y);
}

static tbi_verdict note(tbi_hybrid *system, int32_t guard, double t, double *y) {
  shapes *s = system->user;
  assert_true(s->count < LOG_SIZE);
  y[0] += 0;
  s->fired[s->count] = guard;
  s->time[s->count++] = t;
  return TBI_KEEP;
}

static bool can_fire(tbi_direction direction, int side) {
  if (side == 0 || direction == TBI_EITHER) return side != 0;
  return (direction == TBI_FALLING) == (side > 0);
}

static double exact_crossing(const double *a, double from, double to) {
  bool above = exact(a, from) > 0;
  for (int i = 0; i < 60; ++i) {
    double middle = 0.5 * (from + to);
    if ((exact(a, middle) > 0) == above) {
      from = middle;
    } else {
      to = middle;
    }
  }
  return to;
}

/* When guard k must fire; *clear is how far its turns and ends keep from the values that decide. */
static int expect(const shapes *s, int k, double *time, double *clear) {
  const double *a = s->a[k];
  double leave = s->guard[k].leave;
  double step = T_END / SAMPLES;
  int count = 0;
  int side = 0;
  *clear = HUGE_VAL;
  for (int i = 0; i <= SAMPLES; ++i) {
    double t = i * step;
    double value = exact(a, t);
    bool ends = i == 0 || i == SAMPLES;
    if (ends || (value - exact(a, t - step)) * (exact(a, t + step) - value) <= 0)
      *clear = fmin(*clear, fmin(fabs(value), fabs(fabs(value) - leave)));
    if (can_fire(s->guard[k].direction, side) && value * side <= 0) {
      time[count++] = exact_crossing(a, t - step, t);
      side = 0;
    }
    if (fabs(value) > leave) {
      side = value > 0 ? 1 : -1;
    } else if (value * side <= 0) {
      side = 0;
    }
  }
  return count;
}

static shapes make_shapes(uint64_t seed) {
  shapes s = {.count = 0};
  rng r = rng_make(seed);
  for (int k = 0; k < TBI_MAX_GUARDS; ++k) {
    rng_fill(&r, 1, s.a[k], 6);
    s.guard[k].direction = (tbi_direction)(k % 3);
    s.guard[k].leave = k % 4 == 0 ? 0.05 : 1e-6;
  }
  return s;
}

/* Guard for guard the same events as expected, and where they should be; returns their number. */
static int check(const shapes *s, uint64_t seed, double tolerance) {
  int found = 0;
  for (int k = 0; k < TBI_MAX_GUARDS; ++k) {
    double time[100];
    double clear;
    int expected = expect(s, k, time, &clear);
    if (clear < 1e-3) continue;
    int count = 0;
    for (int i = 0; i < s->count; ++i) {
      if (s->fired[i] != k) continue;
      if (count < expected) assert_near(s->time[i], time[count], 10 * tolerance);
      ++count;
    }
    if (count != expected) print_error("seed %d, guard %d: ", (int)seed, k);
    assert_int_equal(count, expected);
    found += count;
  }
  return found;
}

/* Long steps with several turns and crossings in each, short ones with none: no event is lost, none
 * is invented, all are in order. */
static void misses_nothing(void **state) {
  (void)state;
  static const double tolerance[2] = {1e-5, 1e-9};
  for (int i = 0; i < 2; ++i) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      shapes s = make_shapes(seed);
      const tbi_ode ode = {4, circles, NULL, NULL};
      const tbi_tolerance small = {tolerance[i], tolerance[i]};
      tbi_hybrid system = {
          .ode = ode,
          .tolerance = small,
          .nguard = TBI_MAX_GUARDS,
          .guard = s.guard,
          .values = all_shapes,
          .event = note,
          .user = &s,
      };
      tbi_progress progress = {0};
      double t = 0;
      double y[4] = {1, 0, 1, 0};
      assert_int_equal(tbi_events_run(&event_solver, &system, &progress, T_END, 2, &t, y),
                       TBI_REACHED);
      for (int k = 1; k < s.count; ++k)
        assert_true(s.time[k] >= s.time[k - 1]);
      found += check(&s, seed, tolerance[i]);
    }
    print_message("tolerance %.0e: %d events, all of them\n", tolerance[i], found);
    assert_true(found > 400);
  }
}

/* One guard; y is the time, and the sine of it. */
typedef struct course {
  double (*shape)(const double *y);
  int count;
  double time[10];
} course;

static void clock_and_circle(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = 1;
  rate[1] = y[2];
  rate[2] = -y[1];
}

static void one_shape(void *user, double t, const double *y, double *value) {
  (void)t;
  value[0] = ((const course *)user)->shape(y);
}

static tbi_verdict note_one(tbi_hybrid *system, int32_t guard, double t, double *y) {
  course *c = system->user;
  assert_int_equal(guard, 0);
  assert_true(c->count < 10);
  y[0] += 0;
  c->time[c->count++] = t;
  return TBI_GO_ON;
}

/* In steps of up to 1 s; the circle does not keep those back that have no use for it. */
static course follow(double (*shape_of)(const double *y), tbi_guard guard, double amplitude) {
  course c = {.shape = shape_of};
  const tbi_ode ode = {3, clock_and_circle, NULL, NULL};
  const tbi_tolerance tolerance = {1e-9, 1e-9};
  tbi_hybrid system = {
      .ode = ode,
      .tolerance = tolerance,
      .nguard = 1,
      .guard = &guard,
      .values = one_shape,
      .event = note_one,
      .user = &c,
  };
  tbi_progress progress = {0};
  double t = 0;
  double y[3] = {0, 0, amplitude};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 12, 1, &t, y), TBI_REACHED);
  return c;
}

/* 0.048 at 0 and at 1, 0.053 between them, 0 at 0.5 + sqrt(2.65) */
static double hill(const double *y) { return 0.053 - 0.02 * (y[0] - 0.5) * (y[0] - 0.5); }

/* A guard that must have been beyond 0.05, and was so in the middle of a step only, fires; one that
 * must have been beyond what it ever reaches does not. */
static void arms_inside_a_step(void **state) {
  (void)state;
  course c = follow(hill, (tbi_guard){TBI_FALLING, 0.05}, 0);
  assert_int_equal(c.count, 1);
  assert_near(c.time[0], 0.5 + sqrt(2.65), 1e-12);
  assert_int_equal(follow(hill, (tbi_guard){TBI_FALLING, 0.0531}, 0).count, 0);
}

static double jump(const double *y) { return y[0] < 1.3 ? 1 : -1; }

static double flat(const double *y) { return (y[0] - 1.3) * (y[0] - 1.3) * (y[0] - 1.3); }

/* steep within 1 ns, flat elsewhere */
static double corner(const double *y) { return atan((1.3 - y[0]) * 1e9); }

/* Guards on which Newton's method goes astray or creeps: without a slope, with one that is no
 * guide, with none at the crossing.  What the guard allows is reached. */
static void finds_what_has_no_slope(void **state) {
  (void)state;
  course c = follow(jump, (tbi_guard){TBI_FALLING, 1e-9}, 0);
  assert_int_equal(c.count, 1);
  assert_near(c.time[0], 1.3, 1e-14);
  c = follow(corner, (tbi_guard){TBI_FALLING, 1e-3}, 0);
  assert_int_equal(c.count, 1);
  assert_near(c.time[0], 1.3, 1e-14);
  c = follow(flat, (tbi_guard){TBI_RISING, 1e-9}, 0);
  assert_int_equal(c.count, 1);
  assert_near(c.time[0], 1.3, 1e-5);
}

static double near_miss(const double *y) { return 1 + 1e-7 + y[1]; }

static double near_hit(const double *y) { return 1 - 1e-7 + y[1]; }

/* The sine stays 1e-7 above a level, or goes as much below, at a tolerance
 * of 1e-9: it misses, or crosses twice within 1 ms. */
static void tells_grazing_from_crossing(void **state) {
  (void)state;
  assert_int_equal(follow(near_miss, (tbi_guard){TBI_EITHER, 1e-9}, 1).count, 0);
  course c = follow(near_hit, (tbi_guard){TBI_EITHER, 1e-9}, 1);
  const double pi = acos(-1);
  double half = acos(1 - 1e-7);
  assert_int_equal(c.count, 4);
  for (int k = 0; k < 4; ++k) {
    double middle = (k < 2 ? 1.5 : 3.5) * pi;
    assert_near(c.time[k], middle + (k % 2 == 0 ? -half : half), 0.1 * half);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(misses_nothing),
      cmocka_unit_test(arms_inside_a_step),
      cmocka_unit_test(finds_what_has_no_slope),
      cmocka_unit_test(tells_grazing_from_crossing),
  };
  return cmocka_run_group_tests(tests, event_solver_setup, event_solver_teardown);
}
