/* test_watch.c - guards along steps: many of random shape at once, against a fine look at the exact
 * solution. */
#include "integrate/events.h"

#include "support/near.h"
#include "support/rng.h"

#include <stdlib.h>

#define LOG_SIZE 2000
#define T_END    7.0
#define SAMPLES  7000

static tbi_events engine;
static void *memory;

/* Guards of the two circles y: a . (1, y0, y1, y0 y1, y2 y0, y3) */
typedef struct shapes {
  double a[TBI_MAX_GUARDS][6];
  tbi_guard guard[TBI_MAX_GUARDS];
  int count;
  int32_t fired[LOG_SIZE];
  double time[LOG_SIZE];
} shapes;

static int setup(void **state) {
  (void)state;
  tbi_layout count = {NULL, 0};
  tbi_events_place(&engine, &count, 4);
  memory = malloc(count.used);
  if (!memory) return -1;
  tbi_layout place = {memory, 0};
  tbi_events_place(&engine, &place, 4);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  free(memory);
  return 0;
}

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
      tbi_hybrid system = {
          .ode = {4,     circles, NULL, NULL},
          .tolerance = {tolerance[i], tolerance[i]       },
          .nguard = TBI_MAX_GUARDS,
          .guard = s.guard,
          .values = all_shapes,
          .event = note,
          .user = &s,
      };
      tbi_progress progress = {0};
      double t = 0;
      double y[4] = {1, 0, 1, 0};
      assert_int_equal(tbi_events_run(&engine, &system, &progress, T_END, 2, &t, y), TBI_REACHED);
      for (int k = 1; k < s.count; ++k)
        assert_true(s.time[k] >= s.time[k - 1]);
      found += check(&s, seed, tolerance[i]);
    }
    print_message("tolerance %.0e: %d events, all of them\n", tolerance[i], found);
    assert_true(found > 400);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(misses_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
