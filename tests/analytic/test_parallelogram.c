/* test_parallelogram.c - loops of bars that stay parallel, and so move like one pendulum.
 *
 * The closed link has cranks of 0.1 m below a base of 0.2 m, with a coupler between their ends.
 * N windows side by side fold flat twice in a turn, where they could go on as something else than
 * parallelograms: there the loops lose a rank. */
#include "mechanism.h"

typedef struct pendulum {
  double angle, rate;
} pendulum;

/* angle'' = -strength sin(angle) by small steps of rk4, whose error is below 1e-11 here */
static pendulum swing(pendulum p, double strength, double time) {
  const int64_t steps = 20000;
  const double h = time / (double)steps;
  for (int64_t i = 0; i < steps; ++i) {
    double k1 = -strength * sin(p.angle);
    double k2 = -strength * sin(p.angle + 0.5 * h * p.rate);
    double k3 = -strength * sin(p.angle + 0.5 * h * (p.rate + 0.5 * h * k1));
    double k4 = -strength * sin(p.angle + h * (p.rate + 0.5 * h * k2));
    p.angle += h * (p.rate + h * (k1 + k2 + k3) / 6);
    p.rate += h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
  }
  return p;
}

typedef struct closed_link {
  scene s;
  int32_t left, coupler, right;
} closed_link;

#define CRANK 0.1
#define BASE  0.2

static closed_link open_closed_link(tabi_integrator integrator) {
  closed_link l = {.s = scene_begin()};
  scene *s = &l.s;
  mechanism_gravity(s, v3_make(0, -GRAVITY, 0));
  v3 end = v3_make(CRANK, 0, 0);
  v3 middle = v3_scale(0.5, end);
  v3 tip = v3_make(BASE, 0, 0);
  l.left = mechanism_bar(s, TABI_WORLD, v3_zero(), 0.0848, middle, 7.3e-5);
  l.coupler = mechanism_bar(s, l.left, end, 0.1696, v3_scale(0.5, tip), 5.7e-4);
  l.right = mechanism_bar(s, TABI_WORLD, tip, 0.0848, middle, 7.3e-5);
  mechanism_pin(s, l.coupler, tip, l.right, end);
  mechanism_open(s, integrator, 1e-3);
  mechanism_set(s, l.left, -M_PI / 4, 0);
  mechanism_set(s, l.coupler, M_PI / 4, 0);
  mechanism_set(s, l.right, -M_PI / 4, 0);
  return l;
}

static void closed_link_swings(tabi_integrator integrator, double gap, double energy,
                               double angle) {
  closed_link l = open_closed_link(integrator);
  double moment = 2 * (7.3e-5 + 0.0848 * 0.25 * CRANK * CRANK) + 0.1696 * CRANK * CRANK;
  double strength = GRAVITY * (0.0848 * CRANK + 0.1696 * CRANK) / moment;
  pendulum exact = {M_PI / 4, 0};
  mechanism_watch worst = mechanism_begin(&l.s);
  double off = 0;
  double scale = GRAVITY * (0.0848 + 0.1696) * CRANK * (1 - cos(M_PI / 4));
  for (int i = 0; i < 50; ++i) {
    mechanism_run(&l.s, &worst, 100);
    exact = swing(exact, strength, 0.1);
    off = fmax(off, fabs(scene_q(&l.s, l.left)[0] + M_PI / 2 - exact.angle));
  }
  print_message("closed link, %s, 5 s of 1 ms (strength %.5g): gap %.2g m, energy %.2g, angle %.2g "
                "of its amplitude\n",
                tabi_integrator_name(integrator), strength, worst.gap, worst.energy / scale,
                off / (M_PI / 4));
  scene_close(&l.s);
  assert_true(worst.gap < gap);
  assert_true(worst.energy < energy * scale);
  assert_true(off < angle * M_PI / 4);
}

static void closed_link_by_rk4(void **state) {
  (void)state;
  closed_link_swings(TABI_RK4, 1e-4, 0.01, 0.01);
}

static void closed_link_by_default(void **state) {
  (void)state;
  closed_link_swings(TABI_SEMI_IMPLICIT, 1e-6, 0.01, 0.01);
}

