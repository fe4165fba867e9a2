/* test_preview.c - preview control has the gains of a real robot's file, and a cart that follows
 * them keeps its ZMP on the reference. */
#include "support/near.h"

#include "control/preview.h"

#include <stdlib.h>

/* HRP-2: Qe = 1, R = 1e-6 */
static const tbi_preview_def hrp2 = {.height = 0.814,
                                     .gravity = 9.81,
                                     .period = 5e-3,
                                     .horizon = 320,
                                     .error_weight = 1,
                                     .jerk_weight = 1e-6};

static tbi_preview make(const tbi_preview_def *def) {
  tbi_preview preview;
  tabi_error err = {0};
  if (tbi_preview_make(&preview, def, &err) != TABI_OK) fail_msg("%s", err.message);
  return preview;
}

/* The file of the robot gives 5 digits; the 6 to 7 of the regulator were computed independently. */
static void test_gains(void **state) {
  (void)state;
  tbi_preview p = make(&hrp2);
  assert_near(p.integral, 618.7016, 5e-5);
  assert_near(p.state[0], 72719.44, 5e-3);
  assert_near(p.state[1], 21549.60, 5e-3);
  assert_near(p.state[2], 177.0127, 5e-5);
  const double ahead[] = {618.7016, 777.507, 952.261, 1082.3, 1155.3, 1181.4};
  const double half_digit[] = {5e-5, 5e-4, 5e-4, 0.05, 0.05, 0.05};
  for (int i = 0; i < 6; ++i)
    assert_near(p.horizon_gain[i], ahead[i], half_digit[i]);
  assert_near(p.horizon_gain[319], 5.028, 5e-4);
  tbi_preview_free(&p);
}

/* The same cart on a clock that runs twice as fast: the gains of the jerk are those of the new
 * units. */
static void test_clock(void **state) {
  (void)state;
  tbi_preview p = make(&hrp2);
  tbi_preview_def slow = hrp2;
  slow.period *= 2;
  slow.gravity /= 4;
  slow.jerk_weight *= 64;
  tbi_preview q = make(&slow);
  assert_near_rel(8 * q.integral, p.integral, 1e-9);
  assert_near_rel(4 * q.state[1], p.state[1], 1e-9);
  assert_near_rel(8 * q.horizon_gain[200], p.horizon_gain[200], 1e-9);
  tbi_preview_free(&p);
  tbi_preview_free(&q);
}

enum { COUNT = 2000 };

/* A step of 0.19 m seen 1.6 s ahead: before and after it the ZMP is on the
 * reference, and the cart comes to rest over it. */
static void test_follow(void **state) {
  (void)state;
  static double reference[COUNT];
  static double centre[COUNT][3];
  tbi_preview p = make(&hrp2);
  for (int i = 0; i < COUNT; ++i)
    reference[i] = 0.3 + (i < COUNT / 2 ? 0 : 0.19);
  tbi_preview_follow(&p, COUNT, reference, centre);
  double far = 0;
  double near_step = 0;
  for (int i = 0; i < COUNT; ++i) {
    double error = fabs(centre[i][0] - hrp2.height / hrp2.gravity * centre[i][2] - reference[i]);
    double *worst = abs(i - COUNT / 2) > 40 ? &far : &near_step;
    *worst = fmax(*worst, error);
  }
  print_message("error %.2g m more than 0.2 s from a step of 0.19 m, %.3f m at it\n", far,
                near_step);
  assert_true(far < 2e-3);
  assert_near(centre[0][0], 0.3, 0);
  assert_near(centre[COUNT - 1][0], 0.49, 1e-6);
  assert_near(centre[COUNT - 1][1], 0, 1e-6);
  /* it starts before the step comes, but not before it is seen */
  assert_near(centre[COUNT / 2 - 330][0], 0.3, 1e-12);
  assert_true(centre[COUNT / 2][0] > 0.37);
  tbi_preview_free(&p);
}

static void test_refuses(void **state) {
  (void)state;
  tbi_preview_def def = hrp2;
  def.jerk_weight = 0;
  tbi_preview p;
  tabi_error err = {0};
  assert_int_equal(tbi_preview_make(&p, &def, &err), TABI_ERR_ARGUMENT);
  tbi_preview_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gains),
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_follow),
      cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
