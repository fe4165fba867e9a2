/* test_events.c - event-driven integration: what it must find, what it must not disturb, and what
 * it does with systems that have no future. */
#include "support/event_solver.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

#define LOG_SIZE 100

/* What happened, and numbers for whatever the system at hand needs. */
typedef struct record {
  int count;
  int32_t guard[LOG_SIZE];
  double time[LOG_SIZE];
  tbi_verdict verdict;
  double jump; /* of y[0] at every event */
  double a, b;
  int nrest;
  double last, longest; /* s: end of the last step, and the longest step */
} record;

static tbi_verdict note(tbi_hybrid *system, int32_t guard, double t, double *y) {
  record *r = system->user;
  assert_true(r->count < LOG_SIZE);
  y[0] += r->jump;
  r->guard[r->count] = guard;
  r->time[r->count++] = t;
  return r->verdict;
}

static tbi_hybrid make(record *r, int32_t n, tbi_rate_fn *rate) {
  const tbi_ode ode = {n, rate, NULL, r};
  const tbi_tolerance tolerance = {1e-12, 1e-12};
  return (tbi_hybrid){
      .ode = ode,
      .tolerance = tolerance,
      .event = note,
      .zeno_window = 1e-6,
      .user = r,
  };
}

static void pendulum(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = y[1];
  rate[1] = -9.81 * sin(y[0]);
}

/* a: the angle looked for */
static void at_angle(void *user, double t, const double *y, double *value) {
  (void)t;
  value[0] = y[0] - ((const record *)user)->a;
}

/* A quarter of the period of a pendulum of 1 m let go at `angle`: K(sin(angle / 2)) / sqrt(g), by
 * the arithmetic and geometric mean. */
static double quarter_period(double angle) {
  double a = 1;
  double b = cos(angle / 2);
  for (int i = 0; i < 10; ++i) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return acos(-1) / (2 * a) / sqrt(9.81);
}

/* Looking for what does not come changes no bit. */
static void search_disturbs_nothing(void **state) {
  (void)state;
  static const tbi_guard guard = {TBI_EITHER, 1e-9};
  double end[2][2];
  for (int i = 0; i < 2; ++i) {
    record r = {.a = 2.1};
    tbi_hybrid system = make(&r, 2, pendulum);
    if (i == 1) {
      system.nguard = 1;
      system.guard = &guard;
      system.values = at_angle;
    }
    tbi_progress progress = {0};
    double t = 0;
    end[i][0] = 2;
    end[i][1] = 0;
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 5, 0.1, &t, end[i]),
                     TBI_REACHED);
    assert_int_equal(r.count, 0);
  }
  assert_memory_equal(end[0], end[1], sizeof end[0]);
}

/* A pendulum passes the lowest point at odd multiples of a quarter period, both ways; events there
 * that do nothing leave the motion alone; and the pieces of a run have the events of the whole. */
static void pendulum_keeps_its_period(void **state) {
  (void)state;
  static const tbi_guard guard = {TBI_EITHER, 1e-9};
  static const double step[3] = {10, 10, 0.0137};
  static const tbi_verdict verdict[2] = {TBI_GO_ON, TBI_KEEP};
  double free[2] = {2, 0};
  double t = 0;
  record r = {0};
  tbi_hybrid system = make(&r, 2, pendulum);
  system.tolerance = (tbi_tolerance){1e-13, 1e-13};
  tbi_progress progress = {0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 10, 1, &t, free), TBI_REACHED);
  double quarter = quarter_period(2);
  for (int i = 0; i < 3; ++i) {
    r = (record){.verdict = verdict[i % 2]};
    system.nguard = 1;
    system.guard = &guard;
    system.values = at_angle;
    progress = (tbi_progress){0};
    double y[2] = {2, 0};
    double worst = 0;
    for (t = 0; t < 10;) {
      double end = fmin(t + step[i], 10);
      assert_int_equal(tbi_events_run(&event_solver, &system, &progress, end, 1, &t, y),
                       TBI_REACHED);
    }
    assert_int_equal(r.count, (int)((10 / quarter + 1) / 2));
    for (int k = 0; k < r.count; ++k)
      worst = fmax(worst, fabs(r.time[k] - (2 * k + 1) * quarter));
    print_message("pendulum: %d crossings, the worst %.2g s off; %.2g off at the end\n", r.count,
                  worst, hypot(y[0] - free[0], y[1] - free[1]));
    assert_true(worst < 1e-10);
    assert_near(y[0], free[0], 1e-10);
    assert_near(y[1], free[1], 1e-10);
  }
}

/* y = (cos t, sin t) */
static void circle(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = -y[1];
  rate[1] = y[0];
}