/* N windows of bars of 1 m and 1 kg */
#define MANY 40
typedef struct windows {
  scene s;
  int32_t post[MANY + 1], beam[MANY];
  int32_t count;
} windows;

static windows open_windows(int32_t count, tabi_integrator integrator, double timestep) {
  windows w = {.s = scene_begin(), .count = count};
  mechanism_gravity(&w.s, v3_make(0, -GRAVITY, 0));
  v3 end = v3_make(1, 0, 0);
  v3 middle = v3_make(0.5, 0, 0);
  for (int32_t i = 0; i <= count; ++i)
    w.post[i] = mechanism_bar(&w.s, TABI_WORLD, v3_make(i, 0, 0), 1, middle, 1.0 / 12);
  for (int32_t i = 0; i < count; ++i) {
    w.beam[i] = mechanism_bar(&w.s, w.post[i], end, 1, middle, 1.0 / 12);
    mechanism_pin(&w.s, w.beam[i], end, w.post[i + 1], end);
  }
  mechanism_open(&w.s, integrator, timestep);
  for (int32_t i = 0; i <= count; ++i)
    mechanism_set(&w.s, w.post[i], M_PI / 2, -1);
  for (int32_t i = 0; i < count; ++i)
    mechanism_set(&w.s, w.beam[i], -M_PI / 2, 1);
  return w;
}

/* ten turns or so in 10 s: theta'' = -g 7/6 cos theta for two windows */
static void windows_turn(tabi_integrator integrator, double timestep, double gap, double energy,
                         double angle) {
  windows w = open_windows(2, integrator, timestep);
  int64_t steps = (int64_t)lround(10 / timestep);
  mechanism_watch worst = mechanism_begin(&w.s);
  mechanism_run(&w.s, &worst, steps);
  double theta = scene_q(&w.s, w.post[0])[0];
  double rate = scene_v(&w.s, w.post[0])[0];
  print_message("two windows, %s, 10 s of %g ms: gap %.2g m, energy %.2g, angle off by %.2g rad, "
                "rate by %.2g rad/s\n",
                tabi_integrator_name(integrator), 1e3 * timestep, worst.gap,
                worst.energy / worst.start, theta + 30.17980086, rate + 1.50664218);
  scene_close(&w.s);
  assert_true(worst.gap <= gap);
  assert_true(worst.energy <= energy * worst.start);
  assert_near(theta, -30.17980086, angle);
}

static void windows_by_default(void **state) {
  (void)state;
  windows_turn(TABI_SEMI_IMPLICIT, 1e-4, 1e-6, 1e-3, 1e-2);
}

static void windows_by_rk4(void **state) {
  (void)state;
  windows_turn(TABI_RK4, 1e-3, 1e-6, 1e-3, 1e-2);
}

/* Forty windows turn through the flat posture as one pendulum does, the last like the first.
 * theta'' = -g cos theta ((N + 1) / 2 + N) / ((N + 1) / 3 + N), with N + 1 posts that turn and N
 * beams that do not. */
static void many_windows_by_rk4(void **state) {
  (void)state;
  windows w = open_windows(MANY, TABI_RK4, 1e-3);
  double strength = GRAVITY * ((MANY + 1) / 2.0 + MANY) / ((MANY + 1) / 3.0 + MANY);
  mechanism_watch worst = mechanism_begin(&w.s);
  mechanism_run(&w.s, &worst, 1000);
  pendulum exact = swing((pendulum){M_PI, -1}, strength, 1);
  double first = scene_q(&w.s, w.post[0])[0] + M_PI / 2 - exact.angle;
  double last = scene_q(&w.s, w.post[MANY])[0] + M_PI / 2 - exact.angle;
  print_message("forty windows, 1 s to %.3g rad: gap %.2g m, angle off by %.2g and %.2g rad\n",
                exact.angle, worst.gap, first, last);
  scene_close(&w.s);
  assert_true(worst.gap < 1e-9);
  assert_near(first, 0, 1e-8);
  assert_near(last, 0, 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_link_by_rk4),  cmocka_unit_test(closed_link_by_default),
      cmocka_unit_test(windows_by_default),  cmocka_unit_test(windows_by_rk4),
      cmocka_unit_test(many_windows_by_rk4),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
