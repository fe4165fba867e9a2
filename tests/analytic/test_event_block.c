/* test_event_block.c - Housner's rocking block under event-driven integration.
 *
 * A block of half sizes b and h, R = hypot(b, h), tan alpha = b / h, rocks about its edges without
 * slip.  Tilted by theta it obeys, for small angles, theta'' = p^2 (theta -+ alpha), p^2 =
 * 3 g / (4 R), the sign being that of the edge.  Coming down flat it goes on about the other edge,
 * about which the moment of momentum is kept: the rate is multiplied by 1 - 3/2 sin^2 alpha.  Let
 * go at theta0 it is flat after acosh(1 / (1 - theta0 / alpha)) / p, and a rock that begins with
 * rate w lasts 2 atanh(w / (alpha p)) / p.  Rocks grow ever shorter, and their sum is finite. */
#include "support/event_solver.h"
#include "support/near.h"

#define G           9.81
#define ZENO_WINDOW 1e-4
#define LOG_SIZE    1000

typedef struct block {
  double b, h;
  double alpha, p; /* rad, 1/s */
  double edge;     /* 1 or -1: of the angles that turn about it */
  bool small;      /* angles are */
  bool lies;
  int nimpact;
  double time[LOG_SIZE], before[LOG_SIZE], after[LOG_SIZE];
} block;

/* y: angle and its rate */
static void rock(void *user, double t, const double *y, double *rate) {
  (void)t;
  const block *k = user;
  double lever = y[0] - k->edge * k->alpha;
  if (k->lies) lever = 0;
  rate[0] = y[1];
  rate[1] = k->p * k->p * (k->small ? lever : sin(lever));
}

static const tbi_guard falling = {TBI_FALLING, 0};

static void tilt(void *user, double t, const double *y, double *value) {
  (void)t;
  value[0] = ((const block *)user)->edge * y[0];
}

/* Moment of momentum about the edge that comes down, for a mass of 1: that of the turning and that
 * of the moving centre, which the old edge carried along. */
static tbi_verdict come_down(tbi_hybrid *system, int32_t guard, double t, double *y) {
  block *k = system->user;
  assert_int_equal(guard, 0);
  assert_true(k->nimpact < LOG_SIZE);
  double square = k->b * k->b + k->h * k->h;
  double centre = square / 3;
  /* centre from the old edge (b, h), from the new (-b, h) */
  double moment = centre * y[1] + (k->h * k->h - k->b * k->b) * y[1];
  k->time[k->nimpact] = t;
  k->before[k->nimpact] = y[1];
  y[0] = 0;
  y[1] = moment / (centre + square);
  k->after[k->nimpact++] = y[1];
  k->edge = -k->edge;
  return TBI_GO_ON;
}

static tbi_verdict lie_still(tbi_hybrid *system, double t, double *y) {
  (void)t;
  ((block *)system->user)->lies = true;
  system->nguard = 0;
  y[0] = y[1] = 0;
  return TBI_GO_ON;
}

static tbi_hybrid put_up(block *k, double b, double h, bool small) {
  *k = (block){.b = b, .h = h, .edge = 1, .small = small};
  k->alpha = atan2(b, h);
  k->p = sqrt(0.75 * G / hypot(b, h));
  const tbi_ode ode = {2, rock, NULL, k};
  const tbi_tolerance tolerance = {1e-13, 1e-13};
  return (tbi_hybrid){
      .ode = ode,
      .tolerance = tolerance,
      .nguard = 1,
      .guard = &falling,
      .values = tilt,
      .event = come_down,
      .on_zeno = lie_still,
      .zeno_window = ZENO_WINDOW,
      .user = k,
  };
}

static const double size[3][2] = {
    {0.1,  0.4},
    {0.1,  0.2},
    {0.05, 0.4}
};
static const double ratio[3] = {0.9117647, 0.7, 0.9769231};