/* the sine passes a, then b */
static void two_heights(void *user, double t, const double *y, double *value) {
  (void)t;
  const record *r = user;
  value[0] = y[1] - r->b;
  value[1] = y[1] - r->a;
}

static const tbi_guard both_rising[2] = {
    {TBI_RISING, 1e-9},
    {TBI_RISING, 1e-9}
};

/* Two crossings in a step: the first in time fires first, whatever its number; and so it is when
 * they are closer together than `leave`, or come at once. */
static void fires_in_order(void **state) {
  (void)state;
  static const double apart[4] = {0.3, 1e-4, 1e-12, 0};
  for (int i = 0; i < 4; ++i) {
    record r = {.verdict = TBI_KEEP, .a = 0.5, .b = 0.5 + apart[i]};
    tbi_hybrid system = make(&r, 2, circle);
    system.nguard = 2;
    system.guard = both_rising;
    system.values = two_heights;
    tbi_progress progress = {0};
    double t = 0;
    double y[2] = {1, 0};
    system.tolerance = (tbi_tolerance){1e-6, 1e-6};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 2, 2, &t, y), TBI_REACHED);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.guard[0] + r.guard[1], 1);
    if (apart[i] > 1e-6) assert_int_equal(r.guard[0], 1);
    assert_true(r.time[1] >= r.time[0]);
    assert_near(r.time[1] - r.time[0], asin(r.b) - asin(r.a), 1e-5 * apart[i] + 1e-12);
  }
}

/* Begun at zero, a guard waits while it leaves, whichever way, and fires when it is back. */
static void waits_at_zero(void **state) {
  (void)state;
  static const tbi_direction direction[3] = {TBI_EITHER, TBI_FALLING, TBI_RISING};
  static const int32_t count[3] = {2, 1, 1};
  static const double first[3] = {1, 1, 2};
  for (int i = 0; i < 3; ++i) {
    const tbi_guard guard[2] = {
        {direction[i], 1e-9},
        {TBI_RISING,   10  }
    };
    record r = {.b = 0.5};
    tbi_hybrid system = make(&r, 2, circle);
    system.nguard = 2;
    system.guard = guard;
    system.values = two_heights;
    /* the sine itself; the second guard's `leave` is beyond its reach */
    r.a = -2;
    r.b = 0;
    tbi_progress progress = {0};
    double t = 0;
    double y[2] = {1, 0};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 7, 2, &t, y), TBI_REACHED);
    assert_int_equal(r.count, count[i]);
    assert_near(r.time[0], first[i] * acos(-1), 1e-11);
  }
}

/* y' = 1; value = (y - 0.3)^2 - a */
static void clock_rate(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  (void)y;
  rate[0] = 1;
}

static void dip(void *user, double t, const double *y, double *value) {
  (void)t;
  double from = y[0] - 0.3;
  value[0] = from * from - ((const record *)user)->a;
}

/* A step of 1 s dips through zero for 20 ms, 20 us, not at all: both crossings are found, or none.
 */
static void finds_dips(void **state) {
  (void)state;
  static const tbi_guard guard = {TBI_EITHER, 1e-13};
  static const double half[3] = {0.01, 1e-5, -1e-5};
  for (int i = 0; i < 3; ++i) {
    record r = {.a = half[i] * fabs(half[i])};
    tbi_hybrid system = make(&r, 1, clock_rate);
    system.nguard = 1;
    system.guard = &guard;
    system.values = dip;
    tbi_progress progress = {0};
    double t = 0;
    double y[1] = {0};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_REACHED);
    assert_int_equal(r.count, half[i] > 0 ? 2 : 0);
    for (int k = 0; k < r.count; ++k)
      assert_near(r.time[k], 0.3 + (k == 0 ? -1 : 1) * half[i], 1e-9 * half[i]);
  }
}

/* lambda 1e4: y = cos t + b exp(-lambda t) */
static void stiff(void *user, double t, const double *y, double *rate) {
  (void)user;
  rate[0] = -1e4 * (y[0] - cos(t)) - sin(t);
}

static void two_levels(void *user, double t, const double *y, double *value) {
  (void)t;
  const record *r = user;
  value[0] = y[0] - r->a;
  value[1] = y[0] - r->b;
}

static void note_step(tbi_hybrid *system, double t, double *y) {
  record *r = system->user;
  y[0] += r->jump;
  r->longest = fmax(r->longest, t - r->last);
  r->last = t;
}

/* Events in the quick beginning of a stiff system and in its slow rest, where steps are a hundred
 * times as long as what is quick lasts. */
