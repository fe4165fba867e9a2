/* test_arguments.c - arguments of tabi_gait.h: defs that are wrong get an error, calls that are
 * wrong fail an assertion. */
#include "gait/biped.h"
#include "support/must_fail.h"

#include <string.h>

static void expect_refused(const biped *b, const tabi_gait_def *def, const char *words) {
  tabi_error err = {0};
  assert_null(tabi_gait_create(b->model, def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  if (!strstr(err.message, words)) fail_msg("%s", err.message);
}

static void test_defs(void **state) {
  (void)state;
  biped b = biped_default();
  biped_open(&b);
  const tabi_gait_def good = tabi_gait_get_def(b.gait);
  tabi_gait_def def = good;
  def.def_size = 0;
  expect_refused(&b, &def, "not made by tabi_gait_def_default()");
  def = good;
  def.force = NULL;
  expect_refused(&b, &def, "nforce");
  def = good;
  def.floor = NULL;
  expect_refused(&b, &def, "nfloor");
  def = good;
  def.nforce = -1;
  expect_refused(&b, &def, "nforce");
  def = good;
  def.initial_support = 2;
  expect_refused(&b, &def, "initial_support");
  def = good;
  def.initial_mode = NULL;
  expect_refused(&b, &def, "initial_mode");
  def = good;
  def.guards = (tabi_gait_guards)7;
  expect_refused(&b, &def, "guards");
  biped_close(&b);
}

static void test_names(void **state) {
  (void)state;
  assert_int_equal(tabi_gait_find_mode("1"), 0);
  assert_int_equal(tabi_gait_find_mode("5"), TABI_NONE);
  assert_string_equal(tabi_gait_outcome_text(TABI_GAIT_OUTCOME_COUNT), "unknown");
}

#ifndef TABI_NO_ASSERT

static void test_calls(void **state) {
  (void)state;
  biped b = biped_default();
  biped_open(&b);
  tabi_world_def def = tabi_world_def_default(b.model);
  tabi_world *other = tabi_world_create(b.model, &def, NULL);
  assert_non_null(other);
  must_fail_begin();
  MUST_FAIL(tabi_gait_create(NULL, &b.def, NULL));
  MUST_FAIL(tabi_gait_create(b.model, NULL, NULL));
  MUST_FAIL((tabi_gait_get_def(NULL), 0));
  MUST_FAIL(tabi_gait_find_mode(NULL));
  double tau[64];
  int32_t count;
  MUST_FAIL((tabi_world_gait_state(other), 0));
  MUST_FAIL((tabi_world_gait_state(NULL), 0));
  MUST_FAIL(tabi_world_gait_torque(other, tau));
  MUST_FAIL(tabi_world_gait_torque(b.world, NULL));
  MUST_FAIL(tabi_world_gait_events(other, &count));
  MUST_FAIL(tabi_world_gait_events(b.world, NULL));
  must_fail_end();
  tabi_world_destroy(other);
  biped_close(&b);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defs),
      cmocka_unit_test(test_names),
#ifndef TABI_NO_ASSERT
      cmocka_unit_test(test_calls),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