/* Time after which rocks with rates from `rate` on are over. */
static double time_of_rocks(const block *k, double factor, double rate) {
  double sum = 0;
  for (int i = 0; i < 5000; ++i) {
    sum += 2 * atanh(rate / (k->alpha * k->p)) / k->p;
    rate *= factor;
  }
  return sum;
}

/* Every impact is when the sum of the rocks before it says, and the rates fall by their ratio; the
 * end of infinitely many rocks is passed, and the block stands flat. */
static void rocks_on_time(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    block k;
    tbi_hybrid system = put_up(&k, size[i][0], size[i][1], true);
    tbi_progress progress = {0};
    double t = 0;
    double start = 0.5 * k.alpha;
    double y[2] = {start, 0};
    double sine = sin(k.alpha);
    double factor = 1 - 1.5 * sine * sine;
    assert_near(factor, ratio[i], 1e-7);
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 60, 0.1, &t, y),
                     TBI_REACHED);
    double expected = acosh(1 / (1 - start / k.alpha)) / k.p;
    if (i == 0) assert_near(expected, 0.311759, 1e-6);
    assert_near(k.time[0], expected, 1e-10);
    assert_near(k.before[0], -k.p * sqrt(2 * k.alpha * start - start * start), 1e-10);
    double worst = 0;
    for (int n = 0; n < k.nimpact; ++n) {
      worst = fmax(worst, fabs(k.time[n] - expected));
      assert_near(k.after[n] / k.before[n], factor, 1e-12);
      expected += 2 * atanh(fabs(k.after[n]) / (k.alpha * k.p)) / k.p;
    }
    double over = k.time[0] + time_of_rocks(&k, factor, fabs(k.after[0]));
    print_message("block %g x %g: %d impacts, the worst %.2g s off; rest %.2g s early\n", k.b, k.h,
                  k.nimpact, worst, over - k.time[k.nimpact - 1]);
    assert_true(worst < 1e-10 && k.nimpact > TBI_RECENT_EVENTS);
    assert_near(k.time[k.nimpact - 1], over, 3 * ZENO_WINDOW);
    assert_true(k.lies && t == 60 && y[0] == 0 && y[1] == 0);
  }
}

/* At full angles too a rock gives back the rate it began with, so that the energy of one rock is
 * that of the one before times the square of the ratio. */
static void loses_its_share_of_energy(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    block k;
    tbi_hybrid system = put_up(&k, size[i][0], size[i][1], false);
    tbi_progress progress = {0};
    double t = 0;
    double y[2] = {0.9 * k.alpha, 0};
    double factor = 1 - 1.5 * pow(sin(k.alpha), 2);
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 3, 0.1, &t, y), TBI_REACHED);
    assert_true(k.nimpact >= 3);
    /* energy over the moment of inertia about an edge, of which p^2 is the weight's share */
    double energy = k.p * k.p * (cos(0.1 * k.alpha) - cos(k.alpha));
    for (int n = 0; n < k.nimpact; ++n) {
      assert_near_rel(0.5 * k.before[n] * k.before[n], energy, 1e-11);
      assert_near(k.after[n] / k.before[n], factor, 1e-12);
      energy *= factor * factor;
    }
  }
}

/* Without a rule of rest the accumulation of rocks is reported. */
static void tells_of_the_end(void **state) {
  (void)state;
  block k;
  tbi_hybrid system = put_up(&k, 0.1, 0.4, true);
  system.on_zeno = NULL;
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {0.5 * k.alpha, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 60, 0.1, &t, y), TBI_ZENO);
  double factor = 1 - 1.5 * pow(sin(k.alpha), 2);
  assert_near(t, k.time[0] + time_of_rocks(&k, factor, fabs(k.after[0])), ZENO_WINDOW);
  assert_true(t == k.time[k.nimpact - 1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rocks_on_time),
      cmocka_unit_test(loses_its_share_of_energy),
      cmocka_unit_test(tells_of_the_end),
  };
  return cmocka_run_group_tests(tests, event_solver_setup, event_solver_teardown);
}