static void finds_events_of_stiff_systems(void **state) {
  (void)state;
  static const tbi_guard guard[2] = {
      {TBI_FALLING, 1e-9},
      {TBI_EITHER,  1e-9}
  };
  record r = {.a = 2, .b = 0.5};
  tbi_hybrid system = make(&r, 1, stiff);
  system.nguard = 2;
  system.guard = guard;
  system.values = two_levels;
  system.settle = note_step;
  system.tolerance = (tbi_tolerance){1e-13, 1e-13};
  tbi_progress progress = {0};
  double t = 0;
  double y[1] = {5};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 10, 1, &t, y), TBI_REACHED);
  assert_int_equal(r.count, 4);
  assert_near(y[0], cos(10), 1e-11);
  /* 1 - t^2 / 2 + 4 exp(-1e4 t) = 2, the parabola being 1 to 1e-8 */
  double early = log(4.0) / 1e4;
  for (int i = 0; i < 5; ++i)
    early = -log((2 - cos(early)) / 4) / 1e4;
  assert_near(r.time[0], early, 1e-13);
  const double pi = acos(-1);
  assert_near(r.time[1], pi / 3, 1e-10);
  assert_near(r.time[2], 5 * pi / 3, 1e-10);
  assert_near(r.time[3], 7 * pi / 3, 1e-10);
  print_message("stiff: longest step %g s\n", r.longest);
  assert_true(r.longest > 0.01);
}

/* y: two that decay, then one more that grows: a is the level at which the mode changes */
static void decay(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = -y[0];
}

static void decay_and_grow(void *user, double t, const double *y, double *rate) {
  decay(user, t, y, rate);
  rate[1] = y[1];
  rate[2] = y[0];
}

static void last_at_level(void *user, double t, const double *y, double *value) {
  (void)t;
  value[0] = y[1] - ((const record *)user)->b;
}

static const tbi_guard rising = {TBI_RISING, 1e-9};

static tbi_verdict become_three(tbi_hybrid *system, int32_t guard, double t, double *y) {
  note(system, guard, t, y);
  system->ode.n = 3;
  system->ode.rate = decay_and_grow;
  system->guard = &rising;
  system->values = last_at_level;
  system->event = note;
  y[1] = 1;
  y[2] = 0;
  return TBI_GO_ON;
}

/* An event changes the number of equations and the guards; the next event is one of the new mode,
 * and stops the run there. */
static void changes_mode(void **state) {
  (void)state;
  static const tbi_guard falling = {TBI_FALLING, 1e-9};
  record r = {.verdict = TBI_STOP, .a = 0.5, .b = 3};
  tbi_hybrid system = make(&r, 1, decay);
  system.nguard = 1;
  system.guard = &falling;
  system.values = at_angle;
  system.event = become_three;
  tbi_progress progress = {0};
  double t = 0;
  double y[EVENT_SOLVER_MAX] = {1};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 9, 1, &t, y), TBI_STOPPED);
  assert_int_equal(r.count, 2);
  assert_near(r.time[0], log(2), 1e-11);
  assert_near(t, log(2) + log(3), 1e-11);
  assert_true(t == r.time[1]);
  assert_near(y[1], 3, 1e-10);
  assert_near(y[2], 0.5 - y[0], 1e-10);
}

/* A state that drifts off the circle on purpose is put back after every step; the events are those
 * of the circle. */
static void spiral(void *user, double t, const double *y, double *rate) {
  circle(user, t, y, rate);
  rate[0] += 1e-6 * y[0];
  rate[1] += 1e-6 * y[1];
}

static void onto_circle(tbi_hybrid *system, double t, double *y) {
  (void)system;
  (void)t;
  double size = hypot(y[0], y[1]);
  y[0] /= size;
  y[1] /= size;
}

static void settles_drift(void **state) {
  (void)state;
  record r = {.a = 0.999, .b = 2};
  tbi_hybrid system = make(&r, 2, spiral);
  static const tbi_guard guard[2] = {
      {TBI_RISING, 1e-6},
      {TBI_RISING, 1e-6}
  };
  system.nguard = 2;
  system.guard = guard;
  system.values = two_heights;
  system.settle = onto_circle;
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {1, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 20, 0.01, &t, y), TBI_REACHED);
  assert_int_equal(r.count, 3);
  for (int k = 0; k < 3; ++k)
    assert_near(r.time[k], asin(0.999) + 2 * k * acos(-1), 1e-6);
  assert_near(y[0], cos(20), 1e-10);
  assert_near(hypot(y[0], y[1]), 1, 1e-15);
}

/* No number from 0.5 s on */
static void breaks_off(void *user, double t, const double *y, double *rate) {
  (void)user;
  rate[0] = -y[0] + (t > 0.5 ? sqrt(-1 - t) : 0);
}

