/* test_radau.c - the stiff integrator: its order, what it does far beyond the reach of explicit
 * methods, its polynomial inside a step, its error estimate, and that it repeats itself. */
#include "integrate/radau.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

#define N_MAX 50

static tbi_radau radau;
static void *memory;

static int setup(void **state) {
  (void)state;
  tbi_layout count = {NULL, 0};
  tbi_radau_place(&radau, &count, N_MAX);
  memory = malloc(count.used);
  if (!memory) return -1;
  tbi_layout place = {memory, 0};
  tbi_radau_place(&radau, &place, N_MAX);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  free(memory);
  return 0;
}

static const tbi_tolerance tight = {1e-13, 1e-13};

/* `steps` equal steps to t_end; y is the start and becomes the end */
static void march(const tbi_ode *ode, double t_end, int steps, double *y) {
  for (int i = 0; i < steps; ++i) {
    tbi_radau_start(&radau, ode, tight, t_end * i / steps, y);
    assert_true(tbi_radau_try(&radau, t_end / steps));
    tbi_radau_at(&radau, 1, y);
  }
}

/* user: g / l */
static void pendulum(void *user, double t, const double *y, double *rate) {
  (void)t;
  rate[0] = y[1];
  rate[1] = -*(const double *)user * sin(y[0]);
}

/* y' = -sin t, the solution given as a pull towards cos t: user is its strength */
static void pulled(void *user, double t, const double *y, double *rate) {
  rate[0] = -*(const double *)user * (y[0] - cos(t)) - sin(t);
}

static double pendulum_energy(double pull, const double *y) {
  return y[1] * y[1] / 2 - pull * cos(y[0]);
}

/* Halving the step divides the error of a swinging pendulum by 2^5. */
static void has_order_five(void **state) {
  (void)state;
  double pull = 9.81;
  const tbi_ode ode = {2, pendulum, NULL, &pull};
  double best[2] = {2, 0};
  march(&ode, 2, 1000, best);
  double last = 0;
  for (int steps = 20; steps <= 80; steps *= 2) {
    double y[2] = {2, 0};
    march(&ode, 2, steps, y);
    double error = hypot(y[0] - best[0], y[1] - best[1]);
    if (last > 0)
      print_message("%d steps: error %.3g, order %.2f\n", steps, error, log2(last / error));
    if (last > 0) assert_true(log2(last / error) > 4.7);
    last = error;
  }
  assert_true(last < 1e-6);
}

/* Ten seconds of swinging at 2 ms keep the energy of 24.5 J/kg to rounding. */
static void keeps_energy(void **state) {
  (void)state;
  double pull = 9.81;
  const tbi_ode ode = {2, pendulum, NULL, &pull};
  double y[2] = {2, 0};
  double energy = pendulum_energy(pull, y);
  march(&ode, 10, 5000, y);
  print_message("energy after 10 s: %.3g off\n", pendulum_energy(pull, y) - energy);
  assert_near(pendulum_energy(pull, y), energy, 2e-12);
}

/* One step of y' = -lambda y multiplies by the rational function of the method, for all lambda h;
 * it tends to 0, so that what is stiff is gone after a step. */
static void kills_what_is_stiff(void **state) {
  (void)state;
  for (int power = 0; power < 10; ++power) {
    double stiff = pow(10, power);
    double x = -stiff;
    const tbi_ode ode = {1, pulled, NULL, &stiff};
    /* one start on the slow solution and one off it: the difference is the stiff part */
    double y[1] = {2};
    tbi_radau_start(&radau, &ode, tight, 0, y);
    assert_true(tbi_radau_try(&radau, 1));
    tbi_radau_at(&radau, 1, y);
    double forced[1] = {1};
    tbi_radau_start(&radau, &ode, tight, 0, forced);
    assert_true(tbi_radau_try(&radau, 1));
    tbi_radau_at(&radau, 1, forced);
    double top = 1 + x * (2.0 / 5 + x / 20);
    double bottom = 1 - x * (3.0 / 5 - x * (3.0 / 20 - x / 60));
    assert_near(y[0] - forced[0], top / bottom, 1e-13);
    assert_near(forced[0], cos(1), 2e-3);
  }
}

/* lambda h = 1e3 over many steps: on the slow solution, to its accuracy, and nowhere else. */
static void follows_slow_motion_through_stiffness(void **state) {
  (void)state;
  double stiff = 1e5;
  const tbi_ode ode = {1, pulled, NULL, &stiff};
  double y[1] = {5};
  march(&ode, 10, 1000, y);
  assert_near(y[0], cos(10), 1e-11);
}

/* The polynomial meets the ends to the bit and is of order 3 between them. */
static void polynomial_follows_the_step(void **state) {
  (void)state;
  double pull = 9.81;
  const tbi_ode ode = {2, pendulum, NULL, &pull};
  const double start[2] = {1, 2};
  double last = 0;
  for (int halvings = 0; halvings < 3; ++halvings) {
    double h = 0.08 / (1 << halvings);
    double y[2];
    double exact[2] = {1, 2};
    march(&ode, 0.3 * h, 20, exact);
    tbi_radau_start(&radau, &ode, tight, 0, start);
    assert_true(tbi_radau_try(&radau, h));
    tbi_radau_at(&radau, 0, y);
    assert_memory_equal(y, start, sizeof start);
    tbi_radau_at(&radau, 0.3, y);
    double error = hypot(y[0] - exact[0], y[1] - exact[1]);
    if (last > 0) assert_true(log2(last / error) > 3.6);
    last = error;
  }
}

