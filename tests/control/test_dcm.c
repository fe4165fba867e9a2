/* test_dcm.c - the step rule: a walk that repeats is left alone, and a DCM that is off is caught by
 * the place of the step. */
#include "control/balance.h"
#include "control/dcm.h"
#include "control/swing.h"
#include "support/near.h"

#include <math.h>

static tbi_step_limits usual(void) {
  return (tbi_step_limits){
      .omega = 3.6,
      .swing_time = 0.32,
      .double_support = 0.05,
      .min_time = 0.2,
      .max_time = 0.6,
      .spacing = 0.2,
      .min_spacing = 0.14,
      .max_spacing = 0.5,
      .max_stride = 0.5,
      .speed = 2.5,
      .acceleration = 44,
      .half = {0.1, 0.05},
      .reach = 0.7
  };
}

/* After a step with the CoP in the middle of the sole the offset is that of the other side. */
static void test_offset_repeats(void **state) {
  (void)state;
  const tbi_step_limits l = usual();
  const double velocity[2] = {0.4, 0.1};
  double from[2];
  double to[2];
  double t = l.swing_time + l.double_support;
  tbi_dcm_offset(&l, 1, velocity, from);
  tbi_dcm_offset(&l, -1, velocity, to);
  double e = exp(l.omega * t);
  /* the left foot is the new stance foot, the right one steps next */
  const double step[2] = {velocity[0] * t, -l.spacing + velocity[1] * t};
  for (int i = 0; i < 2; ++i)
    assert_near(from[i] * e, step[i] + to[i], 1e-12);
}

static tbi_step_state at_start(const tbi_step_limits *l, const double velocity[2]) {
  tbi_step_state s = {
      .side = -1,
      .velocity = {velocity[0], velocity[1]},
      .elapsed = -l->double_support,
      .latest = HUGE_VAL
  };
  double t = l->swing_time + l->double_support;
  tbi_dcm_offset(l, 1, velocity, s.xi);
  s.swing[0] = -velocity[0] * t;
  s.swing[1] = -l->spacing;
  return s;
}

static void test_nominal(void **state) {
  (void)state;
  const tbi_step_limits l = usual();
  const double velocity[2] = {0.3, 0};
  tbi_step_state s = at_start(&l, velocity);
  tbi_step_plan plan = tbi_dcm_adjust(&l, &s);
  double t = l.swing_time + l.double_support;
  assert_near(plan.remaining, t, 0.02);
  assert_near(plan.place[0], velocity[0] * t, 0.01);
  assert_near(plan.place[1], -l.spacing, 0.01);
  assert_true(plan.missed < 1e-9);
}

/* Pushed forward by 0.3 m/s: it steps farther, and the DCM is where it should be at landing. */
static void test_push(void **state) {
  (void)state;
  const tbi_step_limits l = usual();
  const double velocity[2] = {0, 0};
  tbi_step_state s = at_start(&l, velocity);
  s.xi[0] += 0.3 / l.omega + 0.05;
  tbi_step_plan plan = tbi_dcm_adjust(&l, &s);
  assert_true(plan.place[0] > 0.1 && plan.place[0] <= l.max_stride);
  assert_true(plan.missed < 0.01);
  /* too far for any step: as far as legs go */
  s.xi[0] = 2;
  plan = tbi_dcm_adjust(&l, &s);
  assert_true(plan.place[0] <= l.max_stride + 1e-12);
  assert_true(plan.missed > 0.5);
}

/* Half of its way to a far place, a swing foot by least jerk is at 1.875 times its mean speed: what
 * it can still reach is ahead of it, and the DCM is met. */
static void test_keeps_its_way(void **state) {
  (void)state;
  const tbi_step_limits l = usual();
  const double far = 0.45;
  tbi_step_state s = {.side = -1, .elapsed = 0.5 * l.swing_time, .latest = HUGE_VAL};
  double left = l.swing_time - s.elapsed;
  double offset[2];
  tbi_dcm_offset(&l, -1, s.velocity, offset);
  const double place[2] = {far, -l.spacing};
  for (int i = 0; i < 2; ++i)
    s.xi[i] =
        l.half[i] * (i == 0) + (place[i] + offset[i] - l.half[i] * (i == 0)) / exp(l.omega * left);
  s.swing[0] = 0.5 * far;
  s.swing[1] = -l.spacing;
  s.rate[0] = 1.875 * far / l.swing_time;
  tbi_step_plan plan = tbi_dcm_adjust(&l, &s);
  print_message("to %.3f m in %.3f s, missed by %.1f mm\n", plan.place[0], plan.remaining,
                1e3 * plan.missed);
  assert_true(plan.place[0] > 0.3 && plan.remaining < left + 0.01);
  assert_true(plan.missed < 1e-3);
}