static void is_no_number(void *user, double t, const double *y, double *value) {
  (void)user;
  value[0] = y[0] + (t > 0.5 ? sqrt(-1 - t) : 0);
}

/* Equations or guards that stop being numbers: the run fails where they do, with the state there,
 * which is a good one. */
static void fails_where_numbers_end(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    record r = {0};
    tbi_hybrid system = make(&r, 1, i == 0 ? breaks_off : decay);
    system.nguard = i;
    system.guard = &rising;
    system.values = is_no_number;
    tbi_progress progress = {0};
    double t = 0;
    double y[1] = {1};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_FAILED);
    assert_near(t, 0.5, 1e-6);
    assert_near(y[0], exp(-t), 1e-10);
    /* the length that was too long at the last is no advice for the next run */
    assert_true(progress.length == 0);
  }
}

static tbi_verdict do_nothing(tbi_hybrid *system, double t, double *y) {
  (void)t;
  y[0] += 0;
  ++((record *)system->user)->nrest;
  return TBI_GO_ON;
}

/* a: how far beyond the guard the event throws the state back */
static tbi_verdict throw_back(tbi_hybrid *system, int32_t guard, double t, double *y) {
  (void)guard;
  (void)t;
  record *r = system->user;
  ++r->count;
  y[0] = r->a;
  return TBI_GO_ON;
}

static void clock_value(void *user, double t, const double *y, double *value) {
  (void)user;
  (void)t;
  value[0] = y[0];
}

/* Events that throw the state back before their guard, by 1 ns or by less than the clock can tell:
 * the run ends as Zeno, with an on_zeno that does not help and without one. */
static void ends_without_progress(void **state) {
  (void)state;
  static const tbi_guard guard = {TBI_RISING, 0};
  static const double back[2] = {-1e-9, -1e-18};
  for (int i = 0; i < 4; ++i) {
    record r = {.a = back[i % 2]};
    tbi_hybrid system = make(&r, 1, clock_rate);
    system.nguard = 1;
    system.guard = &guard;
    system.values = clock_value;
    system.event = throw_back;
    system.on_zeno = i < 2 ? NULL : do_nothing;
    tbi_progress progress = {0};
    double t = 0;
    double y[1] = {-0.5};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_ZENO);
    assert_near(t, 0.5, 1e-6);
    assert_int_equal(r.nrest, i < 2 ? 0 : TBI_MAX_GUARDS + 1);
    /* a rest gives the events after it the room that all have */
    assert_int_equal(r.count, (r.nrest + 1) * TBI_RECENT_EVENTS);
  }
}

/* A run in pieces much shorter than a step must not teach the integrator to take short steps. */
static void short_pieces_keep_the_length(void **state) {
  (void)state;
  record r = {0};
  tbi_hybrid system = make(&r, 2, pendulum);
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {2, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_REACHED);
  double length = progress.length;
  for (int i = 1; i <= 5; ++i) {
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1 + 1e-6 * i, 1, &t, y),
                     TBI_REACHED);
    assert_true(progress.length >= length);
  }
}

/* All that a run needs of the past is in the progress: run twice from the same place, with other
 * runs between, the bits are the same. */
static void repeats_itself(void **state) {
  (void)state;
  static const tbi_guard guard = {TBI_EITHER, 1e-9};
  record r = {.a = 0.3};
  tbi_hybrid system = make(&r, 2, pendulum);
  system.nguard = 1;
  system.guard = &guard;
  system.values = at_angle;
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {2, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_REACHED);
  double end[2][2];
  tbi_progress last[2];
  for (int i = 0; i < 2; ++i) {
    double now = t;
    end[i][0] = y[0];
    end[i][1] = y[1];
    last[i] = progress;
    assert_int_equal(tbi_events_run(&event_solver, &system, &last[i], 3, 1, &now, end[i]),
                     TBI_REACHED);
  }
  assert_true(r.count >= 3);
  assert_memory_equal(end[0], end[1], sizeof end[0]);
  assert_memory_equal(&last[0], &last[1], sizeof last[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(search_disturbs_nothing),
      cmocka_unit_test(pendulum_keeps_its_period),
      cmocka_unit_test(fires_in_order),
      cmocka_unit_test(waits_at_zero),
      cmocka_unit_test(finds_dips),
      cmocka_unit_test(finds_events_of_stiff_systems),
      cmocka_unit_test(changes_mode),
      cmocka_unit_test(settles_drift),
      cmocka_unit_test(fails_where_numbers_end),
      cmocka_unit_test(ends_without_progress),
      cmocka_unit_test(short_pieces_keep_the_length),
      cmocka_unit_test(repeats_itself),
  };
  return cmocka_run_group_tests(tests, event_solver_setup, event_solver_teardown);
}