/* With steps chosen by the error estimate, the error of a run follows the tolerance. */
static void error_follows_tolerance(void **state) {
  (void)state;
  double pull = 9.81;
  const tbi_ode ode = {2, pendulum, NULL, &pull};
  double best[2] = {2, 0};
  march(&ode, 3, 2000, best);
  for (int power = 4; power <= 10; power += 2) {
    double level = pow(10, -power);
    const tbi_tolerance tolerance = {level, level};
    double y[2] = {2, 0};
    double t = 0;
    double h = 0.01;
    int steps = 0;
    while (t < 3) {
      tbi_radau_start(&radau, &ode, tolerance, t, y);
      bool good = tbi_radau_try(&radau, fmin(h, 3 - t)) && radau.error <= 1;
      h = tbi_radau_suggest(&radau);
      if (!good) continue;
      t = t + radau.h;
      tbi_radau_at(&radau, 1, y);
      ++steps;
    }
    double error = hypot(y[0] - best[0], y[1] - best[1]);
    print_message("tolerance %.0e: error %.2g in %d steps\n", level, error, steps);
    assert_true(error < 10 * level);
    assert_true(steps < 6 * pow(level, -0.25) + 30);
  }
}

/* user: [n x n] */
static void linear(void *user, double t, const double *y, double *rate) {
  (void)t;
  const double *a = user;
  for (ptrdiff_t i = 0; i < N_MAX; ++i) {
    rate[i] = 0;
    for (ptrdiff_t j = 0; j < N_MAX; ++j)
      rate[i] += a[i * N_MAX + j] * y[j];
  }
}

static void linear_jacobian(void *user, double t, const double *y, double *jacobian) {
  (void)t;
  (void)y;
  memcpy(jacobian, user, sizeof *jacobian * N_MAX * N_MAX);
}

/* A chain of 50 cells that diffuse into each other, its fastest part 1000 times as fast as its
 * slowest: its slowest shape decays as it should, with the Jacobian given or found. */
static void large_system(void **state) {
  (void)state;
  static double a[N_MAX * N_MAX];
  double shape[N_MAX];
  const double pi = 3.14159265358979323846;
  for (ptrdiff_t i = 0; i < N_MAX; ++i) {
    a[i * N_MAX + i] = -2e3;
    if (i > 0) a[i * N_MAX + i - 1] = 1e3;
    if (i < N_MAX - 1) a[i * N_MAX + i + 1] = 1e3;
    shape[i] = sin(pi * (double)(i + 1) / (N_MAX + 1));
  }
  double slow = 2e3 * (1 - cos(pi / (N_MAX + 1)));
  for (int given = 0; given < 2; ++given) {
    const tbi_ode ode = {N_MAX, linear, given ? linear_jacobian : NULL, a};
    double y[N_MAX];
    memcpy(y, shape, sizeof y);
    march(&ode, 0.5, 50, y);
    for (ptrdiff_t i = 0; i < N_MAX; ++i)
      assert_near(y[i], shape[i] * exp(-0.5 * slow), 1e-10);
  }
}

/* A step depends on its start alone: other steps between change no bit. */
static void repeats_itself(void **state) {
  (void)state;
  double pull = 9.81;
  const tbi_ode ode = {2, pendulum, NULL, &pull};
  const double start[2] = {1, 2};
  double first[2];
  double again[2];
  tbi_radau_start(&radau, &ode, tight, 0, start);
  assert_true(tbi_radau_try(&radau, 0.05));
  tbi_radau_at(&radau, 1, first);
  assert_true(tbi_radau_try(&radau, 0.3));
  double stiff = 1e6;
  const tbi_ode other = {1, pulled, NULL, &stiff};
  tbi_radau_start(&radau, &other, tight, 0, start);
  assert_true(tbi_radau_try(&radau, 1));
  tbi_radau_start(&radau, &ode, tight, 0, start);
  assert_true(tbi_radau_try(&radau, 0.05));
  tbi_radau_at(&radau, 1, again);
  assert_memory_equal(first, again, sizeof first);
}

static void endless(void *user, double t, const double *y, double *rate) {
  (void)user;
  (void)t;
  rate[0] = sqrt(-1 - y[0] * y[0]);
}

/* What is no number is refused, not handed on. */
static void refuses_what_is_no_number(void **state) {
  (void)state;
  const tbi_ode ode = {1, endless, NULL, NULL};
  const double y[1] = {1};
  tbi_radau_start(&radau, &ode, tight, 0, y);
  assert_false(tbi_radau_try(&radau, 0.1));
  assert_true(tbi_radau_suggest(&radau) < 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_order_five),
      cmocka_unit_test(keeps_energy),
      cmocka_unit_test(kills_what_is_stiff),
      cmocka_unit_test(follows_slow_motion_through_stiffness),
      cmocka_unit_test(polynomial_follows_the_step),
      cmocka_unit_test(error_follows_tolerance),
      cmocka_unit_test(large_system),
      cmocka_unit_test(repeats_itself),
      cmocka_unit_test(refuses_what_is_no_number),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