/* A swing leg pushes the DCM by as much as integrating xi' = omega (xi - p) + rho a / omega over a
 * motion of least jerk gives; without the reaction it is not moved at all. */
static void test_reaction(void **state) {
  (void)state;
  tbi_step_limits l = usual();
  l.reaction = 0.06;
  const double velocity[2] = {0.5, 0};
  tbi_step_state s = at_start(&l, velocity);
  s.elapsed = 0;
  tbi_step_plan plan = tbi_dcm_adjust(&l, &s);
  enum { STEPS = 10000 };
  double t = plan.remaining;
  double moved = 0;
  for (int i = 0; i < STEPS; ++i) {
    double u = (i + 0.5) / STEPS;
    double way = plan.place[0] - s.swing[0];
    double a = way * (60 * u - 180 * u * u + 120 * u * u * u) / (t * t);
    moved += exp(l.omega * t * (1 - u)) * l.reaction * a / l.omega * t / STEPS;
  }
  assert_true(moved > 0.01);
  assert_near(plan.shift[0], moved, 0.05 * moved);
  l.reaction = 0;
  plan = tbi_dcm_adjust(&l, &s);
  assert_near(plan.shift[0], 0, 0);
}

/* Feet of 0.2 by 0.1 m, one ahead of the other: wherever the centre of pressure is in the hull of
 * both, each foot's own is in its sole. */
static void test_share(void **state) {
  (void)state;
  tbi_balance b = {
      .half = {{0.1, 0.05}, {0.1, 0.05}}
  };
  b.at[0].frame.rot = b.at[1].frame.rot = m3_identity();
  const double along[2] = {-0.15, -0.12};
  for (int i = 0; i <= 20; ++i) {
    for (int k = 0; k < 8; ++k) {
      /* a point of the hull: between the soles, and 0.85 of half a sole off */
      double on = 0.05 * i;
      double off[2] = {0.085 * cos(0.785398 * k), 0.0425 * sin(0.785398 * k)};
      const double from[2] = {on * along[0] + off[0], on * along[1] + off[1]};
      double t = tbi_balance_share(&b, along, from);
      assert_true(t >= 0 && t <= 1);
      assert_true(fabs(from[0] - t * along[0]) <= 0.1 && fabs(from[1] - t * along[1]) <= 0.05);
    }
  }
  const double edge[2] = {-0.05, -0.16};
  double t = tbi_balance_share(&b, along, edge);
  assert_true(fabs(edge[1] - t * along[1]) <= 0.05);
}

static void test_cop(void **state) {
  (void)state;
  const double xi[2] = {0.02, -0.03};
  const double place[2] = {0.2, -0.15};
  double p[2];
  tbi_dcm_cop(3.6, xi, place, 0.2, p);
  double e = exp(3.6 * 0.2);
  for (int i = 0; i < 2; ++i)
    assert_near(p[i] + (xi[i] - p[i]) * e, place[i], 1e-12);
}

/* The jerk rule ends where and how it should, also when the target moves on the way. */
static void test_swing(void **state) {
  (void)state;
  tbi_swing_state s = {
      .pos = {0, 0, 0}
  };
  const double h = 1e-3;
  for (int i = 0; i < 400; ++i) {
    double left = 0.4 - i * h;
    v3 target = {i < 200 ? 0.1 : 0.2, -0.05, i < 200 ? 0.05 : 0};
    const double time[3] = {left, left, i < 200 ? 0.2 - i * h : left};
    tbi_swing_step(&s, target, i < 200 ? 0 : 0.1, time, h);
  }
  assert_near(s.pos.x, 0.2, 3e-3);
  assert_near(s.pos.y, -0.05, 1e-3);
  assert_near(s.pos.z, 0, 2e-3);
  assert_near(s.vel.z, -0.1, 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_offset_repeats), cmocka_unit_test(test_nominal),
      cmocka_unit_test(test_push),           cmocka_unit_test(test_cop),
      cmocka_unit_test(test_swing),          cmocka_unit_test(test_reaction),
      cmocka_unit_test(test_share),          cmocka_unit_test(test_keeps_its_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
