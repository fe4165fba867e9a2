/* test_event_ball.c - the bouncing ball under event-driven integration, against its closed form.
 *
 * Dropped from height H with restitution e, the ball hits first after T = sqrt(2 H / g); from then
 * on the flights last 2 T e, 2 T e^2, ..., the apexes are at H e^2, H e^4, ..., and all is over at
 * T (1 + e) / (1 - e), after infinitely many impacts. */
#include "support/event_solver.h"
#include "support/near.h"

#include <string.h>

#define G           9.81
#define ZENO_WINDOW 1e-3
#define LOG_SIZE    400

typedef struct ball {
  double restitution;
  bool lies;
  int nimpact, napex;
  double impact[LOG_SIZE], apex[LOG_SIZE];
  double rests_at;
} ball;

/* y: height, velocity */
static void fall(void *user, double t, const double *y, double *rate) {
  (void)t;
  const ball *b = user;
  rate[0] = b->lies ? 0 : y[1];
  rate[1] = b->lies ? 0 : -G;
}

/* The last hops before the ball lies are lower than any height that could be named, but the impact
 * puts it at height 0 exactly.  At an apex nothing is put anywhere, and the velocity is rounding.
 */
static const tbi_guard guards[2] = {
    {TBI_FALLING, 0   },
    {TBI_FALLING, 1e-9}
};

static void height_and_velocity(void *user, double t, const double *y, double *value) {
  (void)user;
  (void)t;
  value[0] = y[0];
  value[1] = y[1];
}

static tbi_verdict bounce(tbi_hybrid *system, int32_t guard, double t, double *y) {
  ball *b = system->user;
  if (guard == 1) {
    assert_true(b->napex < LOG_SIZE);
    b->apex[b->napex++] = y[0];
    return TBI_KEEP;
  }
  assert_true(b->nimpact < LOG_SIZE);
  b->impact[b->nimpact++] = t;
  y[0] = 0;
  y[1] *= -b->restitution;
  return TBI_GO_ON;
}

static tbi_verdict lie_still(tbi_hybrid *system, double t, double *y) {
  ball *b = system->user;
  b->lies = true;
  b->rests_at = t;
  system->nguard = 0;
  y[0] = y[1] = 0;
  return TBI_GO_ON;
}

static tbi_hybrid drop(ball *b, double restitution, int32_t nguard) {
  *b = (ball){.restitution = restitution};
  const tbi_ode ode = {2, fall, NULL, b};
  const tbi_tolerance tolerance = {1e-12, 1e-12};
  return (tbi_hybrid){
      .ode = ode,
      .tolerance = tolerance,
      .nguard = nguard,
      .guard = guards,
      .values = height_and_velocity,
      .event = bounce,
      .on_zeno = lie_still,
      .zeno_window = ZENO_WINDOW,
      .user = b,
  };
}

static double impact_time(double e, int k) {
  return sqrt(2 / G) * (1 + 2 * e * (1 - pow(e, k)) / (1 - e));
}

static double zeno_time(double e) { return sqrt(2 / G) * (1 + e) / (1 - e); }

static void check_impacts(const ball *b, double e) {
  double worst = 0;
  for (int k = 0; k < b->nimpact; ++k)
    worst = fmax(worst, fabs(b->impact[k] - impact_time(e, k)));
  print_message("e %g: %d impacts, the worst %.2g s off; at rest %.2g s early\n", e, b->nimpact,
                worst, zeno_time(e) - b->rests_at);
  assert_true(worst <= 1e-12);
}

/* Every impact up to the Zeno window is at its time to 1e-12 s, in steps of up to 1 s; the
 * accumulation point is passed, and the ball lies from a time that is right within the window. */
static void bounces_on_time(void **state) {
  (void)state;
  static const double restitution[2] = {0.9, 0.5};
  static const double first[2][4] = {
      {0.4515236410, 1.2642661948, 1.9957344932, 2.6540559617},
      {0.451524,     0.903047,     1.128809,     1.241690    }
  };
  for (int i = 0; i < 2; ++i) {
    double e = restitution[i];
    ball b;
    tbi_hybrid system = drop(&b, e, 1);
    tbi_progress progress = {0};
    double t = 0;
    double y[2] = {1, 0};
    assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 10, 1, &t, y), TBI_REACHED);
    for (int k = 0; k < 4; ++k)
      assert_near(b.impact[k], first[i][k], i == 0 ? 5e-11 : 5e-7);
    check_impacts(&b, e);
    assert_true(b.nimpact > 20);
    assert_true(b.lies && t == 10 && y[0] == 0 && y[1] == 0);
    assert_near(b.rests_at, zeno_time(e), ZENO_WINDOW);
  }
}

/* A second guard, on the velocity, reads the heights: e^(2k), to rounding of the first drop.  It
 * changes nothing, and the impacts stay where they were. */
static void rises_by_restitution_squared(void **state) {
  (void)state;
  const double e = 0.9;
  ball b;
  tbi_hybrid system = drop(&b, e, 2);
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {1, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 5, 1, &t, y), TBI_REACHED);
  check_impacts(&b, e);
  assert_int_equal(b.nimpact, 8);
  assert_int_equal(b.napex, 8);
  for (int k = 0; k < b.napex; ++k)
    assert_near(b.apex[k], pow(e, 2 * (k + 1)), 1e-13);
}

/* The same flight in one run, in many, and in short steps: the same impacts. */
static void pieces_make_the_whole(void **state) {
  (void)state;
  const double e = 0.9;
  ball b;
  for (int i = 0; i < 2; ++i) {
    tbi_hybrid system = drop(&b, e, 1);
    tbi_progress progress = {0};
    double t = 0;
    double y[2] = {1, 0};
    for (int piece = 1; piece <= 1000; ++piece) {
      double max_step = i == 0 ? 1 : 0.003;
      assert_int_equal(
          tbi_events_run(&event_solver, &system, &progress, 0.01 * piece, max_step, &t, y),
          TBI_REACHED);
    }
    check_impacts(&b, e);
    assert_near(b.rests_at, zeno_time(e), ZENO_WINDOW);
  }
}

/* A run that ends at the impact to the bit: the impact belongs to one of the two runs. */
static void ends_at_an_impact(void **state) {
  (void)state;
  ball b;
  tbi_hybrid system = drop(&b, 0.5, 1);
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {1, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, sqrt(2 / G), 1, &t, y),
                   TBI_REACHED);
  assert_true(t == sqrt(2 / G) && b.nimpact <= 1);
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 1, 1, &t, y), TBI_REACHED);
  assert_int_equal(b.nimpact, 2);
  check_impacts(&b, 0.5);
}

/* Without a rule the accumulation is reported, where it is, and not passed. */
static void tells_of_the_end(void **state) {
  (void)state;
  const double e = 0.9;
  ball b;
  tbi_hybrid system = drop(&b, e, 1);
  system.on_zeno = NULL;
  tbi_progress progress = {0};
  double t = 0;
  double y[2] = {1, 0};
  assert_int_equal(tbi_events_run(&event_solver, &system, &progress, 10, 1, &t, y), TBI_ZENO);
  assert_near(t, zeno_time(e), ZENO_WINDOW);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounces_on_time),       cmocka_unit_test(rises_by_restitution_squared),
      cmocka_unit_test(pieces_make_the_whole), cmocka_unit_test(ends_at_an_impact),
      cmocka_unit_test(tells_of_the_end),
  };
  return cmocka_run_group_tests(tests, event_solver_setup, event_solver_teardown);
}
