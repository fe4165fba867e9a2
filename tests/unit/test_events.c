/* test_events.c - the event engine: what it must find, what it must not disturb, and what it does
 * with systems that have no future. */
#include "integrate/events.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

#define N_MAX    4
#define LOG_SIZE 100

static tbi_events engine;
static void *memory;

static int setup(void **state) {
  (void)state;
  tbi_layout count = {NULL, 0};
  tbi_events_place(&engine, &count, N_MAX);
  memory = malloc(count.used);
  if (!memory) return -1;
  tbi_layout place = {memory, 0};
  tbi_events_place(&engine, &place, N_MAX);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  free(memory);
  return 0;
}

/* What happened, and numbers for whatever the system at hand needs. */
typedef struct record {
  int count;
  int32_t guard[LOG_SIZE];
  double time[LOG_SIZE];
  tbi_verdict verdict;
  double jump; /* of y[0] at every event */
  double a, b;
  int nrest;
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
  return (tbi_hybrid){
      .ode = {n,  rate, NULL, r},
      .tolerance = {1e-12, 1e-12    },
      .event = note,
      .crowd = 1e-6,
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
    assert_int_equal(tbi_events_run(&engine, &system, &progress, 5, 0.1, &t, end[i]), TBI_REACHED);
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
  assert_int_equal(tbi_events_run(&engine, &system, &progress, 10, 1, &t, free), TBI_REACHED);
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
      assert_int_equal(tbi_events_run(&engine, &system, &progress, end, 1, &t, y), TBI_REACHED);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(search_disturbs_nothing),
      cmocka_unit_test(pendulum_keeps_its_period),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
